import ODataModel
import ODataQuery

/// The bound operations of V4 as V2 function imports, which have the key of the entity as parameters and state its
/// type in `sap:action-for` (SAP Annotations for OData Version 2.0, *Element edm:FunctionImport*).
///
/// `Products(7)/Shop.Activate` is `Product_Activate?ID=7` in V2. A type with no entity set or with several is not
/// supported, since the entity would be ambiguous.
struct V2BoundOperations: Sendable {
    /// The target of a function import.
    private struct Call {
        var set: EntitySet
        /// The type to which the operation is bound.
        var type: QualifiedName
        var operation: QualifiedName
        /// The names of the parameters for the key.
        var key: [String]
    }

    private var calls: [String: Call] = [:]
    private var imports: [OperationImport] = []
    private var operations: [ODataOperation] = []

    /// Collects the operations of a V4 model; empty for older models, which have function imports already.
    init(of model: EntityDataModel) {
        guard model.version >= .v4 else { return }
        let container = model.container
        let taken = Set(
            container.entitySets.map(\.name) + container.singletons.map(\.name)
                + container.operationImports.map(\.name))
        for operation in model.schemas.flatMap(\.operations) where operation.isBound {
            guard case .entity(let type?)? = operation.parameters.first?.type, let shape = model.shape(type),
                let set = Self.onlySet(of: type, model)
            else { continue }
            let key = shape.key.map(\.name)
            let name = "\(type.name)_\(operation.name.name)"
            let isClear =
                !key.isEmpty && shape.key.allSatisfy { $0.path == $0.name }
                && !operation.ownParameters.contains { key.contains($0.name) }
            let qualified = QualifiedName(operation.name.namespace, name)
            guard isClear, !taken.contains(name), model.operations(qualified).isEmpty else { continue }
            var call = operation
            call.name = qualified
            call.isBound = false
            call.entitySetPath = nil
            call.parameters =
                key.compactMap { name in
                    shape.property(name).map {
                        ODataOperation.Parameter(name: name, type: $0.type, isNullable: false, facets: $0.facets)
                    }
                } + operation.ownParameters
            operations.append(call)
            // One import represents all overloads.
            guard calls[name] == nil else { continue }
            calls[name] = Call(set: set, type: type, operation: operation.name, key: key)
            imports.append(
                OperationImport(
                    name: name, operation: qualified, kind: operation.kind,
                    entitySet: Self.resultSet(of: operation, model)?.name,
                    annotations: Self.annotations(of: operation, shape)))
        }
    }

    private static func onlySet(of type: QualifiedName, _ model: EntityDataModel) -> EntitySet? {
        let sets = model.container.entitySets.filter { model.isType(type, $0.type) }
        return sets.count == 1 ? sets.first : nil
    }

    private static func resultSet(of operation: ODataOperation, _ model: EntityDataModel) -> EntitySet? {
        guard case .entity(let type?)? = operation.returnType?.element else { return nil }
        return onlySet(of: type, model)
    }

    private static func annotations(of operation: ODataOperation, _ shape: TypeShape) -> [Annotation] {
        func attribute(_ name: String, _ text: String) -> Annotation {
            Annotation(term: "sap:\(name)", value: .constant(kind: "String", text: text))
        }
        var result = [attribute("action-for", shape.name.description)]
        if let label = operation.label { result.append(attribute("label", label)) }
        // `Core.OperationAvailable` starts at the binding parameter, the attribute at the entity.
        if case .path(_, let text)? = operation.annotation(Vocabulary.operationAvailable)?.value,
            let binding = operation.parameters.first?.name, text.hasPrefix(binding + "/")
        {
            result.append(attribute("applicable-path", String(text.dropFirst(binding.count + 1))))
        }
        return result
    }

    /// Returns a model with the function imports.
    ///
    /// - Throws: ``ModelError`` if the changed model is invalid.
    func adding(to model: EntityDataModel) throws(ModelError) -> EntityDataModel {
        guard !imports.isEmpty else { return model }
        var schemas = model.schemas
        for index in schemas.indices {
            schemas[index].operations += operations.filter { $0.name.namespace == schemas[index].namespace }
            schemas[index].container?.operationImports += imports
        }
        return try EntityDataModel(
            schemas: schemas, version: model.version, includedSchemas: model.includedSchemas,
            references: model.references)
    }

    /// Translates a call of a function import to a URL of the service; other URLs are unchanged.
    ///
    /// - Throws: ``QueryError`` if a part of the key is missing or not a literal.
    func url(calledBy url: ODataURL) throws(QueryError) -> ODataURL {
        guard case .name(let name, .none)? = url.path.segments.first, let call = calls[name.text] else { return url }
        var key: [CommonExpression.NamedArgument] = []
        for part in call.key {
            guard let option = url.options.custom.first(where: { $0.name == part }),
                let value = try? CommonExpression(parsing: option.value, options: ParsingOptions(dialect: .v2))
            else {
                throw QueryError(.syntax, "\(name) needs the parameter \(part) of the key.", offset: name.offset)
            }
            key.append(.init(name: Identifier(part), value: value))
        }
        let arguments: PathArguments = key.count == 1 ? .key(.single(key[0].value)) : .named(key)
        var segments: [PathSegment] = [.name(Identifier(call.set.name), arguments)]
        if call.type != call.set.type { segments.append(.name(Identifier(call.type.description), .none)) }
        segments.append(.name(Identifier(call.operation.description), .none))
        var url = url
        url.path.segments.replaceSubrange(0..<1, with: segments)
        return url
    }

    /// Returns the name of the function import for an operation of the service; `nil` for an unbound operation.
    func name(calling operation: ODataOperation) -> String? {
        guard operation.isBound, case .entity(let type?)? = operation.parameters.first?.type else { return nil }
        let name = "\(type.name)_\(operation.name.name)"
        return calls[name]?.operation == operation.name ? name : nil
    }
}
