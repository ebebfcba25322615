/// A user of an application, unique by application, issuer and subject (`rules.md` 45).
public struct UserRecord: Hashable, Sendable {
    /// The number of the user.
    public var id: RecordNumber
    /// The number of the application.
    public var application: RecordNumber
    /// The issuer: `basic:NAME`, `oidc:URL`, `certificate:CA`, or `anonymous:REGISTRATION`.
    public var issuer: String
    /// The identifier of the user at the issuer.
    public var subject: String
    /// The name for people.
    public var name: String
    /// Whether an operator has locked the user.
    public var isLocked: Bool
    /// The number of the last change.
    public var change: ChangeNumber
    /// The moment of the creation.
    public var createdAt: ServerInstant

    /// Creates a record.
    public init(
        id: RecordNumber, application: RecordNumber, issuer: String, subject: String, name: String, isLocked: Bool,
        change: ChangeNumber, createdAt: ServerInstant
    ) {
        self.id = id
        self.application = application
        self.issuer = issuer
        self.subject = subject
        self.name = name
        self.isLocked = isLocked
        self.change = change
        self.createdAt = createdAt
    }
}

/// The state of a registration on the server. 201 and 202 exist on the device only.
public enum RegistrationState: Int, Hashable, Sendable, Codable {
    /// The device is registered.
    case registered = 203
    /// The device was told to wipe and has not confirmed.
    case unregistering = 204
    /// The device is no longer registered; the row is kept for 30 days.
    case unregistered = 205
}

/// The lock of a registration.
public enum DeviceLock: String, Hashable, Sendable, Codable {
    /// The device works.
    case none
    /// The app is locked on the device.
    case locked
    /// The app is to erase its data.
    case wipe
}

/// The properties of a registration that its device states.
public struct DeviceProperties: Hashable, Sendable, Codable {
    /// The kind of device, such as `iPhone`.
    public var deviceType: String?
    /// The model of the device.
    public var deviceModel: String?
    /// The version of the operating system.
    public var osVersion: String?
    /// The version of the app.
    public var appVersion: String?
    /// The locale of the user, such as `de_AT`.
    public var locale: String?
    /// The form factor, such as `tablet`.
    public var formFactor: String?
    /// The kind of push: `none`, `apns`, `fcm`, `webPush`.
    public var pushKind: String
    /// The push target of the device; sealed in the state.
    public var pushTarget: String?
    /// Whether the user wants push.
    public var isPushEnabled: Bool
    /// `native` or `online`.
    public var notificationMode: String
    /// The customization bundle, as `NAME:VERSION`.
    public var bundle: String?
    /// The trace level from 0 to 3.
    public var traceLevel: Int

    /// Creates properties of a device that states none.
    public init() {
        pushKind = "none"
        isPushEnabled = false
        notificationMode = "native"
        traceLevel = 0
    }
}

/// A registration: one installed app of one user on one device. Its identifier is chosen by the device and unique in
/// its application (`design-review.md` 27).
public struct RegistrationRecord: Hashable, Sendable {
    /// The number of the application.
    public var application: RecordNumber
    /// The identifier, at most 128 characters.
    public var id: String
    /// The number of the user.
    public var user: RecordNumber
    /// The name of the security configuration.
    public var security: String
    /// The state.
    public var state: RegistrationState
    /// The properties that the device states.
    public var device: DeviceProperties
    /// The public device key (P-256, X9.63), which proofs are checked with.
    public var publicKey: [UInt8]?
    /// The serial number of the device certificate.
    public var certificateSerial: [UInt8]?
    /// The end of the device certificate.
    public var certificateUntil: ServerInstant?
    /// The lock of the device.
    public var lock: DeviceLock
    /// The version of the lock, which a device confirms.
    public var lockVersion: ChangeNumber
    /// Whether the device has confirmed the version of the lock.
    public var isLockConfirmed: Bool
    /// The random confirmation of a wipe (`design-review.md` 9); sealed in the state.
    public var lockConfirmation: [UInt8]?
    /// The version of the settings.
    public var settingsVersion: ChangeNumber
    /// The last time at which the device was seen.
    public var seenAt: ServerInstant?
    /// The ETag of the row.
    public var etag: ChangeNumber
    /// The number of the last change.
    public var change: ChangeNumber
    /// The moment of the registration.
    public var createdAt: ServerInstant

    /// Creates a record of a new registration.
    public init(
        application: RecordNumber, id: String, user: RecordNumber, security: String, device: DeviceProperties,
        publicKey: [UInt8]?, etag: ChangeNumber, change: ChangeNumber, createdAt: ServerInstant
    ) {
        self.application = application
        self.id = id
        self.user = user
        self.security = security
        state = .registered
        self.device = device
        self.publicKey = publicKey
        lock = .none
        lockVersion = 0
        isLockConfirmed = true
        settingsVersion = 0
        self.etag = etag
        self.change = change
        self.createdAt = createdAt
    }
}

/// A registration that a device asks for.
public struct NewRegistration: Hashable, Sendable {
    /// The number of the application.
    public var application: RecordNumber
    /// The identifier that the device has chosen.
    public var id: String
    /// The number of the user.
    public var user: RecordNumber
    /// The name of the security configuration.
    public var security: String
    /// The properties of the device.
    public var device: DeviceProperties
    /// The public device key.
    public var publicKey: [UInt8]?
    /// The settings that the registration begins with.
    public var settings: [SettingRecord]
    /// The greatest number of registrations of a user; `nil` for any.
    public var devicesPerUser: Int?
    /// The HMAC of an activation code that the registration uses up.
    public var activation: [UInt8]?
    /// Whether the same user may replace the device key of an existing registration, after a fresh sign-in.
    public var replacesKey: Bool

    /// Creates a request for a registration.
    public init(
        application: RecordNumber, id: String, user: RecordNumber, security: String, device: DeviceProperties,
        publicKey: [UInt8]? = nil, settings: [SettingRecord] = [], devicesPerUser: Int? = nil,
        activation: [UInt8]? = nil, replacesKey: Bool = false
    ) {
        self.application = application
        self.id = id
        self.user = user
        self.security = security
        self.device = device
        self.publicKey = publicKey
        self.settings = settings
        self.devicesPerUser = devicesPerUser
        self.activation = activation
        self.replacesKey = replacesKey
    }
}

/// The outcome of a request for a registration.
public enum RegistrationOutcome: Hashable, Sendable {
    /// The registration was made.
    case created(RegistrationRecord)
    /// The same user has registered with the same identifier and key before.
    case repeated(RegistrationRecord)
    /// The same user has a new device key, and the old one is refused from now on.
    case keyReplaced(RegistrationRecord)
    /// The identifier belongs to another user or has another key.
    case alreadyRegistered
    /// The user has the greatest number of registrations.
    case tooManyDevices(limit: Int)
    /// The activation code is unknown, expired or used up.
    case activationInvalid
    /// The activation code belongs to another registration.
    case activationOfAnotherDevice
    /// The activation code belongs to another user.
    case wrongUser
}

/// Changes of a registration; `nil` keeps a value.
public struct RegistrationChange: Hashable, Sendable {
    /// The new properties of the device.
    public var device: DeviceProperties?
    /// The new device key.
    public var publicKey: [UInt8]?
    /// The serial number and the end of a new device certificate.
    public var certificate: DeviceCertificateMark?

    /// Creates changes.
    public init(
        device: DeviceProperties? = nil, publicKey: [UInt8]? = nil, certificate: DeviceCertificateMark? = nil
    ) {
        self.device = device
        self.publicKey = publicKey
        self.certificate = certificate
    }
}

/// The mark of a device certificate in its registration. The former certificate is refused from then on.
public struct DeviceCertificateMark: Hashable, Sendable {
    /// The serial number.
    public var serial: [UInt8]
    /// The end of the validity.
    public var until: ServerInstant

    /// Creates a mark.
    public init(serial: [UInt8], until: ServerInstant) {
        self.serial = serial
        self.until = until
    }
}

/// The conditions of a list of registrations.
public struct RegistrationFilter: Hashable, Sendable {
    /// The number of the application; `nil` for all.
    public var application: RecordNumber?
    /// The number of the user; `nil` for all.
    public var user: RecordNumber?
    /// Registrations with a higher change number only.
    public var changedAfter: ChangeNumber?
    /// Registrations behind this identifier only, in the order of application and identifier.
    public var after: String?
    /// The greatest number of registrations, at most 1,000.
    public var limit: Int

    /// Creates conditions.
    public init(
        application: RecordNumber? = nil, user: RecordNumber? = nil, changedAfter: ChangeNumber? = nil,
        after: String? = nil, limit: Int = 1000
    ) {
        self.application = application
        self.user = user
        self.changedAfter = changedAfter
        self.after = after
        self.limit = limit
    }
}

/// A setting of a registration.
public struct SettingRecord: Hashable, Sendable {
    /// The name, at most 128 characters.
    public var name: String
    /// The value, at most 16 KB.
    public var value: String?
    /// Whether devices may not change the setting.
    public var isReadOnly: Bool
    /// The number of the last change.
    public var change: ChangeNumber

    /// Creates a setting.
    public init(name: String, value: String?, isReadOnly: Bool = false, change: ChangeNumber = 0) {
        self.name = name
        self.value = value
        self.isReadOnly = isReadOnly
        self.change = change
    }
}

/// A change of one setting.
public enum SettingChange: Hashable, Sendable {
    /// The setting gets a value; `isReadOnly` is kept if `nil`.
    case set(name: String, value: String?, isReadOnly: Bool?)
    /// The setting is removed.
    case remove(name: String)

    /// The name of the setting.
    public var name: String {
        switch self {
        case .set(let name, _, _), .remove(let name): name
        }
    }
}

/// A policy that overrides that of the configuration for a user, a role or a registration.
public struct PolicyRecord: Hashable, Sendable {
    /// `application`, `role`, `user` or `registration`.
    public var scope: String
    /// The name of the role, the number of the user, or the identifier of the registration; empty for `application`.
    public var target: String
    /// The name of the policy, such as `LockPolicy`, or `Features`.
    public var name: String
    /// The values as JSON.
    public var body: [UInt8]
    /// The version, to be compared for equality only.
    public var version: ChangeNumber

    /// Creates a policy.
    public init(scope: String, target: String, name: String, body: [UInt8], version: ChangeNumber = 0) {
        self.scope = scope
        self.target = target
        self.name = name
        self.body = body
        self.version = version
    }
}

/// An activation code by which a device registers. Only its HMAC is stored (`design-review.md` 39).
public struct ActivationRecord: Hashable, Sendable {
    /// The HMAC of the code under the purpose key `codes`.
    public var hash: [UInt8]
    /// The number of the application.
    public var application: RecordNumber
    /// The subject of the user of the code.
    public var userName: String
    /// The identifier of the registration that has used the code.
    public var registration: String?
    /// The end of the validity.
    public var expiresAt: ServerInstant

    /// Creates a record.
    public init(
        hash: [UInt8], application: RecordNumber, userName: String, registration: String? = nil,
        expiresAt: ServerInstant
    ) {
        self.hash = hash
        self.application = application
        self.userName = userName
        self.registration = registration
        self.expiresAt = expiresAt
    }
}

/// A user of the server's own directory, for security configurations of the kind `basic`.
public struct DirectoryUserRecord: Hashable, Sendable {
    /// The number of the application.
    public var application: RecordNumber
    /// The name, at most 255 characters.
    public var name: String
    /// The scrypt digest of the password as text; sealed in the state.
    public var password: String
    /// The roles.
    public var roles: [String]
    /// Whether sign-ins are refused.
    public var isLocked: Bool
    /// The number of the last change.
    public var change: ChangeNumber

    /// Creates a record.
    public init(
        application: RecordNumber, name: String, password: String, roles: [String], isLocked: Bool = false,
        change: ChangeNumber = 0
    ) {
        self.application = application
        self.name = name
        self.password = password
        self.roles = roles
        self.isLocked = isLocked
        self.change = change
    }
}
