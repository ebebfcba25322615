import ErrorCodes
import ODataModel

/// An answer that says success but cannot be read. A change that was answered so may have acted, which is
/// why this is no ``ODataError``: those say that the service refused.
public struct InvalidResponseError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with the answer.
    public enum Problem: Hashable, Sendable {
        /// A web page came: a sign-in form, a proxy.
        case webPage(title: String?)
        /// The media type is not one that can be read here.
        case mediaType(String?)
        /// The body is malformed; the place and what was expected.
        case malformed(String)
        /// What the body is cannot be told: it has no context URL, or names something unknown.
        case unknownContext(String?)
        /// The answer leads elsewhere.
        case redirect(to: String?)
        /// The body exceeds what is decoded as a whole.
        case tooLarge(limit: Int)
    }

    /// The HTTP status of the answer.
    public var status: Int
    /// What is wrong.
    public var problem: Problem
    /// The URL that was requested, without its query.
    public var url: String

    /// Makes an error.
    public init(status: Int, problem: Problem, url: String) {
        self.status = status
        self.problem = problem
        self.url = url
    }

    /// What is wrong, with URL and status.
    public var description: String {
        let text =
            switch problem {
            case .webPage(let title):
                "a web page\(title.map { " (\"\($0)\")" } ?? "") came instead of OData: perhaps a sign-in page or a proxy"
            case .mediaType(let type): "\(type ?? "a body without a media type") came where OData JSON was expected"
            case .malformed(let place): "the answer is malformed: \(place)"
            case .unknownContext(let context):
                context.map { "the context URL \($0) names nothing in the metadata" } ?? "the answer has no context URL"
            case .redirect(let target): "the answer leads to \(target ?? "an address that it does not name")"
            case .tooLarge(let limit): "the answer exceeds \(limit) bytes"
            }
        return "\(url) (status \(status)): \(text)"
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
