import MobileServer
import ServerState
import ToolLanguage

/// A file with the configuration of an application: YAML or `.ini`.
enum ApplicationFile {
    /// Reads a file.
    ///
    /// - Parameter active: The active configuration, which an `.ini` file changes.
    static func read(
        _ path: String, over active: ApplicationConfiguration?
    ) throws -> (configuration: ApplicationConfiguration, warnings: [ConfigurationProblem]) {
        let text = try ServerOptions.text(of: path)
        guard path.lowercased().hasSuffix(".ini") else {
            return (try ApplicationConfiguration(yaml: text, path: path), [])
        }
        guard let active else {
            throw ServerFailure(
                "An '.ini' file names neither URLs nor queries, so that the application must exist.",
                advice: "Import the destinations as YAML first.", status: .misused)
        }
        var warnings: [ConfigurationProblem] = []
        let changed = try EndpointFile.applying(text, path: path, to: active, warnings: &warnings)
        return (changed, warnings)
    }
}

extension OpenServer {
    /// Returns a version of the configuration of an application; `nil` for version 0.
    func configuration(of record: ApplicationRecord, version: Int) async throws -> ApplicationConfiguration? {
        guard version > 0 else { return nil }
        guard let stored = try await state.applications.configuration(version, of: record.id) else {
            throw ServerFailure(
                "The application '\(record.name)' has no version \(version).",
                advice: "List the versions with 'outpost-server app show \(record.name)'.")
        }
        return try ApplicationConfiguration(canonicalJSON: stored.body)
    }
}
