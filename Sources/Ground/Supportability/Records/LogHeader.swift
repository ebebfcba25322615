import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The properties that all entries of a log share: the nine fields at the top of an export.
public struct LogHeader: Hashable, Sendable, Codable {
    /// The name and version of the operating system.
    public var systemVersion: String
    /// The name of the app.
    public var appName: String
    /// The app's version.
    public var appVersion: String
    /// The versions of relevant third-party libraries; `nil` prints as `-`.
    public var thirdParty: String?
    /// The hardware type of the machine.
    public var hardwareVersion: String
    /// The name of the user at the service.
    public var user: String?
    /// The time zone, such as `Europe/Berlin`.
    public var timeZone: String
    /// The language, such as `de-DE`.
    public var language: String
    /// The root URL of the service.
    public var baseURL: String?

    /// Creates a header.
    public init(
        systemVersion: String, appName: String, appVersion: String, thirdParty: String? = nil,
        hardwareVersion: String, user: String? = nil, timeZone: String, language: String, baseURL: String? = nil
    ) {
        self.systemVersion = systemVersion
        self.appName = appName
        self.appVersion = appVersion
        self.thirdParty = thirdParty
        self.hardwareVersion = hardwareVersion
        self.user = user
        self.timeZone = timeZone
        self.language = language
        self.baseURL = baseURL
    }

    /// Returns a header for the current machine, without user and service.
    public static func ofThisMachine(appName: String, appVersion: String, thirdParty: String? = nil) -> LogHeader {
        LogHeader(
            systemVersion: ProcessInfo.processInfo.operatingSystemVersionString, appName: appName,
            appVersion: appVersion, thirdParty: thirdParty, hardwareVersion: machine,
            timeZone: TimeZone.current.identifier, language: Locale.current.identifier(.bcp47))
    }

    /// The labelled fields, in the order of an export.
    public var fields: [(label: String, value: String?)] {
        [
            ("OS version", systemVersion), ("App name", appName), ("App version", appVersion),
            ("Third party", thirdParty), ("HW version", hardwareVersion), ("User", user), ("Time zone", timeZone),
            ("Language", language), ("Base URL", baseURL),
        ]
    }

    private static var machine: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "unknown" }
        return withUnsafeBytes(of: name.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
