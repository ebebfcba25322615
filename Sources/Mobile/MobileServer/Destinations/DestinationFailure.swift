import HTTPTypes
import ODataHTTP
import ODataModel
import ODataService

/// The server's own refusals of requests to destinations, as OData errors.
enum DestinationFailure {
    /// The codes of this server. A back end cannot say them: in its responses they are replaced (`rules.md` 46,
    /// `design-review.md` 10).
    static let reservedCodes: Set = [
        "DeviceLocked", "DeviceWiped", "ProofRequired", "RoleMissing", "CaptchaRequired", "ActivationCodeInvalid",
        "ActivationCodeOfAnotherDevice", "WrongUserForRegistration", "AutomaticRegistrationDisabled",
        "SettingNotEditable", "UploadsDisabled", "ApplicationUnknown", "SecurityConfigurationUnknown",
        "RegistrationUnknown", "AlreadyRegistered", "OutcomeUnknown", "DeltaTokenExpired", "TokenInvalid",
        "PolicyViolated", "TooManyRequests", "FeedSuspended", "BackEndUnavailable", "Busy", "DestinationUnknown",
    ]
    /// The code that takes the place of a reserved one.
    static let replacement = "BackEndError"

    static let unknownDestination = ODataError(
        status: 404, code: "DestinationUnknown", message: "The application has no destination with this name.")
    static let roleMissing = ODataError(
        status: 403, code: "RoleMissing", message: "Your roles do not permit this request.")
    static let foreignLink = ODataError(
        status: 400, code: "InvalidProperty", message: "A URL leads out of the destination.")
    static let malformedBatch = ODataError(
        status: 400, code: "InvalidProperty",
        message: "The batch cannot be read, or has more than \(MultipartBody.partLimit) requests.")
    static let tooLarge = ODataError(
        status: 413, code: "TooLarge", message: "The body is larger than this server forwards.")
    static let badGateway = ODataError(
        status: 502, code: "BackEndUnavailable", message: "The back end gave a response that cannot be forwarded.")
    static let credentialsRefused = ODataError(
        status: 502, code: "BackEndUnavailable", message: "The back end refused the server's credentials.")
    static let suspended = ODataError(
        status: 503, code: "FeedSuspended", message: "An operator must look at this feed first.", retryAfter: 300)
    static let timedOut = ODataError(
        status: 504, code: "BackEndUnavailable", message: "The back end did not respond in time.", retryAfter: 5)

    static func unavailable(retryAfter seconds: Int = 5) -> ODataError {
        ODataError(
            status: 503, code: "BackEndUnavailable", message: "The back end cannot be reached.", retryAfter: seconds)
    }

    static func busy() -> ODataError {
        ODataError(
            status: 503, code: "Busy", message: "The server is busy. Repeat the request later.",
            retryAfter: 5 + Int.random(in: 0...60))
    }

    /// Returns the response 410 with the reason that tells the device to read in full (`mobile-server.md` 5.4).
    static func gone(_ reason: String, query: String?) -> ODataError {
        ODataError(
            status: 410, code: "DeltaTokenExpired", message: "The delta link has expired. Read the query again.",
            target: query, innerError: "{\"reason\":\"\(reason)\"}")
    }

    /// Returns an error for a failure on the way to a back end.
    static func error(_ error: any Error) -> ODataError {
        switch error {
        case let error as ODataError: error
        case DestinationGate.Refusal.busy: busy()
        case DestinationGate.Refusal.open(let seconds): unavailable(retryAfter: seconds)
        case is ForeignLink: foreignLink
        case is MultipartBody.Malformed: malformedBatch
        case TransportError.timedOut: timedOut
        case is CancellationError: unavailable(retryAfter: 1)
        default: unavailable()
        }
    }

    /// Returns the response for an error, in the format of the dialect.
    static func response(_ error: ODataError, to request: HTTPRequest? = nil) -> (HTTPResponse, ByteStream) {
        var (response, body) = ResponseEncoder(model: EntityDataModel()).encode(error)
        if let length = body.length { response.headerFields[.contentLength] = String(length) }
        if request?.method == .head { body = ByteStream([]) }
        return (response, body)
    }
}
