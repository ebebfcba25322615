import Foundation
import HTTPTypes
import ODataHTTP
import ODataQuery
import ODataServer
import ODataService
import ODataTransportNIO
import ServerState
import Synchronization

/// The destinations of all applications with their feeds: the part of a node behind `d/NAME/` (`mobile-server.md` 5, 6.3
/// and 6.5).
///
/// ```swift
/// let destinations = try DestinationsPart(services: services) { path in
///     try await ServedDatabase.open(path: path)
/// }
/// let devices = DevicePart(services: services, destinations: destinations)
/// ```
public final class DestinationsPart: ServerPart, DestinationService {
    private let services: NodeServices
    let transport: any HTTPTransport
    private let opening: @Sendable (String) async throws -> any ODataProvider
    private let flights = FeedFlights()
    private let open = Mutex<[Identity: Task<DestinationRuntime, any Error>]>([:])

    /// A destination in one version of a configuration.
    private struct Identity: Hashable {
        let application: RecordNumber
        let version: Int
        let name: String
    }

    /// Creates the part. No destination is opened yet.
    ///
    /// - Parameters:
    ///   - services: The things that the parts of a node share.
    ///   - transport: Sends requests to back ends; `nil` for HTTP over NIO.
    ///   - opening: Opens a SQLite file as a provider.
    /// - Throws: `TransportConfigurationError`.
    public init(
        services: NodeServices, transport: (any HTTPTransport)? = nil,
        opening: @escaping @Sendable (_ path: String) async throws -> any ODataProvider
    ) throws {
        self.services = services
        self.transport = try transport ?? NIOTransport()
        self.opening = opening
    }

    // MARK: Part

    /// No mounts: the device API passes requests on.
    public func mounts(of listener: NodeListener) -> [Mount] { [] }

    /// The refresh of feeds.
    public var workers: [JobKind: any JobWorker] { [.refresh: refresher] }

    /// Checks that each back end answers with its metadata, and that each shared query can be a feed.
    public func check() async -> [CheckFinding] {
        let applications: [ActiveApplication]
        do {
            applications = try await services.applications.all()
        } catch {
            return [CheckFinding(.error, "applications", message: error.description)]
        }
        var findings: [CheckFinding] = []
        for application in applications {
            for name in application.configuration.destinations.keys.sorted() {
                findings += await check(name, of: application)
            }
        }
        return findings
    }

    private func check(_ name: String, of application: ActiveApplication) async -> [CheckFinding] {
        let subject = "destination \(application.record.name)/\(name)"
        do {
            let runtime = try await runtime(name, of: application)
            guard runtime.local != nil || runtime.client != nil else {
                return [CheckFinding(.warning, subject, message: "Only users can read the metadata of this back end.")]
            }
            let dialect = try await runtime.dialect()
            var findings = [
                CheckFinding(.fine, subject, message: "The back end answers with metadata of OData \(dialect).")
            ]
            for (query, problem) in try await runtime.problems().sorted(by: { $0.key < $1.key }) {
                findings.append(CheckFinding(.error, "\(subject), query \(query)", message: problem))
            }
            if let rights = runtime.rights {
                do {
                    try rights.check(in: try await runtime.model())
                } catch let error as AccessRightsError {
                    findings.append(CheckFinding(.error, subject, message: error.description))
                }
            }
            return findings
        } catch {
            return [
                CheckFinding(
                    .error, subject, message: "The back end cannot be used: \(DestinationFailure.reason(error))")
            ]
        }
    }

    /// Closes nothing: connections end with the process.
    public func stop() async {
        open.withLock { $0 = [:] }
    }

    // MARK: Feeds

    /// The worker that refreshes feeds.
    var refresher: FeedRefresher {
        FeedRefresher(state: services.state, logger: services.logger, flights: flights) { [self] in
            try await resolve($0)
        }
    }

    /// The state of the node.
    var state: any ServerState { services.state }

    /// Returns the definition of a feed and the service root of its back end.
    func origin(of feed: FeedRecord) async throws -> (FeedDefinition, String)? {
        let application = try await services.applications.all().first { $0.record.id == feed.application }
        guard let application, application.configuration.destinations[feed.destination] != nil else { return nil }
        let runtime = try await runtime(feed.destination, of: application)
        guard let proxy = runtime.proxy,
            let definition = try await runtime.feeds().first(where: { $0.record.key == feed.key })
        else { return nil }
        return (definition, proxy.root.description)
    }

    private func resolve(_ feed: FeedRecord) async throws -> (FeedDefinition, any ODataProvider)? {
        let application = try await services.applications.all().first { $0.record.id == feed.application }
        guard let application, application.configuration.destinations[feed.destination] != nil else { return nil }
        let runtime = try await runtime(feed.destination, of: application)
        guard let client = runtime.client,
            let definition = try await runtime.feeds().first(where: { $0.record.key == feed.key })
        else { return nil }
        return (definition, client)
    }

    // MARK: Destinations

    /// Returns the open destination of a name.
    ///
    /// - Throws: 404 for an unknown name; errors of the credentials.
    func runtime(_ name: String, of application: ActiveApplication) async throws -> DestinationRuntime {
        guard let configuration = application.configuration.destinations[name] else {
            throw DestinationFailure.unknownDestination
        }
        let identity = Identity(
            application: application.record.id, version: application.record.activeVersion, name: name)
        let task = open.withLock { open in
            if let known = open[identity] { return known }
            let task = Task { [services, transport, opening] in
                try await DestinationRuntime.open(
                    name, of: application, configuration, services: services, transport: transport, opening: opening)
            }
            // The runtimes of former versions go with their last request.
            open = open.filter {
                $0.key.application != identity.application || $0.key.version >= identity.version
            }
            open[identity] = task
            return task
        }
        do {
            return try await task.value
        } catch {
            // The next request tries again: a secret may be there by then.
            open.withLock { $0[identity] = nil }
            throw error
        }
    }

    /// The destinations of an application.
    public func summaries(of application: ActiveApplication) async -> [DestinationSummary] {
        var summaries: [DestinationSummary] = []
        for (name, configuration) in application.configuration.destinations.sorted(by: { $0.key < $1.key }) {
            var dialect = configuration.dialect == .v2 ? "v2" : "v4"
            if configuration.dialect == .auto, configuration.kind == .odata,
                let found = try? await runtime(name, of: application).dialect()
            {
                dialect = found
            }
            let queries = configuration.queries.sorted { $0.key < $1.key }.map { name, query in
                QuerySummary(
                    name: name, query: query.query, group: query.group, visibility: query.visibility,
                    refreshInterval: query.refreshInterval, hasStreams: query.hasStreams)
            }
            summaries.append(
                DestinationSummary(name: name, dialect: dialect, queries: queries, options: configuration.store))
        }
        return summaries
    }

    // MARK: Requests

    /// Answers a request below the path of a destination.
    public func answer(
        _ request: HTTPRequest, _ body: ByteStream, destination name: String, root: String, caller: DeviceCaller
    ) async -> (HTTPResponse, ByteStream) {
        let isRead = [.get, .head, .options].contains(request.method)
        let hasToken = request.path?.contains("deltatoken=") ?? false
        let admission = services.admission
        let admitted = isRead ? hasToken ? admission.deltas : admission.newReads : admission.uploads
        guard let permit = admitted.enter() else {
            return DestinationFailure.response(DestinationFailure.busy(), to: request)
        }
        let start = ContinuousClock.now
        do {
            let runtime = try await runtime(name, of: caller.application)
            let exchange = DestinationExchange(
                runtime: runtime, services: services, refresher: refresher, root: root, caller: caller)
            let answer = try await exchange.answer(request, body)
            let (response, stream) = try await RefusalLog(services: services).note(
                answer, to: request, destination: name, root: root, caller: caller)
            if request.method == .get { log(request, response, isDelta: hasToken, of: name, for: caller, since: start) }
            return (response, stream.keeping(permit))
        } catch {
            if !(error is ODataError) {
                services.logger.warning(
                    "destination \(caller.application.record.name)/\(name): \(DestinationFailure.reason(error))")
            }
            return DestinationFailure.response(DestinationFailure.error(error), to: request)
        }
    }

    /// Writes one line for each synchronization: the first page of a full read that tracks changes, or a delta.
    private func log(
        _ request: HTTPRequest, _ response: HTTPResponse, isDelta: Bool, of name: String, for caller: DeviceCaller,
        since start: ContinuousClock.Instant
    ) {
        let applied = HTTPField.Name("Preference-Applied").map { response.headerFields[values: $0] } ?? []
        let tracks = applied.contains { $0.contains("track-changes") }
        guard isDelta || tracks else { return }
        let (seconds, attoseconds) = start.duration(to: .now).components
        services.logger.info(
            "sync",
            metadata: [
                "application": "\(caller.application.record.name)", "destination": "\(name)",
                "registration": "\(caller.registration?.id ?? "-")", "user": "\(caller.user.id)",
                "kind": "\(isDelta ? "delta" : "full")", "status": "\(response.status.code)",
                "ms": "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)",
            ])
    }
}

extension DestinationFailure {
    /// Returns an error as text without secrets.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as TransportError: "\(error)"
        case let error as ODataError: "\(error)"
        case let error as SecretResolverError: "\(error)"
        case let error as DestinationCredentialsError: "\(error)"
        case let error as ServerStateError: "\(error)"
        default: "\(type(of: error))"
        }
    }
}

extension ByteStream {
    /// Returns the stream, which keeps a permit until its end.
    fileprivate func keeping(_ permit: AdmissionClass.Permit) -> ByteStream {
        guard length != 0 else {
            permit.leave()
            return self
        }
        return ByteStream(length: length) {
            do {
                let chunk = try await next()
                if chunk == nil { permit.leave() }
                return chunk
            } catch {
                permit.leave()
                throw error
            }
        }
    }
}
