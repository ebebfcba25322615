import ArgumentParser
import Foundation
import Logging
import ODataClient
import ODataDatabases
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataServer
import ODataService
import ODataStore
import ODataTransportNIO
import OfflineOData
import ServerMetrics

/// `outpost serve`.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a SQLite database, a clone, or a model with its rows as an OData 4.01 service.",
        discussion: """
            Any SQLite database will do: entity sets, keys and navigation properties are found in its tables, primary \
            keys and foreign keys. The database is not altered, unless --track is given; what is needed to tell \
            changes is kept in a file beside it.

            A metadata document in XML or JSON is served from memory, with the rows of --rows at the start.

            A clone asks for a token, unless another sign-in or --open is given. A browser opens the link that is printed, \
            which works once. Scripts take the token from DIR/serve.token and send it as bearer token, or as the \
            password of any user: curl -u :"$(cat my-clone/serve.token)" URL

            Clients of OData 2.0 find the same data below /v2/, as Atom and verbose JSON.

            Supervisors ask /livez (the process answers), /readyz (a read of the data succeeds, and the service does not \
            stop) and /startupz; /health is the same as /readyz. The answer is 200 or 503.

            EXAMPLE
              outpost serve northwind.db --port 8080
              outpost users add users.txt ann
              outpost serve northwind.db --tls server.pem --tls-key server.key \\
                --auth users.txt --log
              outpost serve northwind.db --cors https://app.example \\
                --base-url https://api.example/shop/
              outpost serve shop.db --key 'Active customers=CustomerID' --read-only
              outpost serve northwind.db --metrics
              outpost serve my-clone
              outpost serve metadata.xml --rows data.json
            """)

    @Argument(help: "A SQLite database, the directory of a clone, or a metadata document.", completion: .file())
    var path: String

    @Option(
        help: ArgumentHelp("The rows of the service that a metadata document describes, as JSON.", valueName: "file"))
    var rows: String?

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

    @Flag(
        help: """
            Install triggers in the database, so that changes by other programs are known at once; 'outpost untrack' \
            removes them.
            """)
    var track = false

    @Option(
        name: .customLong("page-size"), help: "The most rows in one page; 0 for no limit.")
    var pageSize = 1000

    @OptionGroup var access: AccessOptions

    @OptionGroup var door: DoorOptions

    @Option(
        name: .customLong("base-url"),
        help: ArgumentHelp(
            "The URL under which clients see the service, behind a proxy that takes a part of the path away.",
            valueName: "url"))
    var baseURL: String?

    @Flag(
        name: .customLong("trust-proxy"),
        help: """
            Believe Forwarded and X-Forwarded-… fields; only behind a proxy that overwrites them. The host in them must be \
            one that the service answers to.
            """)
    var trustsProxy = false

    @Flag(name: .customLong("no-compression"), help: "Send responses unpacked, whatever clients accept.")
    var noCompression = false

    @Flag(help: "Write a line for each request to standard error.")
    var log = false

    @OptionGroup var metrics: MetricsOptions

    @OptionGroup var limits: LimitOptions

    @OptionGroup var key: KeyOptions

    @Flag(help: "Say where the service is as JSON.")
    var json = false

    mutating func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is a number from 0 to 65535.") }
        guard pageSize >= 0 else { throw ValidationError("--page-size is 0 or more.") }
        guard !door.open || StartWarnings.isLoopback(host) else {
            throw ValidationError("--open is for this machine alone: leave out --host \(host), or leave out --open.")
        }
        guard !metrics.metrics || metrics.tokenFile != nil || !trustsProxy && baseURL == nil else {
            throw ValidationError(
                "--metrics behind a proxy would show them to every caller of the proxy: give --metrics-token FILE.")
        }
    }

    func run() async throws {
        OpenFileLimit.raise()
        SpoolFiles.removeLeftovers()
        let source = try await source()
        var configuration = ODataServer.Configuration(host: host, port: port, compresses: !noCompression)
        configuration.requestBudget = limits.budget
        configuration.serverName = OutpostProduct.token
        configuration.drainTime = limits.drainTime
        configuration.tls = access.tls
        configuration.hosts = door.hosts(baseURL: baseURL)
        configuration.addressLimits = door.limits
        configuration.trustsForwarded = trustsProxy
        configuration.authentication = try await access.authentication()
        configuration.certificateSuffices = access.allowsEither
        let warnings = warnings(isClone: source.isClone, configuration.authentication)
        var token = token(isClone: source.isClone, configuration.authentication)
        defer { token?.remove() }
        if let token { configuration.authentication = [token.signIn] }
        configuration.crossOrigin = access.crossOrigin
        configuration.csrf = access.csrf ? CSRFProtection(isSecure: access.tls != nil) : nil
        let sets = try await source.provider.model.container.entitySets.map(\.name)
        let health = HealthReport(checks: [HealthReport.Check("data", run: source.check)])
        // A table may have any name, and its rows come first.
        let paths = HealthEndpoint.standardPaths.filter { path, _ in !sets.contains(String(path.dropFirst())) }
        configuration.health = HealthEndpoint(
            paths: paths, hasStarted: { health.hasStarted }, isReady: { await health.isReady })
        let measured = PrometheusMetrics()
        if let endpoint = try metrics.endpoint(for: measured, sets: sets) {
            configuration.metrics = endpoint
            configuration.metricsFactory = measured
        }
        if log {
            configuration.accessLog = Logger(label: "outpost.access") { TerminalLogHandler(label: $0) }
        }
        let monitors = StatusMonitors()
        let running = try await ODataServer(
            configuration: configuration, handler: try handler(source.provider, monitors)
        )
        .start(stoppingOnSignals: true)
        let deadline = StopDeadline(limits.drainTime)
        defer { withExtendedLifetime(deadline) {} }
        token?.write()
        for warning in source.warnings + warnings + [token?.problem].compactMap({ $0 }) {
            Terminal.error("\(Terminal.yellow("warning:", on: .error)) \(warning)")
        }
        health.finishStart()
        say(where: running.url, sets, token)
        Terminal.flush()
        await running.waitUntilStopped()
        await monitors.cancelAll()
        try await source.close()
    }

    /// Serves V4 at the root and V2 below it.
    private func handler(
        _ provider: any ODataProvider, _ monitors: StatusMonitors
    ) throws -> ODataServer.IdentifiedHandler {
        let options = ODataHandler.Options(
            publicURL: baseURL, trustsForwarded: trustsProxy, forwardedHosts: door.hosts(baseURL: baseURL),
            statusMonitors: monitors)
        do {
            return try ODataEndpoints(provider: provider, options: options).handle
        } catch {
            throw Failure(message: "--base-url: \(error)", status: .misused)
        }
    }

    /// The token that a clone asks for when nothing else protects it.
    private func token(isClone: Bool, _ ways: [any RequestAuthenticator]) -> ServeToken? {
        guard isClone, ways.isEmpty, !door.open else { return nil }
        return ServeToken(in: path, isSecure: access.tls != nil)
    }

    private func warnings(isClone: Bool, _ ways: [any RequestAuthenticator]) -> [String] {
        StartWarnings(
            host: host, isProtected: !ways.isEmpty || isClone && !door.open,
            takesPasswords: ways.contains { !($0 is ClientCertificateAuthentication) }
                || isClone && ways.isEmpty && !door.open && !StartWarnings.isLoopback(host),
            isSecure: access.tls != nil || trustsProxy || baseURL?.lowercased().hasPrefix("https://") ?? false,
            isReadOnly: readOnly, isOpenClone: isClone && door.open && ways.isEmpty
        ).texts
    }

    /// Says where the service is, and how to sign in.
    private func say(where url: String, _ sets: [String], _ token: ServeToken?) {
        let link = token.map { "\(url)?\($0.signIn.query)" }
        if json {
            let report = Report(
                url: url, entitySets: sets, signIn: link, tokenFile: token?.file,
                token: door.printToken ? token?.signIn.token : nil)
            return print(JSONText(report).text)
        }
        print("Serving \(Terminal.plural(sets.count, "entity set")) of \(path) at \(Terminal.bold(link ?? url))")
        guard let token else { return print(Terminal.dim("Stop with Ctrl-C. Try: curl '\(url)'")) }
        if door.printToken { print("Token: \(token.signIn.token)") }
        let file = token.file.map { "\"$(cat \($0.shellQuoted))\"" } ?? "TOKEN"
        print(Terminal.dim("The link works once. Stop with Ctrl-C. Try: curl -u :\(file) '\(url)'"))
    }

    private struct Report: Encodable {
        var url: String
        var entitySets: [String]
        /// The URL with a one-time code, which a browser opens.
        var signIn: String?
        /// The file with the token, from which scripts read it.
        var tokenFile: String?
        /// The token, if it was asked for.
        var token: String?
    }

    private struct Source {
        var provider: any ODataProvider
        var warnings: [String] = []
        /// Whether it is a clone, whose rows are encrypted where they are kept.
        var isClone = false
        /// Reads something, so that a failure shows that requests would fail.
        var check: @Sendable () async throws -> Void
        var close: () async throws -> Void
    }

    private func source() async throws -> Source {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw Failure(message: "\(path) does not exist.", advice: "Give a SQLite database or a clone's directory.")
        }
        if isDirectory.boolValue {
            try refuseRows()
            try refuseDatabaseOptions()
            var options = OfflineStore.Options()
            options.runtime.localPageSize = pageSize == 0 ? nil : pageSize
            let (directory, chosen, protection) = (path, options, try key.protection(ofCloneIn: path))
            let store = try await ReopeningProvider {
                try await OfflineStore.open(at: directory, protection: protection, options: chosen)
            }
            return Source(
                provider: readOnly ? ReadOnlyProvider(base: store) : store, isClone: true,
                check: { _ = try await store.model },
                close: { try store.close() })
        }
        try refuseCloneOptions()
        if let text = Self.metadata(in: path) {
            try refuseDatabaseOptions()
            return try await model(text)
        }
        try refuseRows()
        var options = ServedDatabase.Options()
        options.isReadOnly = readOnly
        options.installsTriggers = track
        options.maxPageSize = pageSize == 0 ? nil : pageSize
        for key in keys {
            guard let mark = key.lastIndex(of: "="), mark != key.startIndex, key.index(after: mark) != key.endIndex
            else {
                throw Failure(message: "--key is VIEW=COLUMN, not '\(key)'.", status: .misused)
            }
            options.viewKeys[String(key[..<mark])] =
                key[key.index(after: mark)...].split(separator: ",").map(String.init)
        }
        let database = try await ServedDatabase.open(path: path, options: options)
        return Source(
            provider: database, warnings: database.warnings, check: { try await Self.readRow(of: database) },
            close: { try await database.close() })
    }

    /// Reads a row of the first entity set.
    private static func readRow(of provider: any ODataProvider) async throws {
        guard let set = try await provider.model.container.entitySets.first?.name else { return }
        var options = QueryOptions()
        options.top = 1
        _ = try await provider.execute(ODataRequest(.read, ODataURL(set: set, options: options)))
    }

    /// Refuses what only a metadata document has.
    private func refuseRows() throws {
        guard rows == nil else { throw Failure(message: "--rows goes with a metadata document.", status: .misused) }
    }

    /// Refuses what only a clone has.
    private func refuseCloneOptions() throws {
        guard !door.open else { throw Failure(message: "--open goes with a clone.", status: .misused) }
        guard !door.printToken else { throw Failure(message: "--print-token goes with a clone.", status: .misused) }
    }

    /// Refuses what only a database has.
    private func refuseDatabaseOptions() throws {
        guard keys.isEmpty else { throw Failure(message: "--key goes with a database.", status: .misused) }
        guard !track else { throw Failure(message: "--track goes with a database.", status: .misused) }
    }

    /// What is in a file of XML or JSON; `nil` for another one, of which nothing but the beginning is read: a database may be
    /// larger than the memory. A pipe is read once.
    private static func metadata(in path: String) -> Data? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let start = try? file.read(upToCount: 64), isMetadata(start) else { return nil }
        return start + ((try? file.readToEnd()) ?? Data())
    }

    /// Whether a file is XML or JSON: no SQLite database begins so.
    private static func isMetadata(_ start: Data) -> Bool {
        let text = start.drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }
        return text.first == UInt8(ascii: "<") || text.first == UInt8(ascii: "{")
    }

    /// A service in memory on a model, with the rows of a file.
    private func model(_ text: Data) async throws -> Source {
        let model: EntityDataModel
        do {
            model = try CSDLReader.read(Array(text))
        } catch {
            throw Failure(message: "\(path): \(error)")
        }
        var options = StoreService.Options()
        options.isReadOnly = readOnly
        options.maxPageSize = pageSize == 0 ? nil : pageSize
        let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory, options: options)
        if let rows {
            let data = try NamedFile.contents(of: rows)
            do {
                try await service.seed(json: data)
            } catch {
                throw Failure(message: "\(rows): \(error)")
            }
        }
        return Source(
            provider: service, check: { try await Self.readRow(of: service) }, close: { try await service.close() })
    }
}
