// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Core Foundation. Its values are bridged by `as` on Apple's platforms, which Linux cannot, so they are the types
// of Swift here: a missing `as CFString` is not found.

public import Foundation

public typealias CFArray = [Any]
public typealias CFData = Data
public typealias CFDictionary = [AnyHashable: Any]
public typealias CFString = String
public typealias CFTypeID = UInt
public typealias CFTypeRef = AnyObject
public typealias OSStatus = Int32

public final class CFAllocator {}
public final class CFError {}

@discardableResult
public func CFErrorCopyDescription(_ err: CFError!) -> CFString! { nil }
@discardableResult
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID { 0 }
