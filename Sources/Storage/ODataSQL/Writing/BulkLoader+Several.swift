import GRDB
import ODataModel

/// Loading of several rows of a JSON text with one statement.
///
/// For each statement, SQLite opens the table and its indexes, and reads and writes the highest used row id. This
/// takes more than half of the time of a row.
extension BulkLoader {
    /// Loads the current row of a cursor, either immediately or together with later rows; the result is the same.
    ///
    /// The memory of the cursor must remain valid until ``loadWaiting(told:)`` has returned or an error was thrown.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - owner: the defining query of the row.
    ///   - told: called with the result of each row, in order.
    /// - Throws: The errors of this row or an earlier one, and the errors of `told`. Waiting rows are then
    ///   discarded.
    public func load(_ row: borrowing JSONRow, owner: Int64, told: (Outcome) throws -> Void) throws {
        do {
            try take(row, owner: owner, told: told)
        } catch {
            waiting.places = []
            throw error
        }
    }

    /// Loads the waiting rows.
    ///
    /// - Parameter told: called with the result of each row, in order.
    /// - Throws: The same errors as ``load(_:owner:told:)``.
    public func loadWaiting(told: (Outcome) throws -> Void) throws {
        let places = waiting.places
        waiting.places = []
        waiting.inserted = 0
        guard !places.isEmpty else { return }
        let row = JSONRow(shape: plan.storage.shape, model: plan.model, isForgiving: onUnreadable != nil)
        for var place in places {
            try row.read(&place)
            try told(try load(row, owner: waiting.owner))
        }
    }

    private func take(_ row: borrowing JSONRow, owner: Int64, told: (Outcome) throws -> Void) throws {
        let insert = expectsNew && !isContained && !isSingleton ? try directInsert(row) : nil
        if insert == nil || insert !== waiting.insert || owner != waiting.owner {
            try loadWaiting(told: told)
            waiting.start(insert, owner: owner)
        }
        guard let insert, waiting.isWorthIt, let statement = try statementForMany(insert), let place = row.place else {
            let outcome = try load(row, owner: owner)
            waiting.note(outcome)
            return try told(outcome)
        }
        let first = waiting.places.isEmpty ? 1 : waiting.parameter
        do {
            waiting.parameter = try bind(insert, row, owner: owner, to: statement, at: first)
        } catch  where forgives(error) {
            try loadWaiting(told: told)
            return try told(try load(row, owner: owner))
        }
        waiting.places.append(place)
        if waiting.places.count == WaitingRows.count { try insertWaiting(statement, told: told) }
    }

    /// Returns the statement for several rows; `nil` if it would have too many parameters.
    private func statementForMany(_ insert: DirectInserts.Insert) throws -> BoundStatement? {
        if let many = insert.many { return many }
        let columns = insert.columns.count + plan.system.names.count
        guard columns * WaitingRows.count <= WaitingRows.mostParameters else { return nil }
        insert.many = try makeInsertStatement(insert.pattern, namesRowID: false, rows: WaitingRows.count)
        return insert.many
    }

    private func insertWaiting(_ statement: BoundStatement, told: (Outcome) throws -> Void) throws {
        let (count, last) = try statement.insertAll()
        if count == waiting.places.count {
            waiting.places.removeAll(keepingCapacity: true)
            waiting.lastRowID = last
            // If all rows are new, their ids are consecutive.
            for rowID in (last - Int64(count) + 1)...last {
                try told(Outcome(rowID: rowID, change: .inserted, previousOwner: nil))
            }
            return
        }
        // Some rows existed already. All of them exist at this point, and each is compared with its stored row. The
        // rows that this statement inserted have higher ids than all earlier rows.
        let known = waiting.lastRowID
        var inserted: Set<Int64> = []
        expectsNew = false
        try loadWaiting { outcome in
            let isNew = outcome.rowID > known && inserted.insert(outcome.rowID).inserted
            try told(isNew ? Outcome(rowID: outcome.rowID, change: .inserted, previousOwner: nil) : outcome)
        }
    }
}

/// The rows of a JSON text that wait for a common insert statement.
final class WaitingRows {
    /// The number of rows in one statement. Twice as many rows would save a tenth of the time.
    static let count = 16
    /// The maximum number of parameters in a statement. Every version of SQLite with STRICT tables accepts 32,766,
    /// but rows with hundreds of columns gain nothing.
    static let mostParameters = 4_096

    /// The positions of the rows in the text.
    var places: [JSONScanner] = []
    /// The first parameter of the next row.
    var parameter: Int32 = 1
    /// The number of consecutive rows with the same properties that were inserted separately.
    var inserted = 0
    /// The highest row id after an insert.
    var lastRowID: Int64 = 0
    /// The statement for a row; `nil` before the first row, and for rows that are converted to entities.
    private(set) var insert: DirectInserts.Insert?
    private(set) var owner: Int64 = 0

    /// Whether the next row may wait, because enough similar rows were new.
    var isWorthIt: Bool { inserted >= Self.count }

    /// Starts with rows that have other properties.
    func start(_ insert: DirectInserts.Insert?, owner: Int64) {
        self.insert = insert
        self.owner = owner
        inserted = 0
    }

    /// Records the result of a row that did not wait.
    func note(_ outcome: BulkLoader.Outcome) {
        guard outcome.change == .inserted else {
            inserted = 0
            return
        }
        inserted += 1
        lastRowID = outcome.rowID
    }
}
