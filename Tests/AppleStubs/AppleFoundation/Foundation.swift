// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The parts of Foundation and Dispatch that exist only on Apple's platforms. Every checked file imports this
// module.

public import Dispatch
public import Foundation
@_exported public import FoundationNetworking

public var NSURLAuthenticationMethodServerTrust: String { "" }
public var NSURLAuthenticationMethodClientCertificate: String { "" }

extension URLSessionConfiguration {
    public class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
    public var allowsExpensiveNetworkAccess: Bool {
        get { true }
        set {}
    }
    public var sessionSendsLaunchEvents: Bool {
        get { true }
        set {}
    }
}

extension Stream {
    public class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: UnsafeMutablePointer<InputStream?>?,
        outputStream: UnsafeMutablePointer<OutputStream?>?
    ) {}
}

public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {
    var data: DispatchSource.MemoryPressureEvent { get }
    var mask: DispatchSource.MemoryPressureEvent { get }
}

extension DispatchSource {
    public struct MemoryPressureEvent: OptionSet, RawRepresentable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let normal = Self(rawValue: 1)
        public static let warning = Self(rawValue: 2)
        public static let critical = Self(rawValue: 4)
        public static let all: Self = [.normal, .warning, .critical]
    }

    public class func makeMemoryPressureSource(
        eventMask: DispatchSource.MemoryPressureEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceMemoryPressure { fatalError() }
}
