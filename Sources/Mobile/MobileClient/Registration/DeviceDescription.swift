import Foundation

/// The properties of a device that its operator sees.
///
/// ```swift
/// var device = DeviceDescription.current(applicationVersion: "2.1")
/// device.model = "Handheld 7"
/// ```
public struct DeviceDescription: Sendable, Hashable {
    /// The type, such as `iPhone`; ``current(applicationVersion:)`` tells `Apple` and `Linux` apart.
    public var type: String?
    /// The model.
    public var model: String?
    /// The version of the operating system.
    public var osVersion: String?
    /// The version of the app.
    public var applicationVersion: String?
    /// The language and region of the user, such as `de_AT`.
    public var locale: String?
    /// The form factor, such as `phone`, `tablet` or `desktop`.
    public var formFactor: String?

    /// Creates a description without values.
    public init() {}

    /// Returns the values of this device.
    public static func current(applicationVersion: String) -> DeviceDescription {
        var device = DeviceDescription()
        #if canImport(Darwin)
            device.type = "Apple"
        #else
            device.type = "Linux"
        #endif
        device.osVersion = ProcessInfo.processInfo.operatingSystemVersionString
        device.applicationVersion = applicationVersion
        device.locale = Locale.current.identifier
        return device
    }

    /// The properties of the entity `Registration`, of at most 255 characters each.
    var properties: [String: String] {
        let values = [
            "DeviceType": type, "DeviceModel": model, "OSVersion": osVersion, "AppVersion": applicationVersion,
            "Locale": locale, "FormFactor": formFactor,
        ]
        return values.compactMapValues { $0.map { String($0.prefix(255)) } }
    }
}
