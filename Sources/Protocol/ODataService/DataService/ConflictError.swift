import ErrorCodes
import ODataModel
import ODataQuery

/// The error for an entity that was changed by someone else: the service refused the ETag of the request with 412
/// (OData Protocol 4.01, 11.4.1.1 *Use of ETags for Avoiding Update Conflicts*).
///
/// ```swift
/// do {
///     try await service.update(order)
/// } catch let conflict as ConflictError {
///     if var current = try await conflict.current(service) {
///         current["Freight"] = order["Freight"]
///         try await service.update(current)
///     }
/// }
/// ```
public struct ConflictError: Error, Sendable, CustomStringConvertible {
    /// The error that the service returned.
    public let refusal: ODataError
    /// The entity that the app sent.
    public let attempted: ODataEntity?
    /// The server version of the entity, if the app requested it together with the change.
    public internal(set) var currentEntity: ODataEntity?
    /// The outdated ETag that was sent.
    public let etag: String?
    private let request: ODataRequest

    init(_ refusal: ODataError, attempted: ODataEntity?, request: ODataRequest) {
        self.refusal = refusal
        self.attempted = attempted
        etag = request.ifMatch
        self.request = request
    }

    /// A message with the type of the entity and the error of the service.
    public var description: String {
        "\(attempted?.shape.name.description ?? "The resource") was changed by somebody else: \(refusal)"
    }

    /// Returns the server version of the entity; `nil` if the entity does not exist any more.
    public func current(_ service: DataService) async throws -> ODataEntity? {
        if let currentEntity { return currentEntity }
        var read = ODataRequest(.read, ODataURL(path: request.url.path))
        read.link = request.link
        do {
            return try await service.entity(read)
        } catch let error as ODataError where error.status == 404 || error.status == 410 {
            return nil
        }
    }

    /// Runs a request and turns a failed ETag condition into a conflict.
    ///
    /// A repeatable request that has expired is refused with the same status, but is not a conflict.
    static func detected<Result>(
        _ entity: ODataEntity?, _ request: ODataRequest, _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let error as ODataError
            where error.status == 412 && error.repeatabilityResult != .rejected
            && (request.ifMatch != nil || request.ifNoneMatch != nil)
        {
            throw ConflictError(error, attempted: entity, request: request)
        }
    }
}

extension ConflictError: CodedError {
    /// ``ErrorCode/conflict``.
    public var errorCode: ErrorCode { .conflict }
    /// The type, and what the service said.
    public var errorArguments: [String: String] {
        refusal.errorArguments.merging(["type": attempted?.shape.name.name ?? ""]) { $1 }
    }
    /// A conflict.
    public var failureKind: FailureKind { .conflict }
}
