import HTTPTypes
import NIOSSL
import ODataHTTP
import ODataService

/// The checks of a request before the handler, in order: its form, its host, the limits of its address, the
/// origin of the sending page, and the identity of the caller.
struct FrontDoor: Sendable {
    private let configuration: ODataServer.Configuration
    private let limiter: AddressLimiter
    private let signIns: SignInGuard
    private let hosts: AcceptedHosts
    private let crossSite: CrossSiteRule
    private let revocations: RevocationLists?

    /// - Throws: ``ServerStartError`` if the revocation lists cannot be read.
    init(_ configuration: ODataServer.Configuration) throws(ServerStartError) {
        self.configuration = configuration
        revocations = try configuration.tls?.revocations()
        hosts = AcceptedHosts(configuration.hosts.names.union([configuration.host]))
        limiter = AddressLimiter(configuration.addressLimits)
        signIns = SignInGuard(configuration.signInDelays)
        crossSite = CrossSiteRule(policy: configuration.crossOrigin)
    }

    /// The result of a check: a value, or a refusal in place of the handler's response.
    typealias Checked<Value> = Result<Value, Refusal>

    /// Determines the host and the scheme of a request.
    ///
    /// - Returns: A refusal if the form of the request is invalid.
    func settle(_ head: inout HTTPRequest, _ connection: ConnectionContext) -> Refusal? {
        if connection.isStreamOfHTTP2 { RequestForm.settleHost(of: &head) }
        head.scheme = configuration.tls == nil ? "http" : "https"
        return RequestForm.refusal(of: head)
    }

    /// Returns a refusal of a request for another server.
    func misdirection(of head: HTTPRequest) -> Refusal? {
        guard let authority = head.authority, !hosts.accepts(authority) else { return nil }
        return Refusal(
            status: .misdirectedRequest, code: "MisdirectedRequest",
            message: "The service does not answer to this host name. Its operator can allow the name.")
    }

    /// Admits a request of an address, or returns a refusal.
    func enter(_ head: HTTPRequest, from address: String) -> Checked<AddressLimiter.Place> {
        limiter.enter(address, isCounted: !Self.isFurtherPage(head)).mapError(\.refusal)
    }

    /// Returns a refusal of a change that a page of another origin requests.
    func crossSiteRefusal(of head: HTTPRequest) -> Refusal? { crossSite.refusal(of: head) }

    /// Returns whether a request follows the next link of a page.
    static func isFurtherPage(_ head: HTTPRequest) -> Bool {
        guard head.method == .get, let path = head.path, let mark = path.firstIndex(of: "?") else { return false }
        return path[mark...].dropFirst().split(separator: "&").contains { option in
            let name = option.prefix { $0 != "=" }.lowercased()
            return name == "$skiptoken" || name == "%24skiptoken" || name == "skiptoken"
        }
    }

    /// Identifies the caller. The result is `nil` if the mount is open to everyone, or its handler identifies callers.
    func principal(
        of head: HTTPRequest, from address: String, _ connection: ConnectionContext,
        _ authentication: Mount.Authentication
    ) async -> Checked<Principal?> {
        let ways =
            switch authentication {
            case .open, .byHandler: [] as [any RequestAuthenticator]
            case .ofServer: configuration.authentication
            case .any(let ways): ways
            }
        guard !ways.isEmpty || revocations != nil else { return .success(nil) }
        let certificate = await connection.clientCertificate()
        if let certificate, let refusal = revocations?.objection(to: certificate) { return .failure(refusal) }
        guard !ways.isEmpty else { return .success(nil) }
        let user = BasicAuthentication.user(of: head)
        if let user, let refusal = await signIns.begin(user, from: address) { return .failure(refusal) }
        var shown: Principal?
        var signedIn: Principal?
        for way in ways {
            if way is ClientCertificateAuthentication {
                if shown == nil { shown = await way.principal(of: head, certificate: certificate) }
            } else if signedIn == nil {
                signedIn = await way.principal(of: head, certificate: certificate)
            }
        }
        if let user { signIns.ended(user, address, hasSucceeded: signedIn != nil) }
        let principal = decided(head, shown, signedIn: signedIn, by: ways)
        return principal.map { .success($0) } ?? .failure(Self.unauthorized(ways))
    }

    /// Returns the caller if the credentials are sufficient.
    private func decided(
        _ head: HTTPRequest, _ shown: Principal?, signedIn: Principal?, by ways: [any RequestAuthenticator]
    ) -> Principal? {
        let takesCertificates = ways.contains { $0 is ClientCertificateAuthentication }
        guard ways.contains(where: { !($0 is ClientCertificateAuthentication) }) else { return shown }
        guard takesCertificates else { return signedIn }
        guard configuration.certificateSuffices else { return shown == nil ? nil : signedIn }
        // A request with invalid credentials is refused, even with a valid certificate.
        return signedIn ?? (head.headerFields[.authorization] == nil ? shown : nil)
    }

    private static func unauthorized(_ ways: [any RequestAuthenticator]) -> Refusal {
        var fields = HTTPFields()
        for challenge in ways.compactMap(\.challenge) {
            fields.append(HTTPField(name: .wwwAuthenticate, value: challenge))
        }
        let explanations = ways.map(\.explanation)
        return Refusal(
            status: .unauthorized, code: "Unauthorized", message: explanations.joined(separator: " "), fields: fields)
    }

    /// Adds the fields of every response, which keep a browser from guessing media types and from sending the
    /// URL to other sites.
    static func addFields(to response: inout HTTPResponse) {
        response.headerFields[.referrerPolicy] = "no-referrer"
        response.headerFields[.xContentTypeOptions] = "nosniff"
    }
}
