import HTTPTypes
import ODataService

extension Repeatability {
    /// Reads the fields of a repeatable request (OData Repeatable Requests 1.0, 3).
    ///
    /// - Returns: `nil` if the request has none of them.
    /// - Throws: 400 if one of the fields is missing, or the time is not an HTTP date.
    init?(_ fields: RequestFields) throws(ODataError) {
        let id = fields.repeatabilityRequestID
        let sent = fields.repeatabilityFirstSent
        switch (id, sent) {
        case (nil, nil): return nil
        case (let id?, let sent?) where !id.isEmpty && HTTPDate.isValid(sent):
            self.init(requestID: id, firstSent: sent, clientID: fields.repeatabilityClientID)
        case (_?, let sent?) where !HTTPDate.isValid(sent):
            throw ODataError(
                status: 400, code: "InvalidHeader",
                message: "Repeatability-First-Sent is not an HTTP date such as \"Sun, 06 Nov 1994 08:49:37 GMT\".",
                target: "Repeatability-First-Sent", repeatabilityResult: .rejected)
        default:
            throw ODataError(
                status: 400, code: "InvalidHeader",
                message: "Repeatability-Request-ID and Repeatability-First-Sent go together.",
                target: id == nil ? "Repeatability-Request-ID" : "Repeatability-First-Sent",
                repeatabilityResult: .rejected)
        }
    }

    func write(to fields: inout HTTPFields) {
        fields[.repeatabilityRequestID] = requestID
        fields[.repeatabilityFirstSent] = firstSent
        if let clientID { fields[.repeatabilityClientID] = clientID }
    }
}
