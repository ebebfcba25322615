import ODataModel

/// The meaning of names at a place in a query.
struct Scope {
    /// The current instance, at which paths without a variable start.
    var current: RangeVariable
    /// The entity set or singleton of the current instance.
    var source: String?
    /// The instance that `$it` denotes; `nil` if it is not available.
    var it: RangeVariable?
    /// The entity set or singleton of `$it`.
    var itSource: String?
    /// The range variables of the enclosing lambdas, with the sets of their members.
    var variables: [String: (variable: RangeVariable, source: String?)] = [:]
    /// The names and types of properties that `$compute` created.
    var computed: [String: TypeReference] = [:]
    /// The input type of `$apply`. No alias may have the name of one of its properties, even after aggregation
    /// (OData Data Aggregation 4.0, 3.1.1).
    var input: TypeShape?
    /// The nodes of the enclosing `rolluprecursive` groupings, with their entity sets.
    var rollupNodes: [(variable: RangeVariable, source: String?)] = []

    /// Creates the scope of query options over rows of a shape.
    init(shape: TypeShape, source: String?) {
        let type: TypeReference = shape.kind == .entity ? .entity(shape.name) : .complex(shape.name)
        current = RangeVariable(name: "$it", identifier: 0, shape: shape, type: type)
        it = current
        input = shape
        self.source = source
        itSource = source
    }
}

/// The state of one binding: the model, the values of aliases, and counters for the limits.
///
/// Extensions contain the binding methods, one topic each.
final class BindingSession {
    let model: EntityDataModel
    let functions: FunctionRegistry
    /// The values of aliases by name without `@`.
    var aliases: [String: CommonExpression]
    /// The aliases that are currently substituted, innermost last.
    var open: [String] = []
    private var nodes = 0
    private var depth = 0
    private var lastVariable = 0
    /// The number of times that `$it` denoted the outermost instance.
    var outermostUses = 0
    /// The shapes of transformed related rows, by the type names that navigation properties refer to.
    private var dynamicShapes: [QualifiedName: TypeShape] = [:]

    init(model: EntityDataModel, functions: FunctionRegistry, aliases: [String: CommonExpression]) {
        self.model = model
        self.functions = functions
        self.aliases = aliases
    }

    // MARK: Limits

    /// Runs a step of a recursion and checks the limits.
    func nested<Value>(
        at offset: @autoclosure () -> Int?, _ body: () throws(QueryError) -> Value
    ) throws(QueryError) -> Value {
        try enter(at: offset())
        defer { leave() }
        return try body()
    }

    func leave() { depth -= 1 }

    /// Begins a step of a recursion and checks the limits.
    func enter(at offset: @autoclosure () -> Int?) throws(QueryError) {
        depth += 1
        nodes += 1
        guard depth <= 2 * QueryLimits.maxDepth else {
            throw QueryError(
                .limit(name: "maxDepth"), "The query is nested deeper than \(QueryLimits.maxDepth) levels.",
                offset: offset())
        }
        // A text may use an alias many times, so that a short text has a large tree.
        guard nodes <= QueryLimits.maxNodes else {
            throw QueryError(
                .limit(name: "maxNodes"),
                "The expressions have more than \(QueryLimits.maxNodes) operands and operators.",
                offset: offset())
        }
    }

    /// Creates a range variable that differs from all others in the query.
    func makeVariable(_ name: String, type: TypeReference) -> RangeVariable {
        lastVariable += 1
        return RangeVariable(name: name, identifier: lastVariable, shape: shape(of: type), type: type)
    }

    /// Creates a range variable for rows of a shape that the model does not have.
    func makeVariable(_ name: String, shape: TypeShape) -> RangeVariable {
        lastVariable += 1
        return RangeVariable(name: name, identifier: lastVariable, shape: shape, type: .complex(shape.name))
    }

    /// Adds the name of the query option to errors that do not have one.
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

    /// Returns the shape of a structured type; `nil` for other types.
    func shape(of type: TypeReference) -> TypeShape? {
        switch type {
        case .complex(let name?), .entity(let name?): shape(name)
        default: nil
        }
    }

    /// Returns the shape with a name, from the model or from a transformation.
    func shape(_ name: QualifiedName) -> TypeShape? { model.shape(name) ?? dynamicShapes[name] ?? Self.abstract[name] }

    /// The name of the abstract entity type, which stands for an entity of any type (OData CSDL 4.01, 4.5).
    static let anyEntity = QualifiedName("Edm", "EntityType")

    /// The shape of the abstract entity type. It is open, since the properties depend on the entity.
    private static let abstract: [QualifiedName: TypeShape] = {
        let type = StructuredType(name: anyEntity, kind: .entity, isAbstract: true, isOpen: true)
        let model = try? EntityDataModel(schemas: [ODataSchema(namespace: anyEntity.namespace, structuredTypes: [type])]
        )
        return [anyEntity: model?.shape(anyEntity) ?? TypeShape(dynamic: anyEntity, properties: [])]
    }()

    /// Returns a navigation property of a type. For the abstract entity type, any type that declares the name is
    /// used.
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

    /// Returns a type name by which a navigation property can refer to a shape that the model may not have.
    func targetName(for shape: TypeShape) -> QualifiedName {
        if model.shape(shape.name) === shape { return shape.name }
        let name = QualifiedName(shape.name.namespace, "\(shape.name.name)#\(dynamicShapes.count + 1)")
        dynamicShapes[name] = shape
        return name
    }

    /// Returns the shape of a type by its name. Unqualified names are searched in all schemas (OData URL
    /// Conventions 4.01, 4.11: default namespaces).
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

    /// Returns the target shape of a cast.
    ///
    /// - Returns: `nil` if no structured type has the name.
    /// - Throws: an error if the type is neither derived from the current type nor a base of it.
    func cast(from shape: TypeShape, to name: Identifier) throws(QueryError) -> TypeShape? {
        guard let target = self.shape(named: name.text) else { return nil }
        if shape.name == Self.anyEntity, target.kind == .entity { return target }
        guard model.isType(target.name, shape.name) || model.isType(shape.name, target.name) else {
            // A name without a namespace may also be a key or a navigation property of a derived type.
            guard name.text.contains(".") else { return nil }
            throw QueryError(
                .type, "\(target.name) does not derive from \(shape.name).", offset: name.offset,
                suggestions: nearest(to: name.text, among: model.derivedTypes(of: shape.name).map(\.description)))
        }
        return target
    }

    /// Returns the qualified names that a name may denote, with aliases replaced by namespaces.
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

    /// Returns the error for an unknown property, with similar names.
    func unknownProperty(_ name: Identifier, of shape: TypeShape, also more: some Sequence<String> = []) -> QueryError {
        let names = shape.properties.map(\.name) + shape.navigationProperties.map(\.name) + more
        let steps = name.text.split(separator: ".").map(String.init)
        let isPath = steps.count > 1 && names.contains(steps[0])
        return QueryError(
            .unknownName, "\(shape.name) has no property \(name.text).", offset: name.offset,
            suggestions: isPath ? [] : nearest(to: name.text, among: names),
            hint: isPath ? "Write \(steps.joined(separator: "/"))." : nil)
    }

    func unsupported(_ feature: String, at offset: Int?) -> QueryError {
        QueryError(.unsupported(feature: feature), "\(feature) is not supported here.", offset: offset)
    }

    func typeError(_ message: String, at offset: Int?) -> QueryError { QueryError(.type, message, offset: offset) }
}

extension CommonExpression {
    /// The offset of the first name or literal in the text; `nil` for an expression built in code.
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
    /// The offset of the aggregated expression in the text; `nil` for an item built in code.
    var offset: Int? {
        switch operand {
        case .count(let path): path.first?.offset ?? name?.offset
        case .expression(let expression, let method): expression.offset ?? method.offset
        case .custom(let name): name.offset
        }
    }
}

extension PathStep {
    /// The offset of the step's name in the text; `nil` if it has none.
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
