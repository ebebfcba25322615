import ErrorCodes
import ODataModel
import ODataQuery

/// A refusal by a service: the OData error object with the HTTP status that goes with it
/// (OData JSON Format 4.01, 21).
public struct ODataError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One of several errors behind the main one.
    public struct Detail: Hashable, Sendable {
        /// The service's code.
        public var code: String
        /// What is wrong, for people.
        public var message: String
        /// The property or option at fault.
        public var target: String?

        /// Makes a detail.
        public init(code: String, message: String, target: String? = nil) {
            self.code = code
            self.message = message
            self.target = target
        }
    }

    /// The HTTP status, 400 to 599.
    public var status: Int
    /// The service's code, language-independent.
    public var code: String
    /// What is wrong, for people.
    public var message: String
    /// The property, option or resource at fault.
    public var target: String?
    /// Further errors.
    public var details: [Detail]
    /// The raw JSON of `innererror`.
    public var innerError: String?
    /// The identification of the request in the service's logs.
    public var requestID: String?
    /// `X-CorrelationID` of the request, where an online client sent one: the same id stands in its log and its trace.
    public var correlationID: String?
    /// Seconds to wait before another try, where the service said.
    public var retryAfter: Int?
    /// `Repeatability-Result`, where the service gave one.
    public var repeatabilityResult: RepeatabilityResult?
    /// `Allow`: what may be done instead of the refused method.
    public var allowedMethods: [String]
    /// The header fields of the answer, where an online service refused: names as they came.
    public var headers: [String: String]

    /// Makes an error.
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

    /// Status, code, message and target on one line.
    public var description: String {
        let place = target.map { " (\($0))" } ?? ""
        return "\(status) \(code): \(message)\(place)"
    }
}

extension ODataError {
    /// The refusal of a URL: 400, or 501 with the feature's name for what is not answered here.
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

    /// 501 for a feature.
    public static func notImplemented(_ feature: String) -> ODataError {
        ODataError(status: 501, code: "NotImplemented", message: "\(feature) is not supported.", target: feature)
    }

    /// 404 for a resource.
    public static func notFound(_ resource: String) -> ODataError {
        ODataError(status: 404, code: "NotFound", message: "\(resource) does not exist.", target: resource)
    }

    /// 405 for a method, with those allowed.
    public static func methodNotAllowed(_ method: ODataRequest.Method, allowed: [String]) -> ODataError {
        ODataError(
            status: 405, code: "MethodNotAllowed", message: "\(method.rawValue) is not allowed here.",
            allowedMethods: allowed)
    }

    /// The ways in which a resource can fail the condition of a request (OData Protocol 4.01, 8.2.4 and 8.2.5).
    public enum FailedPrecondition: Hashable, Sendable {
        /// `If-Match` names an ETag that the resource no longer has.
        case changed
        /// `If-Match` stands on a resource that does not exist.
        case missing
        /// `If-None-Match` with `*` stands on a resource that exists.
        case exists
        /// `If-None-Match` names the present ETag of the resource.
        case unchanged
    }

    /// 412 for a condition that does not hold.
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

    /// 412 for `If-None-Match` on a resource that it matches.
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
