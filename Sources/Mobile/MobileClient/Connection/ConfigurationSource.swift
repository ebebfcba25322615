import Foundation
import Secrets

/// The source of the address of an application: the app itself, a QR code, a file, or the device management.
///
/// Keys count without regard to case: `Server`, `Port`, `Farm ID`, `URL Suffix`, `Domain`, `Security`, `Application`,
/// `User`, `Activation Code`; also `URL` for the whole address.
///
/// ```swift
/// let source = ConfigurationSource.text("""
///     Server: mobile.example
///     Application: shop
///     Activation Code: 7Q4X-…
///     """)
/// let session = try await onboarding.onboard(from: source)
/// ```
public enum ConfigurationSource: Sendable {
    /// A profile of the app itself.
    case profile(ConnectionProfile)
    /// A URL and the name of the application.
    case url(String, application: String)
    /// Lines `name: value`, split at the first colon, so that values may contain colons.
    case text(String)
    /// The content of a QR code: a URL with the parameter `application`, JSON, or lines.
    case qrCode(String)
    /// An object in JSON.
    case json([UInt8])
    /// A property list, in XML or binary.
    case propertyList([UInt8])
    /// A dictionary, such as the managed configuration of an app or the environment of a process.
    case dictionary([String: String])
    /// A file with JSON, a property list or lines.
    case file(String)

    /// The longest source, in bytes.
    public static let maxLength = 65_536

    /// Returns the values.
    func values() throws(MobileError) -> ConfigurationValues {
        switch self {
        case .profile(let profile): return ConfigurationValues(profile: profile)
        case .url(let url, let application): return ConfigurationValues(["url": url, "application": application])
        case .text(let text): return try Self.lines(text)
        case .qrCode(let text): return try Self.code(text.trimmed)
        case .json(let bytes): return try Self.json(bytes)
        case .propertyList(let bytes): return try Self.propertyList(bytes)
        case .dictionary(let values): return ConfigurationValues(values)
        case .file(let path): return try Self.file(path)
        }
    }

    private static func file(_ path: String) throws(MobileError) -> ConfigurationValues {
        guard let handle = FileHandle(forReadingAtPath: path), let data = try? handle.read(upToCount: maxLength + 1)
        else { throw .invalidConfiguration(detail: "the file \(path) cannot be read") }
        let bytes = Array(data)
        if bytes.starts(with: Array("bplist".utf8)) || bytes.starts(with: Array("<?xml".utf8)) {
            return try propertyList(bytes)
        }
        if bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") { return try json(bytes) }
        return try lines(String(decoding: bytes, as: UTF8.self))
    }

    private static func code(_ text: String) throws(MobileError) -> ConfigurationValues {
        if text.hasPrefix("{") { return try json(Array(text.utf8)) }
        guard text.lowercased().hasPrefix("https://") || text.lowercased().hasPrefix("http://"),
            !text.contains("\n")
        else { return try lines(text) }
        guard text.utf8.count <= maxLength, let parts = URLComponents(string: text) else {
            throw .invalidAddress(text)
        }
        var values = ["url": String(text.prefix { $0 != "?" && $0 != "#" })]
        for item in parts.queryItems ?? [] { values[item.name] = item.value ?? "" }
        if values["application"] == nil, let range = values["url"]?.range(of: "/m/v1/") {
            let rest = values["url"]?[range.upperBound...].prefix { $0 != "/" } ?? ""
            values["application"] = String(rest)
        }
        return ConfigurationValues(values)
    }

    private static func lines(_ text: String) throws(MobileError) -> ConfigurationValues {
        guard text.utf8.count <= maxLength else { throw tooLong }
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let line = String(line).trimmed
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            guard let colon = line.firstIndex(of: ":") else {
                throw .invalidConfiguration(detail: "the line \(line.debugDescription) has no colon")
            }
            values[String(line[..<colon]).trimmed] = String(line[line.index(after: colon)...]).trimmed
        }
        return ConfigurationValues(values)
    }

    private static func json(_ bytes: [UInt8]) throws(MobileError) -> ConfigurationValues {
        guard bytes.count <= maxLength else { throw tooLong }
        guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
            throw .invalidConfiguration(detail: "it is no JSON object")
        }
        return ConfigurationValues(object.mapValues { "\($0)" })
    }

    private static func propertyList(_ bytes: [UInt8]) throws(MobileError) -> ConfigurationValues {
        guard bytes.count <= maxLength else { throw tooLong }
        let list = try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
        guard let values = list as? [String: Any] else {
            throw .invalidConfiguration(detail: "it is no property list with names and values")
        }
        return ConfigurationValues(values.mapValues { "\($0)" })
    }

    private static let tooLong = MobileError.invalidConfiguration(detail: "it is longer than \(maxLength) bytes")
}

/// The values of a source, by names without regard to case, spaces and hyphens.
struct ConfigurationValues: Sendable {
    private var given: ConnectionProfile?
    private var values: [String: String] = [:]

    init(profile: ConnectionProfile) { given = profile }

    init(_ values: [String: String]) {
        for (name, value) in values {
            let key = name.lowercased().filter { !" -_".contains($0) }
            if self.values[key]?.isEmpty ?? true { self.values[key] = value.trimmed }
        }
    }

    /// Returns the profile, the user and the activation code.
    ///
    /// - Throws: ``MobileError``.
    func profile() throws(MobileError) -> (profile: ConnectionProfile, user: String?, activation: Secret<String>?) {
        if let given { return (given, nil, nil) }
        func value(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let application = value("application") else { throw .emptyParameter("the application") }
        let profile: ConnectionProfile
        let (domain, security) = (value("domain") ?? "default", value("security") ?? value("securityconfiguration"))
        if let url = value("url") {
            profile = try ConnectionProfile(
                url: url, application: application, domain: domain, securityConfiguration: security)
        } else {
            guard let server = value("server") else { throw .emptyParameter("the server") }
            var port: Int?
            if let text = value("port") {
                guard let number = Int(text) else {
                    throw .invalidConfiguration(detail: "the port \(text.debugDescription) is no number")
                }
                port = number
            }
            let isPlain = server.lowercased().hasPrefix("http://")
            let host = server.range(of: "://").map { String(server[$0.upperBound...]) } ?? server
            profile = try ConnectionProfile(
                host: host.hasSuffix("/") ? String(host.dropLast()) : host, port: port,
                relayTemplate: value("urlsuffix"), farm: value("farmid"), application: application, domain: domain,
                securityConfiguration: security, isSecure: !isPlain)
        }
        return (profile, value("user"), value("activationcode").map { Secret($0) })
    }
}
