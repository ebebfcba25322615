import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The entity part of a resource path as links: sets, keys, navigation properties, casts and filters.
///
/// `Customers('A')/Orders(1)/Items` becomes a chain of three links. SQL selects from the last link's table the rows
/// whose join columns match rows of the preceding link.
struct ResourceChain {
    /// A collection or entity of the path.
    struct Link {
        var table: TableStorage
        var shape: TypeShape
        /// The navigation property from the preceding link; `nil` for the first link.
        var navigation: NavigationProperty?
        var key: EntityKey?
        var casts: [TypeShape] = []
        var filters: [(BoundExpression, RangeVariable)] = []
        /// Whether the link is at most one entity.
        var isSingle: Bool
    }

    private(set) var links: [Link] = []
    private let mapping: StorageMapping

    /// Reads a path up to the first structural property.
    init(_ segments: [BoundSegment], mapping: StorageMapping) throws {
        self.mapping = mapping
        for segment in segments {
            switch segment {
            case .entitySet(let set, let shape):
                links = [Link(table: try table(set.name), shape: shape, isSingle: false)]
            case .singleton(let singleton, let shape):
                links = [Link(table: try table(singleton.name), shape: shape, isSingle: true)]
            case .key(let key):
                guard !links.isEmpty else { throw ODataError.notImplemented("a key here") }
                links[links.count - 1].key = key
                links[links.count - 1].isSingle = true
            case .navigation(let navigation, let set, let shape):
                guard let source = links.last else { throw ODataError.notImplemented(navigation.name) }
                let name = source.table.navigation[navigation.name]?.target ?? set?.name ?? navigation.name
                links.append(
                    Link(
                        table: try table(name), shape: shape, navigation: navigation,
                        isSingle: !navigation.isCollection))
            case .cast(let shape):
                guard !links.isEmpty else { throw ODataError.notImplemented("a cast here") }
                links[links.count - 1].casts.append(shape)
                links[links.count - 1].shape = shape
            case .alternateKey(_, let condition, let variable):
                guard !links.isEmpty else { throw ODataError.notImplemented("a key here") }
                links[links.count - 1].filters.append((condition, variable))
                links[links.count - 1].isSingle = true
            case .filter(let condition, let variable):
                guard !links.isEmpty else { throw ODataError.notImplemented("$filter here") }
                links[links.count - 1].filters.append((condition, variable))
            case .property: return
            case .each: throw ODataError.notImplemented("$each")
            case .operation(let operation, _): throw ODataError.notImplemented("the operation \(operation.name)")
            }
        }
    }

    private func table(_ set: String) throws -> TableStorage {
        guard let table = mapping.tables[set] else { throw ODataError.notImplemented("the entity set \(set)") }
        return table
    }

    /// Returns the scope of the last link and the conditions for its rows.
    func source(_ compiler: ExpressionCompiler) throws -> (SQLScope, [SQLFragment]) {
        guard !links.isEmpty else { throw ODataError.notImplemented("a path without an entity set") }
        return try source(links.count - 1, compiler)
    }

    private func source(_ position: Int, _ compiler: ExpressionCompiler) throws -> (SQLScope, [SQLFragment]) {
        let link = links[position]
        let alias = compiler.newAlias()
        let scope = SQLScope(
            alias: alias, source: .table(link.table), from: "\(name: link.table.table) AS \(name: alias)")
        var conditions: [SQLFragment] = []
        if position > 0, let navigation = link.navigation {
            conditions.append(
                try membership(of: scope, link, navigation: navigation, position: position, compiler: compiler))
        }
        if let key = link.key { conditions += try compiler.keyConditions(key, link.table, scope: scope) }
        for shape in link.casts { conditions.append(try compiler.typeCondition(scope, link.table, name: shape.name)) }
        for (filter, variable) in link.filters {
            compiler.scopes[variable.identifier] = scope
            conditions.append(try compiler.condition(filter))
        }
        if let visible = try compiler.visibility(of: link.table, alias: alias) { conditions.append(visible) }
        if position == 0 {
            if link.isSingle {
                compiler.requireLoaded(link.table, scope, conditions: conditions)
            } else {
                try compiler.requireLoaded(link.table)
            }
        }
        return (scope, conditions)
    }

    /// Returns the condition that relates the rows of a link to those of the preceding link.
    private func membership(
        of scope: SQLScope, _ link: Link, navigation: NavigationProperty, position: Int,
        compiler: ExpressionCompiler
    ) throws -> SQLFragment {
        let before = links[position - 1].table
        let (storage, _) = try compiler.navigation(navigation, of: before)
        let (outer, conditions) = try source(position - 1, compiler)
        try compiler.requireLoaded(navigation, of: before, scope: outer, conditions: conditions)
        let rest = ExpressionCompiler.whereClause(conditions)
        switch storage {
        case .join(_, let pairs) where pairs.contains { $0.comparison != .stored }:
            let ties = pairs.map { pair in
                SQLFragment.areEqual(
                    scope.sql(pair.target), .related(outer.sql(pair.source), pair.comparison),
                    comparison: pair.comparison)
            }
            return
                "EXISTS (SELECT 1 FROM \(outer.fromClause)\(ExpressionCompiler.whereClause(conditions + ties)))"
        case .join(_, let pairs):
            let targets = pairs.map { "\(scope.sql($0.target))" as SQLFragment }
            let sources = pairs.map { "\(outer.sql($0.source))" as SQLFragment }
            // SQLite does not accept row values with one column.
            return targets.count == 1
                ? "\(list: targets) IN (SELECT \(list: sources) FROM \(outer.fromClause)\(rest))"
                : "(\(list: targets)) IN (SELECT \(list: sources) FROM \(outer.fromClause)\(rest))"
        case .link(_, let table, let source, let target):
            let own = try compiler.requireRowID(link.table, navigation)
            let rowID = try compiler.requireRowID(before, navigation)
            let alias = compiler.newAlias()
            return """
                \(scope.sql(own)) IN (SELECT \(column: target, of: alias) FROM \(name: table) AS \
                \(name: alias) WHERE \(column: source, of: alias) IN (SELECT \(outer.sql(rowID)) \
                FROM \(outer.fromClause)\(rest)))
                """
        }
    }
}

extension ExpressionCompiler {
    /// Returns the conditions that a row has a key.
    package func keyConditions(_ key: EntityKey, _ table: TableStorage, scope: SQLScope) throws -> [SQLFragment] {
        let columns = table.keyColumns
        guard columns.count == table.shape.key.count else { throw ODataError.notImplemented("the key of \(table.set)") }
        return try zip(table.shape.key, columns).map { part, column in
            guard let value = key[part.name] ?? (columns.count == 1 ? key.parts.first?.value : nil)
            else {
                throw ODataError(
                    status: 400, code: "InvalidKey", message: "The key of \(table.set) lacks \(part.name).",
                    target: part.name)
            }
            return try equal(column, table, scope: scope, value: value)
        }
    }

    /// Returns the condition that a key column equals a value in any of its stored forms.
    func equal(
        _ column: ColumnStorage, _ table: TableStorage, scope: SQLScope, value: ODataValue
    ) throws -> SQLFragment {
        let operand = scope.column(column, isNullable: false)
        if let stored = operand.anyTextColumn, case .string(let text) = value {
            return .column(
                stored, isServedAs: bound(text.databaseValue, value, type: operand.type, codec: operand.codec))
        }
        if operand.codec == .guidText, case .guid(let guid) = value {
            // Each range can use the index on the key. SQLite would not use it for alternatives of an OR, and a
            // comparison of `lower(…)` alone would read all rows.
            let (name, text) = ("\(name: column.name)" as SQLFragment, guid.description.databaseValue)
            let written = guid.textRanges.map { range -> SQLFragment in
                """
                SELECT \(name) FROM \(name: table.table) WHERE \(name) >= \(bind: range.least.databaseValue) \
                AND \(name) <= \(bind: range.greatest.databaseValue) AND lower(\(name)) = \(bind: text)
                """
            }
            return "\(operand.sql) IN (\(list: written, by: " UNION ALL "))"
        }
        if operand.codec == .timeText {
            // The seconds are optional, and any number of trailing zeros is possible.
            return try compare(.equal, left: operand, right: .constant(value, operand.type), isCondition: true)
        }
        if operand.codec == .dateTimeOffset, let instant = ColumnCodec.instant(value) {
            let first = InstantKey.encode(seconds: instant.seconds, picoseconds: instant.picoseconds)
            return """
                (\(operand.sql) >= \(bind: ColumnCodec.blob(first)) \
                AND \(operand.sql) <= \(bind: ColumnCodec.blob(first + [0xFF, 0xFF])))
                """
        }
        switch ComparisonForm.of(value, in: operand.codec) {
        case .exact(let stored):
            return "\(operand.sortable) = \(bound(stored, value, type: operand.type, codec: operand.codec))"
        case .above, .belowAll, .aboveAll: return "0"
        case .none:
            return try compare(.equal, left: operand, right: .constant(value, operand.type), isCondition: true)
        }
    }
}
