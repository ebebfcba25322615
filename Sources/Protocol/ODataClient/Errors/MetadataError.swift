import ErrorCodes
import ODataModel
import ODataService

/// The reason why the metadata of a service is unavailable (OData Protocol 4.01, 11.1.2 *Metadata Document
/// Request*). Each case calls for a different reaction of the user.
public enum MetadataError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no `$metadata`: the URL is not the root of a service.
    case notFound(url: String)
    /// The service requires authentication, or it does not accept the credentials.
    case unauthorized(url: String)
    /// The service has identified the user and denies access.
    case forbidden(url: String)
    /// The response is a web page, because of a sign-in form, a proxy or a wrong URL.
    case webPage(url: String, title: String?)
    /// The response is neither metadata nor a web page.
    case notOData(url: String, contentType: String?)
    /// The response redirects to another address. The redirect is not followed.
    case redirected(url: String, to: String)
    /// The document ends too early.
    case incomplete(url: String, CSDLError)
    /// The document is not valid metadata; the error contains the position.
    case invalid(url: String, CSDLError)
    /// The service refused the request with another status.
    case refused(url: String, ODataError)

    /// An explanation of the error with the URL.
    public var description: String {
        switch self {
        case .notFound(let url): "There is no OData service at \(url): it has no $metadata."
        case .unauthorized(let url): "\(url) asks for a user name and a password or a token, or refuses those given."
        case .forbidden(let url): "This user may not read \(url)."
        case .webPage(let url, let title):
            "\(url) answered with a web page\(title.map { " (\"\($0)\")" } ?? "") instead of metadata: perhaps a "
                + "sign-in page or a proxy."
        case .notOData(let url, let contentType):
            "\(url) is not an OData service: it answered with \(contentType ?? "something without a media type")."
        case .redirected(let url, let target): "\(url) has moved to \(target); use that address if it is trusted."
        case .incomplete(let url, let error): "The metadata of \(url) was cut: \(error)"
        case .invalid(let url, let error): "The metadata of \(url) cannot be read: \(error)"
        case .refused(let url, let error): "\(url) refused to give its metadata: \(error)"
        }
    }
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
