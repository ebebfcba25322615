import ErrorCodes
import ODataModel

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

extension DataServiceError: CodedError {
    /// `request.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unexpectedAnswer: "unexpected-answer"
            case .answeredLater: "answered-later"
            case .unknownType: "unknown-type"
            case .generatedMetadata: "generated-metadata"
            case .unknownEntitySet: "unknown-set"
            case .unknownOperation: "unknown-operation"
            case .ambiguousEntitySet: "ambiguous-set"
            case .unansweredRequest: "unanswered"
            case .notAddressable: "not-addressable"
            }
        return ErrorCode(rawValue: "request.\(name)")
    }
    /// What was asked for.
    public var errorArguments: [String: String] { ["reason": description] }
    /// The request is wrong, or was taken and is not to be repeated.
    public var failureKind: FailureKind { if case .answeredLater = self { .inDoubt } else { .request } }
}

extension ChunkSizeError: CodedError {
    /// `transfer.chunk-size`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "transfer.chunk-size") }
    /// The size is wrong.
    public var failureKind: FailureKind { .request }
}
