import GRDB
import ODataModel

/// Rows of a JSON text that go into the table several at once. For each statement SQLite opens the table and its indexes,
/// looks up the highest row id that was used and writes it down again, which is more than half of what a row takes.
extension BulkLoader {
    /// Loads the row that a cursor stands on, at once or together with rows that follow; what comes of it is the same.
    ///
    /// The memory that the cursor looks at must stay as it is until ``loadWaiting(told:)`` has returned, or an error was
    /// thrown.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - owner: the defining query that brings it.
    ///   - told: told what was done with this row or with those before it, in their order.
    /// - Throws: as for each row by itself, for this one or one before it, and what `told` throws; the rows that waited are
    ///   then forgotten.
    public func load(_ row: borrowing JSONRow, owner: Int64, told: (Outcome) throws -> Void) throws {
        do {
            try take(row, owner: owner, told: told)
        } catch {
            waiting.places = []
            throw error
        }
    }

    /// Loads the rows that still wait for others.
    ///
    /// - Parameter told: told what was done with each, in their order.
    /// - Throws: as ``load(_:owner:told:)``.
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

    /// The statement for as many rows as go in together; `nil` where it would have too many parameters.
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
            // Ids are given one after the other, and none is passed over where all rows are new.
            for rowID in (last - Int64(count) + 1)...last {
                try told(Outcome(rowID: rowID, change: .inserted, previousOwner: nil))
            }
            return
        }
        // Some were there. Now all are, and each is compared with what is there; what this statement has inserted has a
        // higher id than any row before it.
        let known = waiting.lastRowID
        var inserted: Set<Int64> = []
        expectsNew = false
        try loadWaiting { outcome in
            let isNew = outcome.rowID > known && inserted.insert(outcome.rowID).inserted
            try told(isNew ? Outcome(rowID: outcome.rowID, change: .inserted, previousOwner: nil) : outcome)
        }
    }
}

/// The rows of a JSON text that wait until one statement can insert them all.
final class WaitingRows {
    /// How many go in together: with twice as many, a row takes a tenth less.
    static let count = 16
    /// The most parameters of a statement: SQLite takes 32,766 since long before it has had the tables that stores are made
    /// of, but a row of some hundred columns gains nothing.
    static let mostParameters = 4_096

    /// Where each stands in the text.
    var places: [JSONScanner] = []
    /// The parameter that the next row begins with.
    var parameter: Int32 = 1
    /// How many rows like these were inserted by themselves, with no other between.
    var inserted = 0
    /// The highest row id, after one was inserted.
    var lastRowID: Int64 = 0
    /// What inserts such a row; `nil` before the first, and for rows that become entities.
    private(set) var insert: DirectInserts.Insert?
    private(set) var owner: Int64 = 0

    /// Whether the next row may wait: so many were new and alike that those to come will be.
    var isWorthIt: Bool { inserted >= Self.count }

    /// Begins with rows of another kind.
    func start(_ insert: DirectInserts.Insert?, owner: Int64) {
        self.insert = insert
        self.owner = owner
        inserted = 0
    }

    /// Notes what became of a row that did not wait.
    func note(_ outcome: BulkLoader.Outcome) {
        guard outcome.change == .inserted else {
            inserted = 0
            return
        }
        inserted += 1
        lastRowID = outcome.rowID
    }
}
