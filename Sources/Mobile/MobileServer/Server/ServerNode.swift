import Foundation
import HTTPTypes
import Logging
import Metrics
import ODataHTTP
import ODataServer
import ODataService
import ServerMetrics
import ServerState
import Synchronization

/// A node of the server: its parts behind listeners, its jobs, its health and its end.
///
/// ```swift
/// let node = ServerNode(services: services, parts: [destinations, devices, operators])
/// try await node.start()
/// …
/// await node.stop()
/// ```
public final class ServerNode: Sendable {
    /// The things that a program decides about a node.
    public struct Options: Sendable {
        /// The value of the header field `Server`, and the name of the build.
        public var serverName = "outpost-server"
        /// The logger for a line for each request; `nil` for none.
        public var accessLog: Logger?
        /// The metrics of the process; `nil` for none.
        public var metrics: PrometheusMetrics?
        /// The time between the beginning of the end, which load balancers see, and the end of the listeners.
        public var noticeTime = Duration.seconds(5)
        /// The time after the start during which the admission opens from 10 % to 100 %, so that devices that come back
        /// after an outage do not come all at once; zero opens it at once.
        public var openingTime = Duration.seconds(60)
        /// The PEM file with authorities of client certificates, in place of that of the configuration.
        public var clientAuthorities: String?

        /// Creates the defaults.
        public init() {}
    }

    private struct Running {
        var servers: [NodeListener: RunningServer] = [:]
        var metrics: RunningServer?
        var jobs: JobRunner?
        var duties: Task<Void, Never>?
    }

    private let services: NodeServices
    private let parts: [any ServerPart]
    private let options: Options
    private let running = Mutex(Running())
    private let isDraining = Mutex(false)
    private let health: HealthReport

    /// Creates a node.
    ///
    /// - Parameters:
    ///   - services: The things that the parts share.
    ///   - parts: The parts, in the order of their start.
    ///   - options: The things that the program decides.
    public init(services: NodeServices, parts: [any ServerPart], options: Options = Options()) {
        self.services = services
        self.parts = parts
        self.options = options
        let state = services.state
        health = HealthReport(checks: [HealthReport.Check("state", run: { _ = try await state.incarnation() })])
    }

    // MARK: Start

    /// Starts the parts, the jobs and the listeners.
    ///
    /// - Throws: The error of a part, or `ServerStartError`. What was started is stopped then.
    public func start() async throws {
        do {
            for part in parts { try await part.start() }
            try await services.state.nodes.beat(services.nodeName, build: options.serverName, isDraining: false)
            try await listen()
            let jobs = JobRunner(
                state: services.state, workers: workers, owner: services.nodeName, logger: services.logger)
            await jobs.start()
            let duties = Task { await self.carryOutDuties() }
            running.withLock { running in
                running.jobs = jobs
                running.duties = duties
            }
            health.finishStart()
        } catch {
            await stop(noticeTime: .zero)
            throw error
        }
    }

    private var workers: [JobKind: any JobWorker] {
        parts.reduce(into: [:]) { workers, part in workers.merge(part.workers) { first, _ in first } }
    }

    private func listen() async throws {
        let server = services.configuration.server
        for (listener, text) in [(NodeListener.devices, server.listen), (.operators, server.operatorListen)] {
            guard let address = ListenAddress(text) else { continue }
            let mounts = parts.flatMap { $0.mounts(of: listener) }
            let started = try await ODataServer(
                configuration: configuration(of: address, listener), mounts: mounts
            ).start()
            running.withLock { $0.servers[listener] = started }
        }
        guard let address = ListenAddress(server.metricsListen), let metrics = options.metrics else { return }
        var configuration = ODataServer.Configuration(host: address.host, port: address.port)
        configuration.serverName = options.serverName
        configuration.health = healthEndpoint
        configuration.metrics = MetricsEndpoint(contentType: PrometheusMetrics.contentType) { metrics.text }
        let started = try await ODataServer(configuration: configuration, mounts: []).start()
        running.withLock { $0.metrics = started }
    }

    private func configuration(of address: ListenAddress, _ listener: NodeListener) -> ODataServer.Configuration {
        let server = services.configuration.server
        var configuration = ODataServer.Configuration(
            host: address.host, port: address.port, health: healthEndpoint, accessLog: options.accessLog,
            logsQueries: services.configuration.log.hasQueries, serverName: options.serverName)
        // Devices of one company may come from one address. Each device and each user has limits of its own.
        configuration.addressLimits = listener == .devices ? .none : AddressLimits()
        configuration.trustsForwarded = server.trustedHops > 0
        configuration.trustedHops = max(server.trustedHops, 1)
        configuration.drainTime = server.drain
        configuration.limits.maxURLLength = 8192
        if let metrics = options.metrics { configuration.metricsFactory = metrics }
        if let url = server.publicURL.flatMap({ URL(string: $0) }), let host = url.host {
            configuration.hosts = AcceptedHosts([host])
        }
        if server.tls == .own, let certificate = server.certificate, let key = server.key {
            var tls = ODataServer.TLS(
                certificateChainFile: path(certificate), privateKeyFile: path(key),
                clientAuthorities: listener == .devices
                    ? options.clientAuthorities ?? server.clientCA.map(path) : nil)
            tls.areClientsOptional = true
            configuration.tls = tls
        }
        return configuration
    }

    /// Returns a path in the data folder; an absolute one stays as it is.
    private func path(_ text: String) -> String { text.hasPrefix("/") ? text : services.dataFolder + "/" + text }

    private var healthEndpoint: HealthEndpoint {
        HealthEndpoint(
            hasStarted: { [health] in health.hasStarted },
            isReady: { [weak self, health] in
                guard let self, !self.isDraining.withLock({ $0 }) else { return false }
                return await health.isReady
            })
    }

    /// The URL of a listener with a slash at the end; `nil` if it is off.
    public func url(of listener: NodeListener) -> String? { running.withLock { $0.servers[listener]?.url } }

    /// The URL of the metrics; `nil` if they are off.
    public var metricsURL: String? { running.withLock { $0.metrics.map { $0.url + "metrics" } } }

    /// Reads the certificate again, for SIGHUP.
    ///
    /// - Throws: `ServerStartError`; the former certificate stays then.
    public func reloadCertificate() throws {
        let server = services.configuration.server
        guard server.tls == .own, let certificate = server.certificate, let key = server.key else { return }
        let tls = ODataServer.TLS(certificateChainFile: path(certificate), privateKeyFile: path(key))
        for running in running.withLock({ Array($0.servers.values) }) { try running.replaceCertificate(by: tls) }
    }

    // MARK: Duties

    /// Writes a sign of life and the head of the audit each minute, and opens the admission slowly after the start.
    private func carryOutDuties() async {
        let classes = [services.admission.newReads, services.admission.deltas, services.admission.uploads]
        let start = ContinuousClock.now
        var minute = 0
        while !Task.isCancelled {
            let (seconds, _) = start.duration(to: .now).components
            let opening = max(1, options.openingTime.components.seconds)
            let share = options.openingTime == .zero ? 1 : min(1, Double(seconds) / Double(opening))
            for admission in classes { admission.open(to: 0.1 + 0.9 * share) }
            if seconds / 60 >= minute {
                minute += 1
                await beat()
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    private func beat() async {
        do throws(ServerStateError) {
            try await services.state.nodes.beat(
                services.nodeName, build: options.serverName, isDraining: isDraining.withLock { $0 })
            let head = try await services.state.operators.auditHead()
            services.logger.info(
                "audit",
                metadata: ["number": "\(head.number)", "chain": "\(Data(head.chain).base64EncodedString())"])
        } catch {
            services.logger.warning("the state does not answer", metadata: ["reason": "\(error)"])
        }
    }

    // MARK: End

    /// Ends the node: not ready, then no new leases, then the running requests, then the parts.
    public func stop() async { await stop(noticeTime: options.noticeTime) }

    private func stop(noticeTime: Duration) async {
        isDraining.withLock { $0 = true }
        let parts = self.parts
        let node = running.withLock { running in
            defer { running = Running() }
            return running
        }
        node.duties?.cancel()
        try? await services.state.nodes.beat(services.nodeName, build: options.serverName, isDraining: true)
        if !node.servers.isEmpty { try? await Task.sleep(for: noticeTime) }
        await node.jobs?.stop(within: .seconds(5))
        await withTaskGroup(of: Void.self) { group in
            for server in node.servers.values { group.addTask { await server.stop() } }
        }
        for part in parts.reversed() { await part.stop() }
        try? await services.state.nodes.leave(services.nodeName)
        await node.metrics?.stop()
    }

    // MARK: Checks

    /// Checks all parts, and changes nothing.
    public func check() async -> [CheckFinding] {
        var findings: [CheckFinding] = []
        for part in parts { findings += await part.check() }
        return findings
    }
}
