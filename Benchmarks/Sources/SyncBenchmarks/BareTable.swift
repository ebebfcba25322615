import Foundation
import GRDBSQLite
import Measuring
import SampleOrders

/// The baseline for the store: a bare prepared statement into a plain file with the same key index, page size,
/// journal mode and transaction size, and the twelve properties as columns.
struct BareTable {
    struct Failure: Error { let code: Int32 }

    let path: String
    /// Whether the table itself declares its key, as one does that is served; else an index beside it is of the
    /// key, as in the store.
    var declaresKey = false

    /// - Returns: the seconds of the processor that the inserts took.
    func insert(_ rows: Int, atOnce: Int) throws -> Double {
        var connection: OpaquePointer?
        try check(sqlite3_open(path, &connection))
        defer { sqlite3_close(connection) }
        func run(_ sql: String) throws { try check(sqlite3_exec(connection, sql, nil, nil, nil)) }
        try run(
            """
            PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384;
            PRAGMA wal_autocheckpoint = 4096; PRAGMA temp_store = MEMORY;
            CREATE TABLE Orders(ID INTEGER\(declaresKey ? " PRIMARY KEY" : ""), Customer TEXT, Employee INTEGER, Placed BLOB,
                Required INTEGER, Freight INTEGER, ShipName TEXT, ShipAddress TEXT, ShipCity TEXT, ShipCountry TEXT,
                Paid INTEGER, Weight REAL) STRICT;
            \(declaresKey ? "" : "CREATE UNIQUE INDEX key ON Orders(ID);")
            """)
        var statement: OpaquePointer?
        try check(
            sqlite3_prepare_v2(
                connection,
                """
                INSERT INTO Orders(ID, Customer, Employee, Placed, Required, Freight, ShipName, ShipAddress, ShipCity,
                    ShipCountry, Paid, Weight)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        let placed = [UInt8](repeating: 0x80, count: 18)
        let start = processorTime()
        for first in stride(from: 0, to: rows, by: atOnce) {
            try run("BEGIN IMMEDIATE")
            for id in first..<min(first + atOnce, rows) {
                let order = SampleOrder(id: id)
                sqlite3_bind_int64(statement, 1, Int64(id))
                text("VINET", 2, statement)
                sqlite3_bind_int64(statement, 3, Int64(id % 9))
                sqlite3_bind_blob(statement, 4, placed, 18, transient)
                sqlite3_bind_int64(statement, 5, Int64(20_000 + order.day))
                sqlite3_bind_int64(statement, 6, Int64(order.freight))
                text("Vins et alcools Chevalier", 7, statement)
                text("59 rue de l'Abbaye", 8, statement)
                text("Reims", 9, statement)
                text("France", 10, statement)
                sqlite3_bind_int64(statement, 11, id % 2 == 0 ? 1 : 0)
                sqlite3_bind_double(statement, 12, Double(id % 50) + 0.5)
                guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure(code: sqlite3_errcode(connection)) }
                sqlite3_reset(statement)
            }
            try run("COMMIT")
        }
        return processorTime() - start
    }

    private var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private func text(_ text: String, _ index: Int32, _ statement: OpaquePointer?) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                _ = sqlite3_bind_text(statement, index, characters.baseAddress, Int32(characters.count), transient)
            }
        }
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw Failure(code: code) }
    }
}
