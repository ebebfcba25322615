import Foundation
import GRDB
import ODataModel
import ODataSQL

/// The trees of rows that are parts of each other, by the navigation properties that the model calls composite
/// (`PackageModel`). A tree is found by one statement for each relation and level.
struct CompositeGraph: Sendable {
    /// A composite navigation property between two tables.
    private struct Relation: Sendable {
        let parent: String
        let child: String
        /// SQL of the pairs of rows, as `parent` and `child`.
        let pairs: String
        /// The attributes of the child that name the parent, by attribute of the parent; empty for other relations.
        let attributes: [String: String]
    }

    private let relations: [Relation]
    private let mapping: StorageMapping

    /// Reads the composite relations of a model.
    init(model: EntityDataModel, mapping: StorageMapping) {
        self.mapping = mapping
        let package = PackageModel(model)
        var relations: [Relation] = []
        for table in mapping.tables.values.sorted(by: { $0.set < $1.set }) {
            for (name, storage) in table.navigation.sorted(by: { $0.key < $1.key }) {
                guard package.isComposite(name, of: table.shape.name, in: model),
                    let child = mapping.tables[storage.target]
                else { continue }
                if let relation = Self.relation(storage, from: table, to: child) { relations.append(relation) }
            }
        }
        self.relations = relations
    }

    /// Whether no row is a part of another one.
    var isEmpty: Bool { relations.isEmpty }

    private static func relation(
        _ storage: NavigationStorage, from parent: TableStorage, to child: TableStorage
    ) -> Relation? {
        guard let parentID = parent.rowID?.sqlIdentifier, let childID = child.rowID?.sqlIdentifier else { return nil }
        switch storage {
        case .link(_, let link, let source, let target):
            return Relation(
                parent: parent.set, child: child.set,
                pairs: "SELECT \(source.sqlIdentifier) AS parent, \(target.sqlIdentifier) AS child "
                    + "FROM \(link.sqlIdentifier)", attributes: [:])
        case .join(_, let pairs):
            let condition = pairs.map { "p.\($0.source.sqlIdentifier) = c.\($0.target.sqlIdentifier)" }
            var attributes: [String: String] = [:]
            for pair in pairs {
                guard let own = attribute(of: parent, in: pair.source),
                    let other = attribute(of: child, in: pair.target)
                else { continue }
                attributes[own] = other
            }
            return Relation(
                parent: parent.set, child: child.set,
                pairs: """
                    SELECT p.\(parentID) AS parent, c.\(childID) AS child
                    FROM \(parent.table.sqlIdentifier) AS p JOIN \(child.table.sqlIdentifier) AS c
                    ON \(condition.joined(separator: " AND "))
                    """, attributes: attributes.count == pairs.count ? attributes : [:])
        }
    }

    private static func attribute(of table: TableStorage, in column: String) -> String? {
        table.shape.properties.first { table.column(at: $0.name)?.name == column }?.name
    }

    // MARK: Upwards

    /// The direct parents of rows.
    private func parents(
        of rows: Set<RowReference>, _ queue: QueueTable, in database: Database
    ) throws -> [RowReference: RowReference] {
        var found: [RowReference: RowReference] = [:]
        let ids = Dictionary(grouping: rows, by: \.set).mapValues { $0.map(\.rowID) }
        for relation in relations {
            guard let children = ids[relation.child] else { continue }
            let statement = try database.cachedStatement(
                sql: "SELECT parent, child FROM (\(relation.pairs)) WHERE child IN (SELECT value FROM json_each(?))")
            for pair in try Row.fetchAll(statement, arguments: [Self.list(children)]) {
                found[RowReference(set: relation.child, rowID: pair[1])] = RowReference(
                    set: relation.parent, rowID: pair[0])
            }
        }
        for row in rows where found[row] == nil {
            if let parent = try parent(ofDeleted: row, queue, in: database) { found[row] = parent }
        }
        return found
    }

    /// The parent that a row had before it was deleted here.
    private func parent(
        ofDeleted row: RowReference, _ queue: QueueTable, in database: Database
    ) throws -> RowReference? {
        let incoming = relations.filter { $0.child == row.set }
        guard !incoming.isEmpty, let table = mapping.tables[row.set],
            try Rows.owner(table, rowID: row.rowID, in: database) == nil,
            let deletion = try queue.requests(set: row.set, rowID: row.rowID, in: database).last(where: {
                $0.kind == .delete
            })
        else { return nil }
        for relation in incoming {
            if let parent = deletion.parentRow, row.set.hasPrefix(relation.parent + "/") {
                return RowReference(set: relation.parent, rowID: parent)
            }
            guard let base = deletion.base, !relation.attributes.isEmpty, let parents = mapping.tables[relation.parent]
            else { continue }
            var values: [String: ODataValue] = [:]
            for (own, other) in relation.attributes {
                if let value = base[other], !value.isNull { values[own] = value }
            }
            guard values.count == relation.attributes.count,
                let parent = try Rows.all(parents, values, in: database).first
            else { continue }
            return RowReference(set: relation.parent, rowID: parent)
        }
        return nil
    }

    /// The root of the tree of each row.
    func roots(
        of rows: Set<RowReference>, _ queue: QueueTable, in database: Database
    ) throws -> [RowReference: RowReference] {
        var parents: [RowReference: RowReference] = [:]
        var level = rows
        var seen = rows
        while !level.isEmpty {
            let found = try self.parents(of: level, queue, in: database)
            parents.merge(found) { first, _ in first }
            level = Set(found.values).subtracting(seen)
            seen.formUnion(level)
        }
        var roots: [RowReference: RowReference] = [:]
        for row in rows {
            var root = row
            var passed: Set<RowReference> = [row]
            while let parent = parents[root], passed.insert(parent).inserted { root = parent }
            roots[row] = root
        }
        return roots
    }

    /// The rows of which a part has changes that the service does not have yet, at whatever distance.
    func rowsAboveChanges(_ queue: QueueTable, in database: Database) throws -> Set<RowReference> {
        guard !isEmpty else { return [] }
        let sets = Set(relations.map(\.child))
        var level: Set<RowReference> = []
        for set in sets {
            level.formUnion(try QueueTable.changedRows(of: set, in: database).map { RowReference(set: set, rowID: $0) })
            level.formUnion(
                try QueueTable.relationEnds(in: set, in: database).keys.map { RowReference(set: set, rowID: $0) })
        }
        var above: Set<RowReference> = []
        while !level.isEmpty {
            level = Set(try parents(of: level, queue, in: database).values).subtracting(above)
            above.formUnion(level)
        }
        return above
    }

    // MARK: Downwards

    /// Some rows and all their parts, each with the first of the given rows that it was reached from.
    func trees(
        below roots: Set<RowReference>, _ queue: QueueTable, in database: Database
    ) throws -> [RowReference: RowReference] {
        var origins = Dictionary(uniqueKeysWithValues: roots.map { ($0, $0) })
        var level = roots
        let deleted = try deletedRows(queue, in: database)
        while !level.isEmpty {
            var next: Set<RowReference> = []
            func reach(_ child: RowReference, from parent: RowReference) {
                guard origins[child] == nil, let origin = origins[parent] else { return }
                origins[child] = origin
                next.insert(child)
            }
            let ids = Dictionary(grouping: level, by: \.set).mapValues { $0.map(\.rowID) }
            for relation in relations {
                guard let parents = ids[relation.parent] else { continue }
                let statement = try database.cachedStatement(
                    sql:
                        "SELECT parent, child FROM (\(relation.pairs)) WHERE parent IN (SELECT value FROM json_each(?))"
                )
                for pair in try Row.fetchAll(statement, arguments: [Self.list(parents)]) {
                    reach(
                        RowReference(set: relation.child, rowID: pair[1]),
                        from: RowReference(set: relation.parent, rowID: pair[0]))
                }
            }
            for (child, parent) in deleted where level.contains(parent) { reach(child, from: parent) }
            level = next
        }
        return origins
    }

    /// The parts that were deleted here and wait for that, with their parents.
    private func deletedRows(
        _ queue: QueueTable, in database: Database
    ) throws -> [(child: RowReference, parent: RowReference)] {
        try Set(relations.map(\.child)).sorted().flatMap { set in
            try QueueTable.deletedRows(of: set, in: database).compactMap { id in
                let row = RowReference(set: set, rowID: id)
                return try parent(ofDeleted: row, queue, in: database).map { (row, $0) }
            }
        }
    }

    /// Row ids as a JSON array, which one statement takes whatever their number.
    static func list(_ ids: some Sequence<Int64>) -> String { "[\(ids.map(String.init).joined(separator: ","))]" }
}
