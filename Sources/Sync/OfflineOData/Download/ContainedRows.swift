import GRDB
import ODataModel
import ODataSQL

/// Stores contained entities: rows of a containment path, which several queries may hold in part.
struct ContainedRows {
    private let table: TableStorage
    private let query: Int64
    private let queue: QueueTable
    private let rewriter: KeyRewriter
    private let loader: BulkLoader
    private let membership: Membership
    private let columns: HeldColumns
    private let database: Database
    private let unreadable: UnreadableValues
    /// Whether any row of the path has changes: hardly ever.
    private let hasChanges: Bool
    private let containment: Containment
    private let replacedStreams: ReplacedStreams
    private(set) var counts = RowApplier.Counts()

    init(table: TableStorage, mapping: StorageMapping, query: Int64, in database: Database) throws {
        self.table = table
        self.query = query
        self.database = database
        queue = QueueTable(model: mapping.model)
        rewriter = KeyRewriter(mapping: mapping, queue: queue)
        loader = try BulkLoader(table: table, in: database)
        membership = try Membership(table: table, query: query, in: database)
        columns = HeldColumns(table: table, mapping: mapping, in: database)
        loader.holders = { [columns] in try columns.holders($0, query) }
        let unreadable = try UnreadableValues(set: table.set, in: database)
        self.unreadable = unreadable
        loader.onUnreadable = { try unreadable.note($1, of: $0) }
        containment = Containment(mapping: mapping)
        replacedStreams = try ReplacedStreams(table: table, in: database)
        hasChanges = try QueueTable.hasRequests(of: table.set, in: database)
    }

    /// Stores the server version of an entity.
    ///
    /// - Parameter parent: the row that contains it.
    /// - Returns: the row, and the change that was made to it.
    mutating func apply(
        _ entity: ODataEntity, in parent: Int64
    ) throws -> (rowID: Int64, change: BulkLoader.Outcome.Change) {
        let applied = try takeIn(entity, in: parent)
        try replacedStreams.noteDue(entity, applied.rowID)
        if unreadable.hasAny { try unreadable.forget(loader.storable(entity), applied.rowID) }
        return applied
    }

    private mutating func takeIn(
        _ entity: ODataEntity, in parent: Int64
    ) throws -> (rowID: Int64, change: BulkLoader.Outcome.Change) {
        if hasChanges {
            let local = ContainedChanges(
                table: table, parent: parent, query: query, queue: queue, rewriter: rewriter, database: database)
            if let rowID = try local.row(entity, loader) {
                let change = try local.renew(rowID, to: entity, loader: loader, columns: columns)
                counts.add(change)
                if let owner = try Rows.owner(table, rowID: rowID, in: database), owner != query {
                    try membership.join(rowID, owner: owner)
                }
                return (rowID, change)
            }
        }
        let outcome = try loader.load(entity, owner: query, parent: parent)
        counts.add(outcome.change)
        if let owner = outcome.previousOwner, owner != query { try membership.join(outcome.rowID, owner: owner) }
        if outcome.previousOwner != 0 || !membership.isHidden {
            try Membership.endUploaded(outcome.rowID, table, in: database)
        }
        return (outcome.rowID, outcome.change)
    }

    /// Releases the query's rows in an entity that the service did not send with it.
    ///
    /// - Parameters:
    ///   - parent: the row that contains them.
    ///   - ids: the rows that the service sent.
    /// - Returns: the rows that stay because of other queries or local changes.
    mutating func letGo(in parent: Int64, but ids: Set<Int64>) throws -> [Int64] {
        guard let id = table.rowID, let owner = table.visibility?.ownerColumn else { return [] }
        let statement = try database.cachedStatement(
            sql: "SELECT \(id.sqlIdentifier), \(owner.sqlIdentifier) "
                + "FROM \(table.table.sqlIdentifier) "
                + "WHERE \(OfflineLayout.parentColumn.sqlIdentifier) = ?")
        let gone = try Row.fetchAll(statement, arguments: [parent])
            .map { row -> (id: Int64, owner: Int64) in (row[0], row[1]) }.filter { !ids.contains($0.id) }
        guard !gone.isEmpty else { return [] }
        let changed = try containment.changedRows(of: table, in: database)
        return try gone.compactMap { try letGo($0.id, owner: $0.owner, isChanged: changed.contains($0.id)) }
    }

    private mutating func letGo(_ rowID: Int64, owner: Int64, isChanged: Bool) throws -> Int64? {
        guard owner == query else {
            if try membership.leave(rowID) {
                counts.removed += 1
                try unload(rowID, owner: owner)
                return rowID
            }
            // A local row is kept until all queries that could bring it have been downloaded.
            guard owner == 0, try columns.isAlone(query) else { return nil }
            return try remove(rowID, isChanged: isChanged)
        }
        guard let heir = try isChanged ? membership.handOverChanged(rowID) : membership.handOver(rowID) else {
            return try remove(rowID, isChanged: isChanged)
        }
        counts.removed += 1
        try BeforeImages.setOwner(heir, set: table.set, rowID: rowID, in: database)
        if !isChanged { try unload(rowID, owner: heir) }
        return rowID
    }

    private mutating func remove(_ rowID: Int64, isChanged: Bool) throws -> Int64? {
        if isChanged {
            // A row with changes is never removed. The response to the changes decides about it.
            try BeforeImages(snapshots: queue.snapshots).deleteEntity(set: table.set, rowID: rowID, in: database)
            return nil
        }
        try loader.delete(rowID)
        counts.removed += 1
        return nil
    }

    /// Unloads the properties of a row that only this query has brought, if other queries hold the row.
    private func unload(_ rowID: Int64, owner: Int64) throws {
        guard owner != 0, try !columns.areWhole(but: query) else { return }
        try loader.unload(rowID, but: columns.held(rowID, but: query, owner: owner))
    }
}

/// The local changes of the entities that another one contains.
private struct ContainedChanges {
    let table: TableStorage
    let parent: Int64
    let query: Int64
    let queue: QueueTable
    let rewriter: KeyRewriter
    let database: Database

    private var before: BeforeImages { BeforeImages(snapshots: queue.snapshots) }

    /// The changed row of an entity, including a locally deleted one; `nil` if it has no changes. A local
    /// creation with the same temporary key gets another key, and so does a creation behind the deletion of the
    /// entity with the key.
    func row(_ entity: ODataEntity, _ loader: BulkLoader) throws -> Int64? {
        // A single contained entity without a key cannot be changed locally.
        guard let key = entity.key else { return nil }
        if let rowID = try loader.find(key, parent: parent) {
            guard try queue.hasRequests(set: table.set, rowID: rowID, in: database) else { return nil }
            if let former = try queue.predecessor(of: rowID, in: table.set, in: database) { return former }
            if try !rewriter.giveWay(rowID, to: key, table, in: database) { return rowID }
        }
        return try before.deletedRows(of: table, in: database)[key]?.first { rowID in
            try queue.requests(set: table.set, rowID: rowID, in: database).contains { $0.parentRow == parent }
        }
    }

    /// Replaces the server version of a row, and puts the changes on top of it again.
    ///
    /// - Returns: the change that this makes to the row.
    func renew(
        _ rowID: Int64, to entity: ODataEntity, loader: BulkLoader, columns: HeldColumns
    ) throws -> BulkLoader.Outcome.Change {
        let known = try before.image(set: table.set, rowID: rowID, shape: table.shape, in: database)
        let owner = try Rows.owner(table, rowID: rowID, in: database)
        let renewed = try RenewedVersion(entity, over: known) {
            try columns.holders(rowID, query, owner: owner ?? known?.owner)
        }
        try before.save(
            BeforeImages.Image(entity: renewed.entity, etag: renewed.etag, owner: known?.owner ?? query),
            set: table.set, rowID: rowID, in: database)
        let change = BeforeImages.change(from: known, to: renewed.entity, etag: renewed.etag)
        guard owner != nil else { return change }
        let requests = try queue.requests(set: table.set, rowID: rowID, in: database)
        let current = requests.reduce(renewed.entity) { $0.overlaid(by: $1.changes) }
        try loader.update(rowID, current, unloading: renewed.unloaded.filter { current[$0] == nil })
        return change
    }
}
