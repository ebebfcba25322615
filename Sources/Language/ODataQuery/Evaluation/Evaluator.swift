import ODataModel

/// An evaluator of bound queries over rows in memory.
///
/// It is small and direct, so that it can be compared with the standard. Caches use it, and the results of the SQL
/// compiler are tested against it.
///
/// ```swift
/// let bound = try binder.bind(ODataURL(parsing: "Orders?$filter=Freight gt 50&$orderby=OrderDate"))
/// let page = try Evaluator(model: model, source: source, now: now).evaluate(bound)
/// for row in page.rows { print(row.properties) }
/// ```
///
/// - Comparisons are never null. Arithmetic and functions are null if an operand is. `and`, `or` and `not` follow
///   three-valued logic (OData URL Conventions 4.01, 5.1.1.1).
/// - Integers have 64 bits; decimals are exact with up to 38 digits (``DecimalArithmetic``). A result that does not
///   fit is an ``EvaluationError``.
/// - Division by zero is null, except for doubles, which give INF or NaN. The binder refuses a constant zero as a
///   divisor.
/// - Ascending order has null first and NaN last. Sorting is stable.
public struct Evaluator: Sendable {
    /// The model against which the queries are bound.
    public let model: EntityDataModel
    /// The source of the rows.
    public let source: any EvaluationSource
    /// The value of `now()`.
    public let now: ODataDateTimeOffset

    /// The maximum number of rows that `$crossjoin`, `join`, `concat` and `nest` may create.
    public static let maxJoinedRows = 1_000_000

    /// Creates an evaluator.
    public init(model: EntityDataModel, source: any EvaluationSource, now: ODataDateTimeOffset) {
        self.model = model
        self.source = source
        self.now = now
    }

    /// The environment of an expression: the instance or value of each range variable.
    struct Environment {
        var variables: [Int: Operand] = [:]
        /// The number of enclosing levels of `$expand`.
        var levels = 0
        /// The instances on the way to the current one in `$levels=max`, to stop at circles.
        var ancestors: Set<GroupKey> = []
        /// The hierarchies, shared by all environments of one evaluation.
        let known = KnownHierarchies()

        /// Returns an environment with a row as the current instance.
        func with(_ row: EvaluatedRow, as variable: Int = 0) -> Environment { with(.row(row), as: variable) }

        func with(_ operand: Operand, as variable: Int) -> Environment {
            var environment = self
            environment.variables[variable] = operand
            return environment
        }
    }

    /// The result of a path or an expression.
    enum Operand {
        case value(ODataValue)
        case row(EvaluatedRow?)
        case rows([EvaluatedRow])

        /// Whether the operand is null or no instance.
        var isNull: Bool {
            switch self {
            case .value(let value): value.isNull
            case .row(let row): row == nil
            case .rows: false
            }
        }
    }

    // MARK: Queries

    /// Evaluates a request for a collection or an entity.
    ///
    /// - Returns: the rows that the resource path and the query options select; at most one for a single entity.
    /// - Throws: ``EvaluationError``, and the errors of the source.
    public func evaluate(_ url: BoundURL) throws -> EvaluatedPage {
        let rows = try rows(of: url.resource)
        guard let query = url.query else { return EvaluatedPage(rows: rows) }
        return try evaluate(query, over: rows)
    }

    /// Evaluates a query over rows (OData Protocol 4.01, 11.2.1).
    public func evaluate(_ query: BoundQuery, over rows: [any EvaluationRow]) throws -> EvaluatedPage {
        try evaluate(query, over: rows.map { EvaluatedRow($0) }, in: Environment())
    }

    /// Returns the value of an expression on a row; null for an expression that denotes an entity.
    public func evaluate(_ expression: BoundExpression, on row: any EvaluationRow) throws -> ODataValue {
        try value(expression, in: Environment().with(EvaluatedRow(row)))
    }

    /// Evaluates a query over values other than instances: `$filter` and `$orderby` of a primitive collection.
    public func evaluate(_ query: BoundQuery, overValues values: [ODataValue]) throws -> EvaluatedPage {
        var members = values
        let environment = Environment()
        if let filter = query.filter {
            members = try members.filter { try isTrue(filter, in: environment.with(.value($0), as: 0)) }
        }
        if let search = query.search {
            members = members.filter { TextSearch.matches(search, in: [$0.text ?? ""]) }
        }
        let count = query.count ? members.count : nil
        members = try sorted(members, by: query.orderBy) { environment.with(.value($0), as: 0) }
        members = Array(members.dropFirst(query.skip ?? 0).prefix(query.top ?? .max))
        return EvaluatedPage(rows: [], count: count, values: members)
    }

    func evaluate(
        _ query: BoundQuery, over rows: [EvaluatedRow], in outer: Environment
    ) throws -> EvaluatedPage {
        var rows = try apply(query.apply, to: rows, in: outer)
        rows = try rows.map { try computing(query.compute, on: $0, in: outer) }
        if let search = query.search { rows = rows.filter { matches(search, $0, shape: query.resultShape) } }
        let these = outer.with(.rows(rows), as: RangeVariable.these)
        if let filter = query.filter { rows = try rows.filter { try isTrue(filter, in: these.with($0)) } }
        let count = query.count ? rows.count : nil
        rows = try sorted(rows, by: query.orderBy) { these.with($0) }
        rows = Array(rows.dropFirst(query.skip ?? 0).prefix(query.top ?? .max))
        var nested = source.maxRows
        rows = try rows.map { row in
            var result = row
            result.properties = try selected(query, of: row)
            for item in query.expand {
                // A null complex value has no related instances.
                if case .property(let property, _, _)? = item.path.first, row.property(property.name)?.isNull ?? true {
                    guard !result.properties.contains(where: { $0.name == property.name }) else { continue }
                    result.properties.append(.init(name: property.name, value: .null))
                } else {
                    result.expanded[Self.path(of: item)] = try expanded(item, of: row, in: outer)
                }
            }
            for name in row.inline where Self.isSelected(name, by: query) && result.expanded[name] == nil {
                result.expanded[name] = EvaluatedPage(
                    rows: try (row.relations[name] ?? []).map { try whole($0, 1, room: &nested) })
            }
            return result
        }
        return EvaluatedPage(rows: rows, count: count)
    }

    func computing(
        _ items: [BoundCompute], on row: EvaluatedRow, in outer: Environment
    ) throws -> EvaluatedRow {
        var result = row
        for item in items { result.values[item.name] = try value(item.expression, in: outer.with(result)) }
        return result
    }

    func isTrue(_ condition: BoundExpression, in environment: Environment) throws -> Bool {
        try source.checkEvaluation()
        if case .boolean(true) = try value(condition, in: environment) { return true }
        return false
    }

    /// Returns members sorted by keys that are computed once for each member. Members with equal keys keep their
    /// order.
    func sorted<Member>(
        _ members: [Member], by keys: [BoundOrder], _ environment: (Member) -> Environment
    ) throws -> [Member] {
        guard !keys.isEmpty else { return members }
        let ranked = try members.enumerated().map { index, member in
            let environment = environment(member)
            return (index: index, member: member, keys: try keys.map { try value($0.expression, in: environment) })
        }
        return ranked.sorted { left, right in
            for (order, (a, b)) in zip(keys, zip(left.keys, right.keys)) {
                if ValueOrder.precedes(a, b) { return !order.isDescending }
                if ValueOrder.precedes(b, a) { return order.isDescending }
            }
            return left.index < right.index
        }.map(\.member)
    }

    // MARK: $search

    /// Returns whether an instance matches, by all strings of its properties, including nested ones.
    func matches(_ search: SearchExpression, _ row: EvaluatedRow, shape: TypeShape) -> Bool {
        let shape = model.shape(row.typeName) ?? shape
        let names = shape.properties.map(\.name) + row.values.keys.sorted()
        return TextSearch.matches(search, in: names.flatMap { Self.texts(row.property($0) ?? .null) })
    }

    private static func texts(_ value: ODataValue) -> [String] {
        switch value {
        case .string(let text): [text]
        case .collection(let members): members.flatMap(texts)
        case .complex(let entity):
            entity.values.flatMap { texts($0 ?? .null) } + entity.dynamicProperties.values.flatMap(texts)
        default: []
        }
    }

    // MARK: $expand and $select

    static func path(of item: BoundExpand) -> String {
        let names = item.path.compactMap { step -> String? in
            if case .property(let property, _, _) = step { property.name } else { nil }
        }
        return (names + [item.navigation.name]).joined(separator: "/")
    }

    private func expanded(
        _ item: BoundExpand, of row: EvaluatedRow, in outer: Environment
    ) throws -> EvaluatedPage {
        var query = item.query
        if item.levels != 1 {
            // The next level expands the same property; `max` ends if there are no related instances.
            var next = item
            next.levels = item.levels.map { $0 - 1 }
            query.expand.append(next)
            guard outer.levels < QueryLimits.maxDepth else { throw EvaluationError.limit("maxDepth") }
        }
        var inner = outer
        if inner.variables[RangeVariable.outermost] == nil { inner = inner.with(row, as: RangeVariable.outermost) }
        inner.levels += 1
        if item.levels == nil {
            var own = GroupKey()
            own.append(row)
            guard inner.ancestors.insert(own).inserted else { return EvaluatedPage(rows: [], form: item.form) }
        }
        var page = try evaluate(query, over: row.rows(through: Self.path(of: item)), in: inner)
        page.form = item.form
        if item.form == .count { page = EvaluatedPage(rows: [], count: page.rows.count, form: .count) }
        return page
    }

    private func selected(_ query: BoundQuery, of row: EvaluatedRow) throws -> [EvaluatedRow.PropertyValue] {
        let shape = query.resultShape
        var result: [EvaluatedRow.PropertyValue] = []
        func add(_ name: String, _ value: ODataValue?) {
            if let value, !result.contains(where: { $0.name == name }) {
                result.append(.init(name: name, value: value))
            }
        }
        switch query.projection {
        case .all:
            // A row that is still an entity has all properties of its own type, in addition to those of
            // transformations.
            let own = row.base.flatMap { model.shape($0.typeName) }
            for property in (own?.properties ?? []) + shape.properties where property.type.primitive != .stream {
                add(property.name, row.property(property.name))
            }
            for item in query.compute { add(item.name, row.values[item.name]) }
            if (own ?? shape).isOpen { for name in row.dynamicPropertyNames { add(name, row.property(name)) } }
        case .some(let ordinals, let names):
            for ordinal in ordinals where ordinal < shape.properties.count {
                let property = shape.properties[ordinal]
                var value = row.property(property.name)
                if let part = query.nestedProjections[ordinal] { value = value.map { Self.part(part, of: $0) } }
                if let nested = query.nestedQueries[ordinal], case .collection(let members)? = value {
                    value = .collection(try self.members(members, nested))
                }
                add(property.name, value)
            }
            for name in names {
                add(name, name.hasPrefix("@") ? row.annotation(String(name.dropFirst())) : row.property(name))
            }
        }
        return result
    }

    private static func isSelected(_ name: String, by query: BoundQuery) -> Bool {
        if case .some(_, let names) = query.projection { names.contains(name) } else { true }
    }

    /// Returns a row with all properties of its type and of transformations.
    ///
    /// - Parameters:
    ///   - depth: The number of rows around this one.
    ///   - room: The number of rows that the result may still have. A chain of `nest` multiplies them.
    private func whole(_ row: EvaluatedRow, _ depth: Int, room: inout Int) throws -> EvaluatedRow {
        room -= 1
        guard depth <= QueryLimits.maxDepth else { throw EvaluationError.limit("maxDepth") }
        guard room >= 0 else { throw EvaluationError.limit("maxJoinedRows") }
        var result = row
        let own = row.base.flatMap { model.shape($0.typeName) }
        var names = own?.properties.filter { $0.type.primitive != .stream }.map(\.name) ?? []
        if own?.isOpen == true { names += row.dynamicPropertyNames }
        let made = row.values.keys.sorted().filter { !names.contains($0) }
        result.properties = (names + made).compactMap { name in
            row.property(name).map { .init(name: name, value: $0) }
        }
        for name in row.inline {
            result.expanded[name] = EvaluatedPage(
                rows: try (row.relations[name] ?? []).map { try whole($0, depth + 1, room: &room) })
        }
        return result
    }

    /// Returns a complex value with its selected properties.
    private static func part(_ projection: BoundProjection, of value: ODataValue) -> ODataValue {
        guard case .some(let ordinals, _) = projection else { return value }
        switch value {
        case .collection(let members): return .collection(members.map { part(projection, of: $0) })
        case .complex(let entity):
            var result = ODataEntity(shape: entity.shape)
            for ordinal in ordinals where ordinal < entity.values.count {
                result.values[ordinal] = entity.values[ordinal]
            }
            return .complex(result)
        default: return value
        }
    }

    private func members(_ members: [ODataValue], _ query: BoundQuery) throws -> [ODataValue] {
        guard query.variable.shape != nil else { return try evaluate(query, overValues: members).values }
        let rows = members.compactMap { member -> EvaluatedRow? in
            if case .complex(let entity) = member { EvaluatedRow(entity) } else { nil }
        }
        return try evaluate(query, over: rows, in: Environment()).rows.compactMap { row in
            (row.base as? ODataEntity).map { .complex($0) }
        }
    }

    // MARK: Resources

    /// Returns the rows of a resource path.
    private func rows(of resource: BoundResource) throws -> [EvaluatedRow] {
        if case .crossJoin(let sets, let shape) = resource.target { return try crossJoin(sets, shape) }
        var rows: [EvaluatedRow] = []
        var prefix: [String] = []
        for step in resource.steps {
            switch step {
            case .entitySet(let set, _): rows = try source.rows(of: set.name).map { EvaluatedRow($0) }
            case .singleton(let singleton, _):
                rows = try source.singleton(singleton.name).map { [EvaluatedRow($0)] } ?? []
            case .key(let key): rows = rows.filter { Self.has(key, $0) }
            case .alternateKey(_, let condition, let variable), .filter(let condition, let variable):
                rows = try rows.filter {
                    try isTrue(condition, in: Environment().with($0, as: variable.identifier))
                }
            case .navigation(let navigation, _, _):
                let path = (prefix + [navigation.name]).joined(separator: "/")
                rows = try rows.flatMap { try $0.rows(through: path) }
                prefix = []
            case .property(let property, _, _): prefix.append(property.name)
            case .cast(let shape): rows = rows.filter { model.isType($0.typeName, shape.name) }
            case .each: break
            case .operation(let operation, _): throw EvaluationError.unsupported("The operation \(operation.name)")
            }
        }
        guard prefix.isEmpty else { throw EvaluationError.unsupported("A path that ends in a property") }
        return rows
    }

    static func has(_ key: EntityKey, _ row: EvaluatedRow) -> Bool {
        key.parts.allSatisfy { part in
            ValueOrder.isEqual(row.key?[part.name] ?? row.property(part.name) ?? .null, part.value)
        }
    }

    private func crossJoin(_ sets: [EntitySet], _ shape: TypeShape) throws -> [EvaluatedRow] {
        var rows = [EvaluatedRow(type: shape.name)]
        for set in sets {
            let members = try source.rows(of: set.name).map { EvaluatedRow($0) }
            guard rows.count * max(members.count, 1) <= Self.maxJoinedRows else {
                throw EvaluationError.limit("maxJoinedRows")
            }
            rows = rows.flatMap { row in
                members.map { member in
                    var next = row
                    next.relations[set.name] = [member]
                    return next
                }
            }
        }
        return rows
    }
}
