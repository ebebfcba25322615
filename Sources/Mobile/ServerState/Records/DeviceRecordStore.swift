/// A record of the log of a device, which the server or the device writes.
public struct DeviceLogRecord: Hashable, Sendable {
    /// The number, which the state gives; 0 before.
    public var number: RecordNumber
    /// The application.
    public var application: RecordNumber
    /// The registration.
    public var registration: String
    /// The moment.
    public var at: ServerInstant
    /// The level: `fatal`, `error`, `warn`, `info`, `debug` or `trace`.
    public var level: String
    /// The text.
    public var message: String
    /// The part of the app or the destination.
    public var component: String?
    /// The key of the entity, as a canonical URL.
    public var entityKey: String?
    /// The operation, such as `PATCH`.
    public var operation: String?
    /// The status of the refusal.
    public var code: Int?
    /// The code of the back end.
    public var backEndCode: String?
    /// The identifier of the repeatable request.
    public var requestID: String?

    /// Creates a record.
    public init(
        number: RecordNumber = 0, application: RecordNumber, registration: String, at: ServerInstant, level: String,
        message: String, component: String? = nil, entityKey: String? = nil, operation: String? = nil,
        code: Int? = nil, backEndCode: String? = nil, requestID: String? = nil
    ) {
        self.number = number
        self.application = application
        self.registration = registration
        self.at = at
        self.level = level
        self.message = message
        self.component = component
        self.entityKey = entityKey
        self.operation = operation
        self.code = code
        self.backEndCode = backEndCode
        self.requestID = requestID
    }
}

/// A value of a personalization key of a user.
public struct PersonalizationRecord: Hashable, Sendable {
    /// The key.
    public var key: String
    /// The value.
    public var value: String?
    /// The number of the last change. Compare versions for equality.
    public var version: ChangeNumber

    /// Creates a value.
    public init(key: String, value: String?, version: ChangeNumber = 0) {
        self.key = key
        self.value = value
        self.version = version
    }
}

/// The limits of log records and personalization values.
public enum DeviceRecordLimits {
    /// The maximum number of log records of a device. The oldest go.
    public static let logs = 1000
    /// The maximum number of characters of a text in a log record. Longer ones are cut.
    public static let text = 4096
    /// The maximum number of personalization values of a user.
    public static let values = 200
    /// The maximum number of characters of a personalization key.
    public static let key = 128
    /// The maximum number of bytes of a personalization value.
    public static let value = 16 << 10
}

/// The sets of the group `system`: log records of a device, and personalization values of a user.
public protocol DeviceRecordStore: Sendable {
    /// Writes a log record. Texts are cut to ``DeviceRecordLimits/text`` characters.
    ///
    /// - Parameters:
    ///   - record: The record; its number is ignored.
    ///   - expiresAt: The moment at which it goes.
    /// - Returns: The record with its number.
    func add(
        _ record: DeviceLogRecord, expiresAt: ServerInstant
    ) async throws(ServerStateError) -> DeviceLogRecord

    /// Returns the log records of a registration, oldest first; of all registrations of an application if `nil`.
    func logs(
        of registration: String?, of application: RecordNumber
    ) async throws(ServerStateError) -> [DeviceLogRecord]

    /// Removes a log record.
    ///
    /// - Returns: Whether the registration had it.
    func removeLog(
        _ number: RecordNumber, registration: String, of application: RecordNumber
    ) async throws(ServerStateError) -> Bool

    /// Returns the personalization values of a user by key. They go with the user.
    func personalization(
        of user: RecordNumber, of application: RecordNumber
    ) async throws(ServerStateError) -> [PersonalizationRecord]

    /// Sets a personalization value, or removes it with `nil`.
    ///
    /// - Throws: ``ServerStateError/limitExceeded(name:limit:)``; ``ServerStateError/missing(kind:name:)`` for an
    ///   unknown user.
    func setPersonalization(
        _ key: String, _ value: String?, of user: RecordNumber, of application: RecordNumber
    ) async throws(ServerStateError) -> PersonalizationRecord
}
