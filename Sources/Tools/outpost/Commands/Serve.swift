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
import ToolLanguage

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: translated("Serve a SQLite database, a clone, or a model with its rows as an OData 4.01 service."),
        discussion: translated(
            paragraphs: """
                Any SQLite database will do: entity sets, keys and navigation properties are found in its tables, \
                primary keys and foreign keys. The database is not altered, unless --track is given. A file beside it \
                records changes.

                A metadata document in XML or JSON is served from memory, with the rows of --rows at the start.

                A clone asks for a token, unless another sign-in or --open is given. A browser opens the link that is \
                printed, which works once. Scripts take the token from DIR/serve.token. They send it as bearer token, \
                or as the password of any user: curl -u :"$(cat my-clone/serve.token)" URL

                Clients of OData 2.0 find the same data below /v2/, as Atom and verbose JSON.

                Supervisors ask /livez (the process answers), /readyz (the data can be read, and the service does not \
                stop) and /startupz. The address /health is the same as /readyz. The answer is 200 or 503.

                Every option is also a key of the YAML file that --config names, and a variable: OUTPOST_SERVE_PORT \
                for --port. SIGHUP reads users, rights, certificate and that file again. If one of them is wrong, all \
                stay as they are.

                EXAMPLE
                  outpost serve northwind.db --port 8080
                  outpost serve --config serve.yaml --check
                  outpost serve northwind.db --auth users.txt --rights rights.yaml
                  outpost users add users.txt ann
                  outpost serve northwind.db --tls server.pem --tls-key server.key \\
                    --auth users.txt --log
                  outpost serve northwind.db --cors https://app.example \\
                    --base-url https://api.example/shop/
                  outpost serve shop.db --key 'Active customers=CustomerID' --read-only
                  outpost serve northwind.db --metrics
                  outpost serve my-clone
                  outpost serve metadata.xml --rows data.json
                """))

    @Argument(help: .text("A SQLite database, the directory of a clone, or a metadata document."), completion: .file())
    var path: String

    @Option(
        help: .text("The rows of the service that a metadata document describes, as JSON.", valueName: "file"))
    var rows: String?

    @Option(help: .text("The port; 0 takes a free one."))
    var port = 8080

    @Option(help: .text("The address to listen on."))
    var host = "127.0.0.1"

    @Flag(name: .customLong("read-only"), help: .text("Refuse every change."))
    var readOnly = false

    @Option(
        name: .customLong("key"),
        help: .text("Serve a view as an entity set with this key.", valueName: "view=column"))
    var keys: [String] = []

    @Flag(
        help: .text(
            """
            Install triggers in the database, so that changes by other programs are known at once; 'outpost untrack' \
            removes them.
            """))
    var track = false

    @Option(
        name: .customLong("page-size"), help: .text("The maximum number of rows in a page; 0 for no limit."))
    var pageSize = 1000

    @OptionGroup var access: AccessOptions

    @Option(
        help: .text(
            "Limit callers to the rights in this YAML file, by role, entity set and row.", valueName: "file"),
        completion: .file())
    var rights: String?

    @OptionGroup var door: DoorOptions

    @Option(
        name: .customLong("base-url"),
        help: .text(
            "The URL under which clients see the service, behind a proxy that takes a part of the path away.",
            valueName: "url"))
    var baseURL: String?

    @Flag(
        name: .customLong("trust-proxy"),
        help: .text(
            """
            Trust Forwarded and X-Forwarded-… fields; only behind a proxy that overwrites them. Their host must be a \
            name of the service.
            """))
    var trustsProxy = false

    @Flag(
        name: .customLong("no-compression"),
        help: .text("Send responses without compression, even to clients that accept it."))
    var noCompression = false

    @Flag(help: .text("Write a line for each request to standard error."))
    var log = false

    @OptionGroup var metrics: MetricsOptions

    @OptionGroup var limits: LimitOptions

    @OptionGroup var key: KeyOptions

    @Option(
        help: .text(
            "Read settings from this YAML file. Options and variables OUTPOST_SERVE_… come before it.",
            valueName: "file"),
        completion: .file())
    var config: String?

    @Flag(help: .text("Check all settings and files, and end without serving."))
    var check = false

    @Flag(help: .text("Print the addresses of the service as JSON."))
    var json = false

    mutating func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError(translated("--port is a number from 0 to 65535."))
        }
        guard pageSize >= 0 else { throw ValidationError(translated("--page-size is 0 or more.")) }
        guard !door.open || StartWarnings.isLoopback(host) else {
            throw ValidationError(
                translated("--open is for this machine alone: leave out --host \(host), or leave out --open."))
        }
        guard !metrics.metrics || metrics.tokenFile != nil || !trustsProxy && baseURL == nil else {
            throw ValidationError(
                translated(
                    "--metrics behind a proxy would show them to every caller of the proxy: give --metrics-token FILE.")
            )
        }
    }

    func run() async throws {
        ReloadSignal.begin()
        OpenFileLimit.raise()
        SpoolFiles.removeLeftovers()
        let rightsFile = try rights.map { try RightsFile(path: $0) }
        let currentRights = rightsFile.map { CurrentRights($0) }
        let source = try await source(currentRights)
        let model = try await source.provider.model
        if let rightsFile {
            try rightsFile.check(in: model, functions: source.provider.traits.queryLanguage.functions)
            currentRights?.replace(by: rightsFile, in: model)
        }
        let passwords = try access.passwords()
        let users = passwords.map { UserDirectory(hashes: $0.hashes, passwords: $0.passwords) }
        var configuration = ODataServer.Configuration(host: host, port: port, compresses: !noCompression)
        configuration.requestBudget = limits.budget
        configuration.serverName = OutpostProduct.token
        configuration.drainTime = limits.drainTime
        configuration.tls = access.tls
        configuration.hosts = door.hosts(baseURL: baseURL)
        configuration.addressLimits = door.limits
        configuration.trustsForwarded = trustsProxy
        configuration.authentication = try await access.authentication(users)
        configuration.certificateSuffices = access.allowsEither
        let warnings = warnings(isClone: source.isClone, configuration.authentication)
        var token = token(isClone: source.isClone, configuration.authentication)
        defer { token?.remove() }
        if let token { configuration.authentication = [token.signIn] }
        configuration.crossOrigin = access.crossOrigin
        configuration.csrf = access.csrf ? CSRFProtection(isSecure: access.tls != nil) : nil
        let sets = model.container.entitySets.map(\.name)
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
        let server = ODataServer(configuration: configuration, handler: try handler(source.provider, monitors))
        if check {
            try configuration.tls?.check()
            for warning in source.warnings.map({ TerminalText($0) }) + warnings { warn(warning) }
            try await source.close()
            return report(check: sets)
        }
        let running = try await server.start(stoppingOnSignals: true)
        let deadline = StopDeadline(limits.drainTime)
        let reloading = ServeReload(
            arguments: CommandLine.arguments, running: running, users: users, rights: currentRights,
            model: model,
            functions: source.provider.traits.queryLanguage.functions)
        let signal = ReloadSignal { await reloading.run() }
        defer { withExtendedLifetime((deadline, signal)) {} }
        token?.write()
        for warning in source.warnings.map({ TerminalText($0) }) + warnings { warn(warning) }
        if let problem = token?.problem { warn(TerminalText(problem)) }
        health.finishStart()
        let journal = ServeJournal(isOn: log)
        journal.started(at: running.url, path: path, sets: sets.count)
        say(where: running.url, sets, token)
        Terminal.flush()
        await running.waitUntilStopped()
        await monitors.cancelAll()
        try await source.close()
        journal.stopped()
    }

    private func warn(_ text: TerminalText) {
        Terminal.error("\(Terminal.yellow("warning:", on: .error)) \(text)")
    }

    /// Says that the settings can be served.
    private func report(check sets: [String]) {
        if json { return print(JSONText(CheckReport(entitySets: sets)).text) }
        print("The settings are fine. They serve \(Terminal.plural(sets.count, "entity set")) of \(path).")
    }

    private struct CheckReport: Encodable {
        var entitySets: [String]
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

    private func warnings(isClone: Bool, _ ways: [any RequestAuthenticator]) -> [TerminalText] {
        StartWarnings(
            host: host, isProtected: !ways.isEmpty || rights != nil || isClone && !door.open,
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
}
