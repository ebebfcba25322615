import ArgumentParser
import Foundation
import Logging
import MobileServer
import ODataClient
import ODataServer
import ServerMetrics
import ServerState
import ToolLanguage

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: translated("Serve."),
        discussion: translated(
            paragraphs: """
                Without configuration, the server makes a data folder and the application 'shop' on an example \
                database. It listens on this machine alone.

                SIGTERM ends the server: load balancers see that it is not ready, running requests end, jobs are given \
                back. A second SIGTERM ends it at once. SIGHUP reads the certificate again.

                Supervisors ask /livez, /readyz and /startupz of any listener. Metrics are at server.metrics_listen.

                EXAMPLE
                  outpost-server run
                  outpost-server run --data /srv/outpost --log
                """))

    @OptionGroup var options: ServerOptions

    @Flag(help: .text("Write a line for each request to standard error."))
    var log = false

    @Option(
        help: .text("Listen here instead of server.listen; port 0 takes a free one.", valueName: "host:port"))
    var listen: String?

    @Option(
        name: .customLong("operator-listen"),
        help: .text("Listen here instead of server.operator_listen.", valueName: "host:port"))
    var operatorListen: String?

    @Option(
        name: .customLong("metrics-listen"),
        help: .text("Listen here instead of server.metrics_listen; empty for none.", valueName: "host:port"))
    var metricsListen: String?

    mutating func validate() throws {
        for text in [listen, operatorListen, metricsListen].compactMap({ $0 }) where !text.isEmpty {
            guard ListenAddress(text) != nil else {
                throw ValidationError(translated("'\(text)' is no address: write HOST:PORT."))
            }
        }
    }

    func run() async throws {
        var (configuration, path, warnings) = try options.configuration()
        if let listen { configuration.server.listen = listen }
        if let operatorListen { configuration.server.operatorListen = operatorListen }
        if let metricsListen { configuration.server.metricsListen = metricsListen }
        try requireSafeListeners(configuration.server)
        for warning in warnings { Console.error(ServerFailure.words(of: warning)) }
        let folder = try options.folder(configuration)
        if !folder.isInitialised {
            guard folder.isEmpty || path != nil else { throw ServerFolderError.notEmpty(path: folder.path) }
            try await folder.create(master: configuration.masterKey)
        }
        let (state, keys) = try await folder.open(configuration, build: ServerOptions.build)
        do {
            try await serve(
                OpenServer(configuration: configuration, folder: folder, state: state, keys: keys),
                isDefault: path == nil)
        } catch {
            await state.close()
            throw error
        }
        await state.close()
    }

    /// The configuration has checked its own listeners; options may name others.
    private func requireSafeListeners(_ server: ListenerSettings) throws {
        let isOpen = [server.listen, server.operatorListen].contains { text in
            ListenAddress(text).map { !$0.isLoopback } ?? false
        }
        guard isOpen, server.tls == .off else { return }
        throw ServerFailure(
            "A listener that other machines reach needs TLS.",
            advice: "Set server.tls.mode to own, or to behind-proxy with server.trusted_hops.", status: .misused)
    }

    private func serve(_ server: OpenServer, isDefault: Bool) async throws {
        let report = try await server.state.migrate(dryRun: !server.configuration.database.migrates)
        guard server.configuration.database.migrates || report.steps.isEmpty else {
            throw ServerFailure(
                "The tables have version \(report.from), and this build needs version \(report.to).",
                advice: "Run 'outpost-server migrate', or set database.migrate to true.")
        }
        let logger = Logger(label: "outpost.server") { [level = level(server.configuration)] in
            ServerLogHandler(label: $0, level: level)
        }
        if try await server.state.enter() {
            logger.warning("a file of the state was put back, so that a new incarnation begins")
        }
        try await ApplicationImporter(state: server.state).importUnknown(server.configuration)
        let hasShop = try await addShop(server, isDefault: isDefault)
        let services = server.services(logger)
        let composition = try ServerComposition(services)
        var nodeOptions = ServerNode.Options()
        nodeOptions.serverName = ServerOptions.build
        let metrics = PrometheusMetrics()
        nodeOptions.metrics = metrics
        let export = try await MetricsExport(
            server.configuration.otlp, secrets: services.secrets, metrics: metrics)
        if ListenAddress(server.configuration.server.listen)?.isLoopback == true {
            nodeOptions.noticeTime = .zero
            nodeOptions.openingTime = .zero
        }
        if log { nodeOptions.accessLog = logger }
        if server.configuration.server.tls == .own {
            nodeOptions.clientAuthorities = try ClientAuthoritiesFile.write(
                in: server.folder.path, configured: server.configuration.server.clientCA,
                devices: composition.deviceAuthority)
        }
        let node = ServerNode(services: services, parts: composition.parts, options: nodeOptions)
        let drain = server.configuration.server.drain
        let signals = ServerSignals(limit: drain + .seconds(15)) {
            do {
                try node.reloadCertificate()
                logger.info("the certificate was read again")
            } catch {
                logger.error("the certificate stays", metadata: ["reason": "\(error)"])
            }
        }
        try await node.start()
        try await say(node, server, hasShop: hasShop)
        await signals.waitForEnd()
        logger.info("the server ends")
        await node.stop()
        await export?.stop()
    }

    private func level(_ configuration: ServerConfiguration) -> Logger.Level {
        let wanted = Logger.Level(rawValue: configuration.log.level) ?? .info
        // Without --log, the terminal shows warnings and errors alone.
        return log ? wanted : max(wanted, .warning)
    }

    /// Adds the example, if nothing else is served.
    private func addShop(_ server: OpenServer, isDefault: Bool) async throws -> Bool {
        guard isDefault else { return false }
        let known = try await server.state.applications.all()
        if known.isEmpty {
            try ShopExample.write(to: server.folder.file(ShopExample.fileName))
            _ = try await ApplicationImporter(state: server.state).add(
                ShopExample.configuration, named: ShopExample.name, by: "server", activates: true)
            return true
        }
        return known.contains { $0.name == ShopExample.name }
    }

    private func say(_ node: ServerNode, _ server: OpenServer, hasShop: Bool) async throws {
        var report = Report(
            deviceAPI: node.url(of: .devices).map { hasShop ? "\($0)m/v1/\(ShopExample.name)/" : "\($0)m/v1/" },
            operators: node.url(of: .operators), metrics: node.metricsURL, dataFolder: server.folder.path)
        if let operators = report.operators, try await isWithoutOperator(server) {
            let code = try await OperatorsPart.makeLink(
                state: server.state, keys: server.keys, operator: "admin")
            report.signIn = "\(operators)sign-in/first?code=\(code)"
        }
        if options.json { return Console.json(report) }
        Console.line("Outpost server \(OutpostProduct.version)")
        if let url = report.deviceAPI { Console.line("  Device API      \(url)") }
        if let url = report.operators { Console.line("  Operators' API  \(url)operator/v1/") }
        if let url = report.signIn { Console.line("  Sign in once    \(url)   (valid for 15 minutes)") }
        if let url = report.metrics { Console.line("  Metrics         \(url)") }
        Console.line("  Data            \(server.folder.path)")
    }

    /// Whether no operator can sign in with a password yet.
    private func isWithoutOperator(_ server: OpenServer) async throws -> Bool {
        try await server.state.operators.all().allSatisfy { $0.password == nil }
    }

    private struct Report: Encodable {
        var deviceAPI: String?
        var operators: String?
        var signIn: String?
        var metrics: String?
        var dataFolder: String
    }
}
