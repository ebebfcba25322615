import HTTPTypes

/// A response that the server gives without asking the handler: an OData error object
/// (OData JSON Format 4.01, 21).
struct Refusal: Error {
    var status: HTTPResponse.Status
    var code: String
    var message: String
    var fields: HTTPFields = [:]

    /// The error object; code and message are the server's own words, free of characters to escape.
    var json: String { #"{"error":{"code":"\#(code)","message":"\#(message)"}}"# }
}
