import GRDB
import ODataModel
import ODataSQL

/// Undoes the changes of a row: back to the server version, or to no row if there is none.
struct Undo {
    let mapping: StorageMapping
    let queue: QueueTable
    let environment: EngineEnvironment
    let before: BeforeImages
    /// Shared by all undone requests of a transaction.
    let dependencies: QueueDependencies

    init(mapping: StorageMapping, queue: QueueTable, environment: EngineEnvironment) {
        self.mapping = mapping
        self.queue = queue
        self.environment = environment
        before = BeforeImages(snapshots: queue.snapshots)
        dependencies = QueueDependencies(queue: queue)
    }

    /// One step of an undo. A chain of dependents can be as long as the queue, so a work list replaces recursion,
    /// which would exhaust the stack.
    enum Step {
        /// The requests of a row are removed.
        case row(RowReference, parent: Int64?, keepsRelations: Bool)
        /// The row gets the server version, after all dependents of its requests.
        case restoration(RowReference, parent: Int64?, requests: [QueuedRequest])
        /// The dependents of removed requests.
        case dependents(Dependents)
        /// The requests that were to get foreign keys which are not released.
        case takers(Takers)
    }

    /// Removes every queued and archived request of a row and restores the server version. Dependent requests are
    /// undone too, if they are impossible without.
    ///
    /// - Parameters:
    ///   - parent: the row that contains it, if no request of it tells that.
    ///   - keepsRelations: whether changes of its relations stay.
    /// - Throws: ``OfflineError/alreadySent(request:)`` if a dependent was sent, or another request of its
    ///   entity.
    func undo(
        set: String, rowID: Int64, parent: Int64? = nil, keepsRelations: Bool = false, in database: Database
    ) throws {
        try work(
            off: [.row(RowReference(set: set, rowID: rowID), parent: parent, keepsRelations: keepsRelations)],
            in: database)
    }

    /// Undoes a request that changes no row: a relation, a call.
    func undoBesideRows(_ request: QueuedRequest, in database: Database) throws {
        try work(off: takeBesideRows(request, in: database), in: database)
    }

    /// Runs steps, the last one first. The steps that follow from each one come before the others.
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
    /// - Returns: the steps that follow.
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

    /// Restores the server version of a row, or removes the row if there is none.
    private func restore(
        _ row: RowReference, parent: Int64?, without requests: [QueuedRequest], in database: Database
    ) throws {
        let table = try table(of: row)
        let (set, rowID) = (row.set, row.rowID)
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        let shelf = DeletionShelf(mapping: mapping)
        guard let image = try before.image(set: set, rowID: rowID, shape: table.shape, in: database) else {
            // It was created locally, unless only its relations were changed.
            if !requests.isEmpty { try loader.delete(rowID) }
            return try shelf.drop(set: set, rowID: rowID, in: database)
        }
        try before.remove(set: set, rowID: rowID, in: database)
        let exists = try Rows.owner(table, rowID: rowID, in: database) != nil
        guard let entity = image.entity else {
            let containment = Containment(mapping: mapping)
            if exists, try containment.rows(containingChanges: table, in: database).contains(rowID) {
                // No query holds it, but changes of its contained entities or relations stay: it gets its state
                // before its own changes.
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

    /// The properties that requests change without a known base value, since they were not loaded.
    private func unknown(in former: ODataEntity, of requests: [QueuedRequest]) -> Set<String> {
        requests.reduce(into: []) { $0.formUnion($1.changes.loadedProperties.filter { former[$0] == nil }) }
    }
}
