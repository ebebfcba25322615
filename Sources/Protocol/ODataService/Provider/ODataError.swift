import ErrorCodes
import ODataModel
import ODataQuery

/// An error response of a service: the OData error object with its HTTP status (OData JSON Format 4.01, 21).
///
/// ```swift
/// do {
///     try await service.update(order)
/// } catch let error as ODataError where error.status == 404 {
///     show(error.code, error.message, error.target ?? "")
/// }
/// ```
public struct ODataError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An additional error in an error response.
    public struct Detail: Hashable, Sendable {
        /// The error code of the service.
        public var code: String
        /// The message for people.
        public var message: String
        /// The property or option that caused the error.
        public var target: String?

        /// Creates a detail.
        public init(code: String, message: String, target: String? = nil) {
            self.code = code
            self.message = message
            self.target = target
        }
    }

    /// The HTTP status, 400 to 599.
    public var status: Int
    /// The error code of the service, independent of the language.
    public var code: String
    /// The message for people.
    public var message: String
    /// The property, option or resource that caused the error.
    public var target: String?
    /// The additional errors.
    public var details: [Detail]
    /// The raw JSON of `innererror`.
    public var innerError: String?
    /// The id of the request in the logs of the service.
    public var requestID: String?
    /// The `X-CorrelationID` of the request, which also appears in the client's log and trace; `nil` for a local
    /// provider.
    public var correlationID: String?
    /// The number of seconds to wait before a retry; `nil` if the service did not set it.
    public var retryAfter: Int?
    /// The `Repeatability-Result` field; `nil` if the service did not send it.
    public var repeatabilityResult: RepeatabilityResult?
    /// The methods that are allowed instead of the refused one (`Allow`).
    public var allowedMethods: [String]
    /// The header fields of an online service's response, with their original names.
    public var headers: [String: String]

    /// Creates an error.
    public init(
        status: Int, code: String, message: String, target: String? = nil, details: [Detail] = [],
        innerError: String? = nil, requestID: String? = nil, retryAfter: Int? = nil,
        repeatabilityResult: RepeatabilityResult? = nil, allowedMethods: [String] = [],
        headers: [String: String] = [:]
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.target = target
        self.details = details
        self.innerError = innerError
        self.requestID = requestID
        self.retryAfter = retryAfter
        self.repeatabilityResult = repeatabilityResult
        self.allowedMethods = allowedMethods
        self.headers = headers
    }

    /// The status, code, message and target on one line.
    public var description: String {
        let place = target.map { " (\($0))" } ?? ""
        return "\(status) \(code): \(message)\(place)"
    }
}

extension ODataError {
    /// Creates the error for a URL: 400, 404 for an unknown name in the path, or 501 with the name of an
    /// unsupported feature.
    public init(_ error: QueryError) {
        switch error.kind {
        case .unsupported(let feature):
            self.init(
                status: 501, code: "NotImplemented", message: error.description, target: feature)
        case .unknownName:
            self.init(
                status: error.part == "path" ? 404 : 400, code: "UnknownName", message: error.description,
                target: error.part)
        case .syntax, .type, .limit:
            self.init(status: 400, code: "InvalidQuery", message: error.description, target: error.part)
        }
    }

    /// Returns a 501 error for an unsupported feature.
    public static func notImplemented(_ feature: String) -> ODataError {
        ODataError(status: 501, code: "NotImplemented", message: "\(feature) is not supported.", target: feature)
    }

    /// Returns a 404 error for a resource.
    public static func notFound(_ resource: String) -> ODataError {
        ODataError(status: 404, code: "NotFound", message: "\(resource) does not exist.", target: resource)
    }

    /// Returns a 405 error for a method, with the allowed methods.
    public static func methodNotAllowed(_ method: ODataRequest.Method, allowed: [String]) -> ODataError {
        ODataError(
            status: 405, code: "MethodNotAllowed", message: "\(method.rawValue) is not allowed here.",
            allowedMethods: allowed)
    }

    /// The reason why a resource does not satisfy the condition of a request (OData Protocol 4.01, 8.2.4 and
    /// 8.2.5).
    public enum FailedPrecondition: Hashable, Sendable {
        /// `If-Match` has an outdated ETag.
        case changed
        /// `If-Match` was sent, but the resource does not exist.
        case missing
        /// `If-None-Match: *` was sent, but the resource exists.
        case exists
        /// `If-None-Match` has the current ETag of the resource.
        case unchanged
    }

    /// Returns a 412 error for a condition that does not hold.
    ///
    /// - Parameters:
    ///   - resource: the name of the resource, which becomes the target.
    ///   - reason: the reason why the condition does not hold.
    public static func preconditionFailed(
        _ resource: String, _ reason: FailedPrecondition = .changed
    ) -> ODataError {
        let message =
            switch reason {
            case .changed: "\(resource) was changed by somebody else."
            case .missing: "\(resource) does not exist, and If-Match asks for one that does."
            case .exists: "\(resource) exists already, and If-None-Match asks for one that does not."
            case .unchanged: "\(resource) still has the ETag in If-None-Match."
            }
        return ODataError(status: 412, code: "PreconditionFailed", message: message, target: resource)
    }

    /// Returns a 412 error for a matching `If-None-Match`.
    ///
    /// - Parameters:
    ///   - resource: the name of the resource, which becomes the target.
    ///   - condition: the value of the field.
    public static func preconditionFailed(_ resource: String, ifNoneMatch condition: String) -> ODataError {
        let isAny = condition.allSatisfy { $0 == "*" || $0 == " " }
        return preconditionFailed(resource, isAny ? .exists : .unchanged)
    }
}

extension ODataError: CodedError {
    /// By status: `service.not-found` and the like.
    public var errorCode: ErrorCode {
        if status == 412, repeatabilityResult == .rejected { return .repeatExpired }
        if isNotLoaded { return ErrorCode(rawValue: "service.not-loaded") }
        let name =
            switch status {
            case 400: "bad-request"
            case 401: "unauthorized"
            case 403: "forbidden"
            case 404: "not-found"
            case 405: "method-not-allowed"
            case 406: "not-acceptable"
            case 409: "exists-or-conflicts"
            case 410: "gone"
            case 412: "precondition-failed"
            case 413: "too-large"
            case 414: "url-too-long"
            case 415: "unsupported-media-type"
            case 422: "unprocessable"
            case 423: "locked"
            case 424: "failed-dependency"
            case 428: "precondition-required"
            case 429: "too-many-requests"
            case 500: "internal"
            case 501: "not-implemented"
            case 502: "bad-gateway"
            case 503: "unavailable"
            case 504: "gateway-timeout"
            default: status < 500 ? "refused" : "failed"
            }
        return ErrorCode(rawValue: "service.\(name)")
    }

    /// What the service said.
    public var errorArguments: [String: String] {
        [
            "status": String(status), "code": code, "message": message, "target": target ?? "",
            "request": requestID ?? "", "seconds": retryAfter.map { String($0) } ?? "", "query": definingQuery ?? "-",
        ]
    }

    /// Recoverable are 409, 503 and what says when to come back; the rest wants its cause fixed.
    public var failureKind: FailureKind {
        if errorCode == .repeatExpired { return .inDoubt }
        if retryAfter != nil { return .transient }
        switch status {
        case 401, 403, 407: return .credentials
        case 404, 410: return .missing
        case 405, 406, 415, 501: return .unsupported
        case 409, 412: return .conflict
        case 408, 423, 425, 429, 503: return .transient
        case 502, 504: return .inDoubt
        case 500...: return .service
        default: return .request
        }
    }
}
