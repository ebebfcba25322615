import ODataModel

/// What names mean at a place of a query.
struct Scope {
    /// The current instance: what paths without a variable start from.
    var current: RangeVariable
    /// The entity set or singleton that the current instance belongs to.
    var source: String?
    /// The instance that `$it` stands for; `nil` where it is not at hand.
    var it: RangeVariable?
    /// The entity set or singleton that `$it` belongs to.
    var itSource: String?
    /// The range variables of the lambdas around, with the sets of their members.
    var variables: [String: (variable: RangeVariable, source: String?)] = [:]
    /// What `$compute` has named.
    var computed: [String: TypeReference] = [:]
    /// The type that `$apply` begins with: no alias may have the name of one of its properties, even if they have been
    /// aggregated away (OData Data Aggregation 4.0, 3.1.1).
    var input: TypeShape?
    /// The nodes that the `rolluprecursive` around group by, with the set they are of.
    var rollupNodes: [(variable: RangeVariable, source: String?)] = []

    /// The scope of the options of a query over rows of a shape.
    init(shape: TypeShape, source: String?) {
        let type: TypeReference = shape.kind == .entity ? .entity(shape.name) : .complex(shape.name)
        current = RangeVariable(name: "$it", identifier: 0, shape: shape, type: type)
        it = current
        input = shape
        self.source = source
        itSource = source
    }
}

/// One binding: the model, the values of aliases, and what must be counted over the whole of it.
///
/// The work is in extensions, one topic each.
final class BindingSession {
    let model: EntityDataModel
    let functions: FunctionRegistry
    /// The values of aliases by name without `@`.
    var aliases: [String: CommonExpression]
    /// The aliases being substituted, innermost last.
    var open: [String] = []
    private var nodes = 0
    private var depth = 0
    private var lastVariable = 0
    /// How often `$it` stood for the outermost instance so far.
    var outermostUses = 0
    /// The shapes that transformations made for related rows, by the names that navigation properties give them.
    private var dynamicShapes: [QualifiedName: TypeShape] = [:]

    init(model: EntityDataModel, functions: FunctionRegistry, aliases: [String: CommonExpression]) {
        self.model = model
        self.functions = functions
        self.aliases = aliases
    }

    // MARK: Limits

    /// Runs a step of a recursion.
    func nested<Value>(
        at offset: @autoclosure () -> Int?, _ body: () throws(QueryError) -> Value
    ) throws(QueryError) -> Value {
        try enter(at: offset())
        defer { leave() }
        return try body()
    }

    /// Ends a step of a recursion.
    func leave() { depth -= 1 }

    /// Begins a step of a recursion.
    func enter(at offset: @autoclosure () -> Int?) throws(QueryError) {
        depth += 1
        nodes += 1
        guard depth <= 2 * QueryLimits.maxDepth else {
            throw QueryError(
                .limit(name: "maxDepth"), "The query is nested deeper than \(QueryLimits.maxDepth) levels.",
                offset: offset())
        }
        // Aliases may be used many times, so that a short text can stand for a large tree.
        guard nodes <= QueryLimits.maxNodes else {
            throw QueryError(
                .limit(name: "maxNodes"),
                "The expressions have more than \(QueryLimits.maxNodes) operands and operators.",
                offset: offset())
        }
    }

    /// A range variable that differs from all others of the query.
    func makeVariable(_ name: String, type: TypeReference) -> RangeVariable {
        lastVariable += 1
        return RangeVariable(name: name, identifier: lastVariable, shape: shape(of: type), type: type)
    }

    /// Names the option in errors that do not name a part yet.
    func part<Value>(_ name: String, _ body: () throws(QueryError) -> Value) throws(QueryError) -> Value {
        do throws(QueryError) {
            return try body()
        } catch {
            var error = error
            error.part = error.part ?? name
            throw error
        }
    }

    // MARK: Types

    /// The shape of a structured type; `nil` for others.
    func shape(of type: TypeReference) -> TypeShape? {
        switch type {
        case .complex(let name?), .entity(let name?): shape(name)
        default: nil
        }
    }

    /// The shape with a name: of the model, or made by a transformation.
    func shape(_ name: QualifiedName) -> TypeShape? { model.shape(name) ?? dynamicShapes[name] ?? Self.abstract[name] }

    /// The name of the abstract entity type, which navigation properties may lead to: an entity of any type (OData CSDL 4.01, 4.5).
    static let anyEntity = QualifiedName("Edm", "EntityType")

    /// The abstract entity type: it is open, since what an entity of it has is known with the entity alone.
    private static let abstract: [QualifiedName: TypeShape] = {
        let type = StructuredType(name: anyEntity, kind: .entity, isAbstract: true, isOpen: true)
        let model = try? EntityDataModel(schemas: [ODataSchema(namespace: anyEntity.namespace, structuredTypes: [type])]
        )
        return [anyEntity: model?.shape(anyEntity) ?? TypeShape(dynamic: anyEntity, properties: [])]
    }()

    /// A navigation property of a type; of the abstract entity type, that of any type which has one of the name.
    func navigationProperty(_ name: String, of shape: TypeShape) -> NavigationProperty? {
        if let own = shape.navigationProperty(name) { return own }
        guard shape.name == Self.anyEntity else { return nil }
        for schema in model.schemas {
            for type in schema.structuredTypes where type.kind == .entity {
                if let found = type.navigationProperties.first(where: { $0.name == name }) { return found }
            }
        }
        return nil
    }

    /// The name under which a navigation property can lead to a shape that the model may not have.
    func targetName(for shape: TypeShape) -> QualifiedName {
        if model.shape(shape.name) === shape { return shape.name }
        let name = QualifiedName(shape.name.namespace, "\(shape.name.name)#\(dynamicShapes.count + 1)")
        dynamicShapes[name] = shape
        return name
    }

    /// The shape of a type by its name, qualified or not; unqualified names are looked for in all schemas
    /// (OData URL Conventions 4.01, 4.11: default namespaces).
    func shape(named name: String) -> TypeShape? {
        if let qualified = QualifiedName(name) {
            if let shape = model.shape(qualified) { return shape }
            guard let schema = model.schemas.first(where: { $0.alias == qualified.namespace }) else { return nil }
            return model.shape(QualifiedName(schema.namespace, qualified.name))
        }
        for schema in model.schemas {
            if let shape = model.shape(QualifiedName(schema.namespace, name)) { return shape }
        }
        return nil
    }

    /// The shape that a cast leads to.
    ///
    /// - Returns: `nil` when the name is that of no structured type.
    /// - Throws: when it is one, but neither derived from the type at hand nor a base of it.
    func cast(from shape: TypeShape, to name: Identifier) throws(QueryError) -> TypeShape? {
        guard let target = self.shape(named: name.text) else { return nil }
        if shape.name == Self.anyEntity, target.kind == .entity { return target }
        guard model.isType(target.name, shape.name) || model.isType(shape.name, target.name) else {
            // A simple name may well be something else: a key, a navigation property of a derived type.
            guard name.text.contains(".") else { return nil }
            throw QueryError(
                .type, "\(target.name) does not derive from \(shape.name).", offset: name.offset,
                suggestions: nearest(to: name.text, among: model.derivedTypes(of: shape.name).map(\.description)))
        }
        return target
    }

    /// A qualified name with an alias replaced by its namespace.
    func qualified(_ name: String) -> [QualifiedName] {
        if let qualified = QualifiedName(name) {
            guard let schema = model.schemas.first(where: { $0.alias == qualified.namespace }) else {
                return [qualified]
            }
            return [QualifiedName(schema.namespace, qualified.name)]
        }
        return model.schemas.map { QualifiedName($0.namespace, name) }
    }

    // MARK: Errors

    /// An unknown property, with those that come near.
    func unknownProperty(_ name: Identifier, of shape: TypeShape, also more: some Sequence<String> = []) -> QueryError {
        let names = shape.properties.map(\.name) + shape.navigationProperties.map(\.name) + more
        return QueryError(
            .unknownName, "\(shape.name) has no property \(name.text).", offset: name.offset,
            suggestions: nearest(to: name.text, among: names))
    }

    func unsupported(_ feature: String, at offset: Int?) -> QueryError {
        QueryError(.unsupported(feature: feature), "\(feature) is not supported here.", offset: offset)
    }

    func typeError(_ message: String, at offset: Int?) -> QueryError { QueryError(.type, message, offset: offset) }
}

extension CommonExpression {
    /// The offset of the first name or literal; `nil` when made in code.
    var offset: Int? {
        switch self {
        case .literal(let literal): literal.offset
        case .path(let steps): steps.lazy.compactMap(\.offset).first
        case .alias(let name), .call(let name, _), .namedCall(let name, _): name.offset
        case .unary(_, let inner), .membership(let inner, in: _): inner.offset
        case .binary(_, let left, let right): left.offset ?? right.offset
        case .typeTest(_, let operand, let type): operand?.offset ?? type.offset
        case .list(let items): items.first?.offset
        case .json: nil
        }
    }
}

extension AggregateItem {
    /// The offset of what is aggregated; `nil` when made in code.
    var offset: Int? {
        switch operand {
        case .count(let path): path.first?.offset ?? name?.offset
        case .expression(let expression, let method): expression.offset ?? method.offset
        case .custom(let name): name.offset
        }
    }
}

extension PathStep {
    /// The offset of the step's name; `nil` when it has none.
    var offset: Int? {
        switch self {
        case .name(let name), .variable(let name), .call(let name, _): name.offset
        case .any(let variable, _): variable?.offset
        case .all(let variable, _): variable.offset
        case .count(let filter, _): filter?.offset
        case .filter(let condition): condition.offset
        case .key(.single(let value)): value.offset
        case .key(.compound(let parts)): parts.first?.name.offset
        case .aggregate(let item): item.offset
        }
    }
}
