import ODataModel
import ODataQuery
import ODataSQL

/// What a change must have touched for the result to look otherwise (OData Protocol 4.01, 11.3.1: the projection may
/// limit what is reported to the rows that have changed within the selected fields).
extension TrackedQuery {
    /// The columns that a query shows of its own rows or that its conditions look at; `nil` when any change counts.
    ///
    /// An ETag that grows with every change is shown too: a client that was not told of it would have its next change
    /// refused. Such rows are always reported.
    static func shownColumns(
        _ query: BoundQuery, _ conditions: [BoundExpression], of set: String, core: ServiceCore
    ) -> Set<String>? {
        guard let table = core.mapping.tables[set], query.shape == table.shape,
            case .some(let ordinals, let names) = query.projection,
            Set(names).isSubset(of: query.compute.map(\.name)), query.nestedQueries.isEmpty,
            !query.expand.contains(where: \.refersToOutermost)
        else { return nil }
        var columns = Set(table.keyColumns.map(\.name) + [table.discriminator].compactMap { $0 })
        switch core.etags[set] ?? .none {
        case .none: break
        case .counter, .sequence: return nil
        case .values(let paths):
            for path in paths {
                guard let name = path.split(separator: "/").first, let ordinal = table.shape.ordinal(of: String(name))
                else { return nil }
                columns.formUnion(table.properties[ordinal].columns)
            }
        }
        for ordinal in ordinals where ordinal < table.properties.count {
            columns.formUnion(table.properties[ordinal].columns)
        }
        let expressions = conditions + [query.filter].compactMap { $0 } + query.compute.map(\.expression)
        for expression in expressions {
            guard let used = Self.columns(expression, of: table) else { return nil }
            columns.formUnion(used)
        }
        return columns
    }

    /// The columns of a table that an expression looks at, those of other tables left out; `nil` when that is not
    /// told by its paths.
    private static func columns(_ expression: BoundExpression, of table: TableStorage) -> Set<String>? {
        var columns: Set<String> = []
        for child in expression.children {
            let used: Set<String>?
            switch child {
            case .expression(let inner), .condition(let inner, _): used = Self.columns(inner, of: table)
            case .path(let path): used = Self.columns(path, of: table)
            case .step, .aggregate, .hierarchy, .transformation, .expand, .query: used = nil
            }
            guard let used else { return nil }
            columns.formUnion(used)
        }
        return columns
    }

    private static func columns(_ path: BoundPath, of table: TableStorage) -> Set<String>? {
        // The row itself, as in a test of its type, is all of it.
        if path.steps.isEmpty { return nil }
        var columns: Set<String> = []
        for step in path.steps {
            switch step {
            // Wherever the path starts: a property of the table's type is taken for one of its rows'.
            case .property(let property, let ordinal, let shape):
                guard shape == table.shape else { continue }
                guard ordinal < table.properties.count, shape.properties[ordinal] == property else { return nil }
                columns.formUnion(table.properties[ordinal].columns)
            case .navigation, .computed: continue
            case .cast, .dynamic, .entitySet, .singleton, .key, .filter, .annotation: return nil
            }
        }
        return columns
    }
}

extension PropertyStorage {
    /// The names of all its columns.
    fileprivate var columns: [String] {
        switch self {
        case .column(let column): [column.name]
        case .complex(_, let nested, let presence): [presence] + nested.flatMap(\.columns)
        case .absent: []
        }
    }
}
