import ErrorCodes
import Foundation
import HTTPTypes
import ODataHTTP

/// The address of a collector for OTLP/HTTP, such as `http://127.0.0.1:4318`.
public struct OTLPEndpoint: Hashable, Sendable, CustomStringConvertible {
    let scheme: String
    let authority: String
    let path: String
    private let isOnThisMachine: Bool

    /// Parses an address.
    ///
    /// - Parameter text: An absolute URL for HTTP or HTTPS, without user, query and fragment. The paths
    ///   `/v1/traces` and `/v1/metrics` are added to it.
    /// - Throws: ``OTLPError/invalidEndpoint``. The error does not contain the text, which may hold a password.
    public init(_ text: String) throws(OTLPError) {
        guard let parts = URLComponents(string: text, encodingInvalidCharacters: false),
            let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty, parts.user == nil,
            parts.password == nil, parts.query == nil, parts.fragment == nil
        else { throw .invalidEndpoint }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let authority = parts.port.map { "\(name):\($0)" } ?? name
        guard Origin(scheme: scheme, authority: authority) != nil, let known = Authority(authority) else {
            throw .invalidEndpoint
        }
        self.scheme = scheme
        self.authority = authority
        path =
            parts.percentEncodedPath.hasSuffix("/")
            ? String(parts.percentEncodedPath.dropLast()) : parts.percentEncodedPath
        isOnThisMachine = known.isLoopback
    }

    /// The address.
    public var description: String { "\(scheme)://\(authority)\(path)" }

    /// Whether nobody between this process and the collector can read what is sent.
    var isPrivate: Bool { scheme == "https" || isOnThisMachine }

    func request(_ signal: String) -> HTTPRequest {
        HTTPRequest(method: .post, scheme: scheme, authority: authority, path: "\(path)/v1/\(signal)")
    }
}

/// The reason why an exporter cannot be made.
public enum OTLPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address of the collector is not an absolute URL for HTTP or HTTPS, or has a user, a query or a fragment.
    case invalidEndpoint
    /// Header fields, which may be credentials, would be sent unencrypted to another machine.
    case plainHTTP(host: String)

    /// An explanation of the error.
    public var description: String {
        switch self {
        case .invalidEndpoint:
            "The address of the collector is not usable. Pass a URL such as http://127.0.0.1:4318, without user, query "
                + "and fragment."
        case .plainHTTP(let host):
            "The header fields for \(host) would be sent unencrypted. Use https, or leave the fields out."
        }
    }
}

extension OTLPError: CodedError {
    /// The code `otlp.invalid-endpoint` or `otlp.plain-http`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .invalidEndpoint: "invalid-endpoint"
            case .plainHTTP: "plain-http"
            }
        return ErrorCode(rawValue: "otlp.\(name)")
    }

    /// Always `FailureKind.request`: the settings must be changed.
    public var failureKind: FailureKind { .request }
}
