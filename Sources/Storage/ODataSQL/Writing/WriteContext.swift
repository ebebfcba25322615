import GRDB
import ODataService

/// The request of a change, and the connection for the change inside a transaction.
struct WriteContext {
    var request: ODataRequest
    let database: Database

    /// The context with a request without conditions.
    var unconditional: WriteContext { WriteContext(request: request.unconditional, database: database) }

    /// Returns the context with another method for a part of the change.
    func with(_ method: ODataRequest.Method) -> WriteContext {
        var context = self
        context.request.method = method
        return context
    }
}

extension ODataRequest {
    /// The request without conditions, for a change of an existing row.
    ///
    /// The conditions of an outer entity do not apply to related rows. `If-Match: *` prevents the creation of a row
    /// that was deleted.
    package var unconditional: ODataRequest {
        var request = self
        request.ifMatch = "*"
        request.ifNoneMatch = nil
        return request
    }
}
