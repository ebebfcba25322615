import ODataModel
import ODataQuery

/// Several requests that are sent as one (OData Protocol 4.01, 11.7), written as a list or with a result builder.
///
/// ```swift
/// let results = try await service.batch {
///     BatchOperation.read(ResourceQuery("Products").top(5), id: "products")
///     ChangeSet {
///         BatchOperation.create(order, in: "Orders", id: "order")
///         BatchOperation.create(item, at: .result("order", "Items"))
///     }
/// }
/// let created = try results.entity("order")
/// ```
public struct RequestBatch: Sendable {
    /// The requests in order.
    public private(set) var operations: [BatchOperation] = []

    /// Creates an empty batch.
    public init() {}

    /// Creates a batch from the requests in a closure.
    public init(@BatchBuilder _ content: () throws -> RequestBatch) rethrows { self = try content() }

    /// Adds a request.
    public mutating func append(_ operation: BatchOperation) { operations.append(operation) }

    /// Adds the requests of a change set, which succeed or fail together.
    public mutating func append(_ set: ChangeSet) {
        let group = set.name ?? "set-\(operations.count + 1)"
        for operation in set.operations {
            var operation = operation
            operation.group = group
            operations.append(operation)
        }
    }

    /// Adds the requests of another batch.
    public mutating func append(_ other: RequestBatch) { operations += other.operations }
}

/// Requests of a batch that succeed or fail together (OData Protocol 4.01, 11.7.4 *Change Sets*): changes and calls
/// of actions, but no reads.
///
/// ```swift
/// let results = try await service.batch {
///     ChangeSet {
///         BatchOperation.create(order, in: "Orders", id: "order")
///         BatchOperation.create(item, at: .result("order", "Items"))
///     }
/// }
/// ```
public struct ChangeSet: Sendable {
    let name: String?
    let operations: [BatchOperation]

    /// Creates a change set from a list.
    ///
    /// - Parameter name: a name that is unique within the batch; `nil` for a generated one.
    public init(_ operations: [BatchOperation], name: String? = nil) {
        self.operations = operations
        self.name = name
    }

    /// Creates a change set from the requests in a closure.
    public init(name: String? = nil, @BatchBuilder _ content: () throws -> RequestBatch) rethrows {
        operations = try content().operations
        self.name = name
    }
}

/// One request of a ``RequestBatch``.
///
/// ```swift
/// let results = try await service.batch {
///     BatchOperation.read(ResourceQuery("Products").top(5), id: "products")
///     BatchOperation.create(order, in: "Orders", id: "order")
/// }
/// ```
public struct BatchOperation: Sendable {
    /// The address of a request in a batch.
    public struct Address: Sendable {
        let url: ODataURL

        /// Returns the address of a URL.
        public static func url(_ url: ODataURL) -> Address { Address(url: url) }

        /// Returns the address of the entity that an earlier request of the batch created or addressed, or of a
        /// related entity (OData Protocol 4.01, 11.7.7.1 *Referencing New Entities*).
        ///
        /// - Parameters:
        ///   - id: the id of the earlier request.
        ///   - names: the navigation properties to follow from there.
        public static func result(_ id: String, _ names: String...) -> Address {
            Address(
                url: ODataURL(
                    path: ResourcePath(
                        (["$\(id)"] + names).map { PathSegment.name(Identifier($0), .none) })))
        }
    }

    var id: String?
    var group: String?
    var dependsOn: [String] = []
    let request: @Sendable (DataService) async throws -> ODataRequest

    private init(_ id: String?, _ request: @escaping @Sendable (DataService) async throws -> ODataRequest) {
        self.id = id
        self.request = request
    }

    /// Wraps any request.
    public static func request(_ request: ODataRequest, id: String? = nil) -> BatchOperation {
        BatchOperation(id) { _ in request }
    }

    /// Returns a request that reads the result of a query.
    public static func read(_ query: ResourceQuery, id: String? = nil) -> BatchOperation {
        .request(ODataRequest(.read, query.url), id: id)
    }

    /// Returns a request that creates an entity in a set, or in the only set of its type.
    public static func create(_ entity: ODataEntity, in set: String? = nil, id: String? = nil) -> BatchOperation {
        BatchOperation(id) { service in
            ODataRequest(
                .create, ODataURL(set: try await service.set(of: entity.shape.name, named: set)),
                body: .entity(entity), preferences: Preferences(returns: .representation))
        }
    }

    /// Returns a request that creates an entity in a collection, such as one below an entity that the same batch
    /// creates.
    public static func create(_ entity: ODataEntity, at address: Address, id: String? = nil) -> BatchOperation {
        .request(
            ODataRequest(
                .create, address.url, body: .entity(entity), preferences: Preferences(returns: .representation)),
            id: id)
    }

    /// Returns a request that sends the changed properties of an entity, unless its ETag is known and outdated.
    public static func update(
        _ entity: ODataEntity, in set: String? = nil, overwriting: Bool = false, id: String? = nil
    ) -> BatchOperation {
        BatchOperation(id) { service in
            var request = try await service.request(.update, entity, in: set)
            request.body = .entity(entity.changes)
            request.ifMatch = service.condition(entity, overwriting)
            return request
        }
    }

    /// Returns a request that changes the entity at an address.
    public static func update(_ changes: ODataEntity, at address: Address, id: String? = nil) -> BatchOperation {
        .request(ODataRequest(.update, address.url, body: .entity(changes)), id: id)
    }

    /// Returns a request that deletes an entity, unless its ETag is known and outdated.
    public static func delete(
        _ entity: ODataEntity, in set: String? = nil, overwriting: Bool = false, id: String? = nil
    ) -> BatchOperation {
        BatchOperation(id) { service in
            var request = try await service.request(.delete, entity, in: set)
            request.ifMatch = service.condition(entity, overwriting)
            return request
        }
    }

    /// Returns a request that links two entities (OData Protocol 4.01, 11.4.6).
    public static func link(
        _ navigation: String, of entity: ODataEntity, to target: ODataEntity, id: String? = nil
    ) -> BatchOperation {
        BatchOperation(id) { service in
            let isCollection = entity.shape.navigationProperty(navigation)?.isCollection ?? false
            var request = try await service.request(
                isCollection ? .create : .replace, entity, in: nil, [navigation], reference: true)
            request.body = .reference(try await service.reference(to: target))
            return request
        }
    }

    /// Returns a request that calls an action.
    public static func invoke(
        _ url: ODataURL, _ parameters: [String: ODataValue] = [:], id: String? = nil
    ) -> BatchOperation {
        .request(ODataRequest(.create, url, body: .parameters(parameters)), id: id)
    }

    /// Returns the same request with dependencies, which must have succeeded before it is executed (OData JSON
    /// Format 4.01, 19.1: `dependsOn`).
    ///
    /// - Parameter ids: the ids of earlier requests or the names of change sets.
    public func after(_ ids: String...) -> BatchOperation {
        var operation = self
        operation.dependsOn += ids
        return operation
    }
}

/// A result builder that collects requests into a ``RequestBatch``.
@resultBuilder
public enum BatchBuilder {
    /// Adds a single request.
    public static func buildExpression(_ operation: BatchOperation) -> RequestBatch {
        var batch = RequestBatch()
        batch.append(operation)
        return batch
    }
    /// Adds a change set.
    public static func buildExpression(_ set: ChangeSet) -> RequestBatch {
        var batch = RequestBatch()
        batch.append(set)
        return batch
    }
    /// Joins the statements of a block.
    public static func buildBlock(_ parts: RequestBatch...) -> RequestBatch { joined(parts) }
    /// Joins the iterations of a loop.
    public static func buildArray(_ parts: [RequestBatch]) -> RequestBatch { joined(parts) }
    /// Adds the requests of an `if` without `else`.
    public static func buildOptional(_ part: RequestBatch?) -> RequestBatch { part ?? RequestBatch() }
    /// Adds the requests of the first branch.
    public static func buildEither(first: RequestBatch) -> RequestBatch { first }
    /// Adds the requests of the second branch.
    public static func buildEither(second: RequestBatch) -> RequestBatch { second }

    private static func joined(_ parts: [RequestBatch]) -> RequestBatch {
        // Generated names of change sets are unique only within their part, so the position is added.
        var batch = RequestBatch()
        for (position, part) in parts.enumerated() {
            for operation in part.operations {
                var operation = operation
                if let group = operation.group, group.hasPrefix("set-") {
                    operation.group = "set-\(position + 1).\(group.dropFirst(4))"
                }
                batch.append(operation)
            }
        }
        return batch
    }
}

/// The responses to a ``RequestBatch``.
///
/// ```swift
/// let results = try await service.batch {
///     BatchOperation.create(order, in: "Orders", id: "order")
/// }
/// let created = try results.entity("order")
/// ```
public struct BatchResults: Sendable, RandomAccessCollection {
    private let results: [BatchResult]
    private let positions: [String: Int]

    init(_ results: [BatchResult]) {
        self.results = results
        positions = Dictionary(
            results.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    /// The position of the first response.
    public var startIndex: Int { results.startIndex }
    /// The position after the last response.
    public var endIndex: Int { results.endIndex }
    /// Returns the response at a position.
    public subscript(position: Int) -> BatchResult { results[position] }
    /// Returns the response to the request with an id; `nil` if the request was not executed.
    public subscript(id: String) -> Result<ODataResponse, ODataError>? { positions[id].map { results[$0].result } }

    /// The ids and errors of the refused requests.
    public var refusals: [(id: String, error: ODataError)] {
        results.compactMap { result in
            if case .failure(let error) = result.result { (result.id, error) } else { nil }
        }
    }

    /// Returns the response to a request.
    ///
    /// - Throws: ``ODataError`` if the request was refused, ``DataServiceError/unansweredRequest(id:)``.
    public func response(_ id: String) throws -> ODataResponse {
        guard let result = self[id] else { throw DataServiceError.unansweredRequest(id: id) }
        return try result.get()
    }

    /// Returns the entity in the response to a request.
    ///
    /// - Throws: the errors of ``response(_:)``, and ``DataServiceError/unexpectedAnswer(expected:)``.
    public func entity(_ id: String) throws -> ODataEntity {
        guard case .entity(let entity) = try response(id).body else {
            throw DataServiceError.unexpectedAnswer(expected: "an entity")
        }
        return entity
    }

    /// Returns the entities on the first page of a read.
    ///
    /// - Throws: the errors of ``entity(_:)``.
    public func entities(_ id: String) throws -> [ODataEntity] {
        guard case .page(let page) = try response(id).body else {
            throw DataServiceError.unexpectedAnswer(expected: "a collection of entities")
        }
        return page.entities
    }
}

extension DataService {
    /// Sends several requests as one, written with a result builder (OData Protocol 4.01, 11.7).
    ///
    /// - Parameter continueOnError: whether requests after a refused one are executed.
    /// - Throws: the errors of the batch as a whole. The refusal of a single request is in the results.
    public func batch(
        continueOnError: Bool = false, @BatchBuilder _ content: () throws -> RequestBatch
    ) async throws -> BatchResults {
        try await batch(content(), continueOnError: continueOnError)
    }

    /// Sends several requests as one.
    public func batch(_ batch: RequestBatch, continueOnError: Bool = false) async throws -> BatchResults {
        var items: [BatchItem] = []
        for (position, operation) in batch.operations.enumerated() {
            items.append(
                BatchItem(
                    id: operation.id ?? "\(position + 1)", request: try await operation.request(self),
                    atomicityGroup: operation.group, dependsOn: operation.dependsOn))
        }
        return BatchResults(try await self.batch(items, continueOnError: continueOnError))
    }

    /// Sends several requests as one (OData Protocol 4.01, 11.7).
    ///
    /// - Parameter continueOnError: whether requests after a refused one are executed.
    /// - Returns: the results in the order of the requests; results after a refusal may be missing.
    public func batch(_ items: [BatchItem], continueOnError: Bool = false) async throws -> [BatchResult] {
        guard !items.isEmpty else { return [] }
        var preferences = Preferences()
        preferences.continueOnError = continueOnError
        let request = ODataRequest(
            .create, ODataURL(path: ResourcePath([.batch])), body: .batch(items), preferences: preferences)
        guard case .batch(let results) = try await send(request).body else {
            throw DataServiceError.unexpectedAnswer(expected: "the answers to a batch")
        }
        return results
    }
}
