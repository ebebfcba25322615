import ErrorCodes
import ODataService
import Supportability

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
    public var errorCode: ErrorCode { .unsupportedByService }
    /// What cannot be done, with what.
    public var errorArguments: [String: String] {
        ["feature": feature, "set": set ?? "", "property": property ?? "", "term": term]
    }
    /// Not supported.
    public var failureKind: FailureKind { .unsupported }
}

extension OAuth2Error: CodedError {
    /// `oauth.…`; what a server refuses by the codes of RFC 6749, 5.2 that an app can do something about.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .insecureEndpoint: "insecure-endpoint"
            case .refused("invalid_grant", _): "sign-in-again"
            case .refused("access_denied", _): "denied"
            case .refused: "refused"
            case .stateMismatch: "state-mismatch"
            case .noCode: "no-code"
            case .invalidResponse: "invalid-response"
            }
        return ErrorCode(rawValue: "oauth.\(name)")
    }

    /// A refused code or refresh token wants the user to sign in; the rest, whoever set the sign-in up.
    public var failureKind: FailureKind {
        switch self {
        case .insecureEndpoint: .request
        case .refused("temporarily_unavailable", _), .refused("server_error", _): .transient
        case .refused, .stateMismatch, .noCode: .credentials
        case .invalidResponse(let status, _): status >= 500 ? .transient : .answer
        }
    }
}

extension DownloadError: CodedError {
    /// `download.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .refused: "refused"
            case .wrongPart: "wrong-part"
            }
        return ErrorCode(rawValue: "download.\(name)")
    }

    /// By the status.
    public var failureKind: FailureKind {
        switch self {
        case .refused(let status): ODataError(status: status, code: "", message: "").failureKind
        case .wrongPart: .answer
        }
    }
}

extension TransferQueueError: CodedError {
    /// `transfer.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .limit: "queue-limit"
            }
        return ErrorCode(rawValue: "transfer.\(name)")
    }
    /// The limit is wrong.
    public var failureKind: FailureKind { .request }
}

extension FileStreamError: CodedError {
    /// `transfer.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unreadable: "unreadable-file"
            case .changed: "file-changed"
            }
        return ErrorCode(rawValue: "transfer.\(name)")
    }
    /// The file, or the access to it.
    public var failureKind: FailureKind { .device }
}

extension ServiceUnavailable: CodedError {
    /// `service.unavailable`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "service.unavailable") }
    /// It passes.
    public var failureKind: FailureKind { .transient }
}

extension StoredLogError: CodedError {
    /// `log.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .system: "system"
            case .keyMissing: "key-missing"
            case .wrongKey: "wrong-key"
            case .notSealed: "not-encrypted"
            case .unknownFormat: "unknown-format"
            case .busy: "busy"
            case .unwritable: "unwritable"
            case .invalidLimits: "limits"
            }
        return ErrorCode(rawValue: "log.\(name)")
    }

    /// Another key, another folder, or a later time.
    public var failureKind: FailureKind {
        switch self {
        case .keyMissing, .wrongKey: .credentials
        case .unknownFormat: .damaged
        case .busy: .transient
        case .system, .unwritable: .device
        case .notSealed, .invalidLimits: .request
        }
    }
}
