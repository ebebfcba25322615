import ODataModel
import ODataQuery
import ODataService

/// Changes by an action of the service with arguments of its own. Generated code calls them.
extension ObjectTransaction {
    /// Creates an object by an action with the role `Create`.
    ///
    /// - Parameters:
    ///   - operation: the action.
    ///   - arguments: the values of the parameters that no attribute fills.
    /// - Throws: ``ObjectError/noSuchOperation(name:of:)``, ``ObjectError/missingArgument(name:of:)``, `ODataError`.
    @discardableResult
    public func create<Object: BusinessObject>(
        _ object: Object, by operation: QualifiedName, _ arguments: OperationParameters = OperationParameters()
    ) throws -> Object where Object.Package == Package {
        let call = RoleCall(name: operation.description, arguments: arguments)
        let url = ODataURL(set: Object.objectType.entitySet)
        return try read(insert(object.odataEntity, at: url, by: call), of: object)
    }

    /// Changes an object by an action with the role `Update`.
    ///
    /// - Throws: as ``create(_:by:_:)``, and ``ObjectError/notSaved(type:)``.
    @discardableResult
    public func update<Object: BusinessObject>(
        _ object: Object, by operation: QualifiedName, _ arguments: OperationParameters = OperationParameters()
    ) throws -> Object where Object.Package == Package {
        let row = try object.requiredRow()
        try change(object.odataEntity, row, by: RoleCall(name: operation.description, arguments: arguments))
        return try read(row, of: object)
    }

    /// Deletes an object by an action with the role `Delete`.
    ///
    /// - Throws: as ``update(_:by:_:)``.
    @discardableResult
    public func delete<Object: BusinessObject>(
        _ object: Object, by operation: QualifiedName, _ arguments: OperationParameters = OperationParameters()
    ) throws -> Object where Object.Package == Package {
        let call = RoleCall(name: operation.description, arguments: arguments)
        var deleted = object
        deleted.odataEntity = try delete(object.odataEntity, try object.requiredRow(), by: call)
        return deleted
    }
}

/// Changes by an action of the service with arguments of its own. Generated code calls them.
extension PackageDatabase {
    /// Creates an object by an action with the role `Create`; see the verb of ``ObjectTransaction``.
    @discardableResult
    public func create<Object: BusinessObject>(
        _ object: Object, by operation: QualifiedName, _ arguments: OperationParameters = OperationParameters()
    ) async throws -> Object where Object.Package == Package {
        try await transaction { try $0.create(object, by: operation, arguments) }
    }

    /// Changes an object by an action with the role `Update`; see the verb of ``ObjectTransaction``.
    @discardableResult
    public func update<Object: BusinessObject>(
        _ object: Object, by operation: QualifiedName, _ arguments: OperationParameters = OperationParameters()
    ) async throws -> Object where Object.Package == Package {
        try await transaction { try $0.update(object, by: operation, arguments) }
    }

    /// Deletes an object by an action with the role `Delete`; see the verb of ``ObjectTransaction``.
    @discardableResult
    public func delete<Object: BusinessObject>(
        _ object: Object, by operation: QualifiedName, _ arguments: OperationParameters = OperationParameters()
    ) async throws -> Object where Object.Package == Package {
        try await transaction { try $0.delete(object, by: operation, arguments) }
    }
}
