/// A kind of message to a device.
public enum DeviceMessageKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// Defining queries have new rows; the body names them.
    case sync = "Sync"
    /// A notification for the user.
    case notification = "Notification"
    /// Settings were changed; the body names them.
    case settingsChanged = "SettingsChanged"
    /// Policies were changed.
    case policiesChanged = "PoliciesChanged"
    /// The bundle of the device was changed; the body names it.
    case bundleChanged = "BundleChanged"
    /// A back end needs the user's credentials again.
    case credentialRequest = "CredentialRequest"
    /// A request that was answered with 202 is done.
    case replayCompleted = "ReplayCompleted"
    /// A subscription has ended.
    case subscriptionEnded = "SubscriptionEnded"
    /// A message of the application.
    case custom = "Custom"
}

/// A message to be sent.
public struct NewDeviceMessage: Hashable, Sendable {
    /// The kind.
    public var kind: DeviceMessageKind
    /// The body, a JSON object of at most ``DeviceMessageLimits/size`` bytes.
    public var body: [UInt8]
    /// Whether nothing is sent while a message with the same kind and body waits.
    public var coalesces: Bool
    /// The time after which the message goes.
    public var lifetime: Duration

    /// Creates a message.
    public init(
        kind: DeviceMessageKind, body: [UInt8] = Array("{}".utf8), coalesces: Bool = false,
        lifetime: Duration = DeviceMessageLimits.lifetime
    ) {
        self.kind = kind
        self.body = body
        self.coalesces = coalesces
        self.lifetime = lifetime
    }
}

/// A message that waits for its device.
public struct DeviceMessageRecord: Hashable, Sendable {
    /// The number: *incarnation << 32 | counter*. It grows with each message of the registration.
    public var number: Int64
    /// The kind.
    public var kind: DeviceMessageKind
    /// The body, a JSON object.
    public var body: [UInt8]
    /// The moment at which it was sent.
    public var createdAt: ServerInstant

    /// Creates a record.
    public init(number: Int64, kind: DeviceMessageKind, body: [UInt8], createdAt: ServerInstant) {
        self.number = number
        self.kind = kind
        self.body = body
        self.createdAt = createdAt
    }
}

/// The numbers of the messages of a registration.
public struct DeviceMessageHead: Hashable, Sendable {
    /// The highest number; 0 before the first message.
    public var head: Int64
    /// The highest number of a message that went before its device had read it; 0 if there is none.
    public var floor: Int64
    /// The number of messages that wait.
    public var waiting: Int

    /// Creates numbers.
    public init(head: Int64 = 0, floor: Int64 = 0, waiting: Int = 0) {
        self.head = head
        self.floor = floor
        self.waiting = waiting
    }
}

/// A registration with new messages.
public struct DeviceMessageNotice: Hashable, Sendable {
    /// The application.
    public var application: RecordNumber
    /// The registration.
    public var registration: String
    /// The number of the change, for ``DeviceMessageStore/notices(after:limit:)``.
    public var change: ChangeNumber

    /// Creates a notice.
    public init(application: RecordNumber, registration: String, change: ChangeNumber) {
        self.application = application
        self.registration = registration
        self.change = change
    }
}

/// A subscription of a registration to a defining query.
public struct DeviceSubscriptionRecord: Hashable, Sendable {
    /// The destination.
    public var destination: String
    /// The name of the defining query.
    public var query: String
    /// Whether the device wants no messages for the query at present.
    public var isSuspended: Bool
    /// The values of the query's parameters, as a JSON object; `nil` for none.
    public var parameters: [UInt8]?
    /// The number of the last change.
    public var version: ChangeNumber

    /// Creates a subscription.
    public init(
        destination: String, query: String, isSuspended: Bool = false, parameters: [UInt8]? = nil,
        version: ChangeNumber = 0
    ) {
        self.destination = destination
        self.query = query
        self.isSuspended = isSuspended
        self.parameters = parameters
        self.version = version
    }
}

/// The limits of messages.
public enum DeviceMessageLimits {
    /// The maximum number of bytes of a body.
    public static let size = 256 << 10
    /// The maximum number of messages that wait for a device. The oldest go.
    public static let waiting = 1000
    /// The time after which a message goes.
    public static let lifetime = Duration.seconds(30 * 86_400)
    /// The maximum number of subscriptions of a registration.
    public static let subscriptions = 200
    /// The maximum number of bytes of the parameters of a subscription.
    public static let parameters = 16 << 10
}
