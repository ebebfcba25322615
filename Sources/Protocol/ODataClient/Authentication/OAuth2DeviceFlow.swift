import ErrorCodes
import Foundation
import ODataHTTP

/// A sign-in with a browser on any other device (RFC 8628): the person opens a page there and enters a short code.
///
/// ```swift
/// let flow = try OAuth2DeviceFlow(configuration, server: server, transport: transport)
/// let tokens = try await flow.signIn { print("Open \($0.verificationURL) and enter \($0.userCode)") }
/// try await tokenStore.save(tokens)
/// ```
public struct OAuth2DeviceFlow: Sendable {
    /// The page and the code that the person needs. Nobody else should see them.
    public struct Prompt: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        /// The code that the person enters.
        public let userCode: String
        /// The page at which the person enters the code.
        public let verificationURL: String
        /// A page that knows the code already, for instance for a QR code.
        public let completeURL: String?
        /// The time until which the code is valid, in seconds since 1970.
        public let expires: Int64

        /// A fixed text that reveals no code.
        public var description: String { "‹redacted›" }
        /// A mirror without children, so that no code is printed.
        public var customMirror: Mirror { Mirror(self, children: [:]) }
    }

    /// The interval in seconds if the server states none (RFC 8628, 3.2).
    static let standardInterval: Int64 = 5
    /// The largest interval in seconds.
    static let maxInterval: Int64 = 300
    /// The longest time in seconds for which a code is polled.
    static let maxLifetime: Int64 = 3_600

    private let client: OAuth2Endpoint
    private let endpoint: String
    private let sleep: @Sendable (Duration) async throws -> Void

    /// Creates a flow.
    ///
    /// - Parameters:
    ///   - configuration: The client and the requested scopes; the grant does not matter.
    ///   - server: The authorization server. Its token endpoint replaces that of the configuration.
    ///   - transport: Sends the requests. It must not add the credentials of a service.
    ///   - now: Returns the current time in seconds since 1970.
    ///   - sleep: Waits between two requests, and throws if the task was cancelled.
    /// - Throws: ``OAuth2Error/insecureEndpoint(_:)``; ``OAuth2Error/invalidMetadata(issuer:reason:)`` for a server
    ///   without a device authorization endpoint.
    public init(
        _ configuration: OAuth2.Configuration, server: OAuth2Server, transport: any HTTPTransport,
        now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) throws(OAuth2Error) {
        guard let endpoint = server.deviceEndpoint else {
            throw .invalidMetadata(issuer: server.name, reason: "it has no device authorization endpoint")
        }
        try OAuth2Endpoint.check(endpoint)
        var configuration = configuration
        configuration.tokenEndpoint = server.tokenEndpoint
        client = try OAuth2Endpoint(configuration, transport: transport, now: now)
        self.endpoint = endpoint
        self.sleep = sleep
    }

    /// Lets a person sign in, and waits until this is done, refused or too late.
    ///
    /// The token endpoint is asked at the interval of the server. Each `slow_down` adds five seconds to it, and a
    /// failure of the connection doubles it (RFC 8628, 3.5). Cancelling the task ends the waiting.
    ///
    /// - Parameter show: Shows the page and the code to the person, and returns at once.
    /// - Throws: ``OAuth2Error``: ``OAuth2Error/expired``, or ``OAuth2Error/refused(code:description:)`` with
    ///   `access_denied` if the person refused; `CancellationError`; the errors of the transport and of `show`.
    public func signIn(show: @Sendable (Prompt) async throws -> Void) async throws -> OAuth2Tokens {
        let offer = try Offer.checked(try await client.post(client.scope, to: endpoint))
        let deadline = client.now() + offer.lifetime
        try await show(offer.prompt(until: deadline))
        var interval = offer.pollingInterval
        while true {
            guard client.now() + interval < deadline else { throw OAuth2Error.expired }
            try await sleep(.seconds(interval))
            try Task.checkCancellation()
            do {
                return try await client.tokens(for: [
                    ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                    ("device_code", offer.device_code),
                ])
            } catch OAuth2Error.refused("authorization_pending", _) {
                continue
            } catch OAuth2Error.refused("slow_down", _) {
                interval = min(interval + 5, Self.maxInterval)
            } catch OAuth2Error.refused("expired_token", _) {
                throw OAuth2Error.expired
            } catch let error as any CodedError where error.mayPass {
                interval = min(interval * 2, Self.maxInterval)
            }
        }
    }

    /// The response of the device authorization endpoint (RFC 8628, 3.2).
    private struct Offer: Decodable {
        let device_code: String
        let user_code: String
        let verification_uri: String?
        /// The name of `verification_uri` in early drafts, which Google uses.
        let verification_url: String?
        let verification_uri_complete: String?
        let expires_in: OAuth2TokenResponse.Seconds?
        let interval: OAuth2TokenResponse.Seconds?

        /// Reads and checks a response.
        static func checked(_ data: Data) throws(OAuth2Error) -> Offer {
            func invalid(_ reason: String) -> OAuth2Error { .invalidResponse(status: 200, reason: reason) }
            guard let offer = try? JSONDecoder().decode(Offer.self, from: data), let page = offer.page else {
                throw invalid("it holds no code for a device")
            }
            guard !offer.device_code.isEmpty, offer.device_code.utf8.count <= OAuth2TokenResponse.maxTokenLength else {
                throw invalid("its device code is malformed")
            }
            guard (1...64).contains(offer.user_code.utf8.count),
                offer.user_code.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
            else { throw invalid("its user code is malformed") }
            guard isPage(page) else { throw invalid("its verification page is no https URL") }
            guard offer.expires_in?.value != nil else { throw invalid("its code has no lifetime") }
            return offer
        }

        private var page: String? { verification_uri ?? verification_url }

        var lifetime: Int64 { min(expires_in?.value ?? 0, OAuth2DeviceFlow.maxLifetime) }

        var pollingInterval: Int64 {
            min(interval?.value ?? OAuth2DeviceFlow.standardInterval, OAuth2DeviceFlow.maxInterval)
        }

        func prompt(until deadline: Int64) -> Prompt {
            Prompt(
                userCode: user_code, verificationURL: page ?? "",
                completeURL: verification_uri_complete.flatMap { Self.isPage($0) ? $0 : nil }, expires: deadline)
        }

        /// Returns whether a person may be sent to a URL: a short URL of printable characters over https.
        private static func isPage(_ url: String) -> Bool {
            url.utf8.count <= 2_048 && url.utf8.allSatisfy { (0x21...0x7E).contains($0) }
                && (try? OAuth2Endpoint.check(url)) != nil
        }
    }
}

extension CodedError {
    /// Whether the same request may succeed later.
    fileprivate var mayPass: Bool { failureKind == .transient || failureKind == .connection }
}
