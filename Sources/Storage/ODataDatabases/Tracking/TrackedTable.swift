import Foundation
import GRDB
import ODataSQL
import ODataStore

/// The SQL by which rows of a served table are identified and compared.
struct TrackedTable: Sendable {
    /// The maximum number of function arguments in every build of SQLite.
    static let maxArguments = 100
    /// The SQL function that digests its arguments.
    static let digestFunctionName = "outpost_row_digest"

    /// The mapping of the table.
    let storage: TableStorage
    /// The columns of the key.
    let keyColumns: [String]
    /// The compared columns.
    let columns: [String]
    /// The hash of the table's definition. When it changes, tracking of the table starts again.
    let definition: String
    /// The keys by which triggers find replaced rows.
    let uniqueKeys: [UniqueKey]
    /// Whether there are keys that triggers in the database cannot use.
    let hasOtherKeys: Bool
    /// The columns outside the key by which rows of other tables refer to this table.
    let linkColumns: [String]
    /// The positions of ``linkColumns`` among the columns of ``selection``.
    private let linkPositions: [Int]

    /// Creates the SQL of a table.
    ///
    /// - Parameters:
    ///   - mapping: the mapping of all tables, for the tables that refer to this one.
    ///   - database: a connection from which the keys of the table are read.
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

    /// Registers the functions in the expressions.
    static func register(in database: Database) {
        StoredKey.register(in: database)
        database.add(
            function: DatabaseFunction(digestFunctionName, pure: true) { Data(bytes(of: $0)) })
    }

    /// Returns the digest of values.
    static func bytes(of values: [DatabaseValue]) -> [UInt8] {
        var digest = RowDigest()
        for value in values { digest.add(value) }
        return digest.bytes()
    }

    /// Returns the digest of a row; a digest of digests if the row has more columns than a function can have
    /// arguments.
    static func digest(_ values: [DatabaseValue]) -> Data {
        guard values.count > maxArguments else { return Data(bytes(of: values)) }
        let parts = stride(from: 0, to: values.count, by: maxArguments).map {
            Data(bytes(of: Array(values[$0..<min($0 + maxArguments, values.count)]))).databaseValue
        }
        return Data(bytes(of: parts))
    }

    /// Returns the expression for the key of `OLD` or `NEW` in a trigger.
    func keyExpression(_ row: String) -> String {
        "\(StoredKey.functionName)(\(keyColumns.map { "\(row).\($0.sqlIdentifier)" }.joined(separator: ", ")))"
    }

    /// Returns the expression for the digest of `OLD` or `NEW` in a trigger.
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

    /// The `SELECT` statement of the key columns, followed by the compared columns.
    var selection: String {
        "SELECT \((keyColumns + columns).map(\.sqlIdentifier).joined(separator: ", ")) FROM main.\(storage.table.sqlIdentifier)"
    }

    /// The condition that selects a row by its key.
    var keyCondition: String { keyColumns.map { "\($0.sqlIdentifier) = ?" }.joined(separator: " AND ") }

    /// The stored form of a row.
    struct Identity {
        /// The key, as ``StoredKey`` encodes it.
        var key: Data
        /// The digest of all values.
        var digest: Data
        /// The encoded values of ``linkColumns``; `nil` if there are none.
        var links: Data?
    }

    /// Returns the key, digest and links of a selected row.
    func identify(_ row: Row) -> Identity {
        let values = (0..<row.count).map { row[$0] as DatabaseValue }
        return Identity(
            key: StoredKey.encode(Array(values.prefix(keyColumns.count))),
            digest: Self.digest(Array(values.dropFirst(keyColumns.count))),
            links: linkPositions.isEmpty ? nil : StoredKey.encode(linkPositions.map { values[$0] }))
    }

    /// Returns the current digest of the row with a key; `nil` if there is none.
    ///
    /// A collation may find a row with a different spelling of the key. Such a row has another key.
    func currentDigest(of key: Data, in database: Database) throws -> Data? {
        try current(key, in: database)?.digest
    }

    /// Returns the current row with a key; `nil` if there is none.
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
