import Foundation
import GRDB
import ODataModel
import ODataSQL
import ODataService

/// Temporary keys among values that nothing relates to entities: the parameters of calls (rule 11).
///
/// A negative number can mean anything. A GUID that was made here, alone or within a text, means its entity wherever it stands.
struct TemporaryKeys {
    /// What a text begins with that stands for a key which the service will give.
    static let textPrefix = "urn:uuid:"

    let mapping: StorageMapping

    /// A negative number that stands for a key which the service will give; `nil` when the type holds none that is free.
    ///
    /// No entity here has it, and none refers to one by it: the service may have such an entity that is in no query, or mean
    /// none by it.
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
        // One that was given before is never given again, although its entity is gone or has its own key by
        // now: what still refers to that one must not come to refer to this one.
        let setting = "temporary.\(table.set).\(property.name)"
        let given = try Settings.text(setting, in: database).flatMap { Int64($0) } ?? 0
        // The service may have given the least number there is.
        let (next, isBeyond) = min(least, given, 0).subtractingReportingOverflow(1)
        guard !isBeyond, next >= floor else { return nil }
        try Settings.set(setting, String(next), in: database)
        return next
    }

    /// The least number in a column that an index begins with.
    private static func least(_ column: String, of table: TableStorage, in database: Database) throws -> Int64 {
        let statement = try database.cachedStatement(
            sql: "SELECT MIN(\(column.sqlIdentifier)) FROM \(table.table.sqlIdentifier)")
        return try DatabaseValue.fetchOne(statement).flatMap(Int64.fromDatabaseValue) ?? 0
    }

    /// The columns that refer to a table by one of its columns alone, each of which an index begins with.
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

    /// The queued requests that make the entities whose temporary keys are among some values.
    func creations(of candidates: Set<ODataValue>, _ queue: QueueTable, in database: Database) throws -> Set<Int64> {
        guard !candidates.isEmpty else { return [] }
        return Set(
            try queue.requests(in: database).lazy.filter { request in
                request.kind == .create
                    && request.key.parts.contains { candidates.contains($0.value) }
            }.map(\.id))
    }

    /// A value with the keys that the service has given in the place of temporary ones.
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

    /// What stands in the key of an entity now where a temporary value stood.
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
