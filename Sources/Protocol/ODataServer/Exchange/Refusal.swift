import HTTPTypes

/// A response of the server without the handler: an OData error object (OData JSON Format 4.01, 21).
struct Refusal: Error {
    var status: HTTPResponse.Status
    var code: String
    var message: String
    var fields: HTTPFields = [:]

    /// The error object. Code and message are texts of the server and need no escaping.
    var json: String { #"{"error":{"code":"\#(code)","message":"\#(message)"}}"# }
}
