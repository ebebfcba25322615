import Foundation
import HTTPTypes
import Logging
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Secrets
import ServerState
import Synchronization

/// An open destination of one version of a configuration: its proxy, its technical client and its feeds.
final class DestinationRuntime: Sendable {
    /// A thing that answers requests.
    private enum Way: Sendable {
        /// A back end over HTTP.
        case remote(DestinationProxy, client: ODataClient?)
        /// A provider in this process, such as a SQLite file.
        case local(any ODataProvider)
    }

    let name: String
    let application: ActiveApplication
    let configuration: DestinationConfiguration
    /// The permissions; `nil` if the application has none.
    let rights: AccessRights?
    private let way: Way
    private let loaded = Mutex<Loaded?>(nil)

    /// The metadata of the back end and the feeds of its queries.
    private struct Loaded: Sendable {
        let model: EntityDataModel
        /// `v2` or `v4`.
        let dialect: String
        let feeds: [FeedDefinition]
        let problems: [String: String]
    }

    private init(
        _ name: String, _ application: ActiveApplication, configuration: DestinationConfiguration, way: Way
    ) {
        self.name = name
        self.application = application
        self.configuration = configuration
        self.way = way
        rights = DestinationRights.rights(of: application.configuration, at: name)
    }

    /// Opens a destination. The back end is not asked yet.
    ///
    /// - Throws: Errors of the credentials, the URL or the file.
    static func open(
        _ name: String, of application: ActiveApplication, _ configuration: DestinationConfiguration,
        services: NodeServices, transport: any HTTPTransport,
        opening: @Sendable (String) async throws -> any ODataProvider
    ) async throws -> DestinationRuntime {
        switch configuration.kind {
        case .sqlite:
            let path =
                configuration.url.hasPrefix("/")
                ? configuration.url : services.dataFolder + "/" + configuration.url
            return DestinationRuntime(
                name, application, configuration: configuration, way: .local(try await opening(path)))
        case .odata:
            let credentials = try await DestinationCredentials(
                configuration.authentication, secrets: services.secrets, transport: transport)
            let proxy = try DestinationProxy(
                configuration, credentials: credentials, transport: transport,
                uploadLimit: services.configuration.limits.upload)
            var client: ODataClient?
            if let authentication = try? credentials.feedAuthentication() {
                var session = HTTPSession.Configuration(
                    authentication: authentication, redirects: .sameOrigin, wholeTimeout: configuration.timeout)
                session.queue = try TransferQueue(limit: min(max(configuration.gate, 1), TransferQueue.maxLimit))
                client = try ODataClient(
                    serviceRoot: proxy.root.description,
                    transport: try HTTPSession(
                        GatedTransport(
                            base: IdentityTransport(base: transport, identity: credentials.identity), gate: proxy.gate),
                        serviceRoot: proxy.root.description, configuration: session))
            }
            return DestinationRuntime(
                name, application, configuration: configuration, way: .remote(proxy, client: client))
        }
    }

    /// The proxy of a back end over HTTP.
    var proxy: DestinationProxy? {
        if case .remote(let proxy, _) = way { proxy } else { nil }
    }

    /// The provider of a destination in this process.
    var local: (any ODataProvider)? {
        if case .local(let provider) = way { provider } else { nil }
    }

    /// The client with the credentials of the technical user.
    var client: ODataClient? {
        if case .remote(_, let client) = way { client } else { nil }
    }

    // MARK: Metadata

    /// Reads the metadata of the back end, once.
    private func load() async throws -> Loaded {
        if let known = loaded.withLock(\.self) { return known }
        let provider: any ODataProvider
        switch way {
        case .local(let local): provider = local
        case .remote(_, let client):
            guard let client else { throw DestinationFailure.unavailable() }
            provider = client
        }
        let model = try await provider.model
        let dialect: String
        switch configuration.dialect {
        case .v2: dialect = "v2"
        case .v4: dialect = "v4"
        case .auto: dialect = ServiceCapabilities(model).version < .v4 ? "v2" : "v4"
        }
        var feeds: [FeedDefinition] = []
        var problems: [String: String] = [:]
        for (query, settings) in configuration.queries.sorted(by: { $0.key < $1.key })
        where settings.visibility == .shared && settings.tracking != "never" && local == nil {
            do {
                feeds.append(
                    try FeedDefinition(
                        name: query, settings, destination: name, configuration, application: application,
                        model: model, dialect: dialect, language: provider.traits.queryLanguage))
            } catch {
                problems[query] = error.description
            }
        }
        let fresh = Loaded(model: model, dialect: dialect, feeds: feeds, problems: problems)
        return loaded.withLock { kept in
            if let kept { return kept }
            kept = fresh
            return fresh
        }
    }

    /// The model of the back end.
    func model() async throws -> EntityDataModel { try await load().model }

    /// The dialect: `v2` or `v4`.
    func dialect() async throws -> String { try await load().dialect }

    /// The feeds of the destination.
    func feeds() async throws -> [FeedDefinition] { try await load().feeds }

    /// The queries that cannot be feeds, with the reason.
    func problems() async throws -> [String: String] { try await load().problems }

    /// Whether the back end says that it recognises repeated requests.
    func recognisesRepeats() async -> Bool {
        guard client != nil, let model = try? await model() else { return false }
        return ServiceCapabilities(model).supportsRepeatableRequests
    }
}

/// A transport through the gate of a destination, for the server's own reads.
struct GatedTransport: HTTPTransport {
    let base: any HTTPTransport
    let gate: DestinationGate

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let place = try await gate.enter()
        do {
            let (response, stream) = try await base.send(request, body: body, options: options)
            gate.note(isFailure: [502, 503, 504].contains(response.status.code))
            if stream.length == 0 { place.release() }
            return (response, stream.holding(place))
        } catch {
            gate.note(isFailure: !(error is CancellationError))
            place.release()
            throw error
        }
    }
}
