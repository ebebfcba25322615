import ErrorCodes
import ODataModel
import ODataQuery

/// Somebody else changed what was to be changed: the service answered 412 to the ETag that was sent
/// (OData Protocol 4.01, 11.4.1.1 *Use of ETags for Avoiding Update Conflicts*).
///
/// ```swift
/// do {
///     try await service.update(order)
/// } catch let conflict as ConflictError {
///     if var theirs = try await conflict.current(service) {
///         theirs["Freight"] = order["Freight"]
///         try await service.update(theirs)
///     }
/// }
/// ```
public struct ConflictError: Error, Sendable, CustomStringConvertible {
    /// What the service said.
    public let refusal: ODataError
    /// The entity as the app wanted it.
    public let attempted: ODataEntity?
    /// The entity as the service has it, where it was asked for with the change.
    public internal(set) var currentEntity: ODataEntity?
    /// The ETag that no longer holds.
    public let etag: String?
    private let request: ODataRequest

    init(_ refusal: ODataError, attempted: ODataEntity?, request: ODataRequest) {
        self.refusal = refusal
        self.attempted = attempted
        etag = request.ifMatch
        self.request = request
    }

    /// What is in conflict.
    public var description: String {
        "\(attempted?.shape.name.description ?? "The resource") was changed by somebody else: \(refusal)"
    }

    /// The entity as the service has it now; `nil` when it is gone.
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

    /// Makes a conflict of a refused condition. A repeatable request whose time has passed is refused with the same
    /// status and is no conflict.
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
