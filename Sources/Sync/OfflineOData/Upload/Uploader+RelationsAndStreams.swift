import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Requests that carry no properties: streams and relations.
extension Uploader {
    /// The request in the form for the service; `nil` for a request with properties.
    func requestWithoutProperties(_ request: QueuedRequest) async throws -> ODataRequest? {
        switch request.kind {
        case .create:
            guard let id = request.stream else { return nil }
            return ODataRequest(
                .create, try await address(of: request).url, body: try await stream(id, of: request),
                preferences: Preferences(returns: .representation))
        case .stream:
            guard let id = request.stream else {
                return ODataRequest(.delete, try await streamURL(of: request), ifMatch: request.etag)
            }
            return ODataRequest(
                .replace, try await streamURL(of: request), body: try await stream(id, of: request),
                ifMatch: request.etag)
        case .link, .unlink: return try await relation(request)
        case .call: return try await call(request)
        case .update, .delete: return nil
        }
    }

    private func stream(_ id: Int64, of request: QueuedRequest) async throws -> RequestBody {
        guard let info = try await database.read({ try StreamTable.info(id, in: $0) }) else {
            // For the archive: the rest of the queue must not wait for it.
            throw ODataError(
                status: 404, code: "StreamGone",
                message: "The bytes of \(request.entityText) are not in the store any more.")
        }
        return .media(StreamTable(database: database).bytes(of: info), contentType: info.contentType)
    }

    private func streamURL(of request: QueuedRequest) async throws -> ODataURL {
        var url = try await url(of: request)
        url.path.segments.append(request.streamProperty.map { .name(Identifier($0), .none) } ?? .value)
        return url
    }

    /// The response that a request for a stream would have got, if the service has exactly its bytes; `nil` if it
    /// has other bytes.
    func taken(streamOf request: QueuedRequest) async throws -> ODataResponse? {
        if request.stream == nil { return try await hasNoStream(request) ? ODataResponse(status: 204) : nil }
        guard let id = request.stream, let info = try await database.read({ try StreamTable.info(id, in: $0) })
        else { return nil }
        return try await response(toReadingStreamOf: request, ifSameAs: info)
    }

    /// The response to an upload of a stream, if the service has exactly the stored bytes; `nil` if it has other
    /// bytes.
    func response(
        toReadingStreamOf request: QueuedRequest, ifSameAs info: StreamTable.Info
    ) async throws -> ODataResponse? {
        guard let response = try await answer(at: streamURL(of: request)), case .raw(let theirs, _) = response.body
        else { return nil }
        let ours = StreamTable(database: database).bytes(of: info)
        var (mine, other): ([UInt8], [UInt8]) = ([], [])
        while true {
            if mine.isEmpty { mine = try await ours.next() ?? [] }
            if other.isEmpty { other = try await theirs.next() ?? [] }
            let count = min(mine.count, other.count)
            guard count > 0 else { break }
            guard mine.prefix(count) == other.prefix(count) else { return nil }
            mine.removeFirst(count)
            other.removeFirst(count)
        }
        return mine.isEmpty && other.isEmpty ? ODataResponse(status: 204, etag: response.etag) : nil
    }

    private func hasNoStream(_ request: QueuedRequest) async throws -> Bool {
        do {
            if case .raw = try await remote.execute(ODataRequest(.read, try await streamURL(of: request))).body {
                return false
            }
            return true
        } catch let error as ODataError where error.status == 404 {
            try await confirm(error)
            return true
        }
    }

    private func relation(_ request: QueuedRequest) async throws -> ODataRequest {
        guard let relation = request.relation, let table = mapping.tables[request.entitySet],
            let navigation = table.shape.navigationProperty(relation.navigation)
        else { throw modelChanged(request) }
        let ends = try await ends(of: request)
        let target = ends.targetURL ?? relation.target
        var url = KeyURL.url(set: request.entitySet, key: ends.source, mapping)
        url.path.segments.append(.name(Identifier(relation.navigation), .none))
        url.path.segments.append(.reference)
        guard request.kind == .link else {
            if navigation.isCollection { url.options.id = target }
            return ODataRequest(.delete, url)
        }
        return ODataRequest(navigation.isCollection ? .create : .replace, url, body: .reference(target))
    }

    /// Compares the service's target of a relation to one entity with the target that was seen locally, before
    /// the relation is replaced or removed. No ETag guards such a relation.
    ///
    /// - Returns: a conflict if the service has a target other than the one seen or requested.
    func comparison(ofEnd request: QueuedRequest) async throws -> Comparison {
        guard options.comparesWithoutETags, let relation = request.relation,
            let shape = mapping.tables[request.entitySet]?.shape,
            shape.navigationProperty(relation.navigation)?.isCollection == false
        else { return Comparison() }
        let name = relation.navigation
        let ends = try await ends(of: request)
        // A target that was not loaded does not count as missing.
        guard request.kind == .unlink || !ends.seen.isEmpty else { return Comparison() }
        var url = KeyURL.url(set: request.entitySet, key: ends.source, mapping)
        url.path.segments.append(.name(Identifier(name), .none))
        let response: ODataResponse?
        do {
            response = try await answer(at: url)
        } catch let unreadable where refusal(unreadable, of: request) != nil {
            return Comparison()
        }
        guard case .entity(let other)? = response?.body, let key = other.key else { return Comparison() }
        let theirs = KeyURL.url(set: relation.targetSet, key: key, mapping).description
        let known = ends.seen.union([ends.targetURL, relation.target, relation.shown].compactMap { $0 })
        guard !known.contains(theirs) else { return Comparison() }
        var version = ODataEntity(shape: shape, key: ends.source)
        version.related[name] = .references([theirs])
        return Comparison(conflict: Conflict(theirs: version, error: .preconditionFailed(url.description)))
    }

    /// The current keys of both ends of a relation.
    private struct Ends {
        let source: EntityKey
        let target: EntityKey?
        let targetURL: String?
        /// The target of the relation at the time of the request, as far as it is in the store.
        let seen: Set<String>
    }

    private func ends(of request: QueuedRequest) async throws -> Ends {
        guard let relation = request.relation else { throw modelChanged(request) }
        return try await database.read { [mapping] database in
            func key(_ set: String, _ rowID: Int64) throws -> EntityKey? {
                guard mapping.tables[set] != nil else { return nil }
                return try BulkLoader(set: set, mapping: mapping, in: database).read(rowID)?.key
            }
            func url(_ key: EntityKey) -> String {
                KeyURL.url(set: relation.targetSet, key: key, mapping).description
            }
            let target = try key(relation.targetSet, relation.targetRow)
            let seen = try (relation.seen ?? []).filter { $0.source == relation.sourceRow }
                .compactMap { try key(relation.targetSet, $0.target) }
            return Ends(
                source: try key(request.entitySet, relation.sourceRow) ?? request.key, target: target,
                targetURL: target.map(url), seen: Set(seen.map(url)))
        }
    }

    /// Whether the service has the relation that a request adds; `false` if the service does not tell.
    func isLinked(_ request: QueuedRequest) async throws -> Bool {
        let ends = try await ends(of: request)
        guard let relation = request.relation, let target = ends.target else { return false }
        var url = KeyURL.url(set: request.entitySet, key: ends.source, mapping)
        let shape = mapping.tables[relation.targetSet]?.shape
        let predicate = KeyPredicate(target, shape: shape, model: mapping.model)
        url.path.segments.append(.name(Identifier(relation.navigation), .key(predicate)))
        guard case .entity? = try await answer(at: url)?.body else { return false }
        return true
    }

    /// The service's response at a URL; `nil` if it refuses to tell.
    private func answer(at url: ODataURL) async throws -> ODataResponse? {
        do {
            return try await remote.execute(ODataRequest(.read, url))
        } catch let error as ODataError where !error.isOfCommunication {
            return nil
        }
    }

    /// The current model of the service has no place for the request: it goes to the archive (rule 6).
    func modelChanged(_ request: QueuedRequest) -> ODataError {
        ODataError(
            status: 0, code: "ModelChanged", message: "The service's model has no \(request.entityText) any more.")
    }
}
