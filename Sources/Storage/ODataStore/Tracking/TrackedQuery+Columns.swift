import ODataModel
import ODataQuery
import ODataSQL

/// The columns that affect a tracked result. The projection may limit the reported rows to those with changes
/// in the selected properties (OData Protocol 4.01, 11.3.1).
extension TrackedQuery {
    /// Returns the columns of a query's own rows in its projection and conditions; `nil` if a change of any
    /// column is reported.
    ///
    /// If an ETag changes with every change, all changes are reported. A client without the current ETag would
    /// have its next change refused.
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

    /// Returns the columns of a table in an expression, without those of other tables; `nil` if they cannot be
    /// determined.
    private static func columns(_ expression: BoundExpression, of table: TableStorage) -> Set<String>? {
        var columns: Set<String> = []
        for child in expression.children {
            let used: Set<String>?
            switch child {
            case .expression(let inner), .condition(let inner, _): used = Self.columns(inner, of: table)
            case .path(let path): used = Self.columns(path, of: table)
            case .step, .aggregate, .hierarchy, .transformation, .expand, .query, .selection: used = nil
            }
            guard let used else { return nil }
            columns.formUnion(used)
        }
        return columns
    }

    private static func columns(_ path: BoundPath, of table: TableStorage) -> Set<String>? {
        // A reference to the row itself, such as a type test, depends on all columns.
        if path.steps.isEmpty { return nil }
        var columns: Set<String> = []
        for step in path.steps {
            switch step {
            // A property of the table's type is assumed to belong to its rows, even if the path starts at another
            // entity.
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
    /// The names of all columns.
    fileprivate var columns: [String] {
        switch self {
        case .column(let column): [column.name]
        case .complex(_, let nested, let presence): [presence] + nested.flatMap(\.columns)
        case .absent: []
        }
    }
}
