import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What every entry of a log has in common: the nine fields at the top of an export.
public struct LogHeader: Hashable, Sendable, Codable {
    /// The operating system and its version.
    public var systemVersion: String
    /// The app.
    public var appName: String
    /// The app's version.
    public var appVersion: String
    /// Other libraries whose versions matter; none prints as `-`.
    public var thirdParty: String?
    /// The machine.
    public var hardwareVersion: String
    /// The user at the service.
    public var user: String?
    /// The time zone, as `Europe/Berlin`.
    public var timeZone: String
    /// The language, as `de-DE`.
    public var language: String
    /// The root of the service.
    public var baseURL: String?

    /// Makes a header.
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

    /// A header of the machine that this runs on; user and service are filled in when they are known.
    public static func ofThisMachine(appName: String, appVersion: String, thirdParty: String? = nil) -> LogHeader {
        LogHeader(
            systemVersion: ProcessInfo.processInfo.operatingSystemVersionString, appName: appName,
            appVersion: appVersion, thirdParty: thirdParty, hardwareVersion: machine,
            timeZone: TimeZone.current.identifier, language: Locale.current.identifier(.bcp47))
    }

    /// The fields with their labels, in the order of an export.
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
