import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Changes of a store that are made together or not at all, see ``OfflineStore/Changes/transaction(options:_:)``.
///
/// It is valid only within the closure that it was given to.
public final class LocalTransaction {
    let provider: OfflineStore
    private let options: ChangeOptions
    let database: Database

    init(provider: OfflineStore, options: ChangeOptions, database: Database) {
        self.provider = provider
        self.options = options
        self.database = database
    }

    /// Makes a change as ``OfflineStore/execute(_:)`` would: of an entity, of the engine's own sets
    /// (``EngineSet``), or by an action, which is queued with the other changes.
    ///
    /// - Parameter request: a change of the store; options that it has itself count.
    /// - Throws: `ODataError`, also for a read or a batch, for a call at once
    ///   (``ChangeOptions/operationMode``), which could not be undone with the rest, and for a stream, which is sent
    ///   by itself; nothing of the transaction stays then unless the closure catches it, and nothing of this change
    ///   even if it does.
    @discardableResult
    public func perform(_ request: ODataRequest) throws -> ODataResponse {
        if case .batch = request.body { throw ODataError.notImplemented("A batch within a transaction") }
        guard request.method != .read else { throw ODataError.notImplemented("A read as a change") }
        var request = request
        if request.context.changeOptions == nil {
            request.context.changeOptions = options
        } else {
            ChangeOptions.setChangeSet(options.changeSet, of: &request)
        }
        var response: ODataResponse?
        do {
            try database.inSavepoint {
                response = try provider.change(request, in: database)
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
    public func create(_ entity: ODataEntity, in set: String) throws -> ODataEntity {
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
    public func create(_ set: String, _ properties: [String: ODataValue]) throws -> ODataEntity {
        try create(ODataEntity(shape: try shape(of: set), properties), in: set)
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
                .update, try ODataURL(parsing: entity),
                body: .entity(ODataEntity(shape: try shape(of: entity), properties)))
        )
    }

    /// Deletes an entity by its key.
    ///
    /// - Throws: as ``perform(_:)``.
    public func delete(_ entity: String) throws {
        try perform(ODataRequest(.delete, try ODataURL(parsing: entity)))
    }

    /// What a query finds, with the changes of this transaction, in the engine's own sets too (``EngineSet``). The
    /// entities tell what became of their changes (``ODataModel/ODataEntity/isLocal`` and others).
    ///
    /// - Parameter query: a collection of entities with query options, or one entity.
    /// - Throws: `ODataError`; `QueryError`.
    public func entities(_ query: String) throws -> [ODataEntity] {
        try provider.entities(ODataURL(parsing: query), in: database)
    }

    private func shape(of url: String) throws -> TypeShape {
        switch try Binder(model: provider.model).bind(ODataURL(parsing: url)).resource.target {
        case .entities(let shape, _), .entity(let shape, _): return shape
        default: throw ODataError(status: 400, code: "InvalidTarget", message: "\(url) is no entity and no set.")
        }
    }
}

extension OfflineStore.Changes {
    /// Makes several changes together or not at all: in one transaction here, and as one change set for the service
    /// where it has change sets. Where it has none, they are sent one after the other, and what follows one that was
    /// refused waits for it. A change that mends a request which was refused before makes that one of them.
    ///
    /// ```swift
    /// try await store.changes.transaction { changes in
    ///     let order = try changes.create("Orders", ["CustomerID": "ALFKI"])
    ///     try changes.create("Order_Lines", ["OrderID": order["OrderID"] ?? .null, "ProductID": 11, "Quantity": 2])
    /// }
    /// ```
    /// - Parameters:
    ///   - options: how the changes are treated.
    ///   - sendsTogether: whether the service is asked to make them together; else each is sent by itself, unless the app
    ///     submits them together (``submit(_:)``).
    ///   - body: makes the changes. It must not wait for anything: the store cannot be edited meanwhile.
    /// - Returns: what the closure returns.
    /// - Throws: what the closure throws, and nothing was changed then; `StoreError`.
    public func transaction<Value: Sendable>(
        options: ChangeOptions = ChangeOptions(), sendsTogether: Bool = true,
        _ body: @escaping @Sendable (LocalTransaction) throws -> Value
    ) async throws -> Value {
        var options = options
        options.changeSet = sendsTogether ? store.environment.newGuid().description : nil
        return try await store.database.write { [store, options] database in
            try body(LocalTransaction(provider: store, options: options, database: database))
        }
    }
}

extension OfflineStore {
    /// Makes a change within a transaction, as ``OfflineStore/execute(_:)`` does alone.
    ///
    /// - Throws: `ODataError` for what cannot be undone with the rest; what a refused change throws.
    fileprivate func change(_ request: ODataRequest, in database: Database) throws -> ODataResponse {
        if let answer = try answerEngineSet(request, in: database) { return answer }
        if let answer = try answerCall(request, in: database) { return answer }
        guard !isOfStream(request) else {
            throw ODataError(
                status: 501, code: "StreamInChangeSet",
                message: "A stream is taken in and sent by itself, so that it cannot be made or undone with the other "
                    + "changes of a change set: send it outside of it.", target: request.url.description)
        }
        return try local.change(followingAlias(request, in: database) ?? request, in: database)
    }

    /// Whether a change is one of a stream, of a media entity or of a stream property (rule 9).
    private func isOfStream(_ request: ODataRequest) -> Bool {
        if case .media = request.body { return true }
        switch request.url.path.segments.last {
        case .value?: break
        case .name(let name, .none)? where streamProperties.contains(name.text): break
        default: return false
        }
        switch (try? Binder(model: model).bind(request.url))?.resource.target {
        case .rawValue(nil)?: return true
        case .rawValue(let property?)?, .property(let property, _)?: return property.type.primitive == .stream
        default: return false
        }
    }
}
