import Foundation
import ODataModel
import ODataService

/// The validated identification of a repeatable request (OData Repeatable Requests 1.0, 3).
package struct RepeatableRequest: Hashable {
    /// The default time for which responses are kept, in seconds: 50 days.
    package static let lifetime: Int64 = 50 * 86_400
    /// The maximum length of an id.
    static let maxLength = 256

    package var id: String
    /// The client id, followed by a space and a digest of the principal, if there is one. Ids contain no
    /// spaces. The digest keeps a user from getting the responses of another user.
    package var client: String
    /// The identification in the format of earlier versions.
    var former: Former?

    /// The client and fingerprint in the format of earlier versions, without the principal and the bodies.
    struct Former: Hashable {
        var client: String
        var fingerprint: String
    }

    /// The time of the first transmission, in seconds since 1970.
    package var firstSent: Int64

    /// Creates an identification from validated parts.
    package init(id: String, client: String, firstSent: Int64) {
        self.id = id
        self.client = client
        self.firstSent = firstSent
    }

    /// Validates an identification.
    ///
    /// - Parameters:
    ///   - requests: the request, or those of a change set, which share one identification.
    ///   - repeatability: the identification in the requests.
    ///   - now: the current time in seconds since 1970.
    ///   - lifetime: the time for which responses are kept, in seconds.
    /// - Throws: ``ODataError`` 400 if the identification is malformed, 412 if the request is older than
    ///   `lifetime`.
    package init(_ requests: [ODataRequest], _ repeatability: Repeatability, now: Int64, lifetime: Int64) throws {
        id = repeatability.requestID
        let given = repeatability.clientID ?? ""
        try Self.check(id, "Repeatability-Request-ID")
        if !given.isEmpty { try Self.check(given, "Repeatability-Client-ID") }
        client = given
        if let principal = requests.first?.context.principal {
            client += " " + BodyDigest.text(of: principal.identity)
        }
        former = Former(client: given, fingerprint: RememberedRequests.formerFingerprint(requests))
        guard let sent = Self.seconds(ofHTTPDate: repeatability.firstSent) else {
            throw ODataError(
                status: 400, code: "InvalidRepeatability",
                message: "Repeatability-First-Sent must be an HTTP date such as Sat, 21 Nov 2026 10:44:08 GMT.",
                target: "Repeatability-First-Sent", repeatabilityResult: .rejected)
        }
        firstSent = sent
        guard sent > now - lifetime else {
            throw ODataError(
                status: 412, code: "RepeatabilityExpired",
                message: "The request was sent first more than \(lifetime / 86_400) days ago; it may have acted then.",
                target: "Repeatability-First-Sent", repeatabilityResult: .rejected)
        }
    }

    private static func check(_ text: String, _ field: String) throws {
        // Only printable ASCII characters need no encoding in a header field.
        guard !text.isEmpty, text.utf8.count <= maxLength, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ODataError(
                status: 400, code: "InvalidRepeatability",
                message: "\(field) must be 1 to \(maxLength) printable characters without spaces.", target: field,
                repeatabilityResult: .rejected)
        }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the seconds since 1970 of an IMF-fixdate (RFC 9110, 5.6.7), such as `Sat, 21 Nov 2026 10:44:08
    /// GMT`.
    static func seconds(ofHTTPDate text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].utf8.count == 4, parts[0].hasSuffix(","), parts[5] == "GMT",
            parts[1].utf8.count == 2, let day = Int(parts[1]), parts[3].utf8.count == 4, let year = Int(parts[3]),
            let month = months.firstIndex(of: String(parts[2])), parts[4].utf8.count == 8,
            let date = ODataDate(year: year, month: month + 1, day: day),
            let time = ODataTimeOfDay(String(parts[4]))
        else { return nil }
        return date.daysSinceEpoch * 86_400 + time.picoseconds / 1_000_000_000_000
    }
}
