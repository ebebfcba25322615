import GRDB
import ODataModel
import ODataSQL
import ODataService

/// An interceptor of changes.
struct ChangeInterceptor: Sendable {
    var kind: RowChange.Kind
    /// The entity set or singleton; `nil` for all.
    var set: String?
    var isBefore: Bool
    var body: @Sendable (inout ODataEntity, ChangeContext) throws -> Void
}

/// An interceptor of requests.
enum RequestInterceptor: Sendable {
    case before(@Sendable (inout ODataRequest) async throws -> Void)
    case after(@Sendable (ODataRequest, inout ODataResponse) async throws -> Void)
}

/// A change that an interceptor handles.
public struct ChangeContext {
    /// The kind of the change.
    public let kind: RowChange.Kind
    /// The entity set, the singleton, or the path of the contained collection.
    public let set: String
    /// The entity before the change; `nil` for an insert.
    public let before: ODataEntity?
    /// The request that causes the change.
    public let request: ODataRequest
    /// The transaction of the change, in which an interceptor can read and change further entities.
    public let transaction: ServiceTransaction

    /// The caller.
    public var principal: Principal? { request.context.principal }
}
