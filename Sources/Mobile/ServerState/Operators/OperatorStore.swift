import Secrets

/// Operators, their sessions, service keys, secrets, sign-in counters, approvals and the audit. Change numbers are
/// those of the scope `server`.
public protocol OperatorStore: Sendable {
    // MARK: Operators and sessions

    /// Returns all operators in the order of their names.
    func all() async throws(ServerStateError) -> [OperatorRecord]

    /// Returns an operator by name.
    func named(_ name: String) async throws(ServerStateError) -> OperatorRecord?

    /// Returns an operator by number.
    func withID(_ id: RecordNumber) async throws(ServerStateError) -> OperatorRecord?

    /// Adds an operator.
    ///
    /// - Throws: ``ServerStateError/alreadyExists(kind:name:)``.
    func add(_ record: OperatorRecord) async throws(ServerStateError) -> OperatorRecord

    /// Changes an operator. New or reset credentials end all sessions, as does a lock.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)``, ``ServerStateError/changed(kind:name:)``.
    func update(
        _ name: String, ifMatch etag: ChangeNumber?, _ change: OperatorChange
    ) async throws(ServerStateError) -> OperatorRecord

    /// Removes an operator with all sessions.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)``.
    func remove(_ name: String) async throws(ServerStateError)

    /// Takes a time step of TOTP.
    ///
    /// - Returns: Whether the step is later than the last one. A code works once.
    func takeTOTPStep(_ step: Int64, of id: RecordNumber) async throws(ServerStateError) -> Bool

    /// Begins a session.
    func begin(_ session: OperatorSession) async throws(ServerStateError)

    /// Returns a session that is neither idle for too long nor too old, and notes its use.
    func session(
        _ tokenHash: [UInt8], idle: Duration, length: Duration
    ) async throws(ServerStateError) -> OperatorSession?

    /// Notes that the operator has shown password and TOTP again.
    func confirm(_ tokenHash: [UInt8]) async throws(ServerStateError)

    /// Ends a session.
    func end(_ tokenHash: [UInt8]) async throws(ServerStateError)

    // MARK: Service keys and secrets

    /// Returns the service keys of an application.
    func serviceKeys(of application: RecordNumber) async throws(ServerStateError) -> [ServiceKeyRecord]

    /// Returns a service key that has not expired.
    func serviceKey(_ id: String) async throws(ServerStateError) -> ServiceKeyRecord?

    /// Adds a service key.
    ///
    /// - Throws: ``ServerStateError/alreadyExists(kind:name:)``.
    func add(_ key: ServiceKeyRecord) async throws(ServerStateError) -> ServiceKeyRecord

    /// Removes a service key.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)``.
    func removeServiceKey(_ id: String) async throws(ServerStateError)

    /// Returns the names of the secrets.
    func secrets() async throws(ServerStateError) -> [StoredSecretName]

    /// Returns the value of a secret; `nil` if there is none.
    func secret(_ name: String) async throws(ServerStateError) -> Secret<[UInt8]>?

    /// Sets a secret, which gets the next version; `nil` removes it.
    func setSecret(_ value: Secret<[UInt8]>?, named name: String) async throws(ServerStateError)

    // MARK: Sign-ins and approvals

    /// Returns the failed sign-ins of a user from an address (IPv6: its /64).
    func signIns(
        of user: String, from address: String
    ) async throws(ServerStateError) -> SignInRecord

    /// Notes the outcome of a sign-in: a success clears the failures.
    func noteSignIn(
        of user: String, from address: String, hasSucceeded: Bool
    ) async throws(ServerStateError)

    /// Returns the approvals that have not expired.
    func approvals() async throws(ServerStateError) -> [ApprovalRecord]

    /// Asks a second operator for approval.
    func request(
        action: String, body: [UInt8], by operatorName: String, expiresAt: ServerInstant
    ) async throws(ServerStateError) -> ApprovalRecord

    /// Approves an action.
    ///
    /// - Returns: The approval; `nil` if it has expired, is approved already, or the same operator asked for it.
    func approve(
        _ id: RecordNumber, by operatorName: String
    ) async throws(ServerStateError) -> ApprovalRecord?

    // MARK: Audit

    /// Appends an entry to the chain.
    func audit(_ note: AuditNote) async throws(ServerStateError) -> AuditEntry

    /// Returns entries, newest first, at most 1,000.
    func audit(before number: Int64?, limit: Int) async throws(ServerStateError) -> [AuditEntry]

    /// Returns the end of the chain.
    func auditHead() async throws(ServerStateError) -> AuditHead

    /// Checks all entries. `logged` is a head from the log: a chain that ends before it was cut.
    func verifyAudit(logged: AuditHead?) async throws(ServerStateError) -> AuditVerdict

    /// Replaces the name of a person in the targets and details of the audit by a pseudonym, and notes that
    /// (`mobile-server.md` 0.7). A part of another name stays, and so do actors, who are operators.
    ///
    /// - Returns: The number of changed entries.
    func replaceInAudit(_ name: String, by pseudonym: String) async throws(ServerStateError) -> Int
}

/// A kind of values that may be used once.
public enum OnceKind: String, Hashable, Sendable, Codable {
    /// A CAPTCHA challenge.
    case captcha
    /// The `jti` of a device proof of a change.
    case proof
    /// A sign-in link of an operator.
    case signInLink = "sign-in-link"
    /// A confirmation of a wipe.
    case confirmation
}

/// Values that may be used once, on all nodes (`design-review.md` 26).
public protocol OnceStore: Sendable {
    /// Uses a value.
    ///
    /// - Returns: Whether this is the first use.
    func use(
        _ id: [UInt8], _ kind: OnceKind, until expiresAt: ServerInstant
    ) async throws(ServerStateError) -> Bool

    /// Counts an attempt, such as a wrong answer to a challenge, and returns the number of attempts.
    func count(
        _ id: [UInt8], _ kind: OnceKind, until expiresAt: ServerInstant
    ) async throws(ServerStateError) -> Int
}
