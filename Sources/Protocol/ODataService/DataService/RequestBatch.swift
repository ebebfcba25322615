import ODataModel
import ODataQuery

/// Several requests that are sent as one (OData Protocol 4.01, 11.7), as a plain list or written as Swift reads.
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

    /// Makes an empty batch.
    public init() {}

    /// Makes a batch of what is written in a closure.
    public init(@BatchBuilder _ content: () throws -> RequestBatch) rethrows { self = try content() }

    /// Adds a request.
    public mutating func append(_ operation: BatchOperation) { operations.append(operation) }

    /// Adds requests that succeed or fail together.
    public mutating func append(_ set: ChangeSet) {
        let group = set.name ?? "set-\(operations.count + 1)"
        for operation in set.operations {
            var operation = operation
            operation.group = group
            operations.append(operation)
        }
    }

    /// Adds what another batch has.
    public mutating func append(_ other: RequestBatch) { operations += other.operations }
}

/// Requests of a batch that succeed or fail together (OData Protocol 4.01, 11.7.4 *Change Sets*): changes and
/// calls of actions, no reads.
public struct ChangeSet: Sendable {
    let name: String?
    let operations: [BatchOperation]

    /// Makes a change set of a list.
    ///
    /// - Parameter name: unique within the batch; one is made where it is left out.
    public init(_ operations: [BatchOperation], name: String? = nil) {
        self.operations = operations
        self.name = name
    }

    /// Makes a change set of what is written in a closure.
    public init(name: String? = nil, @BatchBuilder _ content: () throws -> RequestBatch) rethrows {
        operations = try content().operations
        self.name = name
    }
}

/// One request of a ``RequestBatch``.
public struct BatchOperation: Sendable {
    /// Where a request of a batch goes.
    public struct Address: Sendable {
        let url: ODataURL

        /// A URL.
        public static func url(_ url: ODataURL) -> Address { Address(url: url) }

        /// What an earlier request of the same batch made or addressed, or something below it
        /// (OData Protocol 4.01, 11.7.7.1 *Referencing New Entities*).
        ///
        /// - Parameters:
        ///   - id: the id of that request.
        ///   - names: the navigation properties to go on by.
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

    /// Any request.
    public static func request(_ request: ODataRequest, id: String? = nil) -> BatchOperation {
        BatchOperation(id) { _ in request }
    }

    /// A read of what a query gives.
    public static func read(_ query: ResourceQuery, id: String? = nil) -> BatchOperation {
        .request(ODataRequest(.read, query.url), id: id)
    }

    /// A creation in a set, or in the only one of the entity's type.
    public static func create(_ entity: ODataEntity, in set: String? = nil, id: String? = nil) -> BatchOperation {
        BatchOperation(id) { service in
            ODataRequest(
                .create, ODataURL(set: try await service.set(of: entity.shape.name, named: set)),
                body: .entity(entity), preferences: Preferences(returns: .representation))
        }
    }

    /// A creation in the collection at an address, such as one below an entity that the same batch creates.
    public static func create(_ entity: ODataEntity, at address: Address, id: String? = nil) -> BatchOperation {
        .request(
            ODataRequest(
                .create, address.url, body: .entity(entity), preferences: Preferences(returns: .representation)),
            id: id)
    }

    /// A change of what changed of an entity, on condition that nobody else changed it.
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

    /// A change of what an address leads to.
    public static func update(_ changes: ODataEntity, at address: Address, id: String? = nil) -> BatchOperation {
        .request(ODataRequest(.update, address.url, body: .entity(changes)), id: id)
    }

    /// A deletion, on condition that nobody changed the entity.
    public static func delete(
        _ entity: ODataEntity, in set: String? = nil, overwriting: Bool = false, id: String? = nil
    ) -> BatchOperation {
        BatchOperation(id) { service in
            var request = try await service.request(.delete, entity, in: set)
            request.ifMatch = service.condition(entity, overwriting)
            return request
        }
    }

    /// A link between two entities (OData Protocol 4.01, 11.4.6).
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

    /// A call of an action.
    public static func invoke(
        _ url: ODataURL, _ parameters: [String: ODataValue] = [:], id: String? = nil
    ) -> BatchOperation {
        .request(ODataRequest(.create, url, body: .parameters(parameters)), id: id)
    }

    /// The same request, done only when others have succeeded (OData JSON Format 4.01, 19.1: `dependsOn`).
    ///
    /// - Parameter ids: the ids of earlier requests or the names of change sets.
    public func after(_ ids: String...) -> BatchOperation {
        var operation = self
        operation.dependsOn += ids
        return operation
    }
}

/// Collects what a closure says into a ``RequestBatch``.
@resultBuilder
public enum BatchBuilder {
    /// A request.
    public static func buildExpression(_ operation: BatchOperation) -> RequestBatch {
        var batch = RequestBatch()
        batch.append(operation)
        return batch
    }
    /// A change set.
    public static func buildExpression(_ set: ChangeSet) -> RequestBatch {
        var batch = RequestBatch()
        batch.append(set)
        return batch
    }
    /// One after the other.
    public static func buildBlock(_ parts: RequestBatch...) -> RequestBatch { joined(parts) }
    /// What a loop gives.
    public static func buildArray(_ parts: [RequestBatch]) -> RequestBatch { joined(parts) }
    /// What a condition may give.
    public static func buildOptional(_ part: RequestBatch?) -> RequestBatch { part ?? RequestBatch() }
    /// What a condition gives.
    public static func buildEither(first: RequestBatch) -> RequestBatch { first }
    /// What a condition gives otherwise.
    public static func buildEither(second: RequestBatch) -> RequestBatch { second }

    private static func joined(_ parts: [RequestBatch]) -> RequestBatch {
        // Each part named its change sets by itself.
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

/// The answers to a ``RequestBatch``.
public struct BatchResults: Sendable, RandomAccessCollection {
    private let results: [BatchResult]
    private let positions: [String: Int]

    init(_ results: [BatchResult]) {
        self.results = results
        positions = Dictionary(
            results.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    /// The first position.
    public var startIndex: Int { results.startIndex }
    /// The position after the last.
    public var endIndex: Int { results.endIndex }
    /// The answer at a position.
    public subscript(position: Int) -> BatchResult { results[position] }
    /// The answer to the request with an id; `nil` when it was not answered.
    public subscript(id: String) -> Result<ODataResponse, ODataError>? { positions[id].map { results[$0].result } }

    /// The requests that were refused.
    public var refusals: [(id: String, error: ODataError)] {
        results.compactMap { result in
            if case .failure(let error) = result.result { (result.id, error) } else { nil }
        }
    }

    /// The answer to a request.
    ///
    /// - Throws: ``ODataError`` when it was refused, ``DataServiceError/unansweredRequest(id:)``.
    public func response(_ id: String) throws -> ODataResponse {
        guard let result = self[id] else { throw DataServiceError.unansweredRequest(id: id) }
        return try result.get()
    }

    /// The entity that a request gave.
    ///
    /// - Throws: as ``response(_:)``, and ``DataServiceError/unexpectedAnswer(expected:)``.
    public func entity(_ id: String) throws -> ODataEntity {
        guard case .entity(let entity) = try response(id).body else {
            throw DataServiceError.unexpectedAnswer(expected: "an entity")
        }
        return entity
    }

    /// The entities that a read gave: its first page.
    ///
    /// - Throws: as ``entity(_:)``.
    public func entities(_ id: String) throws -> [ODataEntity] {
        guard case .page(let page) = try response(id).body else {
            throw DataServiceError.unexpectedAnswer(expected: "a collection of entities")
        }
        return page.entities
    }
}

extension DataService {
    /// Sends several requests as one, written as Swift reads (OData Protocol 4.01, 11.7).
    ///
    /// - Parameter continueOnError: whether requests after a refused one are still done.
    /// - Throws: what the batch as a whole can throw; the refusal of one request is in the results.
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
    /// - Parameter continueOnError: whether requests after a refused one are still done.
    /// - Returns: the answers in the order of the requests; those after a refusal may be missing.
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
