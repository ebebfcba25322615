import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Changes of a store that succeed or fail together, see ``OfflineStore/Changes/transaction(options:_:)``.
///
/// A transaction is valid only within its closure.
///
/// ```swift
/// try await store.changes.transaction { changes in
///     for order in try changes.entities("Orders?$filter=ShippedDate eq null") {
///         guard let id = order["OrderID"], case .integer(let number) = id else { continue }
///         try changes.update("Orders(\(number))", ["Freight": .decimal(ODataDecimal(0))])
///     }
/// }
/// ```
public final class LocalTransaction {
    let provider: OfflineStore
    private let options: ChangeOptions
    let database: Database

    init(provider: OfflineStore, options: ChangeOptions, database: Database) {
        self.provider = provider
        self.options = options
        self.database = database
    }

    /// Makes a change as ``OfflineStore/execute(_:)`` does: of an entity, of the engine's own sets
    /// (``EngineSet``), or by an action, which is queued with the other changes.
    ///
    /// - Parameter request: a change of the store. Options of the request itself take precedence.
    /// - Throws: `ODataError`, also for a read, a batch, a call at once (``ChangeOptions/operationMode``), which
    ///   cannot be rolled back, and a stream, which is sent separately. Without a `catch` in the closure, the
    ///   whole transaction is rolled back; with one, only this change.
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

    /// Creates an entity, with related entities in it.
    ///
    /// - Parameters:
    ///   - entity: the entity. Keys that the service assigns may be left out.
    ///   - set: the entity set, or a path to a related collection such as `Orders(10248)/Order_Lines`.
    /// - Returns: the stored entity with its temporary key.
    /// - Throws: as ``perform(_:)``; `QueryError` for an invalid path.
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

    /// Returns the result of a query with the changes of this transaction, also in the engine's own sets
    /// (``EngineSet``). The entities show the state of their changes (``ODataModel/ODataEntity/isLocal`` and
    /// others).
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
    /// Makes several changes that succeed or fail together: in one local transaction, and as one change set for
    /// the service. If the service has no change sets, they are sent one after the other, and the changes behind
    /// a refused one wait. If a change mends a refused request, that request joins the change set.
    ///
    /// ```swift
    /// try await store.changes.transaction { changes in
    ///     let order = try changes.create("Orders", ["CustomerID": "ALFKI"])
    ///     try changes.create("Order_Lines", ["OrderID": order["OrderID"] ?? .null, "ProductID": 11, "Quantity": 2])
    /// }
    /// ```
    /// - Parameters:
    ///   - options: the treatment of the changes.
    ///   - sendsTogether: whether the service is asked to make the changes in one change set. Otherwise each is sent by
    ///     itself, unless the app submits them together (``submit(_:)``).
    ///   - body: makes the changes. It must not wait for anything, since the store cannot be edited meanwhile.
    /// - Returns: the result of the closure.
    /// - Throws: the error of the closure, after everything was rolled back; `StoreError`.
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
    /// - Throws: `ODataError` for a change that cannot be rolled back; the errors of a refused change.
    fileprivate func change(_ request: ODataRequest, in database: Database) throws -> ODataResponse {
        if let answer = try answerEngineSet(request, in: database) { return answer }
        if let answer = try answerCall(request, in: database) { return answer }
        guard !isOfStream(request) else {
            throw ODataError(
                status: 501, code: "StreamInChangeSet",
                message: "A stream is sent separately and cannot be part of a change set. "
                    + "Change it outside of the transaction.", target: request.url.description)
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
