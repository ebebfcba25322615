import ErrorCodes
import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

/// Error responses with an error object and header fields (OData Protocol 4.01, 9.4; OData JSON Format 4.01, 21.1).
enum ErrorResponse {
    /// Returns the whole response.
    static func write(_ error: ODataError, _ format: ResponseFormat) -> (HTTPResponse, ByteStream) {
        (head(error, format), ByteStream(ErrorObject.bytes(error)))
    }

    static func head(_ error: ODataError, _ format: ResponseFormat) -> HTTPResponse {
        var response = HTTPResponse(status: .init(code: (400...599).contains(error.status) ? error.status : 500))
        response.headerFields[.odataVersion] = format.version.rawValue
        response.headerFields[.contentType] =
            ResponseFormat(version: format.version, isPrefixed: format.isPrefixed).mediaType
        response.headerFields[.contentLanguage] = "en"
        if !error.allowedMethods.isEmpty {
            response.headerFields[.allow] = MethodRules.listed(error.allowedMethods)
        }
        // The location at which to read the data again after a delta link has expired (OData Protocol 4.01,
        // 11.3.2).
        if error.status == 410, let link = error.headers["Location"] { response.headerFields[.location] = link }
        if let seconds = error.retryAfter { response.headerFields[.retryAfter] = String(seconds) }
        if let result = error.repeatabilityResult { response.headerFields[.repeatabilityResult] = result.rawValue }
        if let id = error.requestID { response.headerFields[.requestID] = id }
        return response
    }
}

/// Converts any error to an error response.
struct RefusalWriter {
    static func refusal(_ error: any Error) -> ODataError {
        switch error {
        case let error as ODataError: error
        case let error as QueryError: ODataError(error)
        case is CancellationError:
            ODataError(status: 503, code: "Cancelled", message: "The request was given up.", retryAfter: 1)
        case is TransportError, is InvalidResponseError:
            ODataError(status: 502, code: "BadGateway", message: "The service behind this one cannot be reached.")
        case let error as any CodedError where error.failureKind == .connection:
            // A store without a connection cannot reach its service, which is not an internal error.
            ODataError(status: 503, code: "NotConnected", message: "\(error)")
        default: .internalError
        }
    }

    /// Writes the error for an unreadable request, in a version that the client understands.
    func write(_ error: any Error, to message: HTTPRequest) -> (HTTPResponse, ByteStream) {
        let maxVersion = message.headerFields[.odataMaxVersion]
        let version = try? VersionHeaders(version: nil, maxVersion: maxVersion).responseVersion()
        let format = ResponseFormat(
            version: version ?? .v401, isPrefixed: !VersionHeaders(message.headerFields).stateV401)
        return ErrorResponse.write(Self.refusal(error), format)
    }
}
