import Foundation
import HTTPTypes
import ODataService
import Synchronization
import Testing

@testable import MobileServer

@Suite("A destination as a proxy")
struct DestinationProxyTests {
    private typealias Answer = ScriptedBackEnd.Answer

    @Test("The back end gets the request without the fields between device and server")
    func requestFields() async throws {
        try await ScriptedBackEnd.run { _, _ in
            Answer(body: "{}")
        } _: { site, backEnd async throws in
            _ = try await Wire.send(
                "GET", site.url + "Orders?$top=1",
                [
                    "Authorization": "Bearer user", "Cookie": "a=b", "Outpost-Registration": "r", "DPoP": "x",
                    "Connection": "X-Hop", "X-Hop": "1", "X-Forwarded-Host": "evil", "Accept": "application/json",
                    "X-CSRF-Token": "Fetch", "Sec-Fetch-Site": "none", "X-CorrelationID": "c", "TE": "trailers",
                ])
            let seen = try #require(backEnd.seen.first)
            #expect(seen.path == "/svc/Orders?$top=1")
            for name in [
                "Authorization", "Cookie", "Outpost-Registration", "DPoP", "X-Hop", "X-Forwarded-Host", "X-CSRF-Token",
                "Sec-Fetch-Site", "TE",
            ] {
                #expect(seen.field(name) == nil, "\(name)")
            }
            #expect(seen.field("Accept") == "application/json")
            #expect(seen.field("X-CorrelationID") == "c")
        }
    }

    @Test("The device gets the response with the server's links and without the back end's session")
    func responseFields() async throws {
        try await ScriptedBackEnd.run { _, own in
            Answer(
                status: 201,
                fields: [
                    "Content-Type": "application/json;odata.metadata=minimal", "Location": "\(own)/svc/Orders(7)",
                    "OData-EntityId": "\(own)/svc/Orders(7)", "Set-Cookie": "sid=1", "Server": "old/1",
                    "ETag": "W/\"1\"", "Access-Control-Allow-Origin": "*", "OData-Version": "4.0",
                    "Content-Location": "http://inner.example/Orders(7)",
                ], body: "{\"@odata.id\":\"\(own)/svc/Orders(7)\"}")
        } _: { site, _ async throws in
            let answer = try await Wire.send(
                "POST", site.url + "Orders", ["Content-Type": "application/json"], body: "{}")
            #expect(answer.status == 201)
            #expect(answer.field("Location") == site.url + "Orders(7)")
            #expect(answer.field("OData-EntityId") == site.url + "Orders(7)")
            #expect(answer.json["@odata.id"] as? String == site.url + "Orders(7)")
            #expect(answer.field("ETag") == "W/\"1\"")
            for name in ["Set-Cookie", "Access-Control-Allow-Origin", "Content-Location"] {
                #expect(answer.field(name) == nil, "\(name)")
            }
            #expect(answer.field("Server") != "old/1")
        }
    }

    @Test("A batch is rewritten in both directions, and one that leads elsewhere is refused")
    func batch() async throws {
        try await ScriptedBackEnd.run { seen, own in
            let part =
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nSet-Cookie: a=b\r\n\r\n{\"@odata.id\":\"\(own)/svc/Orders(7)\"}"
            return Answer(
                fields: ["Content-Type": "multipart/mixed; boundary=r"],
                body: "--r\r\nContent-Type: application/http\r\n\r\n\(part)\r\n--r--\r\n")
        } _: { site, backEnd async throws in
            func send(_ url: String) async throws -> SiteAnswer {
                let body =
                    "--q\r\nContent-Type: application/http\r\n\r\nGET \(url) HTTP/1.1\r\nAuthorization: Bearer x\r\nHost: inner\r\n\r\n\r\n--q--\r\n"
                return try await Wire.send(
                    "POST", site.url + "$batch", ["Content-Type": "multipart/mixed; boundary=q"], body: body)
            }
            let answer = try await send(site.url + "Orders(7)")
            #expect(answer.status == 200)
            #expect(answer.text.contains("{\"@odata.id\":\"\(site.url)Orders(7)\"}"))
            #expect(!answer.text.contains("Set-Cookie"))
            let seen = try #require(backEnd.seen.first?.body)
            #expect(seen.contains("GET \(backEnd.url)/svc/Orders(7) HTTP/1.1"))
            #expect(!seen.contains("Authorization") && !seen.contains("Host:"))
            for foreign in ["http://inner.example/x", "/other/Orders", "../x", "%2e%2e/x"] {
                #expect(try await send(foreign).status == 400, "\(foreign)")
            }
            #expect(backEnd.seen.count == 1)
        }
    }

    @Test("Requests go only to the origin of the destination, despite other paths and redirects")
    func origin() async throws {
        let inner = try await ScriptedBackEnd { _, _ in Answer(body: "{\"secret\":1}") }
        try await ScriptedBackEnd.run { seen, _ in
            seen.path.contains("moved")
                ? Answer(status: 302, fields: ["Location": inner.url + "/svc/secret"])
                : seen.path.contains("near")
                    ? Answer(status: 302, fields: ["Location": "/svc/Orders"]) : Answer(body: "{}")
        } _: { site, backEnd async throws in
            for path in ["..%2f..%2fadmin", "%2e%2e/admin", "a/%2e%2e/%2e%2e/admin", "a%5c..%5cadmin"] {
                let answer = try await Wire.send("GET", site.url + path)
                #expect(answer.status == 400 || answer.status == 404, "\(path)")
            }
            #expect(backEnd.seen.isEmpty)
            let moved = try await Wire.send("GET", site.url + "moved")
            #expect(moved.status == 502)
            #expect(!moved.text.contains("secret") && moved.field("Location") == nil)
            #expect(inner.seen.isEmpty)
            #expect(try await Wire.send("GET", site.url + "near").status == 200)
        }
        await inner.stop()
    }

    @Test("Reserved error codes in responses of a back end are replaced (review, 10)")
    func reservedCodes() async throws {
        try await ScriptedBackEnd.run { seen, _ in
            seen.path.contains("xml")
                ? Answer(
                    status: 403, fields: ["Content-Type": "application/xml"],
                    body: "<error><code>DeviceWiped</code><message>x</message></error>")
                : Answer(status: 403, body: "{\"error\":{\"code\":\"DeviceWiped\",\"message\":\"DeviceWiped\"}}")
        } _: { site, _ async throws in
            let answer = try await Wire.send("GET", site.url + "Orders")
            #expect(answer.status == 403)
            #expect(answer.code == "BackEndError")
            let xml = try await Wire.send("GET", site.url + "xml")
            #expect(xml.text.contains("<code>BackEndError</code>"))
        }
    }

    @Test("Codes of the back end have a logical status")
    func errorMapping() async throws {
        try await ScriptedBackEnd.run {
            $0.destinations["shop"]?.errorCodes = ["LOCKED/7": 409, "418": 503]
        } answer: {
            seen, _ in
            seen.path.contains("tea")
                ? Answer(status: 418, body: "short and stout")
                : Answer(status: 500, body: "{\"error\":{\"code\":\"LOCKED/7\",\"message\":\"m\"}}")
        } _: { site, _ async throws in
            #expect(try await Wire.send("GET", site.url + "Orders").status == 409)
            #expect(try await Wire.send("GET", site.url + "tea").status == 503)
        }
    }

    @Test("The CSRF token of the back end stays on the server, and a refused change is sent once more")
    func csrf() async throws {
        try await ScriptedBackEnd.run { seen, _ in
            if seen.field("X-CSRF-Token") == "Fetch" {
                return Answer(
                    fields: ["X-CSRF-Token": "t1", "Set-Cookie": "sid=7; Path=/", "Content-Type": "application/json"],
                    body: "{}")
            }
            guard seen.method != "GET" else { return Answer(body: "{}") }
            guard seen.field("X-CSRF-Token") == "t1", seen.field("Cookie") == "sid=7" else {
                return Answer(status: 403, fields: ["X-CSRF-Token": "Required"])
            }
            return Answer(status: 204, fields: [:])
        } _: { site, backEnd async throws in
            for _ in 0..<2 {
                let answer = try await Wire.send(
                    "PATCH", site.url + "Orders(1)", ["Content-Type": "application/json"], body: "{\"A\":1}")
                #expect(answer.status == 204)
                #expect(answer.field("X-CSRF-Token") == nil)
            }
            let changes = backEnd.seen.filter { $0.method == "PATCH" }
            #expect(changes.count == 3)
            #expect(changes.allSatisfy { $0.body == "{\"A\":1}" })
        }
    }

    @Test("The number of concurrent requests at the back end is limited")
    func gate() async throws {
        let running = Mutex((now: 0, most: 0))
        try await ScriptedBackEnd.run {
            $0.destinations["shop"]?.gate = 3
        } answer: { _, _ in
            running.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
            try await Task.sleep(for: .milliseconds(20))
            running.withLock { $0.now -= 1 }
            return Answer(body: "{}")
        } _: { site, _ async throws in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await Wire.send("GET", site.url + "Orders").status } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(running.withLock(\.most) <= 3)
            #expect(running.withLock(\.most) > 1)
        }
    }

    @Test("A request that does not fit into the queue is refused with a time to retry")
    func queue() async throws {
        try await ScriptedBackEnd.run {
            $0.destinations["shop"]?.gate = 1
            $0.destinations["shop"]?.queue = 1
        } answer: { _, _ in
            try await Task.sleep(for: .milliseconds(300))
            return Answer(body: "{}")
        } _: { site, _ async throws in
            let statuses = try await withThrowingTaskGroup(of: SiteAnswer.self) { group in
                for _ in 0..<4 { group.addTask { try await Wire.send("GET", site.url + "Orders") } }
                var all: [Int] = []
                for try await answer in group {
                    all.append(answer.status)
                    if answer.status == 503 {
                        #expect(answer.code == "Busy")
                        #expect(answer.field("Retry-After") != nil)
                    }
                }
                return all
            }
            #expect(statuses.filter { $0 == 503 }.count == 2)
        }
    }

    @Test("After five failures, requests to the back end stop until a single test request succeeds")
    func breaker() async throws {
        let now = Mutex(ContinuousClock.now)
        let gate = DestinationGate(limit: 2, queue: 2, now: { now.withLock { $0 } })
        for _ in 0..<DestinationGate.failureLimit {
            let place = try await gate.enter()
            gate.note(isFailure: true)
            place.release()
        }
        #expect(gate.isOpen)
        await #expect(throws: DestinationGate.Refusal.self) { _ = try await gate.enter() }
        now.withLock { $0 += DestinationGate.openTime }
        let probe = try await gate.enter()
        await #expect(throws: DestinationGate.Refusal.self) { _ = try await gate.enter() }
        gate.note(isFailure: false)
        probe.release()
        #expect(!gate.isOpen)
        #expect(gate.running == 0)
    }

    @Test("A change reaches the back end even if the device disconnects (review, 11)")
    func departedCaller() async throws {
        let done = Mutex(0)
        try await ScriptedBackEnd.run { _, _ in
            try await Task.sleep(for: .milliseconds(300))
            done.withLock { $0 += 1 }
            return Answer(status: 204, fields: [:])
        } _: { site, _ async throws in
            let change = Task {
                try await Wire.send("PATCH", site.url + "Orders(1)", ["Content-Type": "application/json"], body: "{}")
            }
            try await Task.sleep(for: .milliseconds(100))
            change.cancel()
            for _ in 0..<100 where done.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(done.withLock { $0 } == 1)
        }
    }

    @Test("A destination tells devices the queries of its configuration")
    func summaries() async throws {
        try await ScriptedBackEnd.run { configuration in
            var query = QueryConfiguration("Orders?$filter=Open")
            query.hasStreams = true
            query.group = "sales"
            configuration.destinations["shop"]?.queries["orders"] = query
            configuration.destinations["shop"]?.dialect = .v4
        } answer: { _, _ in
            Answer(body: "{}")
        } _: { site, _ async throws in
            let application = try #require(try await site.services.applications.application(named: "shop"))
            let queries = await site.part.summaries(of: application).first?.queries ?? []
            #expect(queries.map(\.query) == ["Orders?$filter=Open"] && queries.map(\.group) == ["sales"])
            #expect(queries.first?.hasStreams == true)
        }
    }

    @Test("Bodies beyond the limit and URLs beyond 8 KB are refused")
    func limits() async throws {
        try await ScriptedBackEnd.run { _, _ in
            Answer(body: "{}")
        } _: { site, backEnd async throws in
            let long = String(repeating: "a", count: DestinationProxy.urlLimit)
            #expect(try await Wire.send("GET", site.url + long).status == 414)
            let batch = String(repeating: "x", count: Int(DestinationSite.uploadLimit) + 1)
            let answer = try await Wire.send(
                "POST", site.url + "$batch", ["Content-Type": "multipart/mixed; boundary=b"], body: batch)
            #expect(answer.status == 413)
            #expect(backEnd.seen.isEmpty)
        }
    }
}
