import ODataModel
import ODataQuery

/// Calls functions, actions and the function imports of V2 (OData Protocol 4.01, 11.5).
extension DataService {
    /// Calls an action by its URL (OData Protocol 4.01, 11.5.5).
    public func invoke(_ url: ODataURL, _ parameters: [String: ODataValue] = [:]) async throws -> ODataResponse {
        try await send(ODataRequest(.create, url, body: .parameters(parameters)))
    }

    /// Calls an operation by name: an imported or bound function or action, or a function import of V2.
    ///
    /// The metadata determine the kind of the operation.
    ///
    /// ```swift
    /// let nearest = try await service.call("GetNearestAirport", ["lat": 33, "lon": -118])
    /// try await service.call("Shop.Discount", ["percent": 10], on: order)
    /// ```
    /// - Parameters:
    ///   - name: the name of an import, or the name of a bound operation with or without its namespace.
    ///   - parameters: the values by parameter name.
    ///   - binding: the URL of the collection or entity that the operation is bound to.
    /// - Throws: ``DataServiceError/unknownOperation(_:)`` and the errors of the provider.
    @discardableResult
    public func call(
        _ name: String, _ parameters: [String: ODataValue] = [:], on binding: ODataURL? = nil
    ) async throws -> ODataResponse {
        let model = try await provider.model
        var url = binding ?? ODataURL()
        let operation: ODataOperation
        if binding == nil {
            guard let imported = Self.overload(model.operationImports(name), parameters, in: model) else {
                throw DataServiceError.unknownOperation(name)
            }
            operation = imported
            url.path.segments.append(.name(Identifier(name), .none))
        } else {
            guard let bound = try Self.bound(name, parameters, in: model) else {
                throw DataServiceError.unknownOperation(name)
            }
            operation = bound
            url.path.segments.append(.name(Identifier(bound.name.description), .none))
        }
        if operation.kind == .action {
            return try await send(ODataRequest(.create, url, body: .parameters(parameters)))
        }
        Self.append(parameters, of: operation, to: &url, model)
        return try await send(ODataRequest(.read, url))
    }

    /// Calls an operation that is bound to an entity.
    @discardableResult
    public func call(
        _ name: String, _ parameters: [String: ODataValue] = [:], on entity: ODataEntity, in set: String? = nil
    ) async throws -> ODataResponse {
        let set = try await self.set(of: entity.shape.name, named: set)
        guard let key = entity.key else { throw DataServiceError.notAddressable(type: entity.shape.name) }
        return try await call(
            name, parameters, on: ODataURL(set: set, key: key, model: try await provider.model))
    }

    /// Checks that the service responds: requests its service document and ignores the content.
    ///
    /// - Throws: the errors of the provider, such as a transport error.
    public func ping() async throws { _ = try await send(ODataRequest(.read, ODataURL())) }

    private static func overload(
        _ imports: [OperationImport], _ parameters: [String: ODataValue], in model: EntityDataModel
    ) -> ODataOperation? {
        let candidates = imports.flatMap { imported in
            model.operations(imported.operation).filter { !$0.isBound && $0.kind == imported.kind }
        }
        let names = Set(parameters.keys)
        return candidates.first { Set($0.parameters.map(\.name)) == names } ?? candidates.first
    }

    private static func bound(
        _ name: String, _ parameters: [String: ODataValue], in model: EntityDataModel
    ) throws -> ODataOperation? {
        let names =
            QualifiedName(name).map { [$0] } ?? model.schemas.compactMap { QualifiedName("\($0.namespace).\(name)") }
        let candidates = names.flatMap { model.operations($0) }.filter(\.isBound)
        let given = Set(parameters.keys)
        return candidates.first { Set($0.parameters.dropFirst().map(\.name)) == given } ?? candidates.first
    }

    /// Adds the parameters of a function to a URL: in the path as literals, or else through aliases (OData Protocol
    /// 4.01, 11.5.4.1).
    private static func append(
        _ parameters: [String: ODataValue], of operation: ODataOperation, to url: inout ODataURL,
        _ model: EntityDataModel
    ) {
        let arguments = parameters.sorted { $0.key < $1.key }.map { name, value in
            let type = operation.parameters.first { $0.name == name }?.type
            switch value {
            case .complex, .collection:
                var json = JSONWriter()
                json.value(value, type: type, model: model)
                url.options.aliases[name] = .json(String(decoding: json.bytes, as: UTF8.self))
                return CommonExpression.NamedArgument(name: Identifier(name), value: .alias(Identifier(name)))
            default:
                return CommonExpression.NamedArgument(
                    name: Identifier(name), value: .literal(Literal(of: value, type: type, model: model)))
            }
        }
        guard case .name(let name, _)? = url.path.segments.popLast() else { return }
        url.path.segments.append(.name(name, arguments.isEmpty ? .empty : .named(arguments)))
    }
}

extension Literal {
    /// Creates a literal of a type. Enumeration values need the names of their members.
    init(of value: ODataValue, type: TypeReference?, model: EntityDataModel?) {
        if case .enumeration(let number) = value, case .enumeration(let name)? = type,
            let members = model?.enumType(name)?.text(of: number)
        {
            self.init(value, enumeration: EnumerationText(type: name.description, members: members))
        } else {
            self.init(value, type: type?.primitive)
        }
    }
}
