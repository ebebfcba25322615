import GRDB
import ODataModel
import ODataQuery
import ODataService

/// The target of a path.
enum PathTarget {
    /// A primitive value.
    case scalar(Operand)
    /// A complex value in columns: its shape, its columns, and its presence column.
    case complex(TypeShape, [PropertyStorage], presence: SQLFragment, SQLScope)
    /// An entity of the row itself or of a joined row, with its declared shape and the condition of a cast.
    case entity(SQLScope, TypeShape, condition: SQLFragment?)
    /// A collection of entities.
    case collection(SQLCollection)
}

extension ExpressionCompiler {
    /// Returns the value at the end of a path.
    func scalar(_ path: BoundPath) throws -> Operand {
        // Most paths consist of one property of a row.
        if path.steps.count == 1, path.variable.identifier >= 0,
            case .property(let property, let ordinal, let shape) = path.steps[0],
            let scope = scopes[path.variable.identifier], let column = scope.plainColumn(ordinal, of: shape)
        {
            noteRead(column, of: shape, in: scope)
            return scope.column(column, isNullable: scope.holdsNull(column, isNullable: property.isNullable))
        }
        switch try resolve(path) {
        case .scalar(let operand): return operand
        case .complex(let shape, _, _, _): throw Self.unsupported("the complex value \(shape.name) in an expression")
        case .entity(_, let shape, _): throw Self.unsupported("the entity \(shape.name) in an expression")
        case .collection: throw Self.unsupported("the collection \(Self.name(of: path.steps)) in an expression")
        }
    }

    /// Follows a path.
    func resolve(_ path: BoundPath) throws -> PathTarget {
        switch path.steps.first {
        case .entitySet(let set, let shape)?: return try resolveRoot(path, set.name, shape: shape, isSingle: false)
        case .singleton(let singleton, let shape)?:
            return try resolveRoot(path, singleton.name, shape: shape, isSingle: true)
        default: break
        }
        let variable = path.variable.identifier
        // Rows beside the current rows are attached to them.
        let carried = variable < 0 ? scopes[0]?.attachment(SQLScope.hiddenName(variable)) : nil
        guard let scope = carried ?? scopes[variable] else {
            throw Self.unsupported("the variable \(path.variable.name) here")
        }
        switch scope.source {
        case .json(let value, let type): return try resolveMember(path, value, type: type, scope: scope)
        case .derived:
            if case .navigation(let navigation, _, _)? = path.steps.first,
                let joined = scope.attachment(navigation.name), let table = joined.table
            {
                var rest = path
                rest.steps.removeFirst()
                return try resolve(rest.steps[...], path, from: .entity(joined, table.shape, condition: nil))
            }
            return .scalar(try computed(path, scope))
        case .table(let table):
            // A path that an earlier `groupby` or `compute` has named is a column.
            if !scope.computed.isEmpty, let operand = scope.computed[Self.name(of: path.steps)] {
                return .scalar(operand)
            }
            return try resolve(
                path.steps[...], path, from: .entity(scope, path.variable.shape ?? table.shape, condition: nil))
        }
    }

    /// Follows a path from `$root`. A property of a single entity becomes a subquery.
    private func resolveRoot(
        _ path: BoundPath, _ set: String, shape: TypeShape, isSingle: Bool
    ) throws -> PathTarget {
        guard let table = mapping.tables[set] else { throw Self.unsupported("the entity set \(set)") }
        let alias = newAlias()
        let scope = SQLScope(alias: alias, source: .table(table), from: "\(name: table.table) AS \(name: alias)")
        let visible = try visibility(of: table, alias: alias).map { [$0] } ?? []
        try requireLoaded(table)
        let all = SQLCollection(
            tables: [scope.from], scope: scope, conditions: visible, shape: shape, isSingle: isSingle)
        return try resolve(path.steps.dropFirst(), path, from: .collection(all))
    }

    /// Returns the names of a path's steps, separated by slashes, under which grouped values are found.
    static func name(of steps: some Sequence<BoundStep>) -> String {
        steps.compactMap { step -> String? in
            switch step {
            case .property(let property, _, _): property.name
            case .navigation(let navigation, _, _): navigation.name
            case .cast: nil
            case .dynamic(let name), .computed(let name, _): name
            case .entitySet(let set, _): "$root/\(set.name)"
            case .singleton(let singleton, _): "$root/\(singleton.name)"
            case .key(let key): "(\(key.parts.map { $0.value.lexicalText ?? "…" }.joined(separator: ",")))"
            case .filter: "$filter(…)"
            case .annotation(let term): "@\(term)"
            }
        }.joined(separator: "/")
    }

    private func computed(_ path: BoundPath, _ scope: SQLScope) throws -> Operand {
        let name = Self.name(of: path.steps)
        guard let operand = scope.computed[name] else { throw Self.unsupported("\(name) after aggregation") }
        return operand
    }

    private func resolve(
        _ steps: ArraySlice<BoundStep>, _ path: BoundPath, from start: PathTarget
    ) throws -> PathTarget {
        var target = start
        // The single entity of a subquery to which later steps refer.
        var outer: SQLCollection?
        for step in steps {
            if case .collection(let collection) = target {
                if collection.isSingle, !Self.isKeyOrFilter(step) {
                    guard let table = collection.scope.table else { throw Self.unsupported("a path here") }
                    if outer != nil { throw Self.unsupported("the path \(Self.name(of: path.steps))") }
                    outer = collection
                    target = .entity(collection.scope, collection.shape ?? table.shape, condition: nil)
                } else {
                    target = .collection(try extended(collection, by: step, path))
                    continue
                }
            }
            switch (step, target) {
            case (.computed(let name, _), .entity(let scope, _, _)):
                guard let operand = scope.computed[name] else { throw Self.unsupported(name) }
                target = .scalar(operand)
            case (.property(let property, let ordinal, let shape), .entity(let scope, let current, let condition)):
                if !scope.computed.isEmpty, let operand = scope.computed[property.name] {
                    target = .scalar(operand)
                    continue
                }
                guard let table = scope.table,
                    let storage = table.storage(of: property, ordinal, shape: shape, model: mapping.model)
                else { throw Self.unsupported(property.name) }
                noteRead([storage], of: current, in: scope)
                target = try follow(property, storage, scope: scope, condition: condition)
            case (.property(let property, let ordinal, _), .complex(_, let storages, _, let scope)):
                guard ordinal < storages.count else { throw Self.unsupported(property.name) }
                target = try follow(property, storages[ordinal], scope: scope, condition: nil, isWithinComplex: true)
            case (.property, .scalar(let operand)) where operand.codec == .json,
                (.dynamic, .scalar(let operand)) where operand.codec == .json:
                target = .scalar(try within(operand, step, path: path))
            case (.navigation(let navigation, _, _), .entity(let scope, _, _)):
                if let joined = scope.attachment(navigation.name), let table = joined.table {
                    target = .entity(joined, table.shape, condition: nil)
                    continue
                }
                guard let table = scope.table else { throw Self.unsupported(navigation.name) }
                target =
                    navigation.isCollection
                    ? .collection(try related(navigation, [], outer: scope, table: table))
                    : .entity(
                        try join(navigation, [], from: scope, table: table), try shape(of: navigation), condition: nil)
            case (.navigation(let navigation, _, _), .complex(_, _, _, let scope)):
                // The layout names navigation properties of complex properties by the whole path.
                guard let table = scope.table else { throw Self.unsupported(navigation.name) }
                let before = Self.complexSteps(before: navigation, in: steps)
                target =
                    navigation.isCollection
                    ? .collection(try related(navigation, before, outer: scope, table: table))
                    : .entity(
                        try join(navigation, before, from: scope, table: table), try shape(of: navigation),
                        condition: nil)
            case (.cast(let shape), .complex(let current, _, _, _)) where mapping.model.isType(current.name, shape.name):
                continue
            case (.cast(let shape), .entity(let scope, let current, _)):
                guard let table = scope.table else { throw Self.unsupported("a cast to \(shape.name)") }
                let isDerived = !mapping.model.isType(current.name, shape.name)
                target = .entity(
                    scope, shape, condition: isDerived ? try typeCondition(scope, table, name: shape.name) : nil)
            case (.dynamic(let name), .entity(let scope, _, let condition)):
                guard let table = scope.table, let column = table.dynamicProperties else {
                    throw Self.unsupported("the dynamic property \(name)")
                }
                let document = scope.sql(column)
                let found = DynamicValue.member(
                    of: condition.map { "CASE WHEN \($0) THEN \(document) END" } ?? document, path: [name])
                target = .scalar(try member(found.value, .untyped("Edm.Untyped"), place: name, dynamic: found))
            default:
                throw Self.unsupported("the path \(Self.name(of: path.steps))")
            }
        }
        guard let outer else { return target }
        switch target {
        case .scalar(let operand):
            var selected = operand.moved(to: "(SELECT \(operand.sql) \(outer.rows()) LIMIT 1)")
            selected.isNullable = true
            return .scalar(selected)
        case .collection(var collection):
            collection.tables = outer.tables + collection.tables
            collection.passed = outer.passed + [outer.scope] + collection.passed
            collection.conditions = outer.conditions + collection.conditions
            return .collection(collection)
        default: throw Self.unsupported("the path \(Self.name(of: path.steps))")
        }
    }

    /// Returns the complex properties directly before a navigation property.
    private static func complexSteps(before navigation: NavigationProperty, in steps: ArraySlice<BoundStep>)
        -> [BoundStep]
    {
        var result: [BoundStep] = []
        for step in steps {
            switch step {
            case .property: result.append(step)
            case .navigation(let found, _, _) where found == navigation: return result
            case .navigation: result = []
            default: continue
            }
        }
        return result
    }

    private static func isKeyOrFilter(_ step: BoundStep) -> Bool {
        switch step {
        case .key, .filter: true
        default: false
        }
    }

    /// Returns a member of a JSON object for the next step of a path.
    private func within(_ operand: Operand, _ step: BoundStep, path: BoundPath) throws -> Operand {
        let name: String
        let type: TypeReference
        switch step {
        case .property(let property, _, _): (name, type) = (property.name, property.type)
        case .dynamic(let text): (name, type) = (text, .untyped("Edm.Untyped"))
        default: throw Self.unsupported("the path \(Self.name(of: path.steps))")
        }
        let found = operand.dynamic?.member(name) ?? .member(of: operand.sql, path: [name])
        return try member(found.value, type, place: name, dynamic: found)
    }

    // MARK: Collections of entities

    /// Returns the entities of a collection-valued navigation property.
    func related(
        _ property: NavigationProperty, _ path: [BoundStep], outer: SQLScope, table: TableStorage
    ) throws -> SQLCollection {
        let (storage, target) = try navigation(property, path, of: table)
        try requireLoaded(property, path, from: outer, table: table)
        let alias = newAlias()
        let scope = SQLScope(
            alias: alias, source: .table(target), from: "\(name: target.table) AS \(name: alias)")
        var conditions: [SQLFragment]
        switch storage {
        case .join(_, let pairs):
            noteJoin(pairs, from: outer, to: scope)
            conditions = joinConditions(pairs, source: outer, target: alias)
        case .link(_, let link, let source, let targetColumn):
            let rowID = try requireRowID(target, property)
            let own = try requireRowID(table, property)
            let inner = newAlias()
            conditions = [
                """
                \(column: rowID, of: alias) IN (SELECT \(column: targetColumn, of: inner) FROM \(name: link) AS \
                \(name: inner) WHERE \(column: source, of: inner) = \(outer.sql(own)))
                """
            ]
        }
        if let visible = try visibility(of: target, alias: alias) { conditions.append(visible) }
        return SQLCollection(
            tables: [scope.from], scope: scope, conditions: conditions, shape: try shape(of: property))
    }

    /// Returns a collection after the next step of its path.
    private func extended(_ collection: SQLCollection, by step: BoundStep, _ path: BoundPath) throws -> SQLCollection {
        guard let table = collection.scope.table else {
            throw Self.unsupported("the path \(Self.name(of: path.steps))")
        }
        var result = collection
        switch step {
        case .cast(let shape):
            result.shape = shape
            if !mapping.model.isType((collection.shape ?? table.shape).name, shape.name) {
                result.conditions.append(try typeCondition(collection.scope, table, name: shape.name))
            }
        case .filter(let condition, let variable):
            scopes[variable.identifier] = collection.scope
            result.conditions.append(try self.condition(condition))
        case .key(let key):
            result.conditions += try keyConditions(key, table, scope: collection.scope)
            result.isSingle = true
        case .navigation(let navigation, _, _):
            let next = try related(navigation, [], outer: collection.scope, table: table)
            result.tables += next.tables
            result.conditions += next.conditions
            result.passed.append(collection.scope)
            result.scope = next.scope
            result.shape = next.shape
        case .property(let property, let ordinal, let shape):
            let declared = table.storage(of: property, ordinal, shape: shape, model: mapping.model)
            noteRead([declared].compactMap { $0 }, of: collection.shape ?? table.shape, in: collection.scope)
            guard let storage = declared,
                case .scalar(let operand) = try follow(property, storage, scope: collection.scope, condition: nil),
                operand.codec == .json, operand.type.isCollection
            else { throw Self.unsupported("the path \(Self.name(of: path.steps))") }
            let alias = newAlias()
            let scope = SQLScope(
                alias: alias, source: .json("\(column: "value", of: alias)", operand.type.element),
                from: "json_each(\(operand.sql)) AS \(name: alias)")
            result.tables.append(scope.from)
            result.passed.append(collection.scope)
            result.scope = scope
            result.shape = nil
        default: throw Self.unsupported("the path \(Self.name(of: path.steps))")
        }
        return result
    }

    /// Returns the members of the collection at the end of a path.
    func collection(_ path: BoundPath) throws -> SQLCollection {
        switch try resolve(path) {
        case .collection(let collection): return collection
        case .scalar(let operand) where operand.codec == .json:
            let alias = newAlias()
            let type = operand.type.isCollection ? operand.type.element : .untyped("Edm.Untyped")
            let scope = SQLScope(
                alias: alias, source: .json("\(column: "value", of: alias)", type),
                from: "json_each(\(operand.sql)) AS \(name: alias)")
            return SQLCollection(tables: [scope.from], scope: scope, conditions: [], shape: nil)
        default: throw Self.unsupported("\(Self.name(of: path.steps)) as a collection")
        }
    }

    /// Returns the operand for a name or a path of names in a row; `nil` if there is none.
    func operand(named name: String, in scope: SQLScope) throws -> Operand? {
        guard let table = scope.table else { return nil }
        var steps: [BoundStep] = []
        var shape = table.shape
        for part in name.split(separator: "/").map(String.init) {
            if let ordinal = shape.ordinal(of: part) {
                steps.append(.property(shape.properties[ordinal], ordinal: ordinal, of: shape))
                if case .complex(let type?) = shape.properties[ordinal].type, let inner = mapping.model.shape(type) {
                    shape = inner
                }
            } else if let navigation = shape.navigationProperty(part), !navigation.isCollection,
                let target = mapping.model.shape(navigation.target)
            {
                steps.append(.navigation(navigation, of: shape, set: nil))
                shape = target
            } else {
                return nil
            }
        }
        let variable = RangeVariable(name: "$it", identifier: 0, shape: table.shape, type: .entity(table.shape.name))
        let path = BoundPath(variable: variable, steps: steps, type: .untyped(""))
        guard
            case .scalar(let operand) = try resolve(
                steps[...], path, from: .entity(scope, table.shape, condition: nil))
        else { return nil }
        return operand
    }

    /// Returns the target of a property.
    ///
    /// - Parameter isWithinComplex: whether the property belongs to a complex value. If the complex value is null,
    ///   all its columns are NULL, even those of properties that are not nullable.
    private func follow(
        _ property: Property, _ storage: PropertyStorage, scope: SQLScope, condition: SQLFragment?,
        isWithinComplex: Bool = false
    ) throws -> PathTarget {
        switch storage {
        case .column(let column):
            var operand = scope.column(
                column, isNullable: isWithinComplex || scope.holdsNull(column, isNullable: property.isNullable))
            if let condition {
                operand.sql = "CASE WHEN \(condition) THEN \(operand.sql) END"
                operand.anyTextColumn = nil
                operand.isNullable = true
            }
            return .scalar(operand)
        case .complex(let shape, let storages, let presence):
            return .complex(shape, storages, presence: "\(scope.sql(presence))", scope)
        case .absent: throw Self.unsupported("the property \(property.name)")
        }
    }

    private func shape(of navigation: NavigationProperty) throws -> TypeShape {
        guard let shape = mapping.model.shape(navigation.target) else {
            throw Self.unsupported("the type \(navigation.target)")
        }
        return shape
    }

    // MARK: Navigation

    /// Returns the storage of a navigation property and the table of its target.
    ///
    /// - Parameter path: the preceding complex properties and casts.
    func navigation(
        _ navigation: NavigationProperty, _ path: [BoundStep] = [], of table: TableStorage
    ) throws -> (NavigationStorage, TableStorage) {
        guard let storage = table.navigation[Self.name(of: path + [.dynamic(navigation.name)])],
            let target = mapping.tables[storage.target]
        else {
            throw Self.unsupported("the navigation property \(navigation.name)")
        }
        return (storage, target)
    }

    /// Joins the single entity of a navigation property.
    func join(
        _ property: NavigationProperty, _ path: [BoundStep], from scope: SQLScope, table: TableStorage
    ) throws -> SQLScope {
        try scope.join(Self.name(of: path + [.dynamic(property.name)])) {
            let (storage, target) = try navigation(property, path, of: table)
            try requireLoaded(property, path, from: scope, table: table)
            let alias = newAlias()
            let joined = SQLScope(
                alias: alias, source: .table(target), from: "\(name: target.table) AS \(name: alias)",
                root: scope.owner)
            var conditions: [SQLFragment] = []
            switch storage {
            case .join(_, let pairs):
                noteJoin(pairs, from: scope, to: joined)
                let keys = Set(target.keyColumns.map(\.name))
                if !keys.isEmpty, keys.isSubset(of: Set(pairs.map(\.target))) {
                    conditions = joinConditions(pairs, source: scope, target: alias)
                } else {
                    // If the columns do not include a key, several rows may match, and one of them is sufficient.
                    let rowID = try requireRowID(target, property)
                    let inner = newAlias()
                    conditions = [
                        """
                        \(column: rowID, of: alias) = (SELECT \(column: rowID, of: inner) FROM \(name: target.table) \
                        AS \(name: inner) WHERE \(.conjunction(joinConditions(
                            pairs, source: scope, target: inner))) LIMIT 1)
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
                    AS \(name: inner) WHERE \(column: source, of: inner) = \(scope.sql(own)) LIMIT 1)
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

    /// Returns the conditions that pairs of columns of related rows are equal.
    func joinConditions(
        _ pairs: [NavigationStorage.ColumnPair], source: SQLScope, target: String
    ) -> [SQLFragment] {
        pairs.map { pair in
            .areEqual(
                "\(column: pair.target, of: target)", .related(source.sql(pair.source), pair.comparison),
                comparison: pair.comparison)
        }
    }

    func requireRowID(_ table: TableStorage, _ property: NavigationProperty) throws -> String {
        guard let rowID = table.rowID else {
            throw Self.unsupported("the navigation property \(property.name) through a table without row ids")
        }
        return rowID
    }

    /// Returns the condition that hides rows of unfinished downloads and rows that the caller may not see; `nil` if
    /// no rows are hidden.
    func visibility(of table: TableStorage, alias: String) throws -> SQLFragment? {
        let authorization = try authorization(of: table, alias: alias)
        guard options.hasHiddenOwners, let visibility = table.visibility else { return authorization }
        let owner: SQLFragment = "\(column: visibility.ownerColumn, of: alias)"
        let loaded: SQLFragment =
            "\(owner) IS NULL OR \(owner) NOT IN (SELECT \"id\" FROM \(name: visibility.hiddenTable))"
        return authorization.map { .conjunction([$0, loaded]) } ?? loaded
    }
}

extension SQLFragment {
    /// Returns the JSON path of nested member names, which must be bound as an argument.
    static func jsonPath(_ names: [String]) -> String {
        let backslash = UInt8(ascii: "\\")
        return names.reduce(into: "$") { path, name in
            path += ".\"\(name.escaping([backslash, UInt8(ascii: "\"")], with: backslash))\""
        }
    }
}
