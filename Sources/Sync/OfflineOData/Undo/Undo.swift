import GRDB
import ODataModel
import ODataSQL

/// Takes the changes of a row back: to the last back-end version, or away when the back end has none.
struct Undo {
    let mapping: StorageMapping
    let queue: QueueTable
    let environment: EngineEnvironment
    let before: BeforeImages
    /// One for all that is taken back in a transaction, however much that is.
    let dependencies: QueueDependencies

    init(mapping: StorageMapping, queue: QueueTable, environment: EngineEnvironment) {
        self.mapping = mapping
        self.queue = queue
        self.environment = environment
        before = BeforeImages(snapshots: queue.snapshots)
        dependencies = QueueDependencies(queue: queue)
    }

    /// One step of taking changes back. What waits for them can be as long a chain as there are requests: it is worked off
    /// step by step, since a call within a call for each of them would end on the stack of a thread.
    enum Step {
        /// The requests of a row go.
        case row(RowReference, parent: Int64?, keepsRelations: Bool)
        /// The row becomes what the back end has, behind all that waited for its requests.
        case restoration(RowReference, parent: Int64?, requests: [QueuedRequest])
        /// What waited for requests that are gone.
        case dependents(Dependents)
        /// What was to get foreign keys that stay where they are.
        case takers(Takers)
    }

    /// Removes every queued and archived request of a row and restores what the back end has; what waited for one of them
    /// is taken back too, as far as it cannot be without.
    ///
    /// - Parameters:
    ///   - parent: the row that contains it, where no request of it tells that.
    ///   - keepsRelations: whether changes of its relations stay.
    /// - Throws: ``OfflineError/alreadySent(request:)`` when one that waited is on its way, or another one of its entity.
    func undo(
        set: String, rowID: Int64, parent: Int64? = nil, keepsRelations: Bool = false, in database: Database
    ) throws {
        try work(
            off: [.row(RowReference(set: set, rowID: rowID), parent: parent, keepsRelations: keepsRelations)],
            in: database)
    }

    /// Takes a request back that changes no row: a relation, a call.
    func undoBesideRows(_ request: QueuedRequest, in database: Database) throws {
        try work(off: takeBesideRows(request, in: database), in: database)
    }

    /// Takes steps, the last one first, and whatever each one says is to be done before the others.
    func work(off steps: [Step], in database: Database) throws {
        var open = steps
        while let step = open.popLast() {
            switch step {
            case .row(let row, let parent, let keepsRelations):
                open += try removeRequests(of: row, parent: parent, keepsRelations: keepsRelations, in: database)
            case .restoration(let row, let parent, let requests):
                try restore(row, parent: parent, without: requests, in: database)
            case .dependents(let dependents): open += try takeBack(dependents, in: database)
            case .takers(let takers): open += try takeBack(takers, in: database)
            }
        }
    }

    /// Removes a request that changes no row.
    ///
    /// - Returns: what is to be done then.
    func takeBesideRows(_ request: QueuedRequest, in database: Database) throws -> [Step] {
        try Relations(mapping: mapping).remove(request, queue, in: database)
        return [.dependents(try dependents(of: [request], in: database))]
    }

    private func table(of row: RowReference) throws -> TableStorage {
        guard let table = mapping.tables[row.set] else {
            throw OfflineError.unknown(kind: "entity set", name: row.set)
        }
        return table
    }

    private func removeRequests(
        of row: RowReference, parent: Int64?, keepsRelations: Bool, in database: Database
    ) throws -> [Step] {
        _ = try table(of: row)
        let requests = try queue.requests(set: row.set, rowID: row.rowID, in: database)
        for request in requests { try queue.remove(request.id, in: database) }
        for link in try keepsRelations ? [] : queue.links(set: row.set, rowID: row.rowID, in: database) {
            guard link.state != .sending else { throw OfflineError.alreadySent(request: link.id) }
            try Relations(mapping: mapping).remove(link, queue, in: database)
        }
        try StreamTable.removeLocal(of: row, in: database)
        return [
            .restoration(row, parent: parent, requests: requests),
            .dependents(try dependents(of: requests, in: database)),
        ]
    }

    /// Makes of a row what the back end has: it goes where that has none.
    private func restore(
        _ row: RowReference, parent: Int64?, without requests: [QueuedRequest], in database: Database
    ) throws {
        let table = try table(of: row)
        let (set, rowID) = (row.set, row.rowID)
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        let shelf = DeletionShelf(mapping: mapping)
        guard let image = try before.image(set: set, rowID: rowID, shape: table.shape, in: database) else {
            // It was made here, unless nothing of it was changed but its relations.
            if !requests.isEmpty { try loader.delete(rowID) }
            return try shelf.drop(set: set, rowID: rowID, in: database)
        }
        try before.remove(set: set, rowID: rowID, in: database)
        let exists = try Rows.owner(table, rowID: rowID, in: database) != nil
        guard let entity = image.entity else {
            let containment = Containment(mapping: mapping)
            if exists, try containment.rows(containingChanges: table, in: database).contains(rowID) {
                // Nobody holds it but what it contains or is related to, whose changes stay: it is what it was before its
                // own.
                for request in requests.reversed() {
                    guard let base = request.base else { continue }
                    try loader.update(rowID, base, unloading: unknown(in: base, of: [request]))
                }
                return try containment.keep(rowID, table, in: database)
            }
            if exists { try loader.delete(rowID) }
            return try shelf.drop(set: set, rowID: rowID, in: database)
        }
        if exists {
            try loader.update(rowID, entity, unloading: unknown(in: entity, of: requests))
        } else {
            try loader.restore(
                rowID, entity, owner: image.owner,
                parent: parent ?? requests.lazy.compactMap(\.parentRow).first)
            try dependencies.readAgain(shelf.restore(set: set, rowID: rowID, in: database), in: database)
        }
        try Rows.setETag(image.etag, table, rowID: rowID, in: database)
    }

    /// What requests change although nobody knows what it was: it was not loaded then.
    private func unknown(in former: ODataEntity, of requests: [QueuedRequest]) -> Set<String> {
        requests.reduce(into: []) { $0.formUnion($1.changes.loadedProperties.filter { former[$0] == nil }) }
    }
}
