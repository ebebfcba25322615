import GRDB
import ODataModel
import ODataSQL
import ODataService

extension OfflineStore {
    /// Adds the states of the changes to the entities of an answer, and to the entities expanded in them.
    func addingReplayStates(to response: ODataResponse) async throws -> ODataResponse {
        var response = response
        switch response.body {
        case .entity(let entity):
            let read = try await database.read { [self] in try addingReplayStates(to: [entity], in: $0) }
            if let first = read.first { response.body = .entity(first) }
        case .page(var page):
            let entities = page.entities
            page.entities = try await database.read { [self] in try addingReplayStates(to: entities, in: $0) }
            response.body = .page(page)
        default: break
        }
        return response
    }

    /// The same within a transaction.
    func addingReplayStates(to entities: [ODataEntity], in database: Database) throws -> [ODataEntity] {
        var reader = ReplayStateReader(
            mapping: mapping, queue: queue, above: try graph.rowsAboveChanges(queue, in: database))
        return try entities.map { try reader.adding(to: $0, in: database) }
    }

    /// The state of the changes of a row.
    func replayState(of row: RowReference, in database: Database) throws -> ReplayState {
        var reader = ReplayStateReader(
            mapping: mapping, queue: queue, above: try graph.rowsAboveChanges(queue, in: database))
        return try reader.state(of: row, in: database)
    }
}

/// Reads the states of entities' changes within one transaction.
private struct ReplayStateReader {
    let mapping: StorageMapping
    let queue: QueueTable
    /// The rows of which a part has changes.
    let above: Set<RowReference>
    /// The ends of relations that wait, by set.
    private var relationEnds: [String: Set<Int64>] = [:]

    init(mapping: StorageMapping, queue: QueueTable, above: Set<RowReference>) {
        self.mapping = mapping
        self.queue = queue
        self.above = above
    }

    mutating func adding(to entity: ODataEntity, in database: Database) throws -> ODataEntity {
        var entity = entity
        if let row = try EntityStates.row(of: entity, mapping: mapping, in: database) {
            entity.replayState = try state(of: row, in: database)
        }
        for (name, related) in entity.related {
            switch related {
            case .one(let other): entity.related[name] = .one(try adding(to: other, in: database))
            case .many(let others, let count, let next):
                var added: [ODataEntity] = []
                for other in others { added.append(try adding(to: other, in: database)) }
                entity.related[name] = .many(added, count: count, nextLink: next)
            case .none, .references: continue
            }
        }
        return entity
    }

    mutating func state(of row: RowReference, in database: Database) throws -> ReplayState {
        var state = ReplayState(row: row, counter: try ReplayCounters.counter(of: row, in: database))
        func note(_ kind: QueuedRequest.Kind, _ request: QueuedRequest.State, counter: Int64?) {
            switch kind {
            case .create: state.isCreated = true
            case .delete: state.isDeleted = true
            case .update, .stream, .link, .unlink: state.isUpdated = true
            case .call: return
            }
            guard let counter else { return }
            switch request {
            case .pending, .sending: state.submitted = max(state.submitted, counter)
            // A held one with a counter is a refused one that was edited.
            case .refused, .inDoubt, .held: state.failed = max(state.failed, counter)
            }
        }
        for request in try QueueTable.states(of: row, in: database) {
            note(request.kind, request.state, counter: request.counter)
        }
        if try ends(in: row.set, database).contains(row.rowID) {
            for link in try queue.links(set: row.set, rowID: row.rowID, in: database) {
                // The other end has no counter for it.
                note(link.kind, link.state, counter: link.subjectRow == row ? link.counter : nil)
            }
        }
        state.change =
            if state.isDeleted { .delete } else if state.isCreated { .create } else if state.isUpdated {
                .update
            } else if above
                .contains(row)
            { .parent } else { .none }
        return state
    }

    private mutating func ends(in set: String, _ database: Database) throws -> Set<Int64> {
        if let known = relationEnds[set] { return known }
        let ends = Set(try QueueTable.relationEnds(in: set, in: database).keys)
        relationEnds[set] = ends
        return ends
    }
}
