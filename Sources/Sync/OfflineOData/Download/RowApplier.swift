import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Applies the result of a download to the rows of one entity set: new, changed and removed rows, and local
/// changes on top of them.
struct RowApplier {
    /// The numbers of changes to the rows.
    struct Counts: Sendable {
        var inserted = 0
        var updated = 0
        var unchanged = 0
        var removed = 0

        mutating func add(_ change: BulkLoader.Outcome.Change) {
            switch change {
            case .inserted: inserted += 1
            case .updated: updated += 1
            case .unchanged: unchanged += 1
            }
        }
    }

    let table: TableStorage
    let query: Int64
    /// The ordinals of the key properties.
    private let keyOrdinals: [Int]
    private let queue: QueueTable
    private let rewriter: KeyRewriter
    private let before: BeforeImages
    private let loader: BulkLoader
    private let database: Database
    /// Whether any row of the set has changes: hardly ever. If none has, no row is looked up.
    private let hasLocalChanges: Bool
    private let isSingleton: Bool
    private let unreadable: UnreadableValues
    private let links: EntityLinks
    /// Whether an unreadable value refuses its entity.
    private let isStrict: Bool
    private let membership: Membership
    private let columns: HeldColumns
    private let containment: Containment
    private let replacedStreams: ReplacedStreams
    /// The rows that contain changed entities, and those at an end of a pending relation.
    private let containers: Set<Int64>
    private let changeLog: ChangeLogWriter?
    private(set) var counts = Counts()
    /// The locally deleted rows, read when one is needed.
    private var deletedRows: [EntityKey: [Int64]]?

    /// - Parameter isStrict: whether an unreadable value refuses its entity, instead of being recorded.
    init(
        table: TableStorage, mapping: StorageMapping, query: Int64, isStrict: Bool = false, in database: Database
    ) throws {
        self.table = table
        self.isStrict = isStrict
        keyOrdinals = table.shape.key.compactMap { table.shape.ordinal(of: $0.path) }
        self.query = query
        self.database = database
        isSingleton = mapping.model.singleton(table.set) != nil
        queue = QueueTable(model: mapping.model)
        rewriter = KeyRewriter(mapping: mapping, queue: queue)
        before = BeforeImages(snapshots: queue.snapshots)
        loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        membership = try Membership(table: table, query: query, in: database)
        columns = HeldColumns(table: table, mapping: mapping, in: database)
        loader.holders = { [columns] in try columns.holders($0, query) }
        unreadable = try UnreadableValues(set: table.set, in: database)
        links = try EntityLinks(set: table.set, in: database)
        if !isStrict { loader.onUnreadable = { [unreadable] in try unreadable.note($1, of: $0) } }
        containment = Containment(mapping: mapping)
        replacedStreams = try ReplacedStreams(table: table, in: database)
        containers = try containment.rows(containingChanges: table, in: database)
        hasLocalChanges = try QueueTable.hasRequests(of: table.set, in: database)
        changeLog = try ChangeLogWriter(mapping: mapping, in: database)
    }

    /// Stores the server version of an entity.
    ///
    /// - Returns: the row; `nil` for an entity without a readable key, which is recorded and not stored.
    /// - Throws: ``StoredValueError`` for a value that cannot be read or stored, if the applier is strict.
    @discardableResult
    mutating func apply(_ entity: ODataEntity) throws -> Int64? {
        guard !isStrict else {
            if let (property, lost) = entity.control.unreadable.min(by: { $0.key < $1.key }) {
                throw StoredValueError(
                    table: table.table, column: property, found: "the value \(lost.text)", expected: lost.reason)
            }
            return try applyReadable(entity)
        }
        guard loader.hasKey(entity) else {
            try unreadable.noteRow(entity, broughtBy: query)
            return nil
        }
        let rowID = try applyReadable(entity)
        if unreadable.hasAny { try unreadable.forget(loader.storable(entity), rowID) }
        return rowID
    }

    private mutating func applyReadable(_ entity: ODataEntity) throws -> Int64 {
        let rowID = try takeIn(entity)
        try replacedStreams.noteDue(entity, rowID)
        try links.note(entity, of: rowID)
        return rowID
    }

    private mutating func takeIn(_ entity: ODataEntity) throws -> Int64 {
        if hasLocalChanges, isSingleton, try queue.hasRequests(set: table.set, rowID: 1, in: database) {
            try applyBehindLocalChanges(entity, rowID: 1)
            return 1
        }
        if hasLocalChanges, let key = entity.key, let rowID = try changedRow(key) {
            try applyBehindLocalChanges(entity, rowID: rowID)
            return rowID
        }
        return try take(try loader.load(entity, owner: query))
    }

    /// Stores a received row, directly from the text if no row of the set has changes. The row may wait in memory
    /// until ``finishRows()``.
    mutating func apply(_ row: borrowing JSONRow) throws {
        let hasKey = keyOrdinals.allSatisfy({ row.isReadable($0) })
        guard !hasLocalChanges, !unreadable.hasAny, !links.hasAny, isStrict || hasKey, try !links.concern(row) else {
            try apply(row.entity(as: row.shape))
            return
        }
        try loader.load(row, owner: query) { _ = try take($0) }
    }

    /// Stores the waiting rows before their memory is released.
    mutating func finishRows() throws {
        try loader.loadWaiting { _ = try take($0) }
    }

    private mutating func take(_ outcome: BulkLoader.Outcome) throws -> Int64 {
        counts.add(outcome.change)
        try mark(outcome.change, outcome.rowID, of: table.set)
        if let owner = outcome.previousOwner, owner != query {
            try membership.join(outcome.rowID, owner: owner)
        }
        return outcome.rowID
    }

    /// Records that this download brought or changed a row, of this set or contained in its rows. A first
    /// download brings all rows of its query, so that the query is marked instead.
    func mark(_ change: BulkLoader.Outcome.Change, _ rowID: Int64, of set: String) throws {
        if change != .unchanged { try changeLog?.add(.upsert, RowReference(set: set, rowID: rowID), in: database) }
        guard !membership.isHidden, change != .unchanged else { return }
        try database.cachedStatement(
            sql: "INSERT OR IGNORE INTO outpost_upserted(entity_set, row_id) VALUES (?, ?)"
        ).execute(arguments: [set, rowID])
    }

    /// The row of a key; `nil` if it is not in the store.
    func row(of key: EntityKey) throws -> Int64? { try loader.find(key) }

    /// Records that an entity has left the query's result.
    mutating func remove(_ key: EntityKey) throws {
        if hasLocalChanges, let rowID = try changedRow(key) {
            try releaseChanged(rowID)
            return
        }
        guard let rowID = try loader.find(key) else { return }
        try letGo(rowID)
    }

    /// Removes a row from the query, and deletes it if no other query holds it and it has no local changes.
    mutating func release(_ rowID: Int64) throws {
        if try before.image(set: table.set, rowID: rowID, shape: table.shape, in: database) == nil {
            try letGo(rowID)
        } else {
            try releaseChanged(rowID)
        }
    }

    /// A row with changes is never removed. The response to the changes decides about it.
    private mutating func releaseChanged(_ rowID: Int64) throws {
        guard var image = try before.image(set: table.set, rowID: rowID, shape: table.shape, in: database) else {
            return
        }
        counts.removed += 1
        let owner = try Rows.owner(table, rowID: rowID, in: database) ?? image.owner
        if owner != query {
            try membership.remove(query, rowID)
            guard owner == 0 else {
                guard try unload(rowID, &image, owner: owner) else { return }
                return try before.save(image, set: table.set, rowID: rowID, in: database)
            }
        }
        if let heir = try membership.handOverChanged(rowID) {
            // The entity left only this query's result: the server version belongs to the other query.
            image.owner = heir
            if heir != 0 { _ = try unload(rowID, &image, owner: heir) }
        } else {
            // No query holds it: after its changes are settled, the next download removes it.
            try Rows.setOwner(0, table, rowID: rowID, in: database)
            image.owner = 0
            image.entity = nil
        }
        try before.save(image, set: table.set, rowID: rowID, in: database)
    }

    /// Ends the query's membership in a row. The row is deleted if no other query holds it and neither its
    /// contained entities nor its relations have local changes. Otherwise, properties that only this query has
    /// brought are unloaded.
    mutating func letGo(_ rowID: Int64) throws {
        guard let owner = try Rows.owner(table, rowID: rowID, in: database) else { return }
        if owner != query {
            guard try membership.leave(rowID) else { return }
            counts.removed += 1
            return try unload(rowID, owner: owner)
        }
        counts.removed += 1
        guard let heir = try membership.handOver(rowID) else {
            // Its contained entities and relations would be deleted with it, and their changes could never be
            // sent or seen.
            guard !containers.contains(rowID) else { return try containment.keep(rowID, table, in: database) }
            try changeLog?.add(.delete, RowReference(set: table.set, rowID: rowID), in: database)
            return try loader.delete(rowID)
        }
        try unload(rowID, owner: heir)
    }

    /// Unloads the properties of a shared row that only this query has brought.
    private func unload(_ rowID: Int64, owner: Int64) throws {
        // A local row is loaded with all its values.
        guard owner != 0, try !columns.areWhole(but: query) else { return }
        try loader.unload(rowID, but: columns.held(rowID, but: query, owner: owner))
    }

    /// Unloads the properties of a changed row. The changes stay on top of its server version.
    ///
    /// - Returns: whether the version changed.
    private func unload(_ rowID: Int64, _ image: inout BeforeImages.Image, owner: Int64) throws -> Bool {
        guard let entity = image.entity, try !columns.areWhole(but: query) else { return false }
        let held = try columns.held(rowID, but: query, owner: owner)
        let names = entity.loadedProperties.subtracting(entity.shape.alwaysLoaded).filter { !held.touches($0) }
        guard !names.isEmpty else { return false }
        image.entity?.unload(names)
        image.etag = nil
        guard let row = try loader.read(rowID) else { return true }
        let changed = try queue.requests(set: table.set, rowID: rowID, in: database)
            .reduce(into: Set<String>()) { $0.formUnion($1.changes.loadedProperties) }
        try loader.update(rowID, row, unloading: names.subtracting(changed))
        return true
    }

    /// The row of a received entity if it has local changes, including a locally deleted one. A local creation
    /// with the same temporary key is another entity, which gets another key. A creation behind the deletion of
    /// the entity with the key is another entity, too.
    private mutating func changedRow(_ key: EntityKey) throws -> Int64? {
        if let rowID = try loader.find(key) {
            guard try queue.hasRequests(set: table.set, rowID: rowID, in: database) else { return nil }
            if let former = try queue.predecessor(of: rowID, in: table.set, in: database) { return former }
            if try !rewriter.giveWay(rowID, to: key, table, in: database) { return rowID }
            deletedRows = nil
        }
        let deleted = try deletedRows ?? before.deletedRows(of: table, in: database)
        deletedRows = deleted
        return deleted[key]?.first
    }

    /// Replaces the before image, then puts the local changes on top of it again.
    private mutating func applyBehindLocalChanges(_ newest: ODataEntity, rowID: Int64) throws {
        let entity = isStrict ? newest : loader.storable(newest)
        let known = try before.image(set: table.set, rowID: rowID, shape: table.shape, in: database)
        let renewed = try RenewedVersion(entity, over: known) {
            try columns.holders(rowID, query, owner: Rows.owner(table, rowID: rowID, in: database) ?? known?.owner)
        }
        if !entity.control.unreadable.isEmpty { try unreadable.note(entity.control.unreadable, of: rowID) }
        if let old = known?.etag, let new = renewed.etag, old != new, let former = known?.entity,
            VersionMerge(base: former, mine: ODataEntity(shape: former.shape), theirs: renewed.entity).isOfKnownValues
        {
            // No client has changed anything: the changes are based on this version as well.
            try queue.advanceETag(from: old, to: new, of: RowReference(set: table.set, rowID: rowID), in: database)
        }
        let change = BeforeImages.change(from: known, to: renewed.entity, etag: renewed.etag)
        counts.add(change)
        try mark(change, rowID, of: table.set)
        // A row that is visible before its query is complete stays visible: the query takes it over at the end.
        let imageOwner = known.map { $0.owner == 0 && !membership.isHidden ? query : $0.owner } ?? query
        try before.save(
            BeforeImages.Image(entity: renewed.entity, etag: renewed.etag, owner: imageOwner),
            set: table.set, rowID: rowID, in: database)
        guard let owner = try Rows.owner(table, rowID: rowID, in: database) else {
            // Locally deleted: after an undo, each query that holds the row must still do so.
            if imageOwner != query { try membership.add(query, rowID) }
            return
        }
        if owner != query { try membership.join(rowID, owner: owner) }
        let requests = try queue.requests(set: table.set, rowID: rowID, in: database)
        let current = requests.reduce(renewed.entity) { $0.overlaid(by: $1.changes) }
        try loader.update(rowID, current, unloading: renewed.unloaded.filter { current[$0] == nil })
    }

    /// Releases the rows of a first download that must start again, since removals meanwhile would never be
    /// reported. Locally changed or deleted rows join the query again when it brings them again.
    mutating func startAgain(without rows: [Int64]) throws {
        for rowID in rows {
            if try queue.hasRequests(set: table.set, rowID: rowID, in: database) {
                try releaseChanged(rowID)
            } else {
                try letGo(rowID)
            }
        }
    }
}
