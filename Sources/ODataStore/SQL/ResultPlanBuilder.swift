import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Chooses the result columns of a statement and describes them in a ``ResultPlan``.
struct ResultPlanBuilder {
    let compiler: ExpressionCompiler
    let scope: SQLScope
    /// Computed, grouped and aggregated names in the order of the result.
    let names: [String]

    func plan(_ query: BoundQuery, _ select: inout SelectList) throws -> ResultPlan {
        guard let table = scope.table else { return try derivedPlan(query, &select) }
        var plan = ResultPlan(
            set: table.set, table: table.table, shape: query.apply.isEmpty ? query.shape : query.resultShape,
            fields: [], derivedFields: [:], discriminator: nil, notLoaded: nil, dynamic: nil, key: [],
            hasKeyInFields: false, etag: .none, rowID: nil, sort: [], expandSources: [])
        let bits = table.notLoaded == nil ? [:] : Self.bits(of: table)
        let shape = query.apply.isEmpty ? query.shape : table.shape
        switch query.projection {
        case .all:
            plan.fields = fields(shape, table.properties(of: shape), bits, &select) + computed(names, &select)
            for (name, _) in table.derivedProperties {
                guard let derived = compiler.mapping.model.shape(name) else { continue }
                plan.derivedFields[name.description] = (
                    derived, fields(derived, table.properties(of: derived), bits, &select) + computed(names, &select)
                )
            }
            if let dynamic = table.dynamicProperties {
                plan.dynamic = (select.index(of: "\(column: dynamic, of: scope.alias)"), nil)
            }
        case .some(let ordinals, let wanted):
            let storages = table.properties(of: shape)
            for ordinal in ordinals {
                guard shape.properties.indices.contains(ordinal), storages.indices.contains(ordinal) else { continue }
                if case .absent = storages[ordinal] {
                    throw ODataError.notImplemented("the property \(shape.properties[ordinal].name)")
                }
                plan.fields += field(shape.properties[ordinal], ordinal, storages[ordinal], bits, &select)
            }
            plan.fields += computed(names.filter { wanted.contains($0) }, &select)
            for (name, _) in table.derivedProperties {
                guard let derived = compiler.mapping.model.shape(name) else { continue }
                plan.derivedFields[name.description] = (derived, plan.fields)
            }
            let dynamicNames = wanted.filter { !names.contains($0) }
            if let dynamic = table.dynamicProperties, !dynamicNames.isEmpty {
                plan.dynamic = (select.index(of: "\(column: dynamic, of: scope.alias)"), dynamicNames)
            }
        }
        if let discriminator = table.discriminator {
            plan.discriminator = select.index(of: "\(column: discriminator, of: scope.alias)")
        }
        if let notLoaded = table.notLoaded {
            plan.notLoaded = select.index(of: "\(column: notLoaded, of: scope.alias)")
        }
        try identify(&plan, table, query, &select)
        return plan
    }

    /// Key, row id, ETag and what joins expanded rows.
    private func identify(
        _ plan: inout ResultPlan, _ table: TableStorage, _ query: BoundQuery, _ select: inout SelectList
    ) throws {
        let columns = table.keyColumns
        if columns.count == table.shape.key.count {
            for (part, column) in zip(table.shape.key, columns) {
                plan.key.append((part.name, slot(column, nil, &select)))
            }
        }
        let written = Set(plan.fields.compactMap(\.column))
        plan.hasKeyInFields = !plan.key.isEmpty && plan.key.allSatisfy { written.contains($0.slot.index) }
        if let rowID = table.rowID { plan.rowID = select.index(of: "\(column: rowID, of: scope.alias)") }
        switch table.etag {
        case .none: break
        case .column(let column): plan.etag = .column(select.index(of: "\(column: column, of: scope.alias)"))
        case .contentDigest: plan.etag = .column(select.index(of: Self.digest(table, alias: scope.alias)))
        }
        for item in query.expand {
            let (storage, _) = try compiler.navigation(item.navigation, of: table)
            switch storage {
            case .join(_, let pairs):
                plan.expandSources.append(
                    pairs.map { select.index(of: "\(column: $0.source, of: scope.alias)") })
            case .link:
                let rowID = try compiler.requireRowID(table, item.navigation)
                plan.expandSources.append([select.index(of: "\(column: rowID, of: scope.alias)")])
            }
        }
    }

    /// The digest of a row as SQL. SQLite takes at most 100 arguments, so that wider rows are digested in parts.
    static func digest(_ table: TableStorage, alias: String) -> SQLFragment {
        let columns = table.digestColumns.map { "\(column: $0, of: alias)" as SQLFragment }
        let parts = stride(from: 0, to: columns.count, by: 90).map {
            "outpost_digest(\(list: Array(columns[$0..<min($0 + 90, columns.count)])))" as SQLFragment
        }
        return parts.count == 1 ? parts[0] : "outpost_digest(\(list: parts))"
    }

    private static func bits(of table: TableStorage) -> [String: Int] {
        Dictionary(table.columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Fields

    private func fields(
        _ shape: Shape, _ storages: [PropertyStorage], _ bits: [String: Int], _ select: inout SelectList
    ) -> [ResultPlan.Field] {
        var result: [ResultPlan.Field] = []
        for (ordinal, (property, storage)) in zip(shape.properties, storages).enumerated() {
            result += field(property, ordinal, storage, bits, &select)
        }
        return result
    }

    /// A property's field; none for what the layout cannot hold.
    private func field(
        _ property: Property, _ ordinal: Int, _ storage: PropertyStorage, _ bits: [String: Int],
        _ select: inout SelectList
    ) -> [ResultPlan.Field] {
        switch storage {
        case .column(let column):
            return [.value(name: property.name, ordinal: ordinal, slot(column, bits[column.name], &select))]
        case .complex(let shape, let nested, let presence):
            let index = select.index(of: "\(column: presence, of: scope.alias)")
            return [
                .complex(
                    name: property.name, ordinal: ordinal, shape, presence: index,
                    fields(shape, nested, bits, &select))
            ]
        case .absent: return []
        }
    }

    private func slot(_ column: ColumnStorage, _ bit: Int?, _ select: inout SelectList) -> ResultPlan.Slot {
        ResultPlan.Slot(
            index: select.index(of: "\(column: column.name, of: scope.alias)"), storage: column, notLoadedBit: bit)
    }

    private func computed(_ names: [String], _ select: inout SelectList) -> [ResultPlan.Field] {
        names.compactMap { name in
            guard let operand = scope.computed[name] else { return nil }
            return .value(name: name, ordinal: nil, computedSlot(name, operand, &select))
        }
    }

    private func computedSlot(_ name: String, _ operand: Operand, _ select: inout SelectList) -> ResultPlan.Slot {
        ResultPlan.Slot(
            index: select.index(of: operand.sql),
            storage: ColumnStorage(name: name, type: operand.type, codec: operand.codec), notLoadedBit: nil)
    }

    // MARK: Aggregated rows

    private func derivedPlan(_ query: BoundQuery, _ select: inout SelectList) throws -> ResultPlan {
        if !query.expand.isEmpty { throw ODataError.notImplemented("$expand after aggregation") }
        var wanted = names
        if case .some(let ordinals, let others) = query.projection {
            let shape = query.resultShape
            let selected = Set(
                ordinals.filter(shape.properties.indices.contains).map { shape.properties[$0].name } + others)
            wanted = names.filter { name in
                selected.contains(name) || selected.contains(String(name.prefix { $0 != "/" }))
            }
        }
        let fields = nest(wanted.map { ($0.split(separator: "/").map(String.init), $0) }, &select)
        return ResultPlan(
            set: nil, table: "", shape: query.resultShape, fields: fields, derivedFields: [:], discriminator: nil,
            notLoaded: nil, dynamic: nil, key: [], hasKeyInFields: false, etag: .none, rowID: nil, sort: [],
            expandSources: [])
    }

    /// Values named by paths, as objects within objects.
    private func nest(_ paths: [(path: [String], name: String)], _ select: inout SelectList) -> [ResultPlan.Field] {
        var result: [ResultPlan.Field] = []
        var seen: Set<String> = []
        for (path, name) in paths {
            guard let first = path.first, seen.insert(first).inserted else { continue }
            if path.count == 1 {
                guard let operand = scope.computed[name] else { continue }
                result.append(.value(name: first, ordinal: nil, computedSlot(name, operand, &select)))
            } else {
                let inner = paths.filter { $0.path.count > 1 && $0.path[0] == first }
                result.append(
                    .nested(name: first, nest(inner.map { (Array($0.path.dropFirst()), $0.name) }, &select)))
            }
        }
        return result
    }
}

extension ResultPlan.Field {
    /// The column of a plain value.
    var column: Int? {
        if case .value(_, _, let slot) = self { slot.index } else { nil }
    }
}
