import GRDB
import ODataService

/// The request that a change belongs to, and the connection, inside a transaction, on which it is made.
struct WriteContext {
    var request: ODataRequest
    let database: Database

    /// The same with a request without conditions.
    var unconditional: WriteContext { WriteContext(request: request.unconditional, database: database) }

    /// The same with another method, as a part of the change needs it.
    func with(_ method: ODataRequest.Method) -> WriteContext {
        var context = self
        context.request.method = method
        return context
    }
}

extension ODataRequest {
    /// The request without conditions, for the change of a row that is there: those of an outer entity say nothing of what
    /// hangs on it, and what is gone must not be made anew.
    package var unconditional: ODataRequest {
        var request = self
        request.ifMatch = "*"
        request.ifNoneMatch = nil
        return request
    }
}
