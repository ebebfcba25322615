import Foundation
import HTTPTypes
import ODataHTTP

/// The authentication of a client: steps that complete a request before it is sent and answer challenges (RFC
/// 9110, 11; OData Protocol 4.01, 13.1 *Authentication*).
///
/// Steps apply only to the scheme, host and port of the service, never to a link that leads elsewhere. The
/// printed value reveals no secret.
///
/// ```swift
/// let authentication = Authentication.bearer { try await currentToken() }
/// let both = authentication.then(.header("X-Tenant", "blue"))
/// ```
public struct Authentication: Sendable, CustomStringConvertible, CustomReflectable {
    /// The steps, in the order in which they are applied.
    public let steps: [any AuthenticationStep]
    /// The name of the user, if it is known before the first request.
    private(set) var user: String?

    /// Creates an authentication from steps in their order.
    public init(_ steps: [any AuthenticationStep]) { self.steps = steps }

    /// Creates an authentication with one step.
    public init(_ step: any AuthenticationStep) { steps = [step] }

    /// Creates an authentication from a closure that completes requests.
    public init(_ apply: @escaping @Sendable (inout HTTPRequest) async throws -> Void) {
        steps = [Completion(apply: apply)]
    }

    /// No authentication.
    public static let none = Authentication([any AuthenticationStep]())

    /// Sends a user name and a password with each request (RFC 7617). Use it over TLS only.
    public static func basic(user: String, password: String) -> Authentication {
        let value = BasicCredentials.field(user: user, password: password)
        var authentication = Authentication { $0.headerFields[.authorization] = value }
        authentication.user = user
        return authentication
    }

    /// Sends a token with each request (RFC 6750).
    ///
    /// - Parameter token: Returns the token. The closure is called for each request, so that it can renew an
    ///   expired token.
    public static func bearer(_ token: @escaping @Sendable () async throws -> String) -> Authentication {
        Authentication { $0.headerFields[.authorization] = "Bearer \(try await token())" }
    }

    /// Sends a header field with each request. A name that is not a valid field name is ignored.
    public static func header(_ name: String, _ value: String) -> Authentication {
        Authentication { request in
            guard let name = HTTPField.Name(name) else { return }
            request.headerFields[name] = value
        }
    }

    /// Returns an authentication that applies these steps and then those of another one.
    public func then(_ next: Authentication) -> Authentication {
        var authentication = Authentication(steps + next.steps)
        authentication.user = user ?? next.user
        return authentication
    }

    /// Returns an authentication that applies these steps and then another one.
    public func then(_ next: any AuthenticationStep) -> Authentication { then(Authentication(next)) }

    /// Completes a request that is sent neither by an ``ODataClient`` nor by an ``HTTPSession``.
    public func complete(_ request: inout HTTPRequest) async throws {
        for step in steps { try await step.prepare(&request) }
    }

    /// A fixed text that reveals no credentials.
    public var description: String { "‹redacted›" }
    /// A mirror without children, so that no credentials are printed.
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
