import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// The result of an operation that was called by name.
public enum Invocation<Package: ObjectPackage>: Sendable {
    /// The object that was created, changed or deleted.
    case object(DynamicObject)
    /// The call that is held until it is submitted.
    case pending(PendingOperation<Package>)
}

/// Objects and operations by name, for code that knows no generated types.
extension PackageDatabase {
    /// Returns the objects of a type.
    ///
    /// - Parameter name: the qualified or unqualified name of the type.
    /// - Throws: ``ObjectError/noSuchEntity(name:)``.
    public func objects(named name: String) throws(ObjectError) -> DynamicObjects<Package> {
        try DynamicObjects(name, in: self)
    }

    /// Returns a large attribute.
    ///
    /// - Throws: ``ObjectError/noSuchAttribute(name:of:)``; ``ObjectError/invalidType(name:expected:)`` for an
    ///   attribute that is not large.
    public func large(_ attribute: String, of object: DynamicObject) throws(ObjectError) -> LargeAttribute {
        guard let property = object.entity.shape.property(attribute) else {
            throw .noSuchAttribute(name: attribute, of: object.typeName.description)
        }
        guard property.type == .primitive(.stream) else {
            throw .invalidType(name: attribute, expected: PrimitiveType.stream.rawValue)
        }
        return large(attribute, of: object.entity)
    }

    // MARK: Changes

    /// Creates an object that was never saved, or changes another one.
    ///
    /// - Throws: ``ObjectError/objectNotFound(type:object:)``, ``ObjectError/missingArgument(name:of:)`` if the package
    ///   has only an operation with arguments for it, `ODataError`.
    @discardableResult
    public func save(_ object: DynamicObject) async throws -> DynamicObject {
        try await transaction { try $0.save(object, by: nil) }
    }

    /// Deletes an object.
    ///
    /// - Returns: the object with `objectState.isDeleted`.
    /// - Throws: ``ObjectError/notSaved(type:)``; as ``save(_:)-(DynamicObject)``.
    @discardableResult
    public func delete(_ object: DynamicObject) async throws -> DynamicObject {
        try await transaction { try $0.delete(object, by: nil) }
    }

    /// Reads an object again, also if its key has changed.
    ///
    /// - Throws: ``ObjectError/objectNotFound(type:object:)``, ``ObjectError/notSaved(type:)``.
    public func refresh(_ object: DynamicObject) async throws -> DynamicObject {
        guard let entity = try await store.changes.entity(of: try object.requiredRow()) else {
            throw ObjectError.objectNotFound(
                type: object.typeName, object: object.entity.control.id ?? object.typeName.description)
        }
        return object.with(entity)
    }

    /// Submits the changes of an object with the whole composite tree that it is in.
    ///
    /// - Throws: ``ObjectError/notSaved(type:)``.
    public func submitPending(_ object: DynamicObject) async throws {
        try await store.changes.submit(.entity(try object.requiredRow()))
    }

    /// Takes back the changes of an object and of its parts that were not sent.
    ///
    /// - Returns: the object as it was; `nil` for an object that was created here.
    /// - Throws: ``ObjectError/alreadySubmitted(object:)``, ``ObjectError/notSaved(type:)``.
    @discardableResult
    public func cancelPending(_ object: DynamicObject) async throws -> DynamicObject? {
        let row = try object.requiredRow()
        do {
            try await store.changes.cancel(.entity(row))
        } catch {
            throw ObjectError.translating(error, object: object.entity.control.id ?? object.typeName.description)
        }
        return try await store.changes.entity(of: row).map(object.with)
    }

    // MARK: Operations

    /// Calls an operation: `create`, `update` or `delete`, an action with one of these roles, or another action, which
    /// is held until it is submitted.
    ///
    /// ```swift
    /// try await crm.invoke("ChangeLastName", on: customer, ["OldName": "Smith", "NewName": "Jones"])
    /// ```
    /// - Parameters:
    ///   - name: the name in the metadata, or the qualified name of an action.
    ///   - object: the object; `nil` for an operation that is bound to none.
    ///   - arguments: the values of the parameters that no attribute fills.
    /// - Throws: ``ObjectError/noSuchOperation(name:of:)``, ``ObjectError/noSuchParameter(name:of:)``,
    ///   ``ObjectError/missingArgument(name:of:)``, ``ObjectError/invalidType(name:expected:)``,
    ///   ``ObjectError/notSaved(type:)``, `ODataError`.
    @discardableResult
    public func invoke(
        _ name: String, on object: DynamicObject? = nil, _ arguments: [String: ODataValue] = [:]
    ) async throws -> Invocation<Package> {
        let parameters = OperationParameters(arguments)
        let model = store.model
        guard let object else {
            let found = model.container.operationImports.filter { $0.kind == .action }.sorted { $0.name < $1.name }
                .flatMap { operationImport in
                    model.operations(operationImport.operation).filter { !$0.isBound }.map {
                        (operationImport.name, $0)
                    }
                }.first { [$0.0, $0.1.name.name, $0.1.name.description].contains(name) }
            guard let (urlName, operation) = found, PackageModel.role(of: operation).kind == .other else {
                throw ObjectError.noSuchOperation(name: name, of: package.name)
            }
            try RoleCalls.check(arguments, operation.parameters, of: urlName, model: model)
            return .pending(try await transaction { try $0.call(urlName, on: nil, parameters) })
        }
        let type = object.typeName
        guard let operation = metadata.entity(type.description)?.operation(name) else {
            throw ObjectError.noSuchOperation(name: name, of: type.description)
        }
        // The verbs of a set have no arguments beside the attributes.
        if operation.action == nil, let first = arguments.keys.min() {
            throw ObjectError.noSuchParameter(name: first, of: "\(type)/\(name)")
        }
        let call = operation.action.map { RoleCall(name: $0.description, arguments: parameters) }
        switch operation.role {
        case .create: return .object(try await transaction { try $0.create(object, by: call) })
        case .update: return .object(try await transaction { try $0.update(object, by: call) })
        case .delete: return .object(try await transaction { try $0.delete(object, by: call) })
        case .other: break
        }
        let action = BoundActions(model).others(of: type).first { $0.name == operation.action }
        guard let action else { throw ObjectError.noSuchOperation(name: name, of: type.description) }
        try RoleCalls.check(arguments, Array(action.parameters.dropFirst()), of: action.name.description, model: model)
        let target = try ObjectReference(object)
        return .pending(
            try await transaction { try $0.call(action.name.description, on: target, parameters) })
    }
}

extension ObjectTransaction {
    func create(_ object: DynamicObject, by call: RoleCall?) throws -> DynamicObject {
        guard let place = EntityPlace(object.typeName, model) else {
            throw ObjectError.noSuchEntity(name: object.typeName.description)
        }
        let row = try insert(object.entity, at: ODataURL(set: place.entitySet.name), by: call)
        return object.with(try read(row, of: object.entity))
    }

    func update(_ object: DynamicObject, by call: RoleCall?) throws -> DynamicObject {
        let row = try object.requiredRow()
        try change(object.entity, row, by: call)
        return object.with(try read(row, of: object.entity))
    }

    func save(_ object: DynamicObject, by call: RoleCall?) throws -> DynamicObject {
        object.entity.replayState == nil ? try create(object, by: call) : try update(object, by: call)
    }

    func delete(_ object: DynamicObject, by call: RoleCall?) throws -> DynamicObject {
        object.with(try delete(object.entity, try object.requiredRow(), by: call))
    }
}
