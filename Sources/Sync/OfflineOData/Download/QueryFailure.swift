import ODataHTTP
import ODataModel
import ODataSQL
import ODataService

/// A failure of one query that does not affect the others.
struct QueryFailure: Error {
    /// The thrown error.
    let error: any Error
    /// The refusal that is reported for the query.
    let refusal: ODataError

    /// - Returns: `nil` for a failure that affects all queries, such as a lost connection or a full disk.
    init?(_ error: any Error) {
        self.error = error
        switch error {
        case let error as ODataError where !error.isOfCommunication: refusal = error
        case let error as InvalidResponseError: refusal = Self.refusal("InvalidResponse", error.description)
        // A value outside of the range in the metadata.
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

    /// Whether the failure comes from the service, and not from a sign-in page or proxy before it.
    var isOfService: Bool { error is ODataError || error is StoredValueError || error is EntityError }

    private static func refusal(_ code: String, _ message: String) -> ODataError {
        ODataError(status: 502, code: code, message: message)
    }
}

extension TransportError {
    /// Whether the failure is about a next link or delta link of the service.
    fileprivate var isOfLink: Bool {
        switch self {
        case .foreignLink, .insecureLink: true
        default: false
        }
    }
}
