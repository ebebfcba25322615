/// The keys `A.policies.*`: what devices of an application must and may do.
public struct ApplicationPolicies: Hashable, Sendable {
    /// The password policy.
    public var password = PasswordRules()
    /// Locks and wipes of devices that were not seen.
    public var lock = LockRules()
    /// Restrictions.
    public var security = RestrictionRules()
    /// Features by name.
    public var features: [String: Bool] = [:]
    /// The upload of logs.
    public var log = LogUploadRules()
    /// The upload of usage.
    public var usage = UsageRules()
    /// Whether crash reports are uploaded: `crash`.
    public var uploadsCrashes = false
    /// The limit of requests: `throttling`.
    public var throttling = ThrottlingRules()
    /// The upload of whole stores: `store_upload`.
    public var storeUpload = StoreUploadRules()
    /// Whether pending changes are uploaded when the user changes: `user_switch_upload`.
    public var uploadsOnUserSwitch = false

    /// Creates the defaults.
    public init() {}
}

/// The keys `A.policies.password.*`.
public struct PasswordRules: Hashable, Sendable {
    /// `enabled`.
    public var isEnabled = false
    /// `default_password_allowed`.
    public var allowsDefaultPassword = false
    /// `min_length`, in characters.
    public var minimumLength = 0
    /// `has_digits`.
    public var needsDigits = false
    /// `has_upper`.
    public var needsUpper = false
    /// `has_lower`.
    public var needsLower = false
    /// `has_special`.
    public var needsSpecial = false
    /// `expiration_days`; 0 for never.
    public var expirationDays = 0
    /// `min_unique_chars`.
    public var minimumUniqueCharacters = 0
    /// `lock_timeout`, in seconds; 0 for never.
    public var lockTimeout = 0
    /// `retry_limit`; 0 for any.
    public var retryLimit = 0

    /// Creates the defaults.
    public init() {}
}

/// The keys `A.policies.lock.*`, in days; 0 for never.
public struct LockRules: Hashable, Sendable {
    /// `offline_days`: the device locks the app when it was offline for so long.
    public var offlineDays = 0
    /// `wipe_offline_days`: the device wipes the app when it was offline for so long.
    public var wipeOfflineDays = 0
    /// `inactive_days`: the server locks a device that was not seen for so long.
    public var inactiveDays = 0

    /// Creates the defaults.
    public init() {}
}

/// The keys `A.policies.security.*`.
public struct RestrictionRules: Hashable, Sendable {
    /// `allow_print`.
    public var allowsPrint = true
    /// `allow_open_url`.
    public var allowsOpenURL = true
    /// `allow_copy`.
    public var allowsCopy = true
    /// `attestation`: whether the app must prove its integrity.
    public var needsAttestation = false

    /// Creates the defaults.
    public init() {}
}

/// The keys `A.policies.log.*`.
public struct LogUploadRules: Hashable, Sendable {
    /// `upload`.
    public var isUploaded = false
    /// `level`.
    public var level = "error"
    /// `expiry`, in days.
    public var expiryDays = 7

    /// Creates the defaults.
    public init() {}
}

/// The keys `A.policies.usage.*`.
public struct UsageRules: Hashable, Sendable {
    /// `collect`.
    public var isCollected = false
    /// `cellular`: whether a mobile network may be used.
    public var usesCellular = false
    /// `max_records`.
    public var maximumRecords = 10_000

    /// Creates the defaults.
    public init() {}
}

/// The keys `A.policies.throttling.*`.
public struct ThrottlingRules: Hashable, Sendable {
    /// `enabled`.
    public var isEnabled = false
    /// `per_minute`.
    public var perMinute = 600

    /// Creates the defaults.
    public init() {}
}

/// The keys `A.policies.store_upload.*`.
public struct StoreUploadRules: Hashable, Sendable {
    /// `enabled`.
    public var isEnabled = false
    /// `keep`, in days.
    public var keepDays = 7
    /// `size`, in bytes.
    public var size: Int64 = 32 << 20

    /// Creates the defaults.
    public init() {}
}
