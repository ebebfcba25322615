import Foundation
import HTTPTypes
import ODataHTTP

/// How a client shows who it is: steps that complete a request before it is sent and answer challenges
/// (RFC 9110, 11; OData Protocol 4.01, 13.1 *Authentication*).
///
/// Steps go only to the service's own scheme, host and port, never with a link that leads elsewhere.
/// A printed value never shows what is secret.
///
/// ```swift
/// let authentication = Authentication.bearer { try await tokens.current() }
/// let both = authentication.then(.header("X-Tenant", "blue"))
/// ```
public struct Authentication: Sendable, CustomStringConvertible, CustomReflectable {
    /// The steps in their order.
    public let steps: [any AuthenticationStep]
    /// Who signs in, where that is known beforehand.
    private(set) var user: String?

    /// Steps in their order.
    public init(_ steps: [any AuthenticationStep]) { self.steps = steps }

    /// One step.
    public init(_ step: any AuthenticationStep) { steps = [step] }

    /// A step of the caller's own that only completes requests.
    public init(_ apply: @escaping @Sendable (inout HTTPRequest) async throws -> Void) {
        steps = [Completion(apply: apply)]
    }

    /// No authentication.
    public static let none = Authentication([any AuthenticationStep]())

    /// A user name and a password with each request (RFC 7617). Use it over TLS only.
    public static func basic(user: String, password: String) -> Authentication {
        let value = BasicCredentials.field(user: user, password: password)
        var authentication = Authentication { $0.headerFields[.authorization] = value }
        authentication.user = user
        return authentication
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
        var authentication = Authentication(steps + next.steps)
        authentication.user = user ?? next.user
        return authentication
    }

    /// These steps and then another.
    public func then(_ next: any AuthenticationStep) -> Authentication { then(Authentication(next)) }

    /// Completes a request, for requests that no ``ODataClient`` and no ``HTTPSession`` sends.
    public func complete(_ request: inout HTTPRequest) async throws {
        for step in steps { try await step.prepare(&request) }
    }

    /// Nothing of what it holds.
    public var description: String { "‹redacted›" }
    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    private struct Completion: AuthenticationStep {
        let apply: @Sendable (inout HTTPRequest) async throws -> Void
        func prepare(_ request: inout HTTPRequest) async throws { try await apply(&request) }
    }
}

/// The value of `Authorization` and `Proxy-Authorization` for a user name and a password (RFC 7617, 2).
enum BasicCredentials {
    static func field(user: String, password: String) -> String {
        "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    }
}
