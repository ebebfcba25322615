import ODataModel

extension Binder {
    /// Resolves a dynamic query.
    ///
    /// ```swift
    /// let selection = Selection.from("Orders", as: "o").select("o.ID").take(10)
    /// let bound = try binder.bind(selection)
    /// ```
    ///
    /// - Throws: ``SelectionError`` with the place of the fault.
    public func bind(_ selection: Selection) throws(SelectionError) -> BoundSelection {
        let binder = SelectionBinder(BindingSession(model: model, functions: functions, aliases: [:]))
        return try binder.bind(selection, outer: nil, at: "")
    }
}

/// The resolution of one dynamic query with all queries within it. Extensions contain one topic each.
final class SelectionBinder {
    let session: BindingSession
    private var depth = 0
    private var nodes = 0

    var model: EntityDataModel { session.model }

    init(_ session: BindingSession) { self.session = session }

    // MARK: Limits

    /// Begins a step of a recursion and checks the limits. Each call must be followed by ``leave()``.
    func enter(at place: String) throws(SelectionError) {
        depth += 1
        nodes += 1
        guard depth <= 2 * SelectionLimits.maxDepth else { throw SelectionError(.limit("maxDepth"), at: place) }
        guard nodes <= SelectionLimits.maxNodes else { throw SelectionError(.limit("maxNodes"), at: place) }
    }

    func leave() { depth -= 1 }

    private func check(_ count: Int, _ limit: Int, named name: String, at place: String) throws(SelectionError) {
        guard count <= limit else { throw SelectionError(.limit(name), at: place) }
    }

    // MARK: Queries

    /// Resolves a query.
    ///
    /// - Parameters:
    ///   - outer: the scope of the enclosing query; `nil` for the outermost query.
    ///   - place: the place of the query, for errors.
    func bind(
        _ selection: Selection, outer: SelectionScope?, at place: String
    ) throws(SelectionError) -> BoundSelection {
        try enter(at: place)
        defer { leave() }
        try check(selection.sources.count, SelectionLimits.maxSources, named: "maxSources", at: place.member("join"))
        try check(selection.columns.count, SelectionLimits.maxColumns, named: "maxColumns", at: place.member("select"))
        try check(
            selection.combinations.count, SelectionLimits.maxCombinations, named: "maxCombinations",
            at: place.member("combine"))
        let scope = SelectionScope(outer: outer)
        let sources = try bind(selection.sources, in: scope, outer: outer, at: place)
        let filter = try selection.test.map { test throws(SelectionError) in
            try self.bind(test, in: scope, at: place.member("where"))
        }
        let grouping = try bind(groupingOf: selection, in: scope, at: place)
        let columns = try bind(selection.columns, in: scope, isGrouped: grouping != nil, at: place.member("select"))
        let shape = TypeShape(
            dynamic: QualifiedName("Outpost", "Row"),
            properties: columns.map { Property(name: $0.name, type: $0.expression.type) })
        var result = BoundSelection(
            sources: sources, filter: filter, grouping: grouping, columns: columns, isDistinct: selection.isDistinct,
            combinations: [], order: [], skip: selection.skip, take: selection.take,
            result: session.makeVariable("$row", shape: shape))
        result.combinations = try bind(selection, combinedWith: columns, outer: outer, at: place)
        if result.comparesRows { try requireComparable(columns, at: place.member("select")) }
        result.order = try bind(orderOf: selection, result, in: scope, at: place.member("orderBy"))
        for (name, count) in [("skip", selection.skip), ("take", selection.take)] {
            guard count ?? 0 >= 0 else {
                throw SelectionError(.misplaced("The number of rows cannot be negative."), at: place.member(name))
            }
        }
        return result
    }

    // MARK: Sources

    private func bind(
        _ sources: [Selection.Source], in scope: SelectionScope, outer: SelectionScope?, at place: String
    ) throws(SelectionError) -> [BoundSelection.Source] {
        guard let first = sources.first else {
            throw SelectionError(.misplaced("A query needs a source."), at: place.member("from"))
        }
        guard first.condition == nil else {
            throw SelectionError(
                .misplaced("The first source joins nothing. Put its condition into where."), at: place.member("from.on")
            )
        }
        var result: [BoundSelection.Source] = []
        for (index, source) in sources.enumerated() {
            let place = index == 0 ? place.member("from") : place.member("join", index - 1)
            guard source.alias.isAlias else {
                throw SelectionError(.invalidAlias(source.alias), at: place.member("as"))
            }
            guard scope.source(source.alias) == nil else {
                throw SelectionError(.duplicateAlias(source.alias), at: place.member("as"))
            }
            let rows: BoundSelection.Source.Rows
            let variable: RangeVariable
            switch source.rows {
            case .entities(let name):
                let (set, shape) = try entities(name, at: place)
                rows = .entities(set, shape)
                variable = session.makeVariable(source.alias, type: .entity(shape.name))
                scope.add(.init(alias: source.alias, variable: variable, set: set.name, shape: shape))
            case .selection(let selection):
                let bound = try bind(selection, outer: outer, at: place.member("query"))
                guard let shape = bound.result.shape else { continue }
                rows = .selection(bound)
                variable = session.makeVariable(source.alias, shape: shape)
                scope.add(.init(alias: source.alias, variable: variable, set: nil, shape: shape))
            }
            let condition = try source.condition.map { test throws(SelectionError) in
                try self.bind(test, in: scope, at: place.member("on"))
            }
            result.append(.init(rows: rows, variable: variable, condition: condition))
        }
        return result
    }

    /// Returns the entity set of a name, or the only set of the type of a name.
    private func entities(_ name: String, at place: String) throws(SelectionError) -> (EntitySet, TypeShape) {
        let set: EntitySet
        if let own = model.entitySet(name) {
            set = own
        } else if let shape = session.shape(named: name), shape.kind == .entity {
            let sets = model.container.entitySets.filter { $0.type == shape.name }
            guard let only = sets.first else {
                throw SelectionError(shape.isAbstract ? .abstractEntity(name) : .noSuchEntity(name), at: place)
            }
            guard sets.count == 1 else {
                throw SelectionError(.severalSets(name), at: place, suggestions: sets.prefix(3).map(\.name))
            }
            set = only
        } else {
            let names = model.container.entitySets.map(\.name)
            throw SelectionError(.noSuchEntity(name), at: place, suggestions: nearest(to: name, among: names))
        }
        guard let shape = model.shape(set.type) else { throw SelectionError(.noSuchEntity(name), at: place) }
        guard model.allowsDynamicQueries(shape) else { throw SelectionError(.dynamicQueriesOff(name), at: place) }
        return (set, shape)
    }

    // MARK: Groups

    private func bind(
        groupingOf selection: Selection, in scope: SelectionScope, at place: String
    ) throws(SelectionError) -> BoundSelection.Grouping? {
        var aggregates: [SelectionScope.Aggregate] = []
        func note(_ operand: QueryOperand) {
            guard case .aggregate(let method, let attribute) = operand else { return }
            let aggregate = SelectionScope.Aggregate(method: method, attribute: attribute)
            if !aggregates.contains(aggregate) { aggregates.append(aggregate) }
        }
        for column in selection.columns { note(column.operand) }
        for order in selection.order { if case .operand(let operand) = order.key { note(operand) } }
        selection.having?.forEachOperand(note)
        guard !selection.groups.isEmpty || !aggregates.isEmpty || selection.having != nil else { return nil }
        var properties: [Property] = []
        var keys: [BoundExpression] = []
        for (index, attribute) in selection.groups.enumerated() {
            let place = place.member("groupBy", index)
            let key = try bind(attribute, in: scope, at: place)
            try requireComparable(key.type, attribute.description, at: place)
            keys.append(key)
            properties.append(Property(name: "g\(index)", type: key.type))
        }
        var bound: [BoundAggregate] = []
        for (index, aggregate) in aggregates.enumerated() {
            let name = "a\(index)"
            let item = try bind(aggregate, as: name, in: scope, at: place)
            bound.append(item)
            properties.append(Property(name: name, type: item.type))
        }
        let shape = TypeShape(dynamic: QualifiedName("Outpost", "Group"), properties: properties)
        let variable = session.makeVariable("$group", shape: shape)
        scope.group = .init(variable: variable, shape: shape, keys: keys, aggregates: aggregates)
        let having = try selection.having.map { test throws(SelectionError) in
            try self.bind(test, in: scope, at: place.member("having"))
        }
        return .init(keys: keys, aggregates: bound, variable: variable, having: having)
    }

    private func bind(
        _ aggregate: SelectionScope.Aggregate, as name: String, in scope: SelectionScope, at place: String
    ) throws(SelectionError) -> BoundAggregate {
        let place = place.member("\(aggregate.method.rawValue)(\(aggregate.attribute?.description ?? "*"))")
        guard let attribute = aggregate.attribute else {
            guard aggregate.method == .count else {
                throw SelectionError(.misplaced("Only count takes all rows. Name an attribute."), at: place)
            }
            return BoundAggregate(nil, method: .count, as: name, type: .primitive(.int64))
        }
        guard try source(of: attribute, in: scope, at: place).0 === scope else {
            throw SelectionError(
                .misplaced("An aggregate takes an attribute of its own query, not of an enclosing one."), at: place)
        }
        let value = try bind(attribute, in: scope, at: place)
        guard let type = aggregate.method.type(of: value.type) else {
            throw SelectionError(.aggregateType(aggregate.method.rawValue, type: "\(value.type)"), at: place)
        }
        return BoundAggregate(value, method: aggregate.method.method, as: name, type: type)
    }

    // MARK: Columns

    private func bind(
        _ columns: [Selection.Column], in scope: SelectionScope, isGrouped: Bool, at place: String
    ) throws(SelectionError) -> [BoundSelection.Column] {
        if columns.isEmpty {
            guard !isGrouped else { throw SelectionError(.misplaced("Groups need columns."), at: place) }
            return try allColumns(in: scope, at: place)
        }
        var result: [BoundSelection.Column] = []
        for (index, column) in columns.enumerated() {
            let place = place.member(index)
            guard let name = column.resultName, !name.isEmpty, name.utf8.count <= 4 * QueryLimits.maxIdentifierLength
            else {
                throw SelectionError(.misplaced("The column needs a name of at most 128 characters."), at: place)
            }
            guard !result.contains(where: { $0.name.isIdentical(inUTF8To: name) }) else {
                throw SelectionError(.duplicateColumn(name), at: place)
            }
            let expression = try bind(column.operand, in: scope, at: place)
            guard expression.type.isSingleValue else {
                throw SelectionError(.wrongType("The column \(name) has no type. Use a value with one."), at: place)
            }
            result.append(.init(name: name, expression: expression))
        }
        return result
    }

    /// Returns the attributes of all sources that have a single value.
    private func allColumns(in scope: SelectionScope, at place: String) throws(SelectionError) -> [BoundSelection
        .Column]
    {
        var result: [BoundSelection.Column] = []
        let names = scope.sources.flatMap { $0.shape.properties.map(\.name) }
        for source in scope.sources {
            for (ordinal, property) in source.shape.properties.enumerated()
            where property.type.isSingleValue && !property.isLargeAttribute {
                let isUnique = names.count { $0.isIdentical(inUTF8To: property.name) } == 1
                let name = isUnique ? property.name : "\(source.alias)_\(property.name)"
                guard !result.contains(where: { $0.name.isIdentical(inUTF8To: name) }) else {
                    throw SelectionError(.duplicateColumn(name), at: place)
                }
                let step = BoundStep.property(property, ordinal: ordinal, of: source.shape)
                result.append(
                    .init(
                        name: name,
                        expression: .path(BoundPath(variable: source.variable, steps: [step], type: property.type))))
            }
        }
        guard result.count <= SelectionLimits.maxColumns else { throw SelectionError(.limit("maxColumns"), at: place) }
        guard !result.isEmpty else { throw SelectionError(.misplaced("The sources have no attributes."), at: place) }
        return result
    }

    private func requireComparable(_ columns: [BoundSelection.Column], at place: String) throws(SelectionError) {
        for (index, column) in columns.enumerated() {
            try requireComparable(column.expression.type, column.name, at: place.member(index))
        }
    }

    private func requireComparable(_ type: TypeReference, _ name: String, at place: String) throws(SelectionError) {
        guard type.isComparable else {
            throw SelectionError(.wrongType("Values of type \(type) cannot be compared: \(name)."), at: place)
        }
    }

    // MARK: Combinations and order

    private func bind(
        _ selection: Selection, combinedWith columns: [BoundSelection.Column], outer: SelectionScope?, at place: String
    ) throws(SelectionError) -> [BoundSelection.Combination] {
        var result: [BoundSelection.Combination] = []
        for (index, combination) in selection.combinations.enumerated() {
            let place = place.member("combine", index)
            guard !selection.columns.isEmpty, !combination.selection.columns.isEmpty else {
                throw SelectionError(
                    .unequalShapes("Combined queries need columns. Name them in both queries."), at: place)
            }
            let bound = try bind(combination.selection, outer: outer, at: place)
            guard bound.columns.count == columns.count else {
                throw SelectionError(
                    .unequalShapes("The query has \(bound.columns.count) columns, the first one \(columns.count)."),
                    at: place)
            }
            for (first, second) in zip(columns, bound.columns) {
                guard first.expression.type.isSame(as: second.expression.type) else {
                    throw SelectionError(
                        .unequalShapes(
                            "\(second.name) is of type \(second.expression.type), and \(first.name) of type "
                                + "\(first.expression.type)."), at: place)
                }
            }
            result.append(.init(symbol: combination.symbol, selection: bound))
        }
        return result
    }

    private func bind(
        orderOf selection: Selection, _ result: BoundSelection, in scope: SelectionScope, at place: String
    ) throws(SelectionError) -> [BoundOrder] {
        var order: [BoundOrder] = []
        for (index, item) in selection.order.enumerated() {
            let place = place.member(index)
            let expression: BoundExpression
            switch item.key {
            case .column(let name):
                guard let column = result.columns.firstIndex(where: { $0.name.isIdentical(inUTF8To: name) }) else {
                    throw SelectionError(
                        .noSuchAttribute(name), at: place,
                        suggestions: nearest(to: name, among: result.columns.map(\.name)))
                }
                expression = result.column(column)
            case .operand(let operand):
                if result.comparesRows {
                    guard let column = selection.columns.firstIndex(where: { $0.operand == operand }) else {
                        throw SelectionError(
                            .misplaced("The order of distinct and combined rows must be a column of the result."),
                            at: place)
                    }
                    expression = result.column(column)
                } else {
                    expression = try bind(operand, in: scope, at: place)
                }
            }
            try requireComparable(expression.type, "the order", at: place)
            order.append(BoundOrder(session.comparable(expression), isDescending: item.isDescending))
        }
        return order
    }
}

extension BoundSelection {
    /// Returns a column of the result as a path.
    func column(_ index: Int) -> BoundExpression {
        guard let shape = result.shape else { return .constant(.null, .untyped("Edm.Untyped")) }
        let property = shape.properties[index]
        let step = BoundStep.property(property, ordinal: index, of: shape)
        return .path(BoundPath(variable: result, steps: [step], type: property.type))
    }
}

extension EntityDataModel {
    /// Whether dynamic queries may read a type and its base types.
    fileprivate func allowsDynamicQueries(_ shape: TypeShape) -> Bool {
        for schema in schemas {
            if let type = schema.structuredTypes.first(where: { $0.name == shape.name }) {
                return type.allowsDynamicQueries
            }
        }
        return true
    }
}

extension QueryTest {
    /// Calls a closure with each operand, without those of queries within the test.
    fileprivate func forEachOperand(_ body: (QueryOperand) -> Void) {
        switch self {
        case .test(let left, _, let right):
            if let left { body(left) }
            if let right { body(right) }
        case .all(let tests), .any(let tests): for test in tests { test.forEachOperand(body) }
        case .not(let test): test.forEachOperand(body)
        case .state: break
        }
    }
}

extension QueryAggregate {
    fileprivate var method: BoundAggregate.Method {
        switch self {
        case .count: .count
        case .maximum: .max
        case .minimum: .min
        case .sum: .sum
        case .average: .average
        }
    }

    /// Returns the type of the aggregate of values of a type; `nil` if it is not defined.
    fileprivate func type(of type: TypeReference) -> TypeReference? {
        guard let primitive = type.primitive else { return self == .count ? .primitive(.int64) : nil }
        switch self {
        case .count: return .primitive(.int64)
        case .minimum, .maximum:
            switch primitive {
            case .string, .binary, .byte, .sbyte, .int16, .int32, .int64, .decimal, .single, .double, .date, .timeOfDay,
                .dateTime, .dateTimeOffset, .duration, .time:
                return type
            default: return nil
            }
        case .sum, .average:
            guard primitive.isNumeric else { return nil }
            if primitive.isInteger { return .primitive(self == .sum ? .int64 : .decimal) }
            return .primitive(primitive == .single ? .double : primitive)
        }
    }
}

extension TypeReference {
    /// Whether a column can have the type: primitive values except streams, and enumerations.
    var isSingleValue: Bool {
        switch self {
        case .enumeration: true
        default: primitive.map { $0 != .stream } ?? false
        }
    }

    /// Whether values of the type have an order.
    var isComparable: Bool {
        switch self {
        case .enumeration: true
        default: primitive.map { $0 != .stream && !$0.isGeo } ?? false
        }
    }

    /// Whether values of both types have the same stored forms.
    fileprivate func isSame(as other: TypeReference) -> Bool {
        if self == other { return true }
        guard let own = primitive, let others = other.primitive else { return false }
        // The integer types have one stored form, and a constant has the least of them.
        return own == others || own.isInteger && others.isInteger
    }
}

extension String {
    /// Whether the text is an alias: a letter or underscore, then letters, digits and underscores of ASCII.
    fileprivate var isAlias: Bool {
        guard let first = utf8.first, utf8.count <= QueryLimits.maxIdentifierLength else { return false }
        func isLetter(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
        }
        return isLetter(first)
            && utf8.allSatisfy { isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
