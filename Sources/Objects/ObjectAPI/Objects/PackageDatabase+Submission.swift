import ODataModel
import OfflineOData

/// Submitting and cancelling changes.
extension PackageDatabase {
    /// Submits the changes of an object with the whole composite tree that it is in. The next synchronization sends
    /// them, as one change set if the service has change sets. Refused changes are submitted again.
    ///
    /// - Throws: ``ObjectError/notSaved(type:)``.
    public func submitPending<Object: BusinessObject>(_ object: Object) async throws where Object.Package == Package {
        try await store.changes.submit(.entity(try object.requiredRow()))
    }

    /// Submits an operation.
    public func submitPending(_ operation: PendingOperation<Package>) async throws {
        try await store.changes.submit(.call(operation.id))
    }

    /// Submits the changes of all objects of a type.
    public func submitPending<Object: BusinessObject>(_ type: Object.Type) async throws
    where Object.Package == Package {
        try await store.changes.submit(.sets([Object.objectType.entitySet]))
    }

    /// Submits the changes of a synchronization group.
    public func submitPending(in group: GroupName<Package>) async throws {
        try await store.changes.submit(.category(group.rawValue))
    }

    /// Submits all changes.
    public func submitAllPending() async throws { try await store.changes.submit(.all) }

    /// Takes back the changes of an object and of its parts that were not sent. If a change is on its way, changes that
    /// were saved behind it are taken back alone.
    ///
    /// - Returns: the object as it was; `nil` for an object that was created here.
    /// - Throws: ``ObjectError/alreadySubmitted(object:)`` if the change is on its way and nothing was saved behind it.
    @discardableResult
    public func cancelPending<Object: BusinessObject>(
        _ object: Object
    ) async throws -> Object? where Object.Package == Package {
        let row = try object.requiredRow()
        try await cancel(.entity(row), object: object.odataEntity.control.id ?? Object.objectType.entitySet)
        return try await store.changes.entity(of: row).map { try Object(row: $0) }
    }

    /// Takes back the changes of all objects of a type that were not sent.
    public func cancelPending<Object: BusinessObject>(_ type: Object.Type) async throws
    where Object.Package == Package {
        try await cancel(.sets([Object.objectType.entitySet]), object: Object.objectType.entitySet)
    }

    /// Takes back an operation that was not sent.
    ///
    /// - Throws: ``ObjectError/alreadySubmitted(object:)``.
    public func cancelPending(_ operation: PendingOperation<Package>) async throws {
        try await cancel(.call(operation.id), object: "operation \(operation.id)")
    }

    /// Takes back all changes that were not sent.
    public func cancelAllPending() async throws { try await cancel(.all, object: "the package") }

    /// Returns whether changes wait, are on their way or were refused.
    public func hasPendingChanges() async throws -> Bool {
        let status = try await store.observe.status()
        return !(status.held.isEmpty && status.pending.isEmpty && status.failed.isEmpty)
    }

    private func cancel(_ scope: ChangeScope, object: String) async throws {
        do {
            try await store.changes.cancel(scope)
        } catch {
            throw ObjectError.translating(error, object: object)
        }
    }
}
