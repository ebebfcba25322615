import ErrorCodes
import MobileProtocol
import ODataService
import ServerState

extension ODataError {
    /// Creates an error of the server itself.
    init(_ name: MobileErrorName, _ message: String, target: String? = nil, retryAfter: Int? = nil) {
        self.init(
            status: name.status, code: name.rawValue, message: message, target: target, retryAfter: retryAfter)
    }

    /// Creates the error of a failed operation on the state.
    init(_ error: ServerStateError) {
        switch error {
        case .missing(let kind, _):
            if kind == "registration" {
                self.init(.registrationUnknown, error.description)
            } else {
                self.init(status: 404, code: "NotFound", message: error.description)
            }
        case .alreadyExists: self.init(status: 409, code: "AlreadyExists", message: error.description)
        case .changed: self.init(.conflict, error.description)
        case .settingNotEditable(let name): self.init(.settingNotEditable, error.description, target: name)
        case .limitExceeded(let name, _): self.init(.invalidProperty, error.description, target: name)
        case .unavailable: self.init(.busy, "The state of the server is not available.", retryAfter: 5)
        case .unsupported: self.init(status: 501, code: "NotImplemented", message: error.description)
        case .newerSchema, .olderSchema, .sealedValue, .damaged:
            self.init(status: 500, code: "InternalError", message: "The server has failed. See its log.")
        }
    }
}

/// Performs an operation on the state, and translates its error.
func translatingState<Value>(
    _ body: () async throws(ServerStateError) -> Value
) async throws(ODataError) -> Value {
    do {
        return try await body()
    } catch {
        throw ODataError(error)
    }
}
