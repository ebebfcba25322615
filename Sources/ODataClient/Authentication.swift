import Foundation
import HTTPTypes

/// How a client shows who it is: a step that completes a request before it is sent (RFC 9110, 11;
/// OData Protocol 4.01, 13.1 *Authentication*).
///
/// Steps go only to the service's own scheme, host and port, never with a link that leads elsewhere.
/// A printed value never shows what is secret.
///
/// ```swift
/// let authentication = Authentication.bearer { try await tokens.current() }
/// let both = authentication.then(.header("X-Tenant", "blue"))
/// ```
public struct Authentication: Sendable, CustomStringConvertible, CustomReflectable {
    private let apply: @Sendable (inout HTTPRequest) async throws -> Void

    /// A step of the caller's own.
    public init(_ apply: @escaping @Sendable (inout HTTPRequest) async throws -> Void) {
        self.apply = apply
    }

    /// No authentication.
    public static let none = Authentication { _ in }

    /// A user name and a password with each request (RFC 7617). Use it over TLS only.
    public static func basic(user: String, password: String) -> Authentication {
        let credentials = Data("\(user):\(password)".utf8).base64EncodedString()
        return Authentication { $0.headerFields[.authorization] = "Basic \(credentials)" }
    }

    /// A token with each request (RFC 6750).
    ///
    /// - Parameter token: gives the token; asked for each request, so that it can renew an expired one.
    public static func bearer(_ token: @escaping @Sendable () async throws -> String) -> Authentication {
        Authentication { $0.headerFields[.authorization] = "Bearer \(try await token())" }
    }

    /// A header field with each request; a name that is none is left out.
    public static func header(_ name: String, _ value: String) -> Authentication {
        Authentication { request in
            guard let name = HTTPField.Name(name) else { return }
            request.headerFields[name] = value
        }
    }

    /// This step and then another.
    public func then(_ next: Authentication) -> Authentication {
        Authentication { request in
            try await apply(&request)
            try await next.apply(&request)
        }
    }

    /// Does the step, for requests that no ``ODataClient`` sends.
    public func complete(_ request: inout HTTPRequest) async throws {
        try await apply(&request)
    }

    /// Nothing of what it holds.
    public var description: String { "‹redacted›" }
    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
