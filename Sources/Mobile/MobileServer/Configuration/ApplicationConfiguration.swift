import ServerState

/// The configuration of an application: `applications.A`. A version of it is stored as canonical JSON with the keys of
/// the YAML file.
///
/// ```swift
/// let body = try configuration.canonicalJSON()
/// let same = try ApplicationConfiguration(canonicalJSON: body)
/// ```
public struct ApplicationConfiguration: Hashable, Sendable {
    /// The title for people.
    public var title = ""
    /// The domain.
    public var domain = "default"
    /// The state.
    public var state = ApplicationState.active
    /// The rules of onboarding: `registration`.
    public var registration = RegistrationRules()
    /// The security configurations by name: `security`.
    public var security: [String: SecurityConfiguration] = [:]
    /// The policies: `policies`.
    public var policies = ApplicationPolicies()
    /// The permissions: `permissions`. Without any, every user of the application may do everything.
    public var permissions: [PermissionRule] = []
    /// The default customization bundle: `bundle_default`.
    public var defaultBundle: String?
    /// The keys of push services: `push`.
    public var push = ApplicationPush()
    /// The destinations by name: `destinations`.
    public var destinations: [String: DestinationConfiguration] = [:]
    /// Keys of an imported `.ini` file without a counterpart, as `SECTION/KEY`, kept for the export.
    public var preserved: [String: String] = [:]

    /// Creates an application without destinations.
    public init() {}
}

/// The keys `A.registration.*`.
public struct RegistrationRules: Hashable, Sendable {
    /// Whether registration is required at destinations. `nil`: required if a query has the visibility `user` or
    /// `partitioned` (`mobile-server.md` 0.2).
    public var isRequired: Bool?
    /// When a CAPTCHA is asked for.
    public var captcha = CaptchaRule.never
    /// Whether an activation code is needed.
    public var needsActivation = false
    /// The proof of the device.
    public var deviceProof = DeviceProofRule.key
    /// The greatest number of registrations of a user.
    public var devicesPerUser = 10
    /// The least version of the app, told by `/.well-known/outpost`.
    public var minimumAppVersion: String?

    /// Creates the defaults.
    public init() {}
}

/// When a registration needs a CAPTCHA.
public enum CaptchaRule: String, Hashable, Sendable, CaseIterable {
    /// Never.
    case never
    /// For anonymous registrations.
    case anonymous
    /// Always.
    case always
}

/// The proof that a request comes from its device.
public enum DeviceProofRule: String, Hashable, Sendable, CaseIterable {
    /// No proof.
    case none
    /// A proof by the device key (RFC 9449).
    case key
    /// A device certificate.
    case certificate
}

/// A named way to sign in: `A.security.S`.
public struct SecurityConfiguration: Hashable, Sendable {
    /// The kinds of security configurations.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Without a user.
        case anonymous
        /// User name and password of the server's directory, or of a back end at ``SecurityConfiguration/checkURL``.
        case basic
        /// A token of an OpenID Connect issuer.
        case bearer
        /// A cookie that is checked at a URL.
        case cookie
        /// A client certificate.
        case certificate
        /// An activation code.
        case activation
    }

    /// The kind.
    public var kind: Kind
    /// The issuer of tokens.
    public var issuer: String?
    /// The audience of tokens.
    public var audience: String?
    /// The client identifier that apps use at the issuer.
    public var clientID: String?
    /// The URL at which Basic credentials or a cookie are checked.
    public var checkURL: String?
    /// The name of the cookie.
    public var cookie: String?
    /// The PEM file with the authorities of client certificates.
    public var ca: String?
    /// The roles of every user who signs in this way.
    public var roles: [String] = []
    /// The settings that a registration begins with.
    public var defaults: [String: DefaultSetting] = [:]

    /// Creates a security configuration.
    public init(kind: Kind) { self.kind = kind }
}

/// A setting that a registration begins with.
public struct DefaultSetting: Hashable, Sendable {
    /// The value.
    public var value: String
    /// Whether devices may not change it.
    public var isReadOnly: Bool

    /// Creates a setting.
    public init(value: String, isReadOnly: Bool = false) {
        self.value = value
        self.isReadOnly = isReadOnly
    }
}

/// A permission: `A.permissions[]` (`mobile-server.md` 0.9), of the form of `outpost serve --rights`.
public struct PermissionRule: Hashable, Sendable {
    /// The role; `everyone` and `signed-in` are built in.
    public var role: String
    /// The destination; `nil` for all.
    public var destination: String?
    /// The entity set; `*` for all.
    public var set: String
    /// The verbs: `read`, `create`, `update`, `delete`, `call`.
    public var verbs: [String]
    /// The filter over the row and the claims of the user.
    public var filter: String?

    /// Creates a permission.
    public init(role: String, destination: String? = nil, set: String, verbs: [String], filter: String? = nil) {
        self.role = role
        self.destination = destination
        self.set = set
        self.verbs = verbs
        self.filter = filter
    }
}

/// The keys `A.push.*`, kept for a later issue: each service has named texts and references.
public struct ApplicationPush: Hashable, Sendable {
    /// `apns.*`: `key`, `key_id`, `team`, `topic`, `environment`.
    public var apns: [String: String] = [:]
    /// `fcm.*`: `account`.
    public var fcm: [String: String] = [:]
    /// `web_push.*`: `key`, `subject`.
    public var webPush: [String: String] = [:]

    /// Creates no keys.
    public init() {}
}
