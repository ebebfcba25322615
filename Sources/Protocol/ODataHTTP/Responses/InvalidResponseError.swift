import ErrorCodes
import ODataModel

/// A successful response that cannot be read.
///
/// The error is not an ``ODataError``, because the service did not refuse the request: a change with such a
/// response may have been made.
public struct InvalidResponseError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of problem.
    public enum Problem: Hashable, Sendable {
        /// The body is a web page, such as a sign-in form or an error page of a proxy.
        case webPage(title: String?)
        /// The media type is not supported.
        case mediaType(String?)
        /// The body is malformed, with the position and the expected text.
        case malformed(String)
        /// The content of the body is unknown: the context URL is missing or contains an unknown name.
        case unknownContext(String?)
        /// The response is a redirect.
        case redirect(to: String?)
        /// The body exceeds the limit for bodies that are decoded as a whole.
        case tooLarge(limit: Int)
    }

    /// The HTTP status of the response.
    public var status: Int
    /// The problem.
    public var problem: Problem
    /// The requested URL, without its query.
    public var url: String

    /// Creates an error.
    public init(status: Int, problem: Problem, url: String) {
        self.status = status
        self.problem = problem
        self.url = url
    }

    /// A message with the problem, the URL and the status.
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
