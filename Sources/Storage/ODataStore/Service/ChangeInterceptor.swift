import GRDB
import ODataModel
import ODataSQL
import ODataService

/// What takes part in the changes of some rows.
struct ChangeInterceptor: Sendable {
    var kind: RowChange.Kind
    /// The set; `nil` for all.
    var set: String?
    var isBefore: Bool
    var body: @Sendable (inout ODataEntity, ChangeContext) throws -> Void
}

/// What takes part in each request.
enum RequestInterceptor: Sendable {
    case before(@Sendable (inout ODataRequest) async throws -> Void)
    case after(@Sendable (ODataRequest, inout ODataResponse) async throws -> Void)
}

/// A change that an interceptor takes part in.
public struct ChangeContext {
    /// What is done.
    public let kind: RowChange.Kind
    /// The entity set, the singleton, or the path of the contained collection.
    public let set: String
    /// The entity as it was; `nil` for an insert.
    public let before: ODataEntity?
    /// The request that causes it.
    public let request: ODataRequest
    /// Reads and changes further entities in the same transaction.
    public let transaction: ServiceTransaction

    /// Who asks.
    public var principal: Principal? { request.context.principal }
}
