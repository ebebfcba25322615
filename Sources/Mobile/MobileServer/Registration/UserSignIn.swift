import Foundation
import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService
import ServerState

/// Identifies the user of a request by a security configuration.
struct UserSignIn: Sendable {
    /// A user with the claims of the sign-in, or the reason why there is none.
    enum Outcome {
        case user(DeviceUser)
        /// The request has no valid credentials.
        case none
    }

    let state: any ServerState
    let limits: SignInLimits
    private let passwords = PasswordMemory()
    private let issuers: TokenIssuers
    private let backEnds: BackEndSignIn

    private let authorities: CertificateAuthorities
    private let deviceAuthority: String

    /// Creates the identification.
    ///
    /// - Parameters:
    ///   - perMinute: The number of failures of an address in a minute that block it.
    ///   - authorities: The authorities of users' certificates.
    ///   - deviceAuthority: The name of the authority of device certificates, which identify no user.
    init(
        state: any ServerState, transport: any HTTPTransport, perMinute: Int, authorities: CertificateAuthorities,
        deviceAuthority: String
    ) {
        self.state = state
        self.authorities = authorities
        self.deviceAuthority = deviceAuthority
        limits = SignInLimits(state: state, addressPerMinute: perMinute)
        issuers = TokenIssuers(transport: transport)
        backEnds = BackEndSignIn(transport: transport)
    }

    /// Identifies the user.
    ///
    /// - Parameters:
    ///   - name: The name of the security configuration.
    ///   - registration: The registration that the request names or asks for; it is the user of an anonymous one.
    /// - Throws: ``ODataError`` 429 after too many failures, 403 for credentials over plain HTTP.
    func identify(_ request: DeviceRequest, by name: String, registration: String?) async throws -> Outcome {
        let head = request.head
        try Self.requireSecrecy(head, request.context)
        guard let security = request.application.configuration.security[name] else { return .none }
        let roles = Set(security.roles)
        switch security.kind {
        case .anonymous:
            guard let registration else { return .none }
            return .user(
                DeviceUser(
                    issuer: "anonymous:\(registration)", subject: registration, name: "anonymous", roles: roles))
        case .activation: return .none
        case .cookie: return try await cookieUser(head, name, as: security)
        case .basic: return try await passwordUser(request, name, as: security)
        case .bearer:
            guard head.headerFields[.authorization]?.lowercased().hasPrefix("bearer ") == true,
                let issuer = security.issuer
            else { return .none }
            let way = try await issuers.way(issuer: issuer, audience: security.audience ?? "")
            guard let principal = await way.principal(of: head, certificate: nil) else { return .none }
            return .user(
                DeviceUser(
                    issuer: "oidc:\(issuer)", subject: principal.name, name: Self.displayName(principal),
                    roles: principal.roles.union(roles), claims: principal.claims))
        case .certificate:
            // TLS has verified the certificate with the authorities of all applications, and those of devices.
            guard let bytes = request.context.certificate, let certificate = request.certificate,
                certificate.issuer != deviceAuthority, let name = certificate.commonName, !name.isEmpty
            else { return .none }
            if let file = security.ca, try !authorities.hasIssued(bytes, file: file) { return .none }
            return .user(
                DeviceUser(
                    issuer: "certificate:\(certificate.issuer)", subject: certificate.subject, name: name,
                    roles: roles, claims: ["subject": certificate.subject]))
        }
    }

    /// Refuses credentials over plain HTTP from another machine, before they are read.
    static func requireSecrecy(_ head: HTTPRequest, _ context: MountContext) throws(ODataError) {
        guard head.headerFields[.authorization] != nil || head.headerFields[.cookie] != nil else { return }
        guard context.isSecure || context.isLoopback else { throw plain }
    }

    static let plain = ODataError(
        .plainHTTP, "Credentials over plain HTTP are refused. Use https, or a sender on the same machine.")

    private static func displayName(_ principal: Principal) -> String {
        let name = principal.claims["preferred_username"] ?? principal.claims["email"] ?? principal.name
        return String(name.prefix(RegistrationLimits.userNameLength))
    }

    /// Identifies the user of a cookie, which the back end knows (`mobile-server.md` 6.2).
    private func cookieUser(
        _ head: HTTPRequest, _ name: String, as security: SecurityConfiguration
    ) async throws -> Outcome {
        guard let url = security.checkURL, let cookie = security.cookie, let value = Self.cookie(cookie, of: head)
        else { return .none }
        let person = try await backEnds.person(at: url, .cookie, "\(cookie)=\(value)")
        guard let person else { return .none }
        guard let subject = person.subject else { throw BackEndSignIn.nameless }
        return .user(
            DeviceUser(
                issuer: "cookie:\(name)", subject: subject, name: person.name,
                roles: person.roles.union(security.roles)))
    }

    /// Returns the value of a cookie.
    static func cookie(_ name: String, of head: HTTPRequest) -> String? {
        for field in head.headerFields[values: .cookie] {
            for pair in field.split(separator: ";") {
                let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                if parts.count == 2, parts[0] == name, parts[1].utf8.count <= 4096 { return String(parts[1]) }
            }
        }
        return nil
    }

    /// Identifies the user of a password: by the directory, or by a back end.
    private func passwordUser(
        _ request: DeviceRequest, _ security: String, as configuration: SecurityConfiguration
    ) async throws -> Outcome {
        let roles = Set(configuration.roles)
        let application = request.application
        let address = request.context.countedAddress
        guard let (name, password) = Self.credentials(of: request.head),
            (1...RegistrationLimits.userNameLength).contains(name.count)
        else { return .none }
        let counted = "\(application.record.name)/\(name)"
        try await limits.admit(counted, from: address)
        if let url = configuration.checkURL {
            let text = request.head.headerFields[.authorization] ?? ""
            let person = try await backEnds.person(at: url, .authorization, text)
            try await note(counted, address, hasSucceeded: person != nil)
            guard let person else { return .none }
            return .user(
                DeviceUser(
                    issuer: "basic:\(security)", subject: person.subject ?? name, name: person.name,
                    roles: person.roles.union(roles)))
        }
        let user = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.directoryUser(name, of: application.record.id)
        }
        let isRight = await passwords.matches(password, user?.password)
        guard isRight, let user, !user.isLocked else {
            try await note(counted, address, hasSucceeded: false)
            return .none
        }
        try await note(counted, address, hasSucceeded: true)
        return .user(
            DeviceUser(
                issuer: "basic:\(security)", subject: name, roles: Set(user.roles).union(roles)))
    }

    private func note(_ counted: String, _ address: String, hasSucceeded: Bool) async throws {
        guard hasSucceeded else {
            return try await limits.note(counted, from: address, hasSucceeded: false)
        }
        let known = try await translatingState { () async throws(ServerStateError) in
            try await state.operators.signIns(of: counted, from: address)
        }
        // A success is written only if it changes something: a device sends its password with each request.
        if !known.isKnown || known.failures > 0 {
            try await limits.note(counted, from: address, hasSucceeded: true)
        }
    }

    /// Returns user name and password of `Authorization: Basic` (RFC 7617, 2).
    static func credentials(of head: HTTPRequest) -> (name: String, password: String)? {
        guard let text = head.headerFields[.authorization], text.utf8.count <= 4096,
            let space = text.firstIndex(of: " "), text[..<space].lowercased() == "basic",
            let bytes = Data(base64Encoded: text[space...].filter { $0 != " " }),
            let pair = String(bytes: bytes, encoding: .utf8), let colon = pair.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return (String(pair[..<colon]), String(pair[pair.utf8.index(after: colon)...]))
    }
}
