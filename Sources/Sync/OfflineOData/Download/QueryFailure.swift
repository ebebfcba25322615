import ODataHTTP
import ODataModel
import ODataSQL
import ODataService

/// What went wrong with one query and says nothing of the others.
struct QueryFailure: Error {
    /// What was thrown.
    let error: any Error
    /// The same as the refusal that is told of the query.
    let refusal: ODataError

    /// - Returns: `nil` for what concerns all queries, as a wire that is cut or a disk that is full.
    init?(_ error: any Error) {
        self.error = error
        switch error {
        case let error as ODataError where !error.isOfCommunication: refusal = error
        case let error as InvalidResponseError: refusal = Self.refusal("InvalidResponse", error.description)
        // A value beyond what the metadata promise.
        case let error as StoredValueError: refusal = Self.refusal("InvalidValue", error.description)
        case let error as EntityError: refusal = Self.refusal("InvalidValue", error.description)
        case OfflineError.endless: refusal = Self.refusal("EndlessAnswer", String(describing: error))
        case let error as TransportError where error.isOfLink:
            refusal = Self.refusal("ForeignLink", error.description)
        case OfflineError.invalidDefiningQuery:
            refusal = ODataError(status: 400, code: "InvalidDefiningQuery", message: String(describing: error))
        default: return nil
        }
    }

    /// Whether it is about what the service said, and not about what stands between: a sign-in page, a proxy.
    var isOfService: Bool { error is ODataError || error is StoredValueError || error is EntityError }

    private static func refusal(_ code: String, _ message: String) -> ODataError {
        ODataError(status: 502, code: code, message: message)
    }
}

extension TransportError {
    /// Whether it is about a link that the service gave to the next page or to the changes.
    fileprivate var isOfLink: Bool {
        switch self {
        case .foreignLink, .insecureLink: true
        default: false
        }
    }
}
