import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// Requests that carry no properties: streams, relations and calls.
extension Uploader {
    /// The request as the service gets it; `nil` for one that carries properties.
    func requestBesideRows(_ request: QueuedRequest) async throws -> ODataRequest? {
        switch request.kind {
        case .create:
            guard let id = request.detail.stream else { return nil }
            return ODataRequest(
                .create, try await place(of: request).url, body: try await stream(id, of: request),
                preferences: Preferences(returns: .representation))
        case .stream:
            guard let id = request.detail.stream else { return nil }
            var url = try await url(of: request)
            url.path.segments.append(request.detail.property.map { .name(Identifier($0), .none) } ?? .value)
            return ODataRequest(.replace, url, body: try await stream(id, of: request))
        case .link, .unlink: return try await relation(request)
        case .call: return try await call(request)
        case .update, .delete: return nil
        }
    }

    private func stream(_ id: Int64, of request: QueuedRequest) async throws -> RequestBody {
        guard let info = try await database.read({ try StreamTable.info(id, in: $0) }) else {
            throw OfflineError.damagedQueue(reason: "the stream of request \(request.id) is gone")
        }
        return .media(StreamTable(database: database).bytes(of: info), contentType: info.contentType)
    }

    private func relation(_ request: QueuedRequest) async throws -> ODataRequest {
        let detail = request.detail
        guard let name = detail.navigation, let table = mapping.tables[request.entitySet],
            let navigation = table.shape.navigationProperty(name)
        else { throw modelChanged(request) }
        // Under the keys that both have by now.
        let (source, target) = try await database.read { [mapping] database in
            func key(_ set: String?, _ rowID: Int64?) throws -> EntityKey? {
                guard let set, let rowID, mapping.tables[set] != nil else { return nil }
                return try BulkLoader(set: set, mapping: mapping, in: database).read(rowID)?.key
            }
            let source = try key(request.entitySet, detail.sourceRow) ?? request.key
            let target = try key(detail.targetSet, detail.targetRow).map {
                KeyURL.url(set: detail.targetSet ?? "", key: $0).description
            }
            return (source, target ?? detail.target ?? "")
        }
        var url = KeyURL.url(set: request.entitySet, key: source)
        url.path.segments.append(.name(Identifier(name), .none))
        url.path.segments.append(.reference)
        guard request.kind == .link else {
            if navigation.isCollection { url.options.id = target }
            return ODataRequest(.delete, url)
        }
        return ODataRequest(navigation.isCollection ? .create : .replace, url, body: .reference(target))
    }

    /// The service has nothing any more that the request could be about: it goes to the archive (rule 6).
    private func modelChanged(_ request: QueuedRequest) -> ODataError {
        ODataError(
            status: 0, code: "ModelChanged", message: "The service's model has no \(request.entityText) any more.")
    }

    private func call(_ request: QueuedRequest) async throws -> ODataRequest {
        guard let text = request.detail.url else {
            throw OfflineError.damagedQueue(reason: "request \(request.id) names no action")
        }
        var url = try ODataURL(parsing: text)
        let binder = Binder(model: mapping.model)
        guard let bound = try? binder.bind(url), case .operation(let operation) = bound.resource.target else {
            throw modelChanged(request)
        }
        let path = url.path
        if let now = try await database.read({ [mapping] in try Aliases(mapping: mapping).present(path, in: $0) }) {
            url.path = now
        }
        let parameters = try CallParameters.values(
            request.detail.parameters ?? "{}", of: operation, model: mapping.model)
        return ODataRequest(.create, url, body: .parameters(parameters))
    }
}
