/// Users, registrations, settings, policies, activation codes and the user directory.
///
/// The change numbers are those of the scope with the name of the application.
public protocol RegistrationStore: Sendable {
    // MARK: Users

    /// Returns the user with a subject at an issuer, and makes it if `name` is given and there is none.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)`` without the application.
    func user(
        of application: RecordNumber, issuer: String, subject: String, makingWith name: String?
    ) async throws(ServerStateError) -> UserRecord?

    /// Returns a user by number.
    func user(_ id: RecordNumber) async throws(ServerStateError) -> UserRecord?

    /// Returns users of an application in the order of their numbers, at most 1,000.
    ///
    /// - Parameters:
    ///   - id: Users with a higher number only.
    ///   - change: Users with a higher change number only; `nil` for all.
    func users(
        of application: RecordNumber, after id: RecordNumber, changedAfter change: ChangeNumber?
    ) async throws(ServerStateError) -> [UserRecord]

    /// Locks or unlocks a user.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)``.
    func setLocked(_ isLocked: Bool, user: RecordNumber) async throws(ServerStateError) -> UserRecord

    /// Removes a user with all registrations, settings, policies, activation codes and counted sign-ins.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)``.
    func removeUser(_ id: RecordNumber) async throws(ServerStateError)

    // MARK: Registrations

    /// Makes a registration, in one transaction with its settings and its activation code.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)`` without the user;
    ///   ``ServerStateError/limitExceeded(name:limit:)``.
    func register(_ new: NewRegistration) async throws(ServerStateError) -> RegistrationOutcome

    /// Returns a registration, or `nil` if there is none with this identifier.
    func registration(
        _ id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> RegistrationRecord?

    /// Returns registrations in the order of application and identifier.
    func registrations(_ filter: RegistrationFilter) async throws(ServerStateError) -> [RegistrationRecord]

    /// Changes a registration.
    ///
    /// - Parameter etag: The expected ETag; `nil` for any.
    /// - Throws: ``ServerStateError/missing(kind:name:)``, ``ServerStateError/changed(kind:name:)``.
    func update(
        _ id: String, of application: RecordNumber, ifMatch etag: ChangeNumber?, _ change: RegistrationChange
    ) async throws(ServerStateError) -> RegistrationRecord

    /// Locks, unlocks or wipes the app on a device. A wipe sets the state 204 until the device confirms.
    ///
    /// - Parameter confirmation: The random confirmation of a wipe, which the device sends back; `nil` for other locks.
    /// - Throws: ``ServerStateError/missing(kind:name:)``.
    func setLock(
        _ lock: DeviceLock, confirmation: [UInt8]?, registration id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> RegistrationRecord

    /// Notes that a device has carried out a lock, unlock or wipe. After a wipe, the state is 205, and settings,
    /// device key and certificate are gone.
    ///
    /// - Returns: `nil` if the version is not that of the lock.
    /// - Throws: ``ServerStateError/missing(kind:name:)``.
    func confirmLock(
        version: ChangeNumber, registration id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> RegistrationRecord?

    /// Ends a registration: its settings, device key, certificate and activation code go, and its state is 205.
    ///
    /// - Parameter etag: The expected ETag; `nil` for any.
    /// - Throws: ``ServerStateError/missing(kind:name:)``, ``ServerStateError/changed(kind:name:)``.
    func unregister(
        _ id: String, of application: RecordNumber, ifMatch etag: ChangeNumber?
    ) async throws(ServerStateError)

    /// Notes that devices were seen. One call writes many registrations, and gives no change numbers.
    func noteSeen(_ seen: [RegistrationSeen]) async throws(ServerStateError)

    // MARK: Settings and policies

    /// Returns the settings of a registration in the order of their names.
    func settings(
        of id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> [SettingRecord]

    /// Changes settings in one transaction.
    ///
    /// - Parameter byDevice: Whether read-only settings refuse the whole call.
    /// - Returns: The new version of the settings.
    /// - Throws: ``ServerStateError/settingNotEditable(name:)``, ``ServerStateError/limitExceeded(name:limit:)``,
    ///   ``ServerStateError/missing(kind:name:)``.
    func changeSettings(
        _ changes: [SettingChange], byDevice: Bool, registration id: String, of application: RecordNumber
    ) async throws(ServerStateError) -> ChangeNumber

    /// Returns the policies that override those of the configuration.
    func policies(of application: RecordNumber) async throws(ServerStateError) -> [PolicyRecord]

    /// Sets a policy. Its version becomes the change number.
    func setPolicy(
        _ policy: PolicyRecord, of application: RecordNumber
    ) async throws(ServerStateError) -> PolicyRecord

    /// Removes a policy.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)``.
    func removePolicy(
        scope: String, target: String, name: String, of application: RecordNumber
    ) async throws(ServerStateError)

    // MARK: Activation codes and the user directory

    /// Adds an activation code.
    func addActivation(_ activation: ActivationRecord) async throws(ServerStateError)

    /// Returns an activation code that has not expired.
    func activation(
        _ hash: [UInt8], of application: RecordNumber
    ) async throws(ServerStateError) -> ActivationRecord?

    /// Returns the directory users of an application in the order of their names.
    func directoryUsers(of application: RecordNumber) async throws(ServerStateError) -> [DirectoryUserRecord]

    /// Returns a directory user.
    func directoryUser(
        _ name: String, of application: RecordNumber
    ) async throws(ServerStateError) -> DirectoryUserRecord?

    /// Adds or replaces a directory user.
    func setDirectoryUser(_ user: DirectoryUserRecord) async throws(ServerStateError)

    /// Removes a directory user with the counted sign-ins.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)``.
    func removeDirectoryUser(_ name: String, of application: RecordNumber) async throws(ServerStateError)
}

extension RegistrationStore {
    /// Returns users of an application in the order of their numbers, at most 1,000.
    public func users(
        of application: RecordNumber, after id: RecordNumber
    ) async throws(ServerStateError) -> [UserRecord] {
        try await users(of: application, after: id, changedAfter: nil)
    }
}

/// The time at which a device was seen.
public struct RegistrationSeen: Hashable, Sendable {
    /// The number of the application.
    public var application: RecordNumber
    /// The identifier of the registration.
    public var id: String
    /// The moment.
    public var at: ServerInstant

    /// Creates a note.
    public init(application: RecordNumber, id: String, at: ServerInstant) {
        self.application = application
        self.id = id
        self.at = at
    }
}

/// The limits of registrations and settings (`mobile-server.md` 16).
public enum RegistrationLimits {
    /// The greatest number of characters of the identifier of a registration.
    public static let idLength = 128
    /// The greatest number of characters of the name of a user.
    public static let userNameLength = 255
    /// The greatest number of characters of the name of a setting.
    public static let settingNameLength = 128
    /// The greatest number of bytes of the value of a setting.
    public static let settingValueBytes = 16 * 1024
    /// The greatest number of settings of a registration.
    public static let settings = 200
}
