import Foundation
import GRDB
import ODataSQL
import ODataStore

/// The SQL by which the rows of a foreign table are identified and compared.
struct TrackedTable: Sendable {
    /// The greatest number of arguments that every SQLite allows a function to have.
    static let maxArguments = 100
    /// The SQL function that digests its arguments.
    static let digestFunctionName = "outpost_row_digest"

    /// Where the table's data lies.
    let storage: TableStorage
    /// The key's columns.
    let keyColumns: [String]
    /// The columns that are compared.
    let columns: [String]
    /// What versions depend on besides the values: when it changes, the versions start anew.
    let definition: String
    /// The keys by which triggers find the row that another one replaces.
    let uniqueKeys: [UniqueKey]
    /// Whether there are keys by which those in the database itself do not.
    let hasOtherKeys: Bool
    /// The columns outside of the key by which rows of other tables lead to this one.
    let linkColumns: [String]
    /// The positions of ``linkColumns`` among the columns of ``selection``.
    private let linkPositions: [Int]

    /// Makes the SQL of a table.
    ///
    /// - Parameters:
    ///   - mapping: the tables that lead to this one.
    ///   - database: a connection that sees the table, for its keys.
    init(_ storage: TableStorage, of mapping: StorageMapping, in database: Database) throws {
        self.storage = storage
        let (keys, hasOthers) = try UniqueKey.all(of: storage, in: database)
        uniqueKeys = keys
        hasOtherKeys = hasOthers || keys.contains { $0.index != nil }
        keyColumns = storage.shape.key.compactMap { storage.column(at: $0.path)?.name }
        columns = storage.digestColumns
        let selected = keyColumns + columns
        var links: Set<String> = []
        for case .join(storage.set, let pairs) in mapping.tables.values.flatMap(\.navigation.values) {
            links.formUnion(pairs.map(\.target))
        }
        linkColumns = links.subtracting(keyColumns).sorted().filter(selected.contains)
        linkPositions = linkColumns.compactMap(selected.firstIndex)
        var hash = QueryHash()
        hash.add(storage.table)
        for name in keyColumns + [""] + columns + [""] + linkColumns { hash.add(name) }
        definition = hash.text
    }

    /// Adds the functions that the expressions below call.
    static func register(in database: Database) {
        StoredKey.register(in: database)
        database.add(
            function: DatabaseFunction(digestFunctionName, pure: true) { Data(bytes(of: $0)) })
    }

    /// The digest of some values.
    static func bytes(of values: [DatabaseValue]) -> [UInt8] {
        var digest = RowDigest()
        for value in values { digest.add(value) }
        return digest.bytes()
    }

    /// The digest of a row; one of digests where there are more columns than a function takes.
    static func digest(_ values: [DatabaseValue]) -> Data {
        guard values.count > maxArguments else { return Data(bytes(of: values)) }
        let parts = stride(from: 0, to: values.count, by: maxArguments).map {
            Data(bytes(of: Array(values[$0..<min($0 + maxArguments, values.count)]))).databaseValue
        }
        return Data(bytes(of: parts))
    }

    /// The key of the row `OLD` or `NEW` of a trigger.
    func keyExpression(_ row: String) -> String {
        "\(StoredKey.functionName)(\(keyColumns.map { "\(row).\($0.sqlIdentifier)" }.joined(separator: ", ")))"
    }

    /// The digest of the row `OLD` or `NEW` of a trigger.
    func digestExpression(_ row: String) -> String {
        let names = columns.map { "\(row).\($0.sqlIdentifier)" }
        func call(_ arguments: some Sequence<String>) -> String {
            "\(Self.digestFunctionName)(\(arguments.joined(separator: ", ")))"
        }
        guard names.count > Self.maxArguments else { return call(names) }
        return call(
            stride(from: 0, to: names.count, by: Self.maxArguments).map {
                call(names[$0..<min($0 + Self.maxArguments, names.count)])
            })
    }

    /// `SELECT` of the key's columns, then those that are compared.
    var selection: String {
        "SELECT \((keyColumns + columns).map(\.sqlIdentifier).joined(separator: ", ")) FROM main.\(storage.table.sqlIdentifier)"
    }

    /// The condition for one row.
    var keyCondition: String { keyColumns.map { "\($0.sqlIdentifier) = ?" }.joined(separator: " AND ") }

    /// A row as it is kept beside the database.
    struct Identity {
        /// The key, as ``StoredKey`` writes it.
        var key: Data
        /// The digest of all values.
        var digest: Data
        /// The values of ``linkColumns``, written like a key; `nil` where there are none.
        var links: Data?
    }

    /// Key, digest and links of a selected row.
    func identify(_ row: Row) -> Identity {
        let values = (0..<row.count).map { row[$0] as DatabaseValue }
        return Identity(
            key: StoredKey.encode(Array(values.prefix(keyColumns.count))),
            digest: Self.digest(Array(values.dropFirst(keyColumns.count))),
            links: linkPositions.isEmpty ? nil : StoredKey.encode(linkPositions.map { values[$0] }))
    }

    /// The digest of the row with a key as it is now; `nil` when there is none.
    ///
    /// A collation may find a row whose key is written otherwise; that is another key.
    func currentDigest(of key: Data, in database: Database) throws -> Data? {
        try current(key, in: database)?.digest
    }

    /// The row with a key as it is now; `nil` when there is none.
    func current(_ key: Data, in database: Database) throws -> Identity? {
        guard let values = StoredKey.decode(key), values.count == keyColumns.count else { return nil }
        let statement = try database.cachedStatement(sql: "\(selection) WHERE \(keyCondition)")
        let rows = try Row.fetchCursor(statement, arguments: StatementArguments(values))
        while let row = try rows.next() {
            let found = identify(row)
            if found.key == key { return found }
        }
        return nil
    }
}
