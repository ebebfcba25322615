import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// Changes of a store that are made together or not at all, see ``OfflineODataProvider/transaction(options:_:)``.
///
/// It is valid only within the closure that it was given to.
public final class LocalTransaction {
    private let provider: OfflineODataProvider
    private let options: ChangeOptions
    let database: Database

    init(provider: OfflineODataProvider, options: ChangeOptions, database: Database) {
        self.provider = provider
        self.options = options
        self.database = database
    }

    /// Makes a change as ``OfflineODataProvider/execute(_:)`` would.
    ///
    /// - Parameter request: a change of the store; options that it has itself count.
    /// - Throws: `ODataError`, also for a read or a batch; nothing of the transaction stays then unless the
    ///   closure catches it, and nothing of this change even if it does.
    @discardableResult
    public func perform(_ request: ODataRequest) throws -> ODataResponse {
        if case .batch = request.body { throw ODataError.notImplemented("A batch within a transaction") }
        guard request.method != .read else { throw ODataError.notImplemented("A read as a change") }
        var request = request
        if request.headers[ChangeOptions.field] == nil {
            try options.apply(to: &request)
        } else {
            try ChangeOptions.setChangeSet(options.changeSet, of: &request)
        }
        let change = try provider.followingAlias(request, in: database) ?? request
        var response: ODataResponse?
        do {
            try database.inSavepoint {
                response = try provider.local.change(change, in: database)
                return .commit
            }
        } catch {
            throw ODataError(translating: error)
        }
        return response ?? ODataResponse(status: 204)
    }

    /// Creates an entity, with related ones in it.
    ///
    /// - Parameters:
    ///   - entity: the entity; keys that the service gives may be left out.
    ///   - set: the entity set, or a path to a related collection such as `Orders(10248)/Order_Lines`.
    /// - Returns: the entity as the store has it, with its temporary key.
    /// - Throws: as ``perform(_:)``; `QueryError` for a path that is none.
    @discardableResult
    public func create(_ entity: Entity, in set: String) throws -> Entity {
        let request = ODataRequest(
            .create, try ODataURL(parsing: set), body: .entity(entity),
            preferences: Preferences(returns: .representation))
        guard case .entity(let created) = try perform(request).body else { return entity }
        return created
    }

    /// Creates an entity of a set's own type from names and values.
    ///
    /// - Throws: as ``create(_:in:)``.
    @discardableResult
    public func create(_ set: String, _ properties: [String: ODataValue]) throws -> Entity {
        try create(Entity(shape: try shape(of: set), properties), in: set)
    }

    /// Changes properties of an entity.
    ///
    /// - Parameters:
    ///   - entity: the entity by its key, such as `Orders(10248)`.
    ///   - properties: the new values.
    /// - Throws: as ``perform(_:)``.
    public func update(_ entity: String, _ properties: [String: ODataValue]) throws {
        try perform(
            ODataRequest(
                .update, try ODataURL(parsing: entity), body: .entity(Entity(shape: try shape(of: entity), properties)))
        )
    }

    /// Deletes an entity by its key.
    ///
    /// - Throws: as ``perform(_:)``.
    public func delete(_ entity: String) throws {
        try perform(ODataRequest(.delete, try ODataURL(parsing: entity)))
    }

    /// What a query finds, with the changes of this transaction.
    ///
    /// - Parameter query: a collection of entities with query options, or one entity.
    /// - Throws: `ODataError`; `QueryError`.
    public func entities(_ query: String) throws -> [Entity] {
        try provider.local.entities(StateFunctions.rewriting(ODataURL(parsing: query)), in: database)
    }

    private func shape(of url: String) throws -> Shape {
        switch try Binder(model: provider.model).bind(ODataURL(parsing: url)).resource.target {
        case .entities(let shape, _), .entity(let shape, _): return shape
        default: throw ODataError(status: 400, code: "InvalidTarget", message: "\(url) is no entity and no set.")
        }
    }
}

extension OfflineODataProvider {
    /// Makes several changes together or not at all: in one transaction here, and as one change set for the service
    /// where it has change sets. Where it has none, they are sent one after the other, and what follows one that was
    /// refused waits for it. A change that mends a request which was refused before makes that one of them.
    ///
    /// ```swift
    /// try await store.transaction { changes in
    ///     let order = try changes.create("Orders", ["CustomerID": "ALFKI"])
    ///     try changes.create("Order_Lines", ["OrderID": order["OrderID"] ?? .null, "ProductID": 11, "Quantity": 2])
    /// }
    /// ```
    /// - Parameters:
    ///   - options: how the changes are treated.
    ///   - body: makes the changes. It must not wait for anything: the store cannot be edited meanwhile.
    /// - Returns: what the closure returns.
    /// - Throws: what the closure throws, and nothing was changed then; `StoreError`.
    public func transaction<Value: Sendable>(
        options: ChangeOptions = ChangeOptions(),
        _ body: @escaping @Sendable (LocalTransaction) throws -> Value
    ) async throws -> Value {
        var options = options
        options.changeSet = self.options.environment.newGuid().description
        return try await database.write { [self, options] database in
            try body(LocalTransaction(provider: self, options: options, database: database))
        }
    }

    /// A batch whose change sets stay together in the queue.
    func markingChangeSets(_ items: [BatchItem]) async throws -> [BatchItem] {
        var names: [String: String] = [:]
        var items = items
        for index in items.indices {
            if let redirected = try await followingAlias(items[index].request) { items[index].request = redirected }
            guard let group = items[index].atomicityGroup else { continue }
            let name = names[group] ?? options.environment.newGuid().description
            names[group] = name
            try ChangeOptions.setChangeSet(name, of: &items[index].request)
        }
        return items
    }
}
