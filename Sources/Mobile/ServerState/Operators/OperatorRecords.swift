/// A role of operators. Each role includes those before it.
public enum OperatorRole: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
    /// Sees everything but secrets.
    case viewer
    /// Locks, unlocks and disconnects devices, and refreshes feeds.
    case support
    /// Changes applications.
    case manager
    /// Manages operators, keys and secrets.
    case security

    /// Whether one role is included in another.
    public static func < (left: OperatorRole, right: OperatorRole) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .viewer: 0
        case .support: 1
        case .manager: 2
        case .security: 3
        }
    }
}

/// An operator.
public struct OperatorRecord: Hashable, Sendable {
    /// The number.
    public var id: RecordNumber
    /// The name.
    public var name: String
    /// `local`; later `oidc`.
    public var kind: String
    /// The scrypt digest of the password as text; sealed in the state. `nil` before the first sign-in.
    public var password: String?
    /// The secret of TOTP; sealed in the state. `nil` before the first sign-in.
    public var totp: [UInt8]?
    /// The time step of the last used TOTP code, so that no code works twice.
    public var totpStep: Int64
    /// The role.
    public var role: OperatorRole
    /// Whether sign-ins are refused.
    public var isLocked: Bool
    /// The ETag of the row.
    public var etag: ChangeNumber
    /// The number of the last change.
    public var change: ChangeNumber
    /// The moment of the creation.
    public var createdAt: ServerInstant

    /// Creates a record.
    public init(
        id: RecordNumber = 0, name: String, kind: String = "local", password: String? = nil, totp: [UInt8]? = nil,
        totpStep: Int64 = 0, role: OperatorRole, isLocked: Bool = false, etag: ChangeNumber = 0,
        change: ChangeNumber = 0, createdAt: ServerInstant = ServerInstant(rawValue: 0)
    ) {
        self.id = id
        self.name = name
        self.kind = kind
        self.password = password
        self.totp = totp
        self.totpStep = totpStep
        self.role = role
        self.isLocked = isLocked
        self.etag = etag
        self.change = change
        self.createdAt = createdAt
    }
}

/// Changes of an operator; `nil` keeps a value.
public struct OperatorChange: Hashable, Sendable {
    /// The new password digest.
    public var password: String?
    /// The new secret of TOTP.
    public var totp: [UInt8]?
    /// The new role.
    public var role: OperatorRole?
    /// Whether sign-ins are refused.
    public var isLocked: Bool?
    /// Whether password and TOTP go, so that only a link signs in.
    public var resetsCredentials: Bool

    /// Creates changes.
    public init(
        password: String? = nil, totp: [UInt8]? = nil, role: OperatorRole? = nil, isLocked: Bool? = nil,
        resetsCredentials: Bool = false
    ) {
        self.password = password
        self.totp = totp
        self.role = role
        self.isLocked = isLocked
        self.resetsCredentials = resetsCredentials
    }
}

/// A session of an operator. Only the SHA-256 of its token is stored.
public struct OperatorSession: Hashable, Sendable {
    /// The SHA-256 of the token.
    public var tokenHash: [UInt8]
    /// The number of the operator.
    public var operatorID: RecordNumber
    /// The sign-in.
    public var createdAt: ServerInstant
    /// The last request.
    public var seenAt: ServerInstant
    /// The last time at which the operator showed password and TOTP again.
    public var confirmedAt: ServerInstant?
    /// The address of the sign-in.
    public var address: String

    /// Creates a session.
    public init(
        tokenHash: [UInt8], operatorID: RecordNumber, createdAt: ServerInstant, seenAt: ServerInstant,
        confirmedAt: ServerInstant?, address: String
    ) {
        self.tokenHash = tokenHash
        self.operatorID = operatorID
        self.createdAt = createdAt
        self.seenAt = seenAt
        self.confirmedAt = confirmedAt
        self.address = address
    }
}

/// A key by which a program uses the back-end API. Only the SHA-256 of its secret is stored.
public struct ServiceKeyRecord: Hashable, Sendable {
    /// The identifier.
    public var id: String
    /// The number of the application.
    public var application: RecordNumber
    /// The SHA-256 of the secret.
    public var hash: [UInt8]
    /// The roles, such as `notify`.
    public var roles: [String]
    /// The end of the validity; `nil` for none.
    public var expiresAt: ServerInstant?
    /// The number of the last change.
    public var change: ChangeNumber
    /// The moment of the creation.
    public var createdAt: ServerInstant

    /// Creates a record.
    public init(
        id: String, application: RecordNumber, hash: [UInt8], roles: [String], expiresAt: ServerInstant?,
        change: ChangeNumber = 0, createdAt: ServerInstant = ServerInstant(rawValue: 0)
    ) {
        self.id = id
        self.application = application
        self.hash = hash
        self.roles = roles
        self.expiresAt = expiresAt
        self.change = change
        self.createdAt = createdAt
    }
}

/// An entry of the audit to be written.
public struct AuditNote: Hashable, Sendable {
    /// The actor: `operator:NAME`, `key:ID`, `tool:USER` or `server`.
    public var actor: String
    /// The action, such as `device.wipe`.
    public var action: String
    /// The target, such as `shop/ID`.
    public var target: String
    /// The SHA-256 of the former value.
    public var before: [UInt8]?
    /// The SHA-256 of the new value.
    public var after: [UInt8]?
    /// Details as JSON, without secrets.
    public var detail: [UInt8]

    /// Creates a note.
    public init(
        actor: String, action: String, target: String, before: [UInt8]? = nil, after: [UInt8]? = nil,
        detail: [UInt8] = Array("{}".utf8)
    ) {
        self.actor = actor
        self.action = action
        self.target = target
        self.before = before
        self.after = after
        self.detail = detail
    }
}

/// An entry of the audit.
public struct AuditEntry: Hashable, Sendable {
    /// The number, one above that of the entry before.
    public var number: Int64
    /// The moment.
    public var at: ServerInstant
    /// The content.
    public var note: AuditNote
    /// The HMAC over number, chain of the entry before, and entry (`design-review.md` 24).
    public var chain: [UInt8]

    /// Creates an entry.
    public init(number: Int64, at: ServerInstant, note: AuditNote, chain: [UInt8]) {
        self.number = number
        self.at = at
        self.note = note
        self.chain = chain
    }
}

/// The end of the audit chain. Its number and chain go to the log each minute, so that a cut end is noticed.
public struct AuditHead: Hashable, Sendable {
    /// The number of the last entry; 0 for none.
    public var number: Int64
    /// The chain of the last entry.
    public var chain: [UInt8]

    /// Creates a head.
    public init(number: Int64, chain: [UInt8]) {
        self.number = number
        self.chain = chain
    }
}

/// The result of a check of the audit.
public enum AuditVerdict: Hashable, Sendable {
    /// All entries from the edge of the retention to the head are there and unchanged.
    case intact(AuditHead)
    /// An entry is missing or was changed; the value is its number.
    case broken(number: Int64)
}

/// The name of a secret with its version. Values can be written and used, and never listed.
public struct StoredSecretName: Hashable, Sendable {
    /// The name, which configurations refer to as `secret:NAME`.
    public var name: String
    /// The version, from 1.
    public var version: Int
    /// The moment of the last change.
    public var createdAt: ServerInstant

    /// Creates a name.
    public init(name: String, version: Int, createdAt: ServerInstant) {
        self.name = name
        self.version = version
        self.createdAt = createdAt
    }
}

/// An action that waits for a second operator, such as a wipe of more than ten devices.
public struct ApprovalRecord: Hashable, Sendable {
    /// The number.
    public var id: RecordNumber
    /// The action, such as `device.wipe`.
    public var action: String
    /// The parameters as JSON.
    public var body: [UInt8]
    /// The name of the requesting operator.
    public var requestedBy: String
    /// The name of the approving operator.
    public var approvedBy: String?
    /// The end of the validity.
    public var expiresAt: ServerInstant

    /// Creates a record.
    public init(
        id: RecordNumber, action: String, body: [UInt8], requestedBy: String, approvedBy: String?,
        expiresAt: ServerInstant
    ) {
        self.id = id
        self.action = action
        self.body = body
        self.requestedBy = requestedBy
        self.approvedBy = approvedBy
        self.expiresAt = expiresAt
    }
}

/// The failed sign-ins of a user from an address, which delay the next one (`design-review.md` 25).
public struct SignInRecord: Hashable, Sendable {
    /// The number of failures since the last success.
    public var failures: Int
    /// The last failure.
    public var failedAt: ServerInstant?
    /// Whether the user has signed in from this address before, so that the address is never refused.
    public var isKnown: Bool

    /// Creates a record.
    public init(failures: Int = 0, failedAt: ServerInstant? = nil, isKnown: Bool = false) {
        self.failures = failures
        self.failedAt = failedAt
        self.isKnown = isKnown
    }
}
