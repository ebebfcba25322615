import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Batches (OData Protocol 4.01, 11.7): requests in order, change sets as one transaction each.
extension StoreProvider {
    /// Answers the requests of a batch in order. A change set succeeds or fails as a whole: when one of its
    /// requests is refused, all of them are answered with that refusal.
    ///
    /// Without `continue-on-error` the first failure ends the batch, and nothing after it is answered. A
    /// request that depends on one that failed is answered with 424.
    func batch(_ items: [BatchItem], continueOnError: Bool) async throws -> ODataResponse {
        var results: [BatchResult] = []
        var references = ContentReferences(model: model)
        var failed: Set<String> = []
        var position = 0
        while position < items.count {
            try Task.checkCancellation()
            let unit = Self.unit(of: items, from: position)
            position += unit.count
            let outcome: [BatchResult]
            if let missing = unit.lazy.flatMap(\.dependsOn).first(where: failed.contains) {
                let error = ODataError(
                    status: 424, code: "FailedDependency", message: "The request \(missing) before it failed.")
                outcome = unit.map { BatchResult(id: $0.id, result: .failure(error)) }
            } else if let item = unit.first, item.atomicityGroup == nil {
                outcome = [await single(item, references: &references)]
            } else {
                outcome = await changeSet(unit, references: &references)
            }
            results += outcome
            let hasFailed = outcome.contains { (try? $0.result.get()) == nil }
            if hasFailed {
                for item in unit {
                    failed.insert(item.id)
                    if let group = item.atomicityGroup { failed.insert(group) }
                }
                if !continueOnError { break }
            }
        }
        return ODataResponse(body: .batch(results))
    }

    /// The requests from a position on that succeed or fail together.
    private static func unit(of items: [BatchItem], from position: Int) -> ArraySlice<BatchItem> {
        guard let group = items[position].atomicityGroup else { return items[position...position] }
        let end = items[position...].firstIndex { $0.atomicityGroup != group } ?? items.endIndex
        return items[position..<end]
    }

    private func single(_ item: BatchItem, references: inout ContentReferences) async -> BatchResult {
        do {
            let request = try references.resolve(item.request)
            guard case .batch = request.body else {
                let response = try await execute(request)
                references.note(response, for: item.id, request: request)
                return BatchResult(id: item.id, result: .success(response))
            }
            throw ODataError(status: 400, code: "InvalidBatch", message: "A batch cannot hold a batch.")
        } catch {
            return BatchResult(id: item.id, result: .failure(ODataError(translating: error)))
        }
    }

    private func changeSet(_ unit: ArraySlice<BatchItem>, references: inout ContentReferences) async -> [BatchResult] {
        let before = references
        do {
            let (results, after) = try await database.write { [self] database in
                var references = before
                var results: [BatchResult] = []
                for item in unit {
                    guard item.request.method != .read else {
                        throw ODataError(
                            status: 400, code: "InvalidBatch", message: "A change set cannot hold the read \(item.id).")
                    }
                    let request = try references.resolve(item.request)
                    let response = try perform(request, try bind(request), in: database)
                    references.note(response, for: item.id, request: request)
                    results.append(BatchResult(id: item.id, result: .success(response)))
                }
                return (results, references)
            }
            references = after
            return results
        } catch {
            let refusal = ODataError(translating: error)
            return unit.map { BatchResult(id: $0.id, result: .failure(refusal)) }
        }
    }
}

/// What the requests of a batch created or addressed, by content id: `$1` in a later URL or reference stands for
/// it (OData Protocol 4.01, 11.7.3.1 *Referencing New Entities*).
struct ContentReferences: Sendable {
    private let model: EntityDataModel
    private var ids: [String: String] = [:]

    init(model: EntityDataModel) { self.model = model }

    /// Keeps the entity id that a response gives, or that its request addressed.
    mutating func note(_ response: ODataResponse, for id: String, request: ODataRequest) {
        if let entity = response.location ?? response.entityID {
            ids[id] = entity
        } else if case .entity(let entity) = response.body, let entity = entity.control.id {
            ids[id] = entity
        } else {
            ids[id] = request.url.path.urlText
        }
    }

    /// A request with what its references stand for in their place.
    ///
    /// - Throws: ``ODataError`` with status 400 for a reference to what came not before it.
    func resolve(_ request: ODataRequest) throws -> ODataRequest {
        var request = request
        if case .name(let name, .none)? = request.url.path.segments.first, name.text.hasPrefix("$") {
            let base = try ODataURL(parsing: try id(name.text))
            request.url.path.segments.replaceSubrange(0..<1, with: base.path.segments)
        }
        switch request.body {
        case .reference(let text) where text.hasPrefix("$"): request.body = .reference(try id(text))
        case .entity(let entity): request.body = .entity(try resolve(entity))
        default: break
        }
        return request
    }

    private func resolve(_ entity: Entity) throws -> Entity {
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
    /// The path as it stands in a URL.
    fileprivate var urlText: String { ODataURL(path: self).urlEncoded() }
}
