/// Numbered messages to devices: at least once, in order, and idempotent by number.
///
/// A message waits until the device reads on from its number, for 30 days at most. Messages and subscriptions go with
/// the registration.
public protocol DeviceMessageStore: Sendable {
    /// Sends a message.
    ///
    /// - Returns: The number; `nil` if an equal message waits and the new one coalesces with it.
    /// - Throws: ``ServerStateError/missing(kind:name:)`` for an unknown registration;
    ///   ``ServerStateError/limitExceeded(name:limit:)``.
    func send(
        _ message: NewDeviceMessage, to registration: String, of application: RecordNumber
    ) async throws(ServerStateError) -> Int64?

    /// Returns the messages after a number, in order, until a limit of number or 4 MB of bodies is reached.
    func messages(
        of registration: String, of application: RecordNumber, after number: Int64, limit: Int
    ) async throws(ServerStateError) -> [DeviceMessageRecord]

    /// Removes the messages up to a number, which the device has read.
    func confirm(
        through number: Int64, registration: String, of application: RecordNumber
    ) async throws(ServerStateError)

    /// Returns the numbers of a registration.
    func head(of registration: String, of application: RecordNumber) async throws(ServerStateError) -> DeviceMessageHead

    /// Returns the registrations that got messages after a change, oldest first.
    ///
    /// - Parameter change: A number of ``DeviceMessageScope/changes``; see ``ServerState/ServerState/head(of:)``.
    func notices(after change: ChangeNumber, limit: Int) async throws(ServerStateError) -> [DeviceMessageNotice]

    /// Returns the subscriptions of a registration.
    func subscriptions(
        of registration: String, of application: RecordNumber
    ) async throws(ServerStateError) -> [DeviceSubscriptionRecord]

    /// Writes a subscription.
    ///
    /// - Throws: ``ServerStateError/missing(kind:name:)`` for an unknown registration;
    ///   ``ServerStateError/limitExceeded(name:limit:)``.
    func setSubscription(
        _ subscription: DeviceSubscriptionRecord, registration: String, of application: RecordNumber
    ) async throws(ServerStateError) -> DeviceSubscriptionRecord

    /// Returns the registrations of an application that subscribe to a query and have not suspended it, by id.
    ///
    /// - Parameter id: Registrations after this one; at most 1,000 are returned.
    func subscribers(
        of query: String, destination: String, of application: RecordNumber, after id: String
    ) async throws(ServerStateError) -> [String]
}

/// The scope of change numbers of messages.
public enum DeviceMessageScope {
    /// The scope of ``DeviceMessageNotice/change``.
    public static let changes = "messages"

    /// The topic of a notice about one registration.
    public static func topic(_ registration: String, of application: RecordNumber) -> SignalTopic {
        .scope("messages/\(application)/\(registration)")
    }
}
