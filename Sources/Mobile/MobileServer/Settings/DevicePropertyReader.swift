import MobileProtocol
import ODataModel
import ODataService
import ServerState

/// Reads the properties of a device from the entity that it sends.
enum DevicePropertyReader {
    private static let maxLength = 255
    private static let maxTargetLength = 4096
    private static let pushKinds: Set = ["none", "apns", "fcm", "webPush"]
    private static let modes: Set = ["native", "online"]

    /// Returns properties with the values of an entity. Values that the server computes are ignored.
    ///
    /// - Throws: ``ODataError`` 400 with the property as target.
    static func merged(_ old: DeviceProperties, with entity: ODataEntity) throws(ODataError) -> DeviceProperties {
        var device = old
        device.deviceType = try text(entity, "DeviceType", old: old.deviceType)
        device.deviceModel = try text(entity, "DeviceModel", old: old.deviceModel)
        device.osVersion = try text(entity, "OSVersion", old: old.osVersion)
        device.appVersion = try text(entity, "AppVersion", old: old.appVersion)
        device.locale = try text(entity, "Locale", old: old.locale)
        device.formFactor = try text(entity, "FormFactor", old: old.formFactor)
        device.pushKind = try choice(entity, "PushKind", values: pushKinds, old: old.pushKind, empty: "none")
        device.pushTarget = try text(entity, "PushTarget", old: old.pushTarget, limit: maxTargetLength)
        device.notificationMode = try choice(
            entity, "NotificationMode", values: modes, old: old.notificationMode, empty: "native")
        switch entity["PushEnabled"] {
        case .boolean(let isEnabled)?: device.isPushEnabled = isEnabled
        case .null?: device.isPushEnabled = false
        default: break
        }
        return device
    }

    private static func text(
        _ entity: ODataEntity, _ name: String, old: String?, limit: Int = maxLength
    ) throws(ODataError) -> String? {
        switch entity[name] {
        case nil: return old
        case .string(let text)?:
            guard text.count <= limit else {
                throw ODataError(.invalidProperty, "\(name) is longer than \(limit) characters.", target: name)
            }
            return text
        default: return nil
        }
    }

    private static func choice(
        _ entity: ODataEntity, _ name: String, values: Set<String>, old: String, empty: String
    ) throws(ODataError) -> String {
        guard let value = entity[name] else { return old }
        guard case .string(let text) = value else { return empty }
        guard values.contains(text) else {
            throw ODataError(
                .invalidProperty, "\(name) is one of \(values.sorted().joined(separator: ", ")).", target: name)
        }
        return text
    }
}
