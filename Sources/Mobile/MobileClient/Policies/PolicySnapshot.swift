public import DataVault
import Foundation

/// The policies of an operator for this device, with the time at which they were read.
///
/// Properties that the server does not send have the values of a server without policies.
///
/// ```swift
/// let policies = try await session.policies.current()
/// copyButton.isEnabled = policies.security.allowsCopy
/// ```
public struct PolicySnapshot: Sendable, Equatable, Codable {
    /// An order to lock the app or to erase its data.
    public struct Lock: Sendable, Hashable, Codable {
        /// The kinds of orders.
        public enum State: String, Sendable, Hashable, Codable {
            /// No order.
            case none
            /// The app is locked.
            case lock
            /// The data of the app are erased.
            case wipe
        }
        /// The kind of the order.
        public var state = State.none
        /// The version of the order, compared for equality only.
        public var version: Int64 = 0
        /// The secret with which a wipe is confirmed.
        var confirmation: String?
    }

    /// The days without contact to the server after which the app acts by itself; 0 for never.
    public struct OfflineLimit: Sendable, Hashable, Codable {
        /// The days after which the app is locked.
        public var lockDays = 0
        /// The days after which the data of the app are erased.
        public var wipeDays = 0
    }

    /// Restrictions that the app itself obeys.
    public struct Security: Sendable, Hashable, Codable {
        /// Whether the app may print.
        public var allowsPrint = true
        /// Whether the app may open URLs in other apps.
        public var allowsOpenURL = true
        /// Whether the app may copy to the pasteboard.
        public var allowsCopy = true
        /// Whether the app must prove its integrity.
        public var needsAttestation = false
    }

    /// The upload of logs.
    public struct Log: Sendable, Hashable, Codable {
        /// Whether logs are uploaded.
        public var isUploaded = false
        /// The lowest severity that is logged.
        public var level = "error"
        /// The days for which logs are kept.
        public var expiryDays = 7
    }

    /// The collection of usage.
    public struct Usage: Sendable, Hashable, Codable {
        /// Whether usage is collected.
        public var isCollected = false
        /// Whether a mobile network may be used.
        public var usesCellular = false
        /// The greatest number of records.
        public var maximumRecords = 10_000
    }

    /// The limit of requests.
    public struct Throttling: Sendable, Hashable, Codable {
        /// Whether there is a limit.
        public var isEnabled = false
        /// The number of requests in a minute.
        public var perMinute = 600
    }

    /// The upload of whole stores.
    public struct StoreUpload: Sendable, Hashable, Codable {
        /// Whether stores may be uploaded.
        public var isEnabled = false
        /// The days for which the server keeps them.
        public var keepDays = 7
        /// The maximum size in bytes.
        public var maximumSize: Int64 = 32 << 20
    }

    /// A feature switch.
    public struct Feature: Sendable, Hashable, Codable {
        /// Whether the feature is on.
        public var isEnabled: Bool
        /// The parameters of the feature.
        public var parameters: [String: String]
    }

    /// The version in the spelling of the server, compared for equality only.
    public internal(set) var version: String?
    /// Whether a passcode is demanded at all.
    public internal(set) var demandsPasscode = false
    /// The rules for the passcode.
    public internal(set) var password = PasswordPolicy()
    /// The order of the operator.
    public internal(set) var lock = Lock()
    /// The limits of working offline.
    public internal(set) var offlineLimit = OfflineLimit()
    /// Restrictions that the app obeys.
    public internal(set) var security = Security()
    /// The upload of logs.
    public internal(set) var log = Log()
    /// The collection of usage.
    public internal(set) var usage = Usage()
    /// Whether crash reports are uploaded.
    public internal(set) var uploadsCrashes = false
    /// The limit of requests.
    public internal(set) var throttling = Throttling()
    /// The upload of whole stores.
    public internal(set) var storeUpload = StoreUpload()
    /// Whether pending changes are uploaded when the user changes.
    public internal(set) var uploadsOnUserSwitch = false
    /// The name and version of the app's bundle; `nil` for none.
    public internal(set) var bundle: String?
    /// The level of traces: 0 none to 3 high.
    public internal(set) var traceLevel = 0
    /// Whether features without a switch are on.
    public internal(set) var enablesUnknownFeatures = true
    /// The feature switches by name.
    public internal(set) var features: [String: Feature] = [:]
    /// The time of the exchange in seconds since 1970; 0 before the first one.
    public internal(set) var readAt: Double = 0

    /// Creates the policies of a server without policies.
    init() {}

    /// Returns whether a feature is on. A feature without a switch is on unless the server says otherwise.
    public func isEnabled(_ feature: String) -> Bool { features[feature]?.isEnabled ?? enablesUnknownFeatures }

    /// Returns the parameters of a feature.
    public func parameters(of feature: String) -> [String: String] { features[feature]?.parameters ?? [:] }
}

/// The documents `Policies` and `Features` as the server sends them. Everything may be missing.
struct PolicyDocument: Decodable {
    struct Password: Decodable {
        var Enabled: Bool?
        var DefaultPasswordAllowed: Bool?
        var MinLength: Int?
        var HasDigits: Bool?
        var HasUpper: Bool?
        var HasLower: Bool?
        var HasSpecial: Bool?
        var ExpirationDays: Int?
        var MinUniqueChars: Int?
        var LockTimeout: Int?
        var RetryLimit: Int?
    }
    struct LockPart: Decodable {
        var State: String?
        var Version: Int64?
        var Confirmation: String?
    }
    struct Limit: Decodable {
        var LockDays: Int?
        var WipeDays: Int?
    }
    struct SecurityPart: Decodable {
        var AllowPrint: Bool?
        var AllowOpenURL: Bool?
        var AllowCopy: Bool?
        var Attestation: Bool?
    }
    struct LogPart: Decodable {
        var Upload: Bool?
        var Level: String?
        var ExpiryDays: Int?
    }
    struct UsagePart: Decodable {
        var Collect: Bool?
        var Cellular: Bool?
        var MaxRecords: Int?
    }
    struct ThrottlingPart: Decodable {
        var Enabled: Bool?
        var PerMinute: Int?
    }
    struct Upload: Decodable {
        var Enabled: Bool?
        var KeepDays: Int?
        var MaxSize: Int64?
    }

    var PasswordPolicy: Password?
    var Lock: LockPart?
    var OfflineLimit: Limit?
    var Security: SecurityPart?
    var Log: LogPart?
    var Usage: UsagePart?
    var Crash: Bool?
    var Throttling: ThrottlingPart?
    var StoreUpload: Upload?
    var UserSwitch: Bool?
    var Bundle: String?
    var TraceLevel: Int?

    /// Replaces the values of a snapshot by those of the document.
    func apply(to snapshot: inout PolicySnapshot) {
        if let password = PasswordPolicy { Self.apply(password, to: &snapshot) }
        if let lock = Lock {
            snapshot.lock.state = lock.State.flatMap { PolicySnapshot.Lock.State(rawValue: $0) } ?? .none
            snapshot.lock.version = lock.Version ?? 0
            snapshot.lock.confirmation = lock.Confirmation
        }
        snapshot.offlineLimit.lockDays = max(0, OfflineLimit?.LockDays ?? 0)
        snapshot.offlineLimit.wipeDays = max(0, OfflineLimit?.WipeDays ?? 0)
        snapshot.security.allowsPrint = Security?.AllowPrint ?? true
        snapshot.security.allowsOpenURL = Security?.AllowOpenURL ?? true
        snapshot.security.allowsCopy = Security?.AllowCopy ?? true
        snapshot.security.needsAttestation = Security?.Attestation ?? false
        snapshot.log.isUploaded = Log?.Upload ?? false
        snapshot.log.level = Log?.Level ?? "error"
        snapshot.log.expiryDays = Log?.ExpiryDays ?? 7
        snapshot.usage.isCollected = Usage?.Collect ?? false
        snapshot.usage.usesCellular = Usage?.Cellular ?? false
        snapshot.usage.maximumRecords = Usage?.MaxRecords ?? 10_000
        snapshot.uploadsCrashes = Crash ?? false
        snapshot.throttling.isEnabled = Throttling?.Enabled ?? false
        snapshot.throttling.perMinute = Throttling?.PerMinute ?? 600
        snapshot.storeUpload.isEnabled = StoreUpload?.Enabled ?? false
        snapshot.storeUpload.keepDays = StoreUpload?.KeepDays ?? 7
        snapshot.storeUpload.maximumSize = StoreUpload?.MaxSize ?? 32 << 20
        snapshot.uploadsOnUserSwitch = UserSwitch ?? false
        snapshot.bundle = Bundle
        snapshot.traceLevel = TraceLevel ?? 0
    }

    private static func apply(_ password: Password, to snapshot: inout PolicySnapshot) {
        var policy = DataVault.PasswordPolicy()
        snapshot.demandsPasscode = password.Enabled ?? false
        policy.defaultPasswordAllowed = password.DefaultPasswordAllowed ?? false
        policy.minLength = max(0, password.MinLength ?? 0)
        policy.hasDigits = password.HasDigits ?? false
        policy.hasUpper = password.HasUpper ?? false
        policy.hasLower = password.HasLower ?? false
        policy.hasSpecial = password.HasSpecial ?? false
        policy.expirationDays = max(0, password.ExpirationDays ?? 0)
        policy.minUniqueChars = max(0, password.MinUniqueChars ?? 0)
        policy.lockTimeout = max(0, password.LockTimeout ?? 0)
        policy.retryLimit = max(0, password.RetryLimit ?? 0)
        snapshot.password = policy
    }
}

/// The document `Features`.
struct FeatureDocument: Decodable {
    struct Parameter: Decodable {
        var Name: String
        var Value: String?
    }
    struct Switch: Decodable {
        var Name: String
        var IsEnabled: Bool
        var Parameters: [Parameter]?
    }
    var All: Bool?
    var Switches: [Switch]?

    func apply(to snapshot: inout PolicySnapshot) {
        snapshot.enablesUnknownFeatures = All ?? true
        snapshot.features = [:]
        for feature in Switches ?? [] {
            let pairs = (feature.Parameters ?? []).map { ($0.Name, $0.Value ?? "") }
            snapshot.features[feature.Name] = .init(
                isEnabled: feature.IsEnabled, parameters: Dictionary(pairs, uniquingKeysWith: { $1 }))
        }
    }
}
