// The engine's own tables as a stranger with the file could leave them. Arbitrary bytes are in one column, and
// the engine reads its changes, shelved rows of deleted entities, and staged pages.
import ErrorCodes
import Foundation
import GRDB
import ODataModel
import ODataSQL

@testable import OfflineOData

private let model = sampleModel()
private let mapping = OfflineLayout(model: model).mapping
private let queue = QueueTable(model: model)

/// A column that the bytes stand in, of all rows of its table.
private struct Place: Sendable {
    let table: String
    let column: String
    let isText: Bool

    init(_ table: String, _ column: String, isText: Bool = true) {
        self.table = table
        self.column = column
        self.isText = isText
    }
}

/// The first byte of an input names one: `a` the first.
private let places = [
    Place("outpost_queue", "detail"), Place("outpost_queue", "options"),
    Place("outpost_queue", "changes", isText: false), Place("outpost_queue", "theirs", isText: false),
    Place("outpost_queue", "entity_set"), Place("outpost_queue", "errors"),
    Place("outpost_before", "entity", isText: false), Place("outpost_shelf", "content", isText: false),
    Place("outpost_shelf", "table_name"), Place("outpost_staged", "content", isText: false),
    Place("outpost_query", "text"),
]

// MARK: The tables

/// A database in memory with one of everything that the engine keeps, as it writes it.
private let database: DatabaseQueue = {
    do {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { StoreFunctions.register(in: $0) }
        let database = try DatabaseQueue(configuration: configuration)
        try database.write { try fill($0) }
        return database
    } catch {
        preconditionFailure("the tables cannot be filled: \(error)")
    }
}()

/// The row with a pending deletion. Its dependents are on the shelf.
private let deletedRow: Int64 = 2

private func fill(_ database: Database) throws {
    guard let orders = mapping.tables["Orders"], let items = mapping.tables["Orders/Items"] else {
        preconditionFailure("the sample model has no orders")
    }
    try OfflineLayout(model: model).create(in: database)
    for statement in EngineSchema.statements { try database.execute(sql: statement) }
    try QueryTable.add(
        DefiningQuery("orders", "Orders?$expand=Items"), entitySet: orders.set, mapping: mapping, in: database)
    let before = BeforeImages(snapshots: queue.snapshots)
    let time = "2026-11-21T10:00:00Z"
    let options = ChangeOptions(
        category: "orders", tag: "mine", headers: ["X-Key": "{Orders(1)}"], priority: 2, retries: 3)
    for number in 1...deletedRow {
        let order = ODataEntity(shape: orders.shape, ["ID": .integer(number), "Name": "theirs"])
        let row = try BulkLoader(table: orders, in: database).load(order, owner: 1).rowID
        let item = ODataEntity(shape: items.shape, ["Line": 1])
        let itemRow = try BulkLoader(table: items, in: database).load(item, owner: 1, parent: row).rowID
        for (entity, set, row) in [(order, orders.set, row), (item, items.set, itemRow)] {
            try before.save(.init(entity: entity, etag: "W/\"1\"", owner: 1), set: set, rowID: row, in: database)
        }
        let id = try queue.append(
            .update, set: orders.set, rowID: row, key: order,
            changes: ODataEntity(shape: orders.shape, ["Name": "mine"]),
            base: order, etag: "W/\"1\"", dependsOn: [], createdAt: time, options: options, in: database)
        try queue.markFailed(
            id, .refused,
            .init(status: 412, code: "Changed", message: "by others", theirs: order, at: ODataDateTimeOffset(time)),
            in: database)
        _ = try queue.append(
            .update, set: items.set, rowID: itemRow, key: item, changes: item, dependsOn: [id], createdAt: time,
            options: ChangeOptions(),
            subject: .entity(.init(container: .init(row: row, url: "Orders(\(number))/Items"))),
            in: database)
        var tree = order
        tree.related["Items"] = .many([item])
        for (kind, staged) in [("entity", tree), ("entity", order), ("removed", order)] {
            try database.execute(
                sql: "INSERT INTO outpost_staged(query_id, kind, content) VALUES (1, ?, ?)",
                arguments: [kind, try TreeCoder(snapshots: queue.snapshots).encode(staged)])
        }
    }
    let nothing = ODataEntity(shape: QueueTable.noShape)
    _ = try queue.append(
        .call, set: "", rowID: 0, key: nothing, changes: nothing, dependsOn: [], createdAt: time, options: options,
        subject: .call(.init(url: "Orders(1)/Shop.Pay", parameters: "{}")), in: database)
    try DeletionShelf(mapping: mapping).clear(deletedRow, orders, queue, before, in: database)
    try BulkLoader(table: orders, in: database).delete(deletedRow)
}

// MARK: The engine

/// The readers of the tables. Each finds them as they were left.
private let readers: [@Sendable (Database) throws -> Void] = [
    readQueue, readContainers, readBefore, restore, includeShelf, remapShelf, applyStage,
]

private func readQueue(_ database: Database) throws {
    let requests = try queue.requests(in: database)
    for request in requests {
        precondition(!request.description.isEmpty)
        try queue.setSubject(request.subject, of: request.id, in: database)
        try queue.setOptions(request.options, of: request.id, in: database)
    }
    guard let again = try? queue.requests(in: database) else { preconditionFailure("what was kept is not read") }
    precondition(again.map(\.subject) == requests.map(\.subject), "a subject that was kept is read as another one")
    precondition(again.map(\.options) == requests.map(\.options), "options that were kept are read as others")
}

private func readContainers(_ database: Database) throws {
    for table in mapping.tables.values {
        _ = try Containment(mapping: mapping).changedRows(of: table, in: database)
        _ = try Containment(mapping: mapping).requests(within: 1, table, queue, in: database)
    }
}

private func readBefore(_ database: Database) throws {
    let before = BeforeImages(snapshots: queue.snapshots)
    for table in mapping.tables.values {
        _ = try before.image(set: table.set, rowID: 1, shape: table.shape, in: database)
        guard let key = ODataEntity(shape: table.shape, ["ID": 2, "Line": 1]).key else { continue }
        _ = try before.rowID(set: table.set, key: key, shape: table.shape, in: database)
    }
}

/// All entities in the tables can be read, with any values in the columns.
private func readRows(_ database: Database) throws {
    for table in mapping.tables.values {
        guard let id = table.rowID else { continue }
        let loader = try BulkLoader(table: table, in: database)
        for row in try Int64.fetchAll(database, sql: "SELECT \"\(id)\" FROM \"\(table.table)\"") {
            _ = try loader.read(row)
            _ = try Rows.owner(table, rowID: row, in: database)
        }
    }
}

private func restore(_ database: Database) throws {
    try DeletionShelf(mapping: mapping).restore(set: "Orders", rowID: deletedRow, in: database)
    try readRows(database)
    try readQueue(database)
}

private func includeShelf(_ database: Database) throws {
    try DeletionShelf(mapping: mapping).includingRows(in: database) { try readRows(database) }
}

private func remapShelf(_ database: Database) throws {
    for table in mapping.tables.values {
        guard let notLoaded = table.notLoaded else { continue }
        try DeletionShelf.remap(
            table.table, dropping: ["Name"], recoding: ["Name": { $0 }], notLoaded: notLoaded, { bits, _ in bits },
            in: database)
    }
}

private func applyStage(_ database: Database) throws {
    for query in try QueryTable.all(in: database) {
        guard let table = mapping.tables[query.entitySet] else { continue }
        let step = ApplyingStep(query: query, table: table, mapping: mapping, doubts: RelationDoubts())
        var reached = step.noRows
        _ = try step.apply(&reached, in: database)
        while !reached.isSwept { _ = try step.sweep(&reached, in: database) }
        try step.finish(reached, deltaLink: nil, at: "2026-11-21T10:00:00Z", in: database)
    }
    try readRows(database)
}

// MARK: One input

private func run(_ place: Place, _ bytes: [UInt8], _ database: Database) throws {
    let value = place.isText ? String(decoding: bytes, as: UTF8.self).databaseValue : Data(bytes).databaseValue
    try database.execute(sql: "UPDATE \(place.table) SET \(place.column) = ?", arguments: [value])
    for reader in readers {
        do {
            try database.inSavepoint {
                try reader(database)
                return .rollback
            }
        } catch {
            // An error of SQLite becomes an error of the store at the end of a transaction.
            precondition(error is any CodedError || error is DatabaseError, "an error without a code: \(error)")
        }
    }
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    guard let first = bytes.first, places.indices.contains(Int(first) - 97) else { return -1 }
    do {
        try database.inTransaction { database in
            try run(places[Int(first) - 97], Array(bytes.dropFirst()), database)
            return .rollback
        }
    } catch {
        preconditionFailure("the tables cannot be changed: \(error)")
    }
    return 0
}
