import GRDB
import ODataModel
import ODataQuery
import ODataService

/// Where a path leads.
enum PathTarget {
    /// A value.
    case scalar(Operand)
    /// A complex value in columns: its shape, its columns, its presence column.
    case complex(Shape, [PropertyStorage], presence: SQLFragment, SQLScope)
    /// An entity: the row itself, or one joined; with the shape it is seen as and the condition of a cast.
    case entity(SQLScope, Shape, condition: SQLFragment?)
    /// A collection of entities, told by the scope it starts from.
    case entities(SQLScope, TableStorage, NavigationProperty)
}

extension ExpressionCompiler {
    /// The value at the end of a path.
    func scalar(_ path: BoundPath) throws -> Operand {
        switch try resolve(path) {
        case .scalar(let operand): return operand
        case .complex(let shape, _, _, _): throw Self.unsupported("the complex value \(shape.name) in an expression")
        case .entity(_, let shape, _): throw Self.unsupported("the entity \(shape.name) in an expression")
        case .entities(_, _, let navigation):
            throw Self.unsupported("the collection \(navigation.name) in an expression")
        }
    }

    /// Follows a path.
    func resolve(_ path: BoundPath) throws -> PathTarget {
        guard let scope = scopes[path.variable.identifier] else {
            throw Self.unsupported("the variable \(path.variable.name) here")
        }
        switch scope.source {
        case .json(let value, let type): return try resolveMember(path, value, type, scope)
        case .derived: return .scalar(try computed(path, scope))
        case .table(let table):
            // What an earlier groupby or compute named by a path is a column of its own.
            if let operand = scope.computed[Self.name(of: path.steps)] { return .scalar(operand) }
            return try resolve(path, from: scope, table)
        }
    }

    /// The names of a path's steps joined by slashes: how grouped values are found again.
    static func name(of steps: some Sequence<BoundStep>) -> String {
        steps.compactMap { step -> String? in
            switch step {
            case .property(let property, _, _): property.name
            case .navigation(let navigation, _, _): navigation.name
            case .cast, .filter: nil
            case .dynamic(let name), .computed(let name, _): name
            case .entitySet(let set, _): "$root/\(set.name)"
            case .singleton(let singleton, _): "$root/\(singleton.name)"
            case .key: "()"
            case .annotation(let term): "@\(term)"
            }
        }.joined(separator: "/")
    }

    private func computed(_ path: BoundPath, _ scope: SQLScope) throws -> Operand {
        let name = Self.name(of: path.steps)
        guard let operand = scope.computed[name] else { throw Self.unsupported("\(name) after aggregation") }
        return operand
    }

    private func resolve(_ path: BoundPath, from start: SQLScope, _ table: TableStorage) throws -> PathTarget {
        var target = PathTarget.entity(start, path.variable.shape ?? table.shape, condition: nil)
        for step in path.steps {
            switch (step, target) {
            case (.computed(let name, _), _):
                guard let operand = start.computed[name] else { throw Self.unsupported(name) }
                target = .scalar(operand)
            case (.property(let property, let ordinal, let shape), .entity(let scope, _, let condition)):
                guard let table = scope.table else { throw Self.unsupported(property.name) }
                let storages = table.properties(of: shape)
                guard ordinal < storages.count else { throw Self.unsupported(property.name) }
                target = try follow(property, storages[ordinal], scope, condition)
            case (.property(let property, let ordinal, _), .complex(_, let storages, _, let scope)):
                guard ordinal < storages.count else { throw Self.unsupported(property.name) }
                target = try follow(property, storages[ordinal], scope, nil)
            case (.navigation(let navigation, _, _), .entity(let scope, _, _)):
                guard let table = scope.table else { throw Self.unsupported(navigation.name) }
                target =
                    navigation.isCollection
                    ? .entities(scope, table, navigation)
                    : .entity(try join(navigation, from: scope, table), try shape(of: navigation), condition: nil)
            case (.cast(let shape), .entity(let scope, let current, _)):
                guard let table = scope.table else { throw Self.unsupported("a cast to \(shape.name)") }
                let isDerived = !mapping.model.isType(current.name, shape.name)
                target = .entity(
                    scope, shape, condition: isDerived ? try typeCondition(scope, table, shape.name) : nil)
            case (.dynamic(let name), .entity(let scope, _, _)):
                guard let table = scope.table, let column = table.dynamicProperties else {
                    throw Self.unsupported("the dynamic property \(name)")
                }
                target = .scalar(dynamic(name, in: "\(column: column, of: scope.alias)"))
            default:
                throw Self.unsupported("the path \(Self.name(of: path.steps))")
            }
        }
        return target
    }

    private func follow(
        _ property: Property, _ storage: PropertyStorage, _ scope: SQLScope, _ condition: SQLFragment?
    ) throws -> PathTarget {
        switch storage {
        case .column(let column):
            var operand = scope.column(column, isNullable: property.isNullable || scope.owner !== scope)
            if let condition {
                operand.sql = "CASE WHEN \(condition) THEN \(operand.sql) END"
                operand.isNullable = true
            }
            return .scalar(operand)
        case .complex(let shape, let storages, let presence):
            return .complex(shape, storages, presence: "\(column: presence, of: scope.alias)", scope)
        case .absent: throw Self.unsupported("the property \(property.name)")
        }
    }

    private func shape(of navigation: NavigationProperty) throws -> Shape {
        guard let shape = mapping.model.shape(navigation.target) else {
            throw Self.unsupported("the type \(navigation.target)")
        }
        return shape
    }

    private func dynamic(_ name: String, in json: SQLFragment) -> Operand {
        let path = SQLFragment.jsonPath([name]).databaseValue
        return Operand(
            sql: "json_extract(\(json), \(bind: path))", type: .untyped("Edm.Untyped"), codec: .json,
            place: name, isDynamic: true)
    }

    // MARK: Navigation

    /// How a navigation property is stored, and the table it leads to.
    func navigation(_ navigation: NavigationProperty, of table: TableStorage) throws -> (
        NavigationStorage, TableStorage
    ) {
        guard let storage = table.navigation[navigation.name], let target = mapping.tables[storage.target] else {
            throw Self.unsupported("the navigation property \(navigation.name)")
        }
        return (storage, target)
    }

    /// Joins the single entity that a navigation property leads to.
    func join(_ property: NavigationProperty, from scope: SQLScope, _ table: TableStorage) throws -> SQLScope {
        try scope.join(property.name) {
            let (storage, target) = try navigation(property, of: table)
            let alias = newAlias()
            let joined = SQLScope(
                alias: alias, source: .table(target), from: "\(name: target.table) AS \(name: alias)",
                root: scope.owner)
            var conditions: [SQLFragment] = []
            switch storage {
            case .join(_, let pairs):
                let keys = Set(target.keyColumns.map(\.name))
                if !keys.isEmpty, keys.isSubset(of: Set(pairs.map(\.target))) {
                    conditions = joinConditions(pairs, source: scope.alias, target: alias)
                } else {
                    // Without a key among the columns several rows may match; one row of them is enough.
                    let rowID = try requireRowID(target, property)
                    let inner = newAlias()
                    conditions = [
                        """
                        \(column: rowID, of: alias) = (SELECT \(column: rowID, of: inner) FROM \(name: target.table) \
                        AS \(name: inner) WHERE \(.conjunction(joinConditions(
                            pairs, source: scope.alias, target: inner))) LIMIT 1)
                        """
                    ]
                }
            case .link(_, let link, let source, let targetColumn):
                let rowID = try requireRowID(target, property)
                let own = try requireRowID(table, property)
                let inner = newAlias()
                conditions = [
                    """
                    \(column: rowID, of: alias) = (SELECT \(column: targetColumn, of: inner) FROM \(name: link) \
                    AS \(name: inner) WHERE \(column: source, of: inner) = \(column: own, of: scope.alias) LIMIT 1)
                    """
                ]
            }
            if let visible = try visibility(of: target, alias: alias) { conditions.append(visible) }
            return (
                joined,
                "LEFT JOIN \(name: target.table) AS \(name: alias) ON \(.conjunction(conditions))"
            )
        }
    }

    /// The columns that are equal where rows are related, pair by pair.
    func joinConditions(
        _ pairs: [NavigationStorage.ColumnPair], source: String, target: String
    ) -> [SQLFragment] {
        pairs.map { "\(column: $0.target, of: target) = \(column: $0.source, of: source)" }
    }

    func requireRowID(_ table: TableStorage, _ property: NavigationProperty) throws -> String {
        guard let rowID = table.rowID else {
            throw Self.unsupported("the navigation property \(property.name) through a table without row ids")
        }
        return rowID
    }

    /// The condition that hides rows whose owner is still downloading and those that do not exist for the caller;
    /// `nil` where nothing can be hidden.
    func visibility(of table: TableStorage, alias: String) throws -> SQLFragment? {
        if let authorization = try authorization(of: table, alias: alias) { return authorization }
        guard options.hasHiddenOwners, let visibility = table.visibility else { return nil }
        let owner: SQLFragment = "\(column: visibility.ownerColumn, of: alias)"
        return "\(owner) IS NULL OR \(owner) NOT IN (SELECT \"id\" FROM \(name: visibility.hiddenTable))"
    }
}

extension SQLFragment {
    /// The JSON path of nested member names, to be bound.
    static func jsonPath(_ names: [String]) -> String {
        names.reduce(into: "$") { path, name in
            path += ".\"\(name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
        }
    }
}
