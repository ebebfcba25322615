import ODataModel
import ODataService
import OfflineOData

/// Local changes. Nothing is sent before it is submitted and the package is synchronized.
extension PackageDatabase {
    /// Creates an object.
    ///
    /// - Returns: the object as the database has it, with a temporary key if the service gives the key.
    /// - Throws: `ODataError` if a value does not fit its attribute.
    @discardableResult
    public func create<Object: Creatable>(_ object: Object) async throws -> Object where Object.Package == Package {
        try await transaction { try $0.create(object) }
    }

    /// Creates an object as a related object of another one, so that its foreign key is set.
    ///
    /// ```swift
    /// let order = try await crm.create(SalesOrder(amount: 12.50), in: \.salesOrders, of: customer)
    /// ```
    /// - Throws: ``ObjectError/notSaved(type:)`` if the other object was never saved; `ODataError`.
    @discardableResult
    public func create<Parent: BusinessObject, Object: Creatable>(
        _ object: Object, in path: KeyPath<Parent.Paths, NavigationCollectionPath<Object>> & Sendable, of parent: Parent
    ) async throws -> Object where Object.Package == Package, Parent.Package == Package {
        try await transaction { try $0.create(object, in: path, of: parent) }
    }

    /// Changes an object: the attributes that were set, and its expanded parts. An object without changes stays as it
    /// is.
    ///
    /// - Throws: ``ObjectError/notSaved(type:)``, ``ObjectError/objectNotFound(type:object:)``, `ODataError`.
    @discardableResult
    public func update<Object: Updatable>(_ object: Object) async throws -> Object where Object.Package == Package {
        try await transaction { try $0.update(object) }
    }

    /// Creates an object that was never saved, or changes another one; then saves each expanded part that is new or
    /// changed. Parts that are missing from the value are not deleted.
    ///
    /// - Throws: ``ObjectError/objectNotFound(type:object:)``, `ODataError`; nothing is changed then.
    @discardableResult
    public func save<Object: Savable>(_ object: Object) async throws -> Object where Object.Package == Package {
        try await transaction { try $0.save(object) }
    }

    /// Deletes an object.
    ///
    /// - Returns: the object with `objectState.isDeleted`.
    /// - Throws: ``ObjectError/notSaved(type:)``, ``ObjectError/objectNotFound(type:object:)``, `ODataError`.
    @discardableResult
    public func delete<Object: Deletable>(_ object: Object) async throws -> Object where Object.Package == Package {
        try await transaction { try $0.delete(object) }
    }

    /// Saves an operation: a call of an action, which is held until it is submitted.
    ///
    /// ```swift
    /// let rename = try await crm.save(Customer.ChangeLastName(of: customer, oldName: "Smith", newName: "Jones"))
    /// try await crm.submitPending(rename)
    /// ```
    @discardableResult
    public func save<Operation: ObjectOperation>(
        _ operation: Operation
    ) async throws -> PendingOperation<Package> where Operation.Package == Package {
        try await transaction { try $0.save(operation) }
    }

    /// Reads an object again, also if its key has changed.
    ///
    /// - Throws: ``ObjectError/objectNotFound(type:object:)`` if the object is gone, ``ObjectError/notSaved(type:)``.
    public func refresh<Object: BusinessObject>(_ object: Object) async throws -> Object
    where Object.Package == Package {
        guard let entity = try await store.changes.entity(of: try object.requiredRow()) else {
            throw ObjectError.objectNotFound(
                type: Object.typeName, object: object.odataEntity.control.id ?? Object.objectType.entitySet)
        }
        return try Object(row: entity)
    }

    /// Makes several local changes together or not at all. If the closure throws, nothing is changed.
    ///
    /// ```swift
    /// let created = try await crm.transaction { changes in
    ///     let ada = try changes.create(Customer(lastName: "Lovelace", region: "North"))
    ///     try changes.create(SalesOrder(amount: 3), in: \.salesOrders, of: ada)
    ///     return ada
    /// }
    /// ```
    /// - Parameter body: makes the changes. It must not wait for anything.
    /// - Returns: the result of the closure.
    public func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (ObjectTransaction<Package>) throws -> Value
    ) async throws -> Value {
        try await store.changes.transaction(options: ChangeOptions(isHeld: true), sendsTogether: false) {
            [package, model = store.model] local in
            try body(ObjectTransaction(local: local, package: package, model: model))
        }
    }
}
