import Foundation

/// The discovery document (`/.well-known/outpost`), which QR codes lead to. It contains no secrets.
struct DiscoveryDocument {
    private struct Content: Encodable {
        var applications: [Application]
    }

    struct Application: Encodable {
        var application: String
        var title: String
        var deviceAPI: String
        var securityConfigurations: [Security]
        var captcha: String
        var activation: Bool
        var deviceProof: String
        var minimumAppVersion: String?
    }

    struct Security: Encodable {
        var name: String
        var kind: String
        var issuer: String?
        var clientID: String?
    }

    private let applications: [Application]

    /// Creates the document.
    ///
    /// - Parameter base: The external URL of the server with a slash at the end.
    init(_ active: [ActiveApplication], base: String) {
        applications = active.map { application in
            let configuration = application.configuration
            let rules = configuration.registration
            return Application(
                application: application.record.name, title: application.record.title,
                deviceAPI: "\(base)\(DeviceAddresses.path)\(application.record.name)/",
                securityConfigurations: configuration.security.sorted { $0.key < $1.key }.map { name, security in
                    Security(
                        name: name, kind: security.kind.rawValue, issuer: security.issuer,
                        clientID: security.clientID)
                },
                captcha: rules.captcha.rawValue, activation: rules.needsActivation,
                deviceProof: rules.deviceProof.rawValue, minimumAppVersion: rules.minimumAppVersion)
        }
    }

    /// Returns the document as JSON: all applications, or one.
    ///
    /// - Returns: `nil` if there is no such application.
    func bytes(application name: String?) throws -> [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let name else { return Array(try encoder.encode(Content(applications: applications))) }
        guard let application = applications.first(where: { $0.application == name }) else { return nil }
        return Array(try encoder.encode(application))
    }

    /// Returns the application in the query of a path: `/.well-known/outpost?application=shop`.
    static func application(in path: String) -> String? {
        guard let mark = path.firstIndex(of: "?") else { return nil }
        let option = path[mark...].dropFirst().split(separator: "&").first { $0.hasPrefix("application=") }
        return option.map { String($0.dropFirst("application=".count)) }.flatMap(\.removingPercentEncoding)
    }
}
