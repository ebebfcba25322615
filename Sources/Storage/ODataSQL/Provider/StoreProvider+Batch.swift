import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Batches, whose requests are processed in order and whose change sets are one transaction each.
extension StoreProvider {
    /// Processes the requests of a batch in order.
    func batch(_ items: [BatchItem], of request: ODataRequest) async throws -> ODataResponse {
        let budget = budget(of: request)
        budget?.share(among: items.count)
        return try await BatchRun(
            model: model, single: { try await self.execute($0.sharing(budget)) },
            changeSet: { requests, resolve in
                let responses = try await budget.shielding { [self] in
                    try await database.write { database in
                        try budget.running(on: database) {
                            try resolve(requests) { try perform($0, try bind($0), in: database) }
                        }
                    }
                }
                return await self.completed(responses, to: requests)
            }, observer: request.batchObserver
        ).run(items, continueOnError: request.preferences.continueOnError)
    }

    /// Returns the responses to a completed change set, read again if a request has `$select` or `$expand`.
    ///
    /// If an entity cannot be read, its original response is returned.
    package func completed(_ responses: [ODataResponse], to requests: [ODataRequest]) async -> [ODataResponse] {
        var answers: [ODataResponse] = []
        for (response, request) in zip(responses, requests) {
            answers.append((try? await completed(response, request)) ?? response)
        }
        return answers
    }
}

/// The entities that requests of a batch created or addressed, by content id. `$1` in a later URL or reference
/// refers to one of them (OData Protocol 4.01, 11.7.3.1 *Referencing New Entities*).
struct ContentReferences: Sendable {
    private let model: EntityDataModel
    private var ids: [String: String] = [:]
    private var etags: [String: String] = [:]

    init(model: EntityDataModel) { self.model = model }

    /// Records the entity id of a response, or of the request if the response has none, and the ETag of the
    /// response.
    mutating func note(_ response: ODataResponse, for id: String, request: ODataRequest) {
        etags[id] = response.etag
        if case .entity(let entity) = response.body { etags[id] = response.etag ?? entity.control.etag }
        if let entity = response.location ?? response.entityID {
            ids[id] = entity
        } else if case .entity(let entity) = response.body, let entity = entity.control.id {
            ids[id] = entity
        } else {
            ids[id] = request.url.path.urlText
        }
    }

    /// Returns a request with its references resolved.
    ///
    /// - Throws: ``ODataError`` with status 400 if a reference does not refer to an earlier request.
    func resolve(_ request: ODataRequest) throws -> ODataRequest {
        var request = request
        if case .name(let name, .none)? = request.url.path.segments.first, name.text.hasPrefix("$") {
            let base = try ODataURL(parsing: try id(name.text))
            request.url.path.segments.replaceSubrange(0..<1, with: base.path.segments)
        }
        request.ifMatch = try condition(request.ifMatch)
        request.ifNoneMatch = try condition(request.ifNoneMatch)
        switch request.body {
        case .reference(let text) where text.hasPrefix("$"): request.body = .reference(try id(text))
        case .entity(let entity): request.body = .entity(try resolve(entity))
        default: break
        }
        return request
    }

    /// Returns a condition in which `$1` is replaced with the ETag in the response to the request with this id
    /// (11.7.7.3 *Referencing an ETag*).
    private func condition(_ text: String?) throws -> String? {
        guard let text, text.hasPrefix("$") else { return text }
        guard let etag = etags[String(text.dropFirst())] else {
            throw ODataError(
                status: 400, code: "InvalidReference",
                message: "\(text) refers to no request before this one that was answered with an ETag.")
        }
        return etag
    }

    private func resolve(_ entity: ODataEntity) throws -> ODataEntity {
        var entity = entity
        for (name, related) in entity.related {
            switch related {
            case .references(let texts):
                entity.related[name] = .references(try texts.map { $0.hasPrefix("$") ? try id($0) : $0 })
            case .one(let other): entity.related[name] = .one(try resolve(other))
            case .many(let others, let count, let next):
                entity.related[name] = .many(try others.map(resolve), count: count, nextLink: next)
            case .none: break
            }
        }
        if let text = entity.control.id, text.hasPrefix("$") { entity.control.id = try id(text) }
        return entity
    }

    private func id(_ text: String) throws -> String {
        let parts = text.dropFirst().split(separator: "/", maxSplits: 1)
        guard let name = parts.first, let id = ids[String(name)] else {
            throw ODataError(
                status: 400, code: "InvalidReference", message: "\(text) refers to no request before this one.")
        }
        return parts.count > 1 ? "\(id)/\(parts[1])" : id
    }
}

extension ResourcePath {
    /// The path as text of a URL.
    fileprivate var urlText: String { ODataURL(path: self).urlEncoded() }
}
