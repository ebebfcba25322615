import Foundation
import ODataService
import ServerState
import Synchronization
import Testing
import WireFaults

@testable import MobileServer

@Suite("Repeatable requests at a destination")
struct ReplayTests {
    private typealias Answer = ScriptedBackEnd.Answer

    private func fields(_ id: String, sent: String? = nil) -> [String: String] {
        [
            "Content-Type": "application/json", "Repeatability-Request-ID": id,
            "Repeatability-First-Sent": sent ?? Self.now(),
        ]
    }

    private static func now(_ offset: TimeInterval = 0) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date().addingTimeInterval(offset))
    }

    @Test("A repeated upload after a lost response gets the stored response and creates no second row")
    func lostResponse() async throws {
        try await ShopBackEnd.run { site, backEnd in
            let body = "{\"ID\": 50, \"Name\": \"Once\", \"Price\": 1, \"CategoryID\": 1}"
            let sent = fields("order-1")
            let proxy = try await FaultyProxy(to: try #require(URL(string: site.url)?.port)) { number in
                number == 1 ? .resetAfterAct : nil
            }
            let lossy = site.url.replacing("\(URL(string: site.url)?.port ?? 0)", with: "\(proxy.port)")
            await #expect(throws: (any Error).self) {
                _ = try await Wire.send("POST", lossy + "Products", sent, body: body)
            }
            let again = try await Wire.send("POST", lossy + "Products", sent, body: body)
            #expect(again.status == 201)
            #expect(again.field("Repeatability-Result") == "accepted")
            // The stored answer is that of the first request, whose host the proxy passed on.
            #expect(again.field("Location") == lossy + "Products(50)")
            #expect(again.json["Name"] as? String == "Once")
            #expect(backEnd.requests.count { $0.hasPrefix("POST") } == 1)
            try await proxy.stop()
        }
    }

    @Test("A different request with the same id is refused (review, 12)")
    func mismatch() async throws {
        try await ScriptedBackEnd.run { _, _ in
            Answer(status: 204, fields: [:])
        } _: { site, backEnd async throws in
            let sent = fields("m-1")
            #expect(try await Wire.send("POST", site.url + "A", sent, body: "{}").status == 204)
            let other = try await Wire.send("POST", site.url + "A", sent, body: "{\"B\":1}")
            #expect(other.status == 400)
            #expect(other.field("Repeatability-Result") == "rejected")
            #expect(try await Wire.send("POST", site.url + "C", sent, body: "{}").status == 400)
            #expect(backEnd.seen.count == 1)
        }
    }

    @Test(
        "Requests with a future date or without a date are refused, and old ones have an unknown outcome (review, 12)")
    func moments() async throws {
        try await ScriptedBackEnd.run { _, _ in
            Answer(status: 204, fields: [:])
        } _: { site, backEnd async throws in
            let future = try await Wire.send(
                "POST", site.url + "A", fields("f", sent: Self.now(3 * 86_400)), body: "{}")
            #expect(future.status == 400)
            #expect(future.field("Repeatability-Result") == "rejected")
            let old = try await Wire.send("POST", site.url + "A", fields("o", sent: Self.now(-60 * 86_400)), body: "{}")
            #expect([409, 412].contains(old.status))
            let none = try await Wire.send(
                "POST", site.url + "A", ["Content-Type": "application/json", "Repeatability-Request-ID": "x"],
                body: "{}")
            #expect(none.status == 400)
            #expect(backEnd.seen.isEmpty)
        }
    }

    @Test("A request with an unknown outcome is not sent again (review, 4)")
    func unknownOutcome() async throws {
        try await ScriptedBackEnd.run { _, _ in
            Answer(status: 500, body: "{}")
        } _: { site, backEnd async throws in
            let sent = fields("u-1")
            #expect(try await Wire.send("POST", site.url + "A", sent, body: "{}").status == 500)
            let again = try await Wire.send("POST", site.url + "A", sent, body: "{}")
            #expect(again.status == 409)
            #expect(again.code == "OutcomeUnknown")
            #expect(again.field("Repeatability-Result") == nil)
            #expect(backEnd.seen.count == 1)
        }
    }

    @Test("A guarded change is sent again after an unknown outcome, because its ETag prevents a second effect")
    func guarded() async throws {
        let count = Mutex(0)
        try await ScriptedBackEnd.run { _, _ in
            count.withLock { $0 += 1 }
            return count.withLock { $0 } == 1 ? Answer(status: 502) : Answer(status: 412, body: "{}")
        } _: { site, backEnd async throws in
            var sent = fields("g-1")
            sent["If-Match"] = "W/\"1\""
            #expect(try await Wire.send("PATCH", site.url + "A(1)", sent, body: "{}").status == 502)
            #expect(try await Wire.send("PATCH", site.url + "A(1)", sent, body: "{}").status == 412)
            #expect(backEnd.seen.count == 2)
        }
    }

    @Test("If the response proves that nothing happened, the request is forwarded again")
    func nothingHappened() async throws {
        let count = Mutex(0)
        try await ScriptedBackEnd.run { _, _ in
            let number = count.withLock {
                $0 += 1; return $0
            }
            return number == 1 ? Answer(status: 429) : Answer(status: 201, body: "{}")
        } _: { site, _ async throws in
            let sent = fields("n-1")
            #expect(try await Wire.send("POST", site.url + "A", sent, body: "{}").status == 429)
            #expect(try await Wire.send("POST", site.url + "A", sent, body: "{}").status == 201)
        }
    }

    @Test("Concurrent copies of a request reach the back end once")
    func together() async throws {
        try await ScriptedBackEnd.run { _, _ in
            try await Task.sleep(for: .milliseconds(200))
            return Answer(status: 201, body: "{\"a\":1}")
        } _: { site, backEnd async throws in
            let sent = fields("t-1")
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await Wire.send("POST", site.url + "A", sent, body: "{}").status }
                }
                for try await status in group { #expect(status == 201) }
            }
            #expect(backEnd.seen.count == 1)
        }
    }

    @Test("A change set has one id and is repeated as a unit (review, 12)")
    func changeSet() async throws {
        try await ShopBackEnd.run { site, backEnd in
            func batch(_ id: String, _ keys: [Int]) -> String {
                let moment = "Sun, 29 Nov 2026 08:00:00 GMT"
                let parts = keys.map { key in
                    """
                    --c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: \(key)\r\n\r
                    POST Products HTTP/1.1\r\nContent-Type: application/json\r\nRepeatability-Request-ID: \(id)\r
                    Repeatability-First-Sent: \(Self.now())\r\n\r
                    {"ID": \(key), "Name": "P", "Price": 1}\r\n
                    """
                }
                _ = moment
                return "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n\(parts.joined())--c--\r\n--b--\r\n"
            }
            let type = ["Content-Type": "multipart/mixed; boundary=b", "OData-Version": "4.01"]
            let body = batch("set-1", [60, 61])
            let first = try await Wire.send("POST", site.url + "$batch", type, body: body)
            #expect(first.status == 200, "\(first.text)")
            #expect(first.text.components(separatedBy: "201 Created").count == 3, "\(first.text)")
            #expect(first.text.contains("Repeatability-Result: accepted"))
            let again = try await Wire.send("POST", site.url + "$batch", type, body: body)
            #expect(again.text.components(separatedBy: "201 Created").count == 3)
            #expect(backEnd.requests.count { $0.contains("$batch") } == 1)
            let rows = try await Wire.send("GET", site.url + "Products?$filter=ID%20ge%2060")
            #expect(rows.rows.count == 2)
        }
    }
}
