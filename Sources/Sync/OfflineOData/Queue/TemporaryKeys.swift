import Foundation
import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Temporary keys in values without a declared relation to entities: the parameters of calls (rule 11).
///
/// A negative number can mean anything. A locally generated GUID, alone or within a text, always means its
/// entity.
struct TemporaryKeys {
    /// The prefix of a text that stands for a key which the service will assign.
    static let textPrefix = "urn:uuid:"

    let mapping: StorageMapping

    /// A negative number that stands for a key which the service will assign; `nil` if the type has no free
    /// number.
    ///
    /// No local entity has the number or refers to it. The service may still have an entity with this number that
    /// no query includes.
    func nextNumber(
        for property: Property, ordinal: Int, of table: TableStorage, in database: Database
    ) throws -> Int64? {
        guard let floor = property.type.primitive?.integerRange?.lowerBound,
            case .column(let column) = table.properties[ordinal], column.codec == .integer
        else { return nil }
        var least = try Self.least(column.name, of: table, in: database)
        for (other, foreignKey) in foreignKeys(to: table, column.name) {
            least = min(least, try Self.least(foreignKey, of: other, in: database))
        }
        // A number is never used twice, even after its entity is gone or has its own key: remaining references to
        // the former entity must not lead to this one.
        let setting = "temporary.\(table.set).\(property.name)"
        let given = try Settings.text(setting, in: database).flatMap { Int64($0) } ?? 0
        // The service may have assigned the smallest number of the type.
        let (next, isBeyond) = min(least, given, 0).subtractingReportingOverflow(1)
        guard !isBeyond, next >= floor else { return nil }
        try Settings.set(setting, String(next), in: database)
        return next
    }

    /// The smallest value of a column that is the first of an index.
    private static func least(_ column: String, of table: TableStorage, in database: Database) throws -> Int64 {
        let statement = try database.cachedStatement(
            sql: "SELECT MIN(\(column.sqlIdentifier)) FROM \(table.table.sqlIdentifier)")
        return try DatabaseValue.fetchOne(statement).flatMap(Int64.fromDatabaseValue) ?? 0
    }

    /// The columns that refer to a table by a single column and that are the first of an index.
    private func foreignKeys(to table: TableStorage, _ column: String) -> [(table: TableStorage, column: String)] {
        var found: [(table: TableStorage, column: String)] = []
        for other in mapping.tables.values {
            for case .join(table.set, let pairs) in other.navigation.values
            where pairs.count == 1 && pairs[0].target == column {
                found.append((other, pairs[0].source))
            }
        }
        return found
    }

    /// The values that may be temporary keys.
    static func candidates(in value: ODataValue) -> Set<ODataValue> {
        switch value {
        case .guid: [value]
        case .string(let text) where text.hasPrefix(textPrefix): [value]
        case .collection(let items): items.reduce(into: []) { $0.formUnion(candidates(in: $1)) }
        case .complex(let members):
            (members.values.compactMap { $0 } + members.dynamicProperties.values)
                .reduce(into: []) { $0.formUnion(candidates(in: $1)) }
        default: []
        }
    }

    /// The queued creations of entities with temporary keys among the given values.
    func creations(of candidates: Set<ODataValue>, _ queue: QueueTable, in database: Database) throws -> Set<Int64> {
        guard !candidates.isEmpty else { return [] }
        return Set(
            try queue.requests(in: database).lazy.filter { request in
                request.kind == .create
                    && request.key.parts.contains { candidates.contains($0.value) }
            }.map(\.id))
    }

    /// Returns a value with the temporary keys replaced by the keys that the service has assigned.
    func replaced(_ value: ODataValue, in database: Database) throws -> ODataValue {
        var given: [ODataValue: ODataValue] = [:]
        for candidate in Self.candidates(in: value) {
            if let key = try self.given(for: candidate, in: database) { given[candidate] = key }
        }
        return given.isEmpty ? value : Self.replacing(given, in: value)
    }

    private static func replacing(_ given: [ODataValue: ODataValue], in value: ODataValue) -> ODataValue {
        switch value {
        case .collection(let items): return .collection(items.map { replacing(given, in: $0) })
        case .complex(var members):
            members.values = members.values.map { $0.map { replacing(given, in: $0) } }
            members.dynamicProperties = members.dynamicProperties.mapValues { replacing(given, in: $0) }
            return .complex(members)
        default: return given[value] ?? value
        }
    }

    /// The current key value that replaced a temporary one.
    private func given(for temporary: ODataValue, in database: Database) throws -> ODataValue? {
        guard let text = temporary.lexicalText else { return nil }
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT entity_set, entity_key, row_id FROM outpost_alias WHERE instr(entity_key, ?)",
            arguments: [text.hasPrefix(Self.textPrefix) ? String(text.dropFirst(Self.textPrefix.count)) : text])
        for row in rows {
            let set: String = row["entity_set"]
            guard mapping.tables[set] != nil,
                let former = try? EntityID.parse(row["entity_key"], model: mapping.model).key,
                let part = former.parts.first(where: { $0.value == temporary }),
                let key = try BulkLoader(set: set, mapping: mapping, in: database).read(row["row_id"])?.key,
                let value = key[part.name], value != temporary
            else { continue }
            return value
        }
        return nil
    }
}
