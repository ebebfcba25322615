import Foundation
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ServerState

/// One request to a destination: decides whether a feed, a provider in this process or the back end answers.
struct DestinationExchange: Sendable {
    let runtime: DestinationRuntime
    let services: NodeServices
    let refresher: FeedRefresher
    /// The path of the destination with a slash at the end.
    let root: String
    let caller: DeviceCaller

    /// Answers the request.
    ///
    /// - Throws: ``ODataError`` and errors of the way to the back end.
    func answer(_ request: HTTPRequest, _ body: ByteStream) async throws -> (HTTPResponse, ByteStream) {
        guard FeedBatch.mayBe(request, at: runtime) else { return try await whole(request, body) }
        let bytes: [UInt8]
        do {
            bytes = try await body.collect(limit: Int(clamping: services.configuration.limits.upload))
        } catch let error as ODataError where error.status == 413 {
            throw DestinationFailure.tooLarge
        }
        guard let batch = try await FeedBatch(request, bytes, of: self) else {
            return try await whole(request, ByteStream(bytes))
        }
        return try await batch.answer { try await whole($0, $1) }
    }

    /// Answers a request, of which the feeds take nothing but a single read.
    private func whole(_ request: HTTPRequest, _ body: ByteStream) async throws -> (HTTPResponse, ByteStream) {
        if let local = runtime.local { return await served(by: local, request, body) }
        guard let proxy = runtime.proxy else { throw DestinationFailure.unknownDestination }
        if let (definition, provider) = try await feed(for: request) {
            return await served(by: provider, request, body, feed: definition)
        }
        if runtime.rights != nil {
            guard let client = runtime.client else { throw DestinationFailure.roleMissing }
            let provider = RemoteProvider(base: client, root: proxy.root)
            let serve: @Sendable (HTTPRequest, ByteStream) async throws -> (HTTPResponse, ByteStream) = {
                await served(by: provider, $0, $1)
            }
            let way = way(
                of: request, recognisesRepeats: await runtime.recognisesRepeats(), timeout: proxy.timeout, by: serve)
            if let answer = try await batched(request, body, on: way) { return answer }
            return try await replayed(request, body, proxy: proxy, forward: serve)
        }
        var circumstances = DestinationProxy.Circumstances(
            publicRoot: try publicRoot(request), credentials: caller.credentials)
        if ![.get, .head, .options].contains(request.method) {
            circumstances.passesRepeatability = await runtime.recognisesRepeats()
        }
        return try await passed(request, body, proxy: proxy, circumstances: circumstances)
    }

    /// The address under which devices see the destination.
    func publicRoot(_ request: HTTPRequest) throws -> ServiceRoot {
        if let url = services.configuration.server.publicURL {
            return try ServiceRoot(try ServiceRoot(url).url(for: String(root.drop { $0 == "/" })))
        }
        return try ServiceRoot(root).resolved(for: request)
    }

    // MARK: Providers

    /// Answers by a provider, in the dialect of the destination.
    func served(
        by provider: any ODataProvider, _ request: HTTPRequest, _ body: ByteStream, feed: FeedDefinition? = nil
    ) async -> (HTTPResponse, ByteStream) {
        do {
            var provider = provider
            if feed == nil, let rights = runtime.rights { provider = DestinationRights(base: provider, rights: rights) }
            var options = ODataHandler.Options()
            options.maxBodySize = Int(clamping: services.configuration.limits.upload)
            options.publicURL =
                services.configuration.server.publicURL == nil
                ? nil : try publicRoot(request).description
            let isV2: Bool
            if let feed {
                isV2 = feed.dialect == "v2"
            } else {
                isV2 = runtime.local == nil ? try await runtime.dialect() == "v2" : false
            }
            if isV2 {
                let handler = try ODataV2Handler(provider: provider, serviceRoot: root, options: options)
                return await handler.handle(request, body, principal: caller.principal)
            }
            if runtime.local != nil {
                let endpoints = try ODataEndpoints(provider: provider, serviceRoot: root, options: options)
                return await endpoints.handle(request, body, principal: caller.principal)
            }
            options.statusMonitors = nil
            let handler = try ODataHandler(provider: provider, serviceRoot: root, options: options)
            return await handler.handle(request, body, principal: caller.principal)
        } catch {
            return DestinationFailure.response(DestinationFailure.error(error), to: request)
        }
    }

    // MARK: Feeds

    /// Returns the feed that answers a request, or `nil` if the back end does.
    ///
    /// - Throws: 410 for a link of this server if its query is no feed any more.
    func feed(for request: HTTPRequest) async throws -> (FeedDefinition, any ODataProvider)? {
        guard request.method == .get, let client = runtime.client,
            runtime.configuration.queries.values.contains(where: { $0.visibility == .shared }),
            let path = request.path, let relative = try publicRoot(request).relative(path),
            !(runtime.configuration.isLanguageSensitive && request.headerFields[.acceptLanguage] != nil)
        else { return nil }
        let wantsTracking = request.headerFields[values: .prefer].contains { $0.lowercased().contains("track-changes") }
        let mayHaveToken = relative.contains("token=")
        guard wantsTracking || mayHaveToken else { return nil }
        let feeds = try await runtime.feeds()
        let isV2 = try await runtime.dialect() == "v2"
        let plain = relative.replacing("%21deltatoken", with: "!deltatoken")
        guard let url = try? ODataURL(parsing: plain, options: ParsingOptions(dialect: isV2 ? .v2 : .v4)) else {
            return nil
        }
        let token = url.feedToken
        guard wantsTracking || token.map(FeedToken.isForm) ?? false else { return nil }
        guard let definition = feeds.first(where: { $0.canonical == FeedKey.canonical(url, of: $0.codec.shape) }) else {
            // A link of this server says nothing to the back end.
            if let token, (try? FeedToken(token, services.keys)) != nil {
                throw DestinationFailure.gone("feed", query: nil)
            }
            return nil
        }
        // The token of another service, such as one from before the feed, means a full read.
        if let token, !FeedToken.isForm(token) {
            if wantsTracking || url.options.deltaToken != nil {
                throw DestinationFailure.gone("feed", query: definition.name)
            }
            return nil
        }
        guard DestinationRights.readsAll(runtime.rights, caller.principal, set: definition.codec.set.name) else {
            // The roles show a part of the rows; the feed has all of them.
            return nil
        }
        let reader = FeedReader(state: services.state, keys: services.keys, refresher: refresher)
        return (definition, FeedProvider(base: client, reader: reader, definition: definition))
    }

    // MARK: Passing on

    private func passed(
        _ request: HTTPRequest, _ body: ByteStream, proxy: DestinationProxy,
        circumstances: DestinationProxy.Circumstances
    ) async throws -> (HTTPResponse, ByteStream) {
        let isChange = ![.get, .head, .options].contains(request.method)
        if let answer = try await batched(request, body, on: way(of: request, through: proxy, circumstances)) {
            return answer
        }
        guard isChange else {
            let answer = try await proxy.send(
                proxy.outgoing(request, body, circumstances: circumstances), circumstances)
            return try await announced(answer, request)
        }
        return try await replayed(request, body, proxy: proxy) { request, body in
            try await proxy.send(proxy.outgoing(request, body, circumstances: circumstances), circumstances)
        }
    }

    var replay: ReplayGuard {
        ReplayGuard(
            replays: services.state.replays, node: services.nodeName,
            lease: runtime.configuration.timeout * 2 + .seconds(5))
    }

    var owner: [UInt8] {
        ReplayGuard.owner(
            application: caller.application.record.name, destination: runtime.name,
            registration: caller.registration?.id, user: [caller.user.issuer, caller.user.subject])
    }

    /// Executes a change once if it is a repeatable one.
    private func replayed(
        _ request: HTTPRequest, _ body: ByteStream, proxy: DestinationProxy,
        forward: @escaping @Sendable (HTTPRequest, ByteStream) async throws -> (HTTPResponse, ByteStream)
    ) async throws -> (HTTPResponse, ByteStream) {
        let fields = DestinationProxy.repeatabilityNames.map { request.headerFields[$0] }
        let isChange = ![.get, .head, .options].contains(request.method)
        guard isChange, fields.count == 3, fields[0] != nil || fields[1] != nil else {
            return try await forward(request, body)
        }
        let bytes = try await body.collect(limit: Int(clamping: services.configuration.limits.upload))
        let relative = try publicRoot(request).relative(request.path ?? "/") ?? ""
        let content = [Array(request.method.rawValue.utf8), Array(relative.utf8), bytes]
        let isGuarded = request.headerFields[.ifMatch].map { $0 != "*" } ?? false
        let recognises = await runtime.recognisesRepeats()
        guard
            let identification = try ReplayGuard.identification(
                id: fields[0], firstSent: fields[1], owner: owner, content: content, isSafe: isGuarded || recognises)
        else { return try await forward(request, ByteStream(bytes)) }
        let answer = try await replay.perform(identification) {
            do {
                let (response, stream) = try await forward(request, ByteStream(bytes))
                let body = try await withTimeLimit(proxy.timeout) {
                    try await stream.collect(limit: DestinationProxy.batchLimit)
                }
                return ReplayGuard.Answer(response: response, body: body)
            } catch let refusal as DestinationGate.Refusal {
                throw ReplayGuard.NotSent(reason: DestinationFailure.error(refusal))
            } catch TransportError.cannotConnect(let host, let reason) {
                throw ReplayGuard.NotSent(
                    reason: DestinationFailure.error(TransportError.cannotConnect(host: host, reason: reason)))
            } catch is ForeignLink {
                throw ReplayGuard.NotSent(reason: DestinationFailure.foreignLink)
            }
        }
        var response = answer.response
        if ![204, 304].contains(response.status.code) {
            response.headerFields[.contentLength] = String(answer.body.count)
        }
        return (response, ByteStream(answer.body))
    }

    /// Announces the delta links and repeatable requests of this server in the metadata of V4.
    private func announced(
        _ answer: (HTTPResponse, ByteStream), _ request: HTTPRequest
    ) async throws -> (HTTPResponse, ByteStream) {
        var (response, body) = answer
        guard request.method == .get, response.status == .ok,
            request.path?.prefix(while: { $0 != "?" }).hasSuffix("/$metadata") ?? false,
            let type = response.headerFields[.contentType].flatMap({ MediaType($0) }), type.subtype.hasSuffix("xml"),
            runtime.client != nil, (try? await runtime.dialect()) == "v4"
        else { return answer }
        let bytes = try await body.collect(limit: AnnouncedMetadata.limit)
        let sets = Set(try await runtime.feeds().map(\.codec.set.name))
        let announced = AnnouncedMetadata.adding(to: bytes, trackedSets: sets)
        // The document is another one than that of the back end.
        response.headerFields[.eTag] = nil
        response.headerFields[.contentLength] = String(announced.count)
        body = ByteStream(announced)
        return (response, body)
    }
}
