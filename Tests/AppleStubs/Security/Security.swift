// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import AppleFoundation
public import Foundation
public import FoundationNetworking

public final class SecAccessControl {}
public final class SecCertificate {}
public final class SecIdentity {}
public final class SecKey {}
public final class SecTrust {}

public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let userPresence = Self(rawValue: 1 << 0)
    public static let biometryAny = Self(rawValue: 1 << 1)
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    public static let devicePasscode = Self(rawValue: 1 << 4)
}

public var errSecSuccess: OSStatus { 0 }
public var errSecParam: OSStatus { -50 }
public var errSecDuplicateItem: OSStatus { -25299 }
public var errSecItemNotFound: OSStatus { -25300 }

public var kSecAttrAccessControl: CFString { "" }
public var kSecAttrAccessGroup: CFString { "" }
public var kSecAttrAccessible: CFString { "" }
public var kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString { "" }
public var kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString { "" }
public var kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString { "" }
public var kSecAttrAccount: CFString { "" }
public var kSecAttrKeySizeInBits: CFString { "" }
public var kSecAttrKeyType: CFString { "" }
public var kSecAttrKeyTypeECSECPrimeRandom: CFString { "" }
public var kSecAttrKeyTypeRSA: CFString { "" }
public var kSecAttrService: CFString { "" }
public var kSecAttrSynchronizable: CFString { "" }
public var kSecClass: CFString { "" }
public var kSecClassGenericPassword: CFString { "" }
public var kSecImportExportPassphrase: CFString { "" }
public var kSecImportItemIdentity: CFString { "" }
public var kSecMatchLimit: CFString { "" }
public var kSecMatchLimitAll: CFString { "" }
public var kSecMatchLimitOne: CFString { "" }
public var kSecReturnAttributes: CFString { "" }
public var kSecReturnData: CFString { "" }
public var kSecUseAuthenticationContext: CFString { "" }
public var kSecUseDataProtectionKeychain: CFString { "" }
public var kSecValueData: CFString { "" }

@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { 0 }
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }
/// `protection` is a `CFTypeRef` on Apple's platforms, which a text of Core Foundation is there.
@discardableResult
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFString, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? { nil }

@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus { 0 }
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus { 0 }
@discardableResult
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { false }
@discardableResult
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { nil }

@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? { nil }
@discardableResult
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { fatalError() }
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? { nil }
@discardableResult
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { nil }
@discardableResult
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { nil }

@discardableResult
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { nil }
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? { nil }

@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus { 0 }
@discardableResult
public func SecIdentityGetTypeID() -> CFTypeID { 0 }

// Foundation's additions to the types of this module.
extension URLProtectionSpace {
    public var serverTrust: SecTrust? { nil }
}

extension URLCredential {
    public convenience init(trust: SecTrust) { fatalError() }
    public convenience init(
        identity: SecIdentity, certificates certArray: [Any]?, persistence: URLCredential.Persistence
    ) { fatalError() }
}
