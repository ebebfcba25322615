import ArgumentParser
import Foundation
import Logging
import ODataHTTP
import ODataModel
import ODataServer
import ODataService
import ODataStore
import OfflineOData

/// `outpost serve`.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve a SQLite database, or a clone, as an OData 4.01 service.",
        discussion: """
            Any SQLite database will do: entity sets, keys and navigation properties are found in its tables,
            primary keys and foreign keys. The database is not altered; what is needed to tell changes is kept
            in a file beside it.

            EXAMPLE
              outpost serve northwind.db --port 8080
              outpost serve shop.db --key 'Active customers=CustomerID' --read-only
              outpost serve my-clone
            """)

    @Argument(help: "A SQLite database, or the directory of a clone.", completion: .file())
    var path: String

    @Option(help: "The port; 0 takes a free one.")
    var port = 8080

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Flag(name: .customLong("read-only"), help: "Refuse every change.")
    var readOnly = false

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp("Serve a view as an entity set with this key.", valueName: "view=column"))
    var keys: [String] = []

    @Flag(help: "Install triggers in the database, so that changes by other programs are known at once.")
    var track = false

    @Option(
        name: .customLong("page-size"), help: "The most rows in one page; 0 for no limit.")
    var pageSize = 1000

    @Option(help: ArgumentHelp("Ask for this user; the password comes from --password-file.", valueName: "name"))
    var user: String?

    @Option(
        name: .customLong("password-file"),
        help: ArgumentHelp("The file with the password of --user.", valueName: "file"))
    var passwordFile: String?

    @Option(
        name: .customLong("tls-certificate"),
        help: ArgumentHelp("Serve over TLS with this PEM certificate chain.", valueName: "file"))
    var certificate: String?

    @Option(
        name: .customLong("tls-key"),
        help: ArgumentHelp("The PEM private key of --tls-certificate.", valueName: "file"))
    var certificateKey: String?

    @Flag(help: "Write a line for each request to standard error.")
    var log = false

    @OptionGroup var key: KeyOptions

    @Flag(help: "Say where the service is as JSON.")
    var json = false

    mutating func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is a number from 0 to 65535.") }
        guard pageSize >= 0 else { throw ValidationError("--page-size is 0 or more.") }
        guard (certificate == nil) == (certificateKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key go together.")
        }
        guard (user == nil) == (passwordFile == nil) else {
            throw ValidationError("--user and --password-file go together.")
        }
    }

    func run() async throws {
        let source = try await source()
        var configuration = ODataServer.Configuration(host: host, port: port)
        if let certificate, let certificateKey {
            configuration.tls = ODataServer.TLS(
                certificateChainFile: certificate, privateKeyFile: certificateKey)
        }
        if let user, let passwordFile {
            guard let data = FileManager.default.contents(atPath: passwordFile) else {
                throw Failure(message: "\(passwordFile) cannot be read.")
            }
            let password = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
            configuration.authentication = BasicAuthentication(user: user, password: password)
        }
        if log {
            configuration.accessLog = Logger(label: "outpost.access") { StreamLogHandler.standardError(label: $0) }
        }
        let handler = ODataHandler(provider: source.provider)
        let running = try await ODataServer(configuration: configuration, handler: handler.handle)
            .start(stoppingOnSignals: true)
        for warning in source.warnings { Terminal.error("\(Terminal.yellow("warning:", on: .error)) \(warning)") }
        let sets = try await source.provider.model.container.entitySets.map(\.name)
        if json {
            print(JSONText(Report(url: running.url, entitySets: sets)).text)
        } else {
            print("Serving \(Terminal.plural(sets.count, "entity set")) of \(path) at \(Terminal.bold(running.url))")
            print(Terminal.dim("Stop with Ctrl-C. Try: curl '\(running.url)'"))
        }
        Terminal.flush()
        await running.waitUntilStopped()
        try await source.close()
    }

    private struct Report: Encodable {
        var url: String
        var entitySets: [String]
    }

    private struct Source {
        var provider: any ODataProvider
        var warnings: [String] = []
        var close: () async throws -> Void
    }

    private func source() async throws -> Source {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw Failure(message: "\(path) does not exist.", advice: "Give a SQLite database or a clone's directory.")
        }
        if isDirectory.boolValue {
            var options = OfflineODataProvider.Options()
            options.localPageSize = pageSize == 0 ? nil : pageSize
            let store = try await OfflineODataProvider.open(
                at: path, protection: try key.protection(ofCloneIn: path), options: options)
            return Source(provider: store, close: { try store.close() })
        }
        var options = ServedDatabase.Options()
        options.isReadOnly = readOnly
        options.installsTriggers = track
        options.pageSize = pageSize == 0 ? nil : pageSize
        for key in keys {
            guard let mark = key.lastIndex(of: "="), mark != key.startIndex, key.index(after: mark) != key.endIndex
            else {
                throw Failure(message: "--key is VIEW=COLUMN, not '\(key)'.", status: .misused)
            }
            options.viewKeys[String(key[..<mark])] =
                key[key.index(after: mark)...].split(separator: ",").map(String.init)
        }
        let database = try await ServedDatabase.open(path: path, options: options)
        return Source(provider: database, warnings: database.warnings, close: { try await database.close() })
    }
}
