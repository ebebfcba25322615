import ODataFormat
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService

extension ODataError: CodedError {
    /// By status: `service.not-found` and the like.
    public var errorCode: ErrorCode {
        if status == 412, repeatabilityResult == .rejected { return .repeatExpired }
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
            "request": requestID ?? "", "seconds": retryAfter.map { String($0) } ?? "",
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

extension TransportError: CodedError {
    /// `transport.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .invalidURL: "invalid-url"
            case .cannotConnect: "cannot-connect"
            case .untrustedCertificate: "untrusted-certificate"
            case .clientCertificateRefused: "client-certificate-refused"
            case .proxyAuthenticationRequired: "proxy-authentication"
            case .timedOut: "timed-out"
            case .connectionLost: "connection-lost"
            case .truncated: "truncated"
            }
        return ErrorCode(rawValue: "transport.\(name)")
    }

    /// The host and what happened.
    public var errorArguments: [String: String] {
        switch self {
        case .invalidURL(let url): ["url": url]
        case .timedOut(let host), .proxyAuthenticationRequired(let host): ["host": host]
        case .cannotConnect(let host, let reason), .untrustedCertificate(let host, let reason),
            .clientCertificateRefused(let host, let reason), .connectionLost(let host, let reason),
            .truncated(let host, let reason):
            ["host": host, "reason": reason]
        }
    }

    /// Whether the request may have acted.
    public var failureKind: FailureKind {
        switch self {
        case .invalidURL: .request
        case .cannotConnect: .connection
        case .untrustedCertificate: .trust
        case .clientCertificateRefused, .proxyAuthenticationRequired: .credentials
        case .timedOut, .connectionLost, .truncated: .inDoubt
        }
    }
}

extension InvalidResponseError: CodedError {
    /// `answer.…`.
    public var errorCode: ErrorCode {
        let name =
            switch problem {
            case .webPage: "web-page"
            case .mediaType: "media-type"
            case .malformed: "malformed"
            case .unknownContext: "unknown-context"
            case .redirect: "redirect"
            case .tooLarge: "too-large"
            }
        return ErrorCode(rawValue: "answer.\(name)")
    }

    /// The address and the place.
    public var errorArguments: [String: String] {
        ["url": url, "status": String(status), "reason": description]
    }
    /// The answer cannot be understood.
    public var failureKind: FailureKind { .answer }
}

extension MetadataError: CodedError {
    /// `metadata.…`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "metadata.\(parts.name)") }
    /// The address and what came.
    public var errorArguments: [String: String] { ["url": parts.url, "reason": parts.reason] }

    /// By what came.
    public var failureKind: FailureKind {
        switch self {
        case .notFound, .webPage, .notOData, .redirected: .answer
        case .unauthorized, .forbidden: .credentials
        case .incomplete: .transient
        case .invalid: .service
        case .refused(_, let error): error.failureKind
        }
    }

    private var parts: (name: String, url: String, reason: String) {
        switch self {
        case .notFound(let url): ("not-found", url, "")
        case .unauthorized(let url): ("unauthorized", url, "")
        case .forbidden(let url): ("forbidden", url, "")
        case .webPage(let url, let title): ("web-page", url, title ?? "")
        case .notOData(let url, let type): ("not-odata", url, type ?? "")
        case .redirected(let url, let target): ("redirected", url, target)
        case .incomplete(let url, let error): ("incomplete", url, error.description)
        case .invalid(let url, let error): ("invalid", url, error.description)
        case .refused(let url, let error): ("refused", url, error.description)
        }
    }
}

extension CapabilityError: CodedError {
    /// `request.unsupported-by-service`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "request.unsupported-by-service") }
    /// What cannot be done, with what.
    public var errorArguments: [String: String] {
        ["feature": feature, "set": set ?? "", "property": property ?? "", "term": term]
    }
    /// Not supported.
    public var failureKind: FailureKind { .unsupported }
}

extension DataServiceError: CodedError {
    /// `request.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unexpectedAnswer: "unexpected-answer"
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
    /// The request is wrong.
    public var failureKind: FailureKind { .request }
}

extension QueryError: CodedError {
    /// `query.…`.
    public var errorCode: ErrorCode {
        let name =
            switch kind {
            case .unsupported: "unsupported"
            case .unknownName: "unknown-name"
            case .syntax: "syntax"
            case .type: "type"
            case .limit: "limit"
            }
        return ErrorCode(rawValue: "query.\(name)")
    }
    /// The place.
    public var errorArguments: [String: String] { ["reason": description] }
    /// The request is wrong.
    public var failureKind: FailureKind { .request }
}

extension EntityError: CodedError {
    /// `entity.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .notLoaded: "not-loaded"
            case .unknownProperty: "unknown-property"
            case .typeMismatch: "type-mismatch"
            case .malformed: "malformed"
            }
        return ErrorCode(rawValue: "entity.\(name)")
    }
    /// The property.
    public var errorArguments: [String: String] { ["reason": description] }
    /// The request is wrong.
    public var failureKind: FailureKind { .request }
}
