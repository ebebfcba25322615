import Foundation
import ODataModel
import ODataService

/// The identification of a request that may be sent again, checked (OData Repeatable Requests 1.0, 3).
package struct RepeatableRequest: Hashable {
    /// How long answers are remembered by default, in seconds: 50 days.
    package static let lifetime: Int64 = 50 * 86_400
    /// The greatest length of an id.
    static let maxLength = 256

    package var id: String
    /// The id of the client; behind a space, which no id has, a digest of the principal where there is one: nobody is
    /// answered with what another user was answered.
    package var client: String
    /// What an earlier version of this package would have kept the request by.
    var former: Former?

    /// The client and the fingerprint that an earlier version has kept: without the principal and the body.
    struct Former: Hashable {
        var client: String
        var fingerprint: String
    }

    /// When the request was transmitted first, in seconds since 1970.
    package var firstSent: Int64

    /// Makes an identification that was checked before.
    package init(id: String, client: String, firstSent: Int64) {
        self.id = id
        self.client = client
        self.firstSent = firstSent
    }

    /// Checks an identification.
    ///
    /// - Parameters:
    ///   - requests: the request, or those of a change set, which share one identification.
    ///   - repeatability: what they say.
    ///   - now: seconds since 1970.
    ///   - lifetime: how long answers are remembered, in seconds.
    /// - Throws: ``ODataError`` 400 when it is malformed, 412 when it is too old to be known.
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
        // Printable ASCII: what a header field can hold without encoding.
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

    /// Reads an IMF-fixdate (RFC 9110, 5.6.7), `Sat, 21 Nov 2026 10:44:08 GMT`.
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
