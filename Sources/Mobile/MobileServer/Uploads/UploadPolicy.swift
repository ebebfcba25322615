import MobileProtocol
import ODataModel
import ODataService
import ServerState

/// The conditions of an upload by its kind: whether policies allow it, its greatest size, and its age.
///
/// | kind | allowed by | consent | kept for |
/// | --- | --- | --- | --- |
/// | `log` | `Log/Upload` | no | `Log/ExpiryDays` |
/// | `trace` | `Log/Upload`, or a trace level of the device | no | `retention.traces` |
/// | `crash` | `Crash` | yes | `retention.uploads` |
/// | `usage` | `Usage/Collect` | yes | `retention.usage` |
/// | `store` | `StoreUpload/Enabled` | yes | `StoreUpload/KeepDays` |
struct UploadPolicy: Hashable, Sendable {
    /// The time for which an unfinished upload can be resumed.
    static let unfinishedAge = Duration.seconds(86_400)

    /// The maximum number of bytes.
    var maxSize: Int64
    /// The time for which a complete upload is kept.
    var age: Duration

    /// Returns the conditions.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - sections: The policies of the registration.
    ///   - traceLevel: The trace level of the device.
    ///   - hasConsent: Whether the upload has a mark of consent.
    ///   - settings: The limits and ages of the server.
    /// - Throws: ``ODataError`` 403 `UploadsDisabled`, 422 `PolicyViolated` without consent.
    init(
        _ kind: DeviceUploadKind, _ sections: PolicySections, traceLevel: Int, hasConsent: Bool,
        settings: ServerConfiguration
    ) throws(ODataError) {
        func value(_ section: String, _ name: String) -> ODataValue? {
            if case .complex(let entity)? = sections[section] { entity[name] } else { nil }
        }
        func days(_ value: ODataValue?, else days: Int) -> Duration {
            if case .integer(let number)? = value, number > 0 { return .seconds(min(number, 3650) * 86_400) }
            return .seconds(days * 86_400)
        }
        let retention = settings.retention
        let isAllowed: Bool
        maxSize = settings.limits.upload
        switch kind {
        case .log:
            isAllowed = value("Log", "Upload") == .boolean(true)
            age = days(value("Log", "ExpiryDays"), else: retention.logs)
        case .trace:
            isAllowed = traceLevel > 0 || value("Log", "Upload") == .boolean(true)
            age = days(nil, else: retention.traces)
        case .crash:
            isAllowed = sections["Crash"] == .boolean(true)
            age = days(nil, else: retention.uploads)
        case .usage:
            isAllowed = value("Usage", "Collect") == .boolean(true)
            age = days(nil, else: retention.usage)
        case .store:
            isAllowed = value("StoreUpload", "Enabled") == .boolean(true)
            age = days(value("StoreUpload", "KeepDays"), else: retention.uploads)
            if case .integer(let size)? = value("StoreUpload", "MaxSize"), size > 0 {
                maxSize = min(size, DeviceUploadLimits.bytesOfDevice)
            }
        }
        guard isAllowed else {
            throw ODataError(
                .uploadsDisabled, "The policies do not allow uploads of the kind \(kind.rawValue).", target: "kind")
        }
        guard hasConsent || !Self.needsConsent(kind) else {
            throw ODataError(
                .policyViolated, "An upload of the kind \(kind.rawValue) needs the time at which the user agreed.",
                target: "consent")
        }
    }

    /// Whether uploads of a kind need the consent of the user.
    static func needsConsent(_ kind: DeviceUploadKind) -> Bool {
        switch kind {
        case .log, .trace: false
        case .crash, .usage, .store: true
        }
    }
}
