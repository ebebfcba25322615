import Crypto
import Foundation
import HTTPTypes
import ODataModel
import ODataServer
import ODataService
import ServerState

/// The sessions of operators: sign-in by password and one-time password, or by a link.
struct OperatorSessions: Sendable {
    /// The least number of characters of a password.
    static let minimumPasswordLength = 12

    /// A session with the value of its cookie.
    struct Begun {
        var token: String
        var record: OperatorRecord
    }

    let services: NodeServices
    let limits: SignInLimits
    private let passwords = PasswordMemory()

    private var state: any ServerState { services.state }
    private var settings: OperatorSettings { services.configuration.operators }

    init(services: NodeServices) {
        self.services = services
        limits = SignInLimits(
            state: services.state, addressPerMinute: services.configuration.limits.signInPerMinute)
    }

    // MARK: Signing in

    /// Begins a session by password and one-time password.
    ///
    /// - Throws: ``ODataError`` 401 for any mistake alike, 429 after too many.
    func signIn(
        name: String, password: String, code: String, _ context: MountContext
    ) async throws -> Begun {
        let record = try await check(name: name, password: password, code: code, context)
        return try await begin(record, context)
    }

    /// Begins a session by a link.
    ///
    /// - Returns: `nil` for an unknown, used or old code.
    func signIn(link: String, _ context: MountContext) async throws -> Begun? {
        let counted = "operator link"
        try await limits.admit(counted, from: context.countedAddress)
        let links = OperatorLinks(state: state, keys: services.keys)
        let name = try await translatingState { () async throws(ServerStateError) in
            try await links.use(link, now: try await state.now())
        }
        guard let name else {
            try await limits.note(counted, from: context.countedAddress, hasSucceeded: false)
            return nil
        }
        let record = try await translatingState { () async throws(ServerStateError) in
            try await state.operators.named(name)
        }
        guard let record, !record.isLocked else { return nil }
        return try await begin(record, context)
    }

    /// Checks name, password and one-time password of an operator.
    func check(
        name: String, password: String, code: String, _ context: MountContext
    ) async throws -> OperatorRecord {
        let counted = "operator/\(name.prefix(RegistrationLimits.userNameLength))"
        try await limits.admit(counted, from: context.countedAddress)
        let record = try await translatingState { () async throws(ServerStateError) in
            try await state.operators.named(name)
        }
        // The password is checked even for an unknown operator, so that the time tells nothing.
        let isRight = await passwords.matches(password, record?.password)
        var hasCode = false
        if isRight, let record, let totp = record.totp, !record.isLocked,
            let step = OneTimePassword(secret: totp).step(matching: code, at: services.clock().rawValue / 1_000_000)
        {
            hasCode = try await translatingState { () async throws(ServerStateError) in
                try await state.operators.takeTOTPStep(step, of: record.id)
            }
        }
        try await limits.note(counted, from: context.countedAddress, hasSucceeded: hasCode)
        guard hasCode, let record else {
            try await note("operator:\(name.prefix(64))", "session.refuse", in: context)
            throw Self.refusal
        }
        return record
    }

    static let refusal = ODataError(
        status: 401, code: "SignInFailed", message: "Name, password or one-time password is wrong.")

    private func begin(_ record: OperatorRecord, _ context: MountContext) async throws -> Begun {
        let token = Base64URL.encode(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })
        try await translatingState { () async throws(ServerStateError) in
            let now = try await state.now()
            try await state.operators.begin(
                OperatorSession(
                    tokenHash: Self.hash(token), operatorID: record.id, createdAt: now, seenAt: now,
                    confirmedAt: now, address: context.address))
        }
        try await note("operator:\(record.name)", "session.begin", in: context)
        return Begun(token: token, record: record)
    }

    private func note(_ actor: String, _ action: String, in context: MountContext) async throws {
        let detail = OperatorAudit.json(["address": context.address])
        try await translatingState { () async throws(ServerStateError) in
            _ = try await state.operators.audit(
                AuditNote(actor: actor, action: action, target: "session", detail: detail))
        }
    }

    // MARK: Requests

    /// The sender of a request, with the token of the session; `nil` token for a service key.
    struct Sender {
        var request: OperatorRequest
        var token: String?
        var record: OperatorRecord?
    }

    /// Identifies the sender by the session's cookie, or by a service key as bearer token.
    ///
    /// - Returns: `nil` without a valid session or key.
    func sender(of head: HTTPRequest, _ context: MountContext) async throws -> Sender? {
        if let key = Self.bearer(head) { return try await keySender(key) }
        guard let token = Self.token(of: head, context) else { return nil }
        let (session, now) = try await translatingState { () async throws(ServerStateError) in
            (
                try await state.operators.session(
                    Self.hash(token), idle: settings.idle, length: settings.length), try await state.now()
            )
        }
        guard let session else { return nil }
        let record = try await translatingState { () async throws(ServerStateError) in
            try await state.operators.withID(session.operatorID)
        }
        guard let record, !record.isLocked else { return nil }
        let request = OperatorRequest(
            actor: "operator:\(record.name)", name: record.name, role: record.role, application: nil,
            confirmedAt: session.confirmedAt, now: now)
        return Sender(request: request, token: token, record: record)
    }

    private func keySender(_ key: String) async throws -> Sender? {
        guard let dot = key.lastIndex(of: "."), key.utf8.count <= 512 else { return nil }
        let (id, secret) = (String(key[..<dot]), key[key.index(after: dot)...])
        let (record, now) = try await translatingState { () async throws(ServerStateError) in
            (try await state.operators.serviceKey(id), try await state.now())
        }
        let hash = Array(SHA256.hash(data: Array(secret.utf8)))
        guard let record, record.hash.count == hash.count,
            zip(record.hash, hash).reduce(0 as UInt8, { $0 | ($1.0 ^ $1.1) }) == 0,
            record.expiresAt.map({ $0 > now }) ?? true,
            let role = record.roles.compactMap({ OperatorRole(rawValue: $0) }).max()
        else { return nil }
        let applications = try await translatingState { () async throws(ServerStateError) in
            try await state.applications.all()
        }
        guard let application = applications.first(where: { $0.id == record.application }) else { return nil }
        return Sender(
            request: OperatorRequest(
                actor: "key:\(id)", name: id, role: role, application: application.name, confirmedAt: nil, now: now))
    }

    private static func bearer(_ head: HTTPRequest) -> String? {
        guard let text = head.headerFields[.authorization], text.lowercased().hasPrefix("bearer ") else { return nil }
        return String(text.dropFirst("bearer ".count).filter { $0 != " " })
    }

    static func hash(_ token: String) -> [UInt8] { Array(SHA256.hash(data: Array(token.utf8))) }

    // MARK: Cookies and CSRF

    /// The name of the cookie: with the prefix that binds it to this host over TLS.
    static func cookieName(_ context: MountContext) -> String {
        context.isSecure ? "__Host-outpost" : "outpost-operator"
    }

    static func cookie(_ token: String, _ context: MountContext) -> String {
        "\(cookieName(context))=\(token); Path=/; HttpOnly; SameSite=Strict" + (context.isSecure ? "; Secure" : "")
    }

    static func noCookie(_ context: MountContext) -> String {
        "\(cookieName(context))=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"
            + (context.isSecure ? "; Secure" : "")
    }

    private static func token(of head: HTTPRequest, _ context: MountContext) -> String? {
        let name = cookieName(context)
        for field in head.headerFields[values: .cookie] {
            for pair in field.split(separator: ";") {
                let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                if parts.count == 2, parts[0] == name, parts[1].utf8.count == 43 { return String(parts[1]) }
            }
        }
        return nil
    }

    /// Returns the token that changes of a session carry in `X-CSRF-Token`.
    func csrfToken(_ token: String) -> String {
        Base64URL.encode(
            services.keys.authenticationCode(for: Array("operators' form ".utf8) + Array(token.utf8), .nonces))
    }

    /// Returns whether a request carries the token of its session.
    func hasCSRFToken(_ head: HTTPRequest, _ token: String) -> Bool {
        guard let name = HTTPField.Name("X-CSRF-Token"), let sent = head.headerFields[name] else { return false }
        let (left, right) = (Array(sent.utf8), Array(csrfToken(token).utf8))
        return left.count == right.count && zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    // MARK: Credentials

    /// Sets password and one-time password of the operator of a session. All sessions end.
    ///
    /// - Parameters:
    ///   - secret: The secret that the operator's app has, in base64url.
    ///   - code: The present code of the app, which shows that it has the secret.
    func setCredentials(
        password: String, secret: String, code: String, of sender: Sender, _ context: MountContext
    ) async throws {
        try sender.request.requireConfirmation()
        guard let record = sender.record else { throw ODataError(.roleMissing, "A service key has no password.") }
        let digest = try await OperatorProvider.digest(of: password)
        guard let bytes = Base64URL.decode(secret), bytes.count == OneTimePassword.secretLength else {
            throw ODataError(.invalidProperty, "The secret is not one of this server.", target: "secret")
        }
        let now = services.clock().rawValue / 1_000_000
        guard let step = OneTimePassword(secret: bytes).step(matching: code, at: now) else {
            throw ODataError(.invalidProperty, "The one-time password does not belong to the secret.", target: "code")
        }
        try await translatingState { () async throws(ServerStateError) in
            _ = try await state.operators.update(
                record.name, ifMatch: nil, OperatorChange(password: digest, totp: bytes))
            _ = try await state.operators.takeTOTPStep(step, of: record.id)
        }
        try await note("operator:\(record.name)", "operator.credentials", in: context)
    }
}
