import HTTPTypes

/// A response of the server without the handler: an OData error object (OData JSON Format 4.01, 21).
struct Refusal: Error {
    var status: HTTPResponse.Status
    var code: String
    var message: String
    var fields: HTTPFields = [:]

    /// The refusal when all permits of an admission class are in use. Clients come back at different times.
    static var busy: Refusal {
        Refusal(
            status: .serviceUnavailable, code: "Busy", message: "The server has too much work at present.",
            fields: [.retryAfter: String(5 + Int.random(in: 0...60))])
    }

    /// The error object. Code and message are texts of the server and need no escaping.
    var json: String { #"{"error":{"code":"\#(code)","message":"\#(message)"}}"# }
}
