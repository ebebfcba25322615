import ArgumentParser
import Foundation
import Logging
import MobileServer
import ODataClient
import Secrets
import ServerState
import ToolLanguage

/// The options of all commands.
struct ServerOptions: ParsableArguments {
    @Option(
        help: .text(
            "The configuration file; by default outpost-server.yaml in the data folder, if it is there.",
            valueName: "file"),
        completion: .file())
    var config: String?

    @Option(
        help: .text(
            "The data folder; by default server.data_dir, else outpost-server in the user's data folder.",
            valueName: "dir"),
        completion: .directory)
    var data: String?

    @Option(
        help: .text(
            "The database of the server. This version keeps its state in SQLite files and refuses a URL.",
            valueName: "url"))
    var database: String?

    @Flag(help: .text("Write the result as JSON."))
    var json = false

    /// The name of the build.
    static var build: String { "outpost-server/\(OutpostProduct.version)" }

    /// The actor of commands in the audit.
    static var actor: String { "tool:\(NSUserName())" }

    mutating func validate() throws {
        guard database == nil else {
            throw ValidationError(
                translated(
                    """
                    --database cannot be used: this version keeps its state in SQLite files. Name their folder with --data.
                    """))
        }
    }

    // MARK: Configuration

    /// The configuration, its path (`nil` for the embedded one), and its warnings.
    func configuration() throws -> (configuration: ServerConfiguration, path: String?, warnings: [ConfigurationProblem])
    {
        let beside = (data ?? ServerFolder.standardPath()).map { $0 + "/" + ServerFolder.configurationName }
        let path = config ?? beside.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
        guard let path else { return (ServerConfiguration(), nil, []) }
        var warnings: [ConfigurationProblem] = []
        let configuration = try ServerConfiguration(
            yaml: try Self.text(of: path), path: path, warnings: &warnings)
        return (configuration, path, warnings)
    }

    /// The maximum size of a file that a command reads, in bytes.
    static let sizeLimit = 4 << 20

    /// Returns the text of a file.
    static func text(of path: String) throws -> String {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ServerFailure(
                "\(path) cannot be read.", advice: "Check the path and its permissions.", status: .misused)
        }
        defer { try? file.close() }
        let bytes = (try? file.read(upToCount: sizeLimit + 1)) ?? Data()
        guard bytes.count <= sizeLimit else { throw ServerFailure("\(path) is too large.", status: .misused) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ServerFailure("\(path) is no text in UTF-8.", status: .misused)
        }
        return text
    }

    /// Returns the data folder.
    func folder(_ configuration: ServerConfiguration) throws -> ServerFolder {
        guard let path = data ?? configuration.server.dataFolder ?? ServerFolder.standardPath() else {
            throw ServerFailure(
                "There is no folder for the data: this user has no home folder.", advice: "Name one with --data.",
                status: .misused)
        }
        let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        return ServerFolder(path: absolute)
    }

    // MARK: State

    /// Opens the state of an existing server, gives it to a function, and closes it.
    func withServer<Value>(_ body: (OpenServer) async throws -> Value) async throws -> Value {
        let (configuration, _, _) = try configuration()
        let folder = try folder(configuration)
        guard folder.isInitialised else {
            throw ServerFailure(
                "There is no server in \(folder.path).",
                advice: "Make one with 'outpost-server init', or start the default one with 'outpost-server run'.")
        }
        let (state, keys) = try await folder.open(configuration, build: Self.build)
        do {
            let pending = try await state.migrate(dryRun: true)
            guard pending.steps.isEmpty else {
                throw ServerStateError.olderSchema(found: pending.from, known: pending.to)
            }
            let value = try await body(
                OpenServer(configuration: configuration, folder: folder, state: state, keys: keys))
            await state.close()
            return value
        } catch {
            await state.close()
            throw error
        }
    }
}

/// A server with an open state.
struct OpenServer: Sendable {
    var configuration: ServerConfiguration
    var folder: ServerFolder
    var state: SQLiteServerState
    var keys: ServerKeys

    /// Returns an application.
    func application(_ name: String) async throws -> ApplicationRecord {
        guard let record = try await state.applications.application(named: name) else {
            let known = try await state.applications.all().map(\.name)
            throw ServerFailure(
                "There is no application '\(name)'.",
                advice: known.isEmpty
                    ? "Add one with 'outpost-server app import'." : "There are \(known.joined(separator: ", ")).")
        }
        return record
    }

    /// The services for parts that commands use without a node.
    func services(_ logger: Logger = Logger(label: "outpost.server", factory: { _ in SwiftLogNoOpLogHandler() }))
        -> NodeServices
    {
        NodeServices(
            state: state, keys: keys, configuration: configuration,
            nodeName: configuration.server.nodeName ?? ProcessInfo.processInfo.hostName, dataFolder: folder.path,
            logger: logger)
    }

    /// Writes an entry of the audit.
    func audit(_ action: String, _ target: String) async throws {
        _ = try await state.operators.audit(
            AuditNote(actor: ServerOptions.actor, action: action, target: target))
    }
}
