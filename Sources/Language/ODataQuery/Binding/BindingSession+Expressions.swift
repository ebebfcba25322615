import ODataModel

/// Binding of literals, aliases, lists and type tests.
extension BindingSession {
    /// Resolves an expression.
    ///
    /// The method is recursive and therefore uses little stack space.
    func bind(_ expression: CommonExpression, in scope: Scope) throws(QueryError) -> BoundExpression {
        try enter(expression)
        defer { leave() }
        switch expression {
        case .literal(let literal): return try bind(literal)
        case .path(let steps): return try bind(path: steps, in: scope)
        case .alias(let name): return try bind(alias: name, in: scope)
        case .unary(let symbol, let inner): return try bind(symbol, inner, in: scope)
        case .binary(let symbol, let left, let right): return try bind(symbol, left: left, right: right, in: scope)
        case .membership(let operand, let collection): return try membership(of: operand, in: collection, scope)
        case .call(let name, let arguments): return try call(name, arguments, in: scope)
        case .typeTest(let test, let operand, let type): return try typeTest(test, of: operand, type, in: scope)
        case .list(let items): return try list(items, in: scope)
        case .namedCall(let name, let arguments): return try namedCall(name, arguments, in: scope)
        case .json: return try refuseJSON()
        }
    }

    private func enter(_ expression: CommonExpression) throws(QueryError) { try enter(at: expression.offset) }

    private func bind(alias name: Identifier, in scope: Scope) throws(QueryError) -> BoundExpression {
        try substituting(name) { value throws(QueryError) in
            guard let value else { return .constant(.null, .untyped("Edm.Untyped")) }
            return try self.bind(value, in: scope)
        }
    }

    private func refuseJSON() throws(QueryError) -> BoundExpression {
        throw unsupported("A JSON object where no type is expected", at: nil)
    }

    private func namedCall(
        _ name: Identifier, _ arguments: [CommonExpression.NamedArgument], in scope: Scope
    ) throws(QueryError) -> BoundExpression {
        if let node = try rollupNode(name, arguments, in: scope) { return .path(node.path) }
        if let test = try hierarchyTest(name, arguments, in: scope) { return test }
        var call = try custom(name, on: nil, arguments, in: scope)
        if call == nil { call = try declared(name, on: Self.current(of: scope), arguments, in: scope) }
        guard let call else {
            throw unsupported("The function \(name) in an expression", at: name.offset)
        }
        return call
    }

    /// Resolves an expression that must have a given type, so that it may be written as JSON.
    func bind(
        _ expression: CommonExpression, expecting type: TypeReference, in scope: Scope
    ) throws(QueryError) -> BoundExpression {
        if case .alias(let name) = expression {
            return try substituting(name) { value throws(QueryError) in
                guard let value else { return .constant(.null, .untyped("Edm.Untyped")) }
                return try self.bind(value, expecting: type, in: scope)
            }
        }
        guard case .json(let text) = expression else { return try bind(expression, in: scope) }
        do {
            return .constant(try ODataValue(json: Array(text.utf8), type: type, model: model), type)
        } catch {
            throw typeError("The JSON object is no value of type \(type): \(error)", at: nil)
        }
    }

    /// Resolves a Boolean expression.
    func condition(_ expression: CommonExpression, in scope: Scope) throws(QueryError) -> BoundExpression {
        try boolean(bind(expression, in: scope), at: expression.offset)
    }

    /// Checks that an expression is Boolean. Null and undeclared properties are allowed.
    func boolean(_ bound: BoundExpression, at offset: @autoclosure () -> Int?) throws(QueryError) -> BoundExpression {
        if case .constant(.null, _) = bound { return .constant(.null, .primitive(.boolean)) }
        if case .untyped = bound.type { return bound }
        guard bound.type.primitive == .boolean else {
            throw typeError("Expected a condition, found a value of type \(bound.type).", at: offset())
        }
        return bound
    }

    /// Calls a closure with the value of an alias; an undefined alias is null (OData URL Conventions 4.01, 5.3).
    func substituting<Value>(
        _ name: Identifier, _ body: (CommonExpression?) throws(QueryError) -> Value
    ) throws(QueryError) -> Value {
        guard !open.contains(name.text) else {
            let circle = (open + [name.text]).map { "@\($0)" }.joined(separator: ", ")
            throw typeError("The alias @\(name) stands for itself (\(circle)).", at: name.offset)
        }
        open.append(name.text)
        defer { open.removeLast() }
        return try body(aliases[name.text])
    }

    // MARK: Literals

    func bind(_ literal: Literal) throws(QueryError) -> BoundExpression {
        if let enumeration = literal.enumeration { return try bind(enumeration, at: literal.offset) }
        if let type = literal.type { return .constant(literal.value, .primitive(type)) }
        let type: PrimitiveType
        switch literal.value {
        case .null: return .constant(.null, .untyped("Edm.Untyped"))
        case .boolean: type = .boolean
        case .integer(let value): type = Int32(exactly: value) == nil ? .int64 : .int32
        case .single: type = .single
        case .double: type = .double
        case .decimal: type = .decimal
        case .string: type = .string
        case .binary: type = .binary
        case .guid: type = .guid
        case .date: type = .date
        case .timeOfDay: type = .timeOfDay
        case .dateTimeOffset: type = .dateTimeOffset
        case .dateTime: type = .dateTime
        case .duration: type = .duration
        case .geo(let value): type = value.type
        case .enumeration, .complex, .collection:
            throw unsupported("A literal of this kind in an expression", at: literal.offset)
        }
        return .constant(literal.value, .primitive(type))
    }

    private func bind(_ literal: Literal.EnumerationText, at offset: Int?) throws(QueryError) -> BoundExpression {
        guard let type = qualified(literal.type).lazy.compactMap({ self.model.enumType($0) }).first else {
            let names = model.schemas.flatMap { $0.enumTypes.map(\.name.description) }
            throw QueryError(
                .unknownName, "The model has no enumeration type \(literal.type).", offset: offset,
                suggestions: nearest(to: literal.type, among: names))
        }
        guard let number = TypePromotion.number(of: literal.members, in: type) else {
            throw unknownMember(literal.members, of: type, at: offset)
        }
        return .constant(.enumeration(number), .enumeration(type.name))
    }

    private func unknownMember(_ members: String, of type: EnumType, at offset: Int?) -> QueryError {
        let names = type.members.map(\.name)
        for part in members.split(separator: ",") where !names.contains(String(part)) && Int64(part) == nil {
            return QueryError(
                .unknownName, "\(type.name) has no member \(part).", offset: offset,
                suggestions: nearest(to: String(part), among: names))
        }
        return typeError("\(type.name) has no flags, so that a value has one member.", at: offset)
    }

    /// Resolves a list. A list of constants becomes one constant.
    private func list(_ items: [CommonExpression], in scope: Scope) throws(QueryError) -> BoundExpression {
        var members: [BoundExpression] = []
        var element: TypeReference?
        for item in items {
            let member = try bind(item, in: scope)
            members.append(member)
            if case .constant(.null, _) = member { continue }
            guard let known = element else {
                element = member.type
                continue
            }
            guard let common = commonType(known, member.type) else {
                throw typeError("The list has members of type \(known) and of type \(member.type).", at: item.offset)
            }
            element = common
        }
        let type = element ?? .untyped("Edm.Untyped")
        var values: [ODataValue] = []
        for member in members {
            guard case .constant(let value, _) = member else {
                return .list(members.map { converted($0, to: type) }, type)
            }
            values.append(value)
        }
        let adapted = values.compactMap { TypePromotion.adapt($0, to: type, model: model) }
        return .constant(.collection(adapted.count == values.count ? adapted : values), .collection(type))
    }

    // MARK: cast and isof

    private func typeTest(
        _ test: CommonExpression.TypeTest, of operand: CommonExpression?, _ name: Identifier, in scope: Scope
    ) throws(QueryError) -> BoundExpression {
        let inner: BoundExpression
        if let operand {
            inner = try bind(operand, in: scope)
        } else {
            inner = .path(BoundPath(variable: scope.current, steps: [], type: scope.current.type))
        }
        let type = try resolveType(name)
        if let shape = shape(of: type) {
            guard case .path(let path) = inner, let from = self.shape(of: path.type) else {
                throw typeError(
                    "\(shape.name) can be compared with a path to an entity or complex value only.", at: name.offset)
            }
            guard let target = try cast(from: from, to: name) else { throw unknownType(name) }
            if test == .isOf { return .isOf(path, target.name) }
            var result = path
            result.steps.append(.cast(target))
            result.type = type
            return .path(result)
        }
        if test == .isOf { return .isOfValue(inner, type) }
        if case .constant(.null, _) = inner { return .constant(.null, type) }
        guard isCastable(inner.type, to: type) else {
            throw typeError("A value of type \(inner.type) cannot be cast to \(type).", at: name.offset)
        }
        // A constant is converted only once, so that it can be used like a literal of the type.
        if case .constant(let value, _) = inner {
            return .constant(ValueCast(model: model).cast(value, from: inner.type, to: type), type)
        }
        return inner.type == type ? inner : .cast(inner, type)
    }

    /// Returns the type with a name.
    func resolveType(_ name: Identifier) throws(QueryError) -> TypeReference {
        if name.text.hasPrefix("Collection("), name.text.hasSuffix(")") {
            let inner = Identifier(String(name.text.dropFirst(11).dropLast()), at: name.offset)
            return .collection(try resolveType(inner))
        }
        if let primitive = PrimitiveType(rawValue: name.text) { return .primitive(primitive) }
        if let shape = shape(named: name.text) {
            return shape.kind == .entity ? .entity(shape.name) : .complex(shape.name)
        }
        for candidate in qualified(name.text) {
            if let type = model.enumType(candidate) { return .enumeration(type.name) }
            if let type = model.typeDefinition(candidate) { return .typeDefinition(type.name, type.underlyingType) }
        }
        throw unknownType(name)
    }

    private func unknownType(_ name: Identifier) -> QueryError {
        let own = model.schemas.flatMap { schema in
            schema.structuredTypes.map(\.name.description) + schema.enumTypes.map(\.name.description)
        }
        return QueryError(
            .unknownName, "The model has no type \(name.text).", offset: name.offset,
            suggestions: nearest(to: name.text, among: own + PrimitiveType.allCases.map(\.rawValue)))
    }

    /// Returns whether `cast` is defined between two types (5.1.1.10.1).
    ///
    /// It is defined between numbers, between primitive types and strings, and from an instant to its date and
    /// time.
    private func isCastable(_ from: TypeReference, to target: TypeReference) -> Bool {
        if case .untyped = from { return true }
        if case .collection(let source) = from, case .collection(let element) = target {
            return isCastable(source, to: element)
        }
        if case .enumeration = from {
            return target == from || target.primitive == .string || target.primitive?.isInteger == true
        }
        if case .enumeration = target { return from.primitive == .string || from.primitive?.isInteger == true }
        guard let left = from.primitive, let right = target.primitive else { return false }
        if left == right || (left.isNumeric && right.isNumeric) || left == .string { return right != .stream }
        if right == .string { return left != .stream && left != .binary && !left.isGeo }
        switch (left, right) {
        case (.dateTimeOffset, .date), (.dateTimeOffset, .timeOfDay), (.dateTimeOffset, .dateTime),
            (.dateTime, .dateTimeOffset), (.dateTime, .date), (.dateTime, .timeOfDay), (.date, .dateTimeOffset),
            (.date, .dateTime), (.time, .timeOfDay), (.timeOfDay, .time), (.time, .duration), (.duration, .time):
            return true
        default: return left.isGeo && right.isGeo
        }
    }
}
