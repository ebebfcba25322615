import Foundation
import ODataService
import Synchronization
import Testing

@testable import MobileServer

@Suite("Repeatable requests within a batch")
struct RepeatableBatchTests {
    private typealias Answer = ScriptedBackEnd.Answer

    private static let json = ["Content-Type": "application/json", "OData-Version": "4.01"]

    private static let date: String = {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date())
    }()

    /// A request of a batch in JSON.
    private static func request(
        _ id: String, _ url: String, method: String = "post", body: String? = nil, repeatable: String? = nil,
        more: String = "", fields: String = ""
    ) -> String {
        let repeats = repeatable.map {
            #","repeatability-request-id":"\#($0)","repeatability-first-sent":"\#(date)""#
        }
        let content = body.map { ",\"body\":\($0)" } ?? ""
        return """
            {"id":"\(id)","method":"\(method)","url":"\(url)"\(more),\
            "headers":{"content-type":"application/json"\(repeats ?? "")\(fields)}\(content)}
            """
    }

    private static func product(_ id: Int, _ name: String = "P") -> String {
        #"{"ID":\#(id),"Name":"\#(name)","Price":1,"CategoryID":1}"#
    }

    private static func send(_ site: DestinationSite, _ requests: [String]) async throws -> SiteAnswer {
        try await Wire.send(
            "POST", site.url + "$batch", json, body: "{\"requests\":[\(requests.joined(separator: ","))]}")
    }

    /// The status of each response by its id.
    private static func statuses(_ answer: SiteAnswer) -> [String: Int] {
        let responses = answer.json["responses"] as? [[String: Any]] ?? []
        return Dictionary(
            responses.compactMap { response in
                guard let id = response["id"] as? String, let status = response["status"] as? Int else { return nil }
                return (id, status)
            }, uniquingKeysWith: { $1 })
    }

    @Test(
        "A date beyond the year 9999 is refused, and the server goes on",
        arguments: [
            "Sun, 06 Nov 300000 08:49:37 GMT", "Sun, 06 Nov 5000000 08:49:37 GMT",
            "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, 06 Nov -9999 08:49:37 GMT",
        ])
    func hostileDates(text: String) async throws {
        try await ScriptedBackEnd.run { _, _ in
            Answer(status: 204, fields: [:])
        } _: { site, backEnd async throws in
            let fields = [
                "Content-Type": "application/json", "Repeatability-Request-ID": "d", "Repeatability-First-Sent": text,
            ]
            let answer = try await Wire.send("POST", site.url + "A", fields, body: "{}")
            #expect([400, 412].contains(answer.status))
            #expect(try await Wire.send("POST", site.url + "A", Self.json, body: "{}").status == 204)
            #expect(backEnd.seen.count == 1)
        }
    }

    @Test("The units of a batch in JSON are executed once, although the batch is repeated (review, 12)")
    func units() async throws {
        try await ShopBackEnd.run { site, backEnd async throws in
            let requests = [
                Self.request("a", "Products", body: Self.product(70), repeatable: "u-1"),
                Self.request(
                    "b", "Products", body: Self.product(71), repeatable: "u-2", more: #","atomicityGroup":"g""#),
                Self.request(
                    "c", "Products", body: Self.product(72), repeatable: "u-2", more: #","atomicityGroup":"g""#),
            ]
            let first = try await Self.send(site, requests)
            #expect(Self.statuses(first) == ["a": 201, "b": 201, "c": 201], "\(first.text)")
            #expect(first.text.lowercased().contains("repeatability-result"))
            let again = try await Self.send(site, requests)
            #expect(Self.statuses(again) == ["a": 201, "b": 201, "c": 201], "\(again.text)")
            #expect(backEnd.requests.count { $0.contains("$batch") } == 2)
            #expect(try await Wire.send("GET", site.url + "Products?$filter=ID%20ge%2070").rows.count == 3)
            let other = [Self.request("a", "Products", body: Self.product(73), repeatable: "u-1")]
            #expect(Self.statuses(try await Self.send(site, other)) == ["a": 400])
        }
    }

    @Test("A later unit of a batch in JSON refers to the entity of an earlier one")
    func references() async throws {
        try await ShopBackEnd.run { site, _ async throws in
            let requests = [
                Self.request("new", "Products", body: Self.product(75), repeatable: "r-1"),
                Self.request(
                    "edit", "$new", method: "patch", body: #"{"Name":"Edited"}"#, repeatable: "r-2",
                    more: #","dependsOn":["new"]"#, fields: #","if-match":"*""#),
                Self.request("read", "Products(75)", method: "get"),
            ]
            let answer = try await Self.send(site, requests)
            let statuses = Self.statuses(answer)
            #expect(statuses["new"] == 201 && statuses["read"] == 200, "\(answer.text)")
            #expect((200..<300).contains(statuses["edit"] ?? 0), "\(answer.text)")
            #expect(answer.text.contains("Edited"))
            let failing = [
                Self.request("new", "Products", body: #"{"ID":"wrong"}"#, repeatable: "r-3"),
                Self.request(
                    "edit", "$new", method: "patch", body: #"{"Name":"X"}"#, repeatable: "r-4",
                    more: #","dependsOn":["new"]"#),
            ]
            let refused = try await Wire.send(
                "POST", site.url + "$batch", Self.json.merging(["Prefer": "continue-on-error"]) { $1 },
                body: "{\"requests\":[\(failing.joined(separator: ","))]}")
            #expect(Self.statuses(refused)["edit"] == 424, "\(refused.text)")
        }
    }

    @Test("A refusal within a batch after which nothing happened is not kept", arguments: [true, false])
    func busy(isJSON: Bool) async throws {
        let count = Mutex(0)
        try await ScriptedBackEnd.run { _, _ in
            let status = count.withLock {
                $0 += 1
                return $0 == 1 ? 429 : 204
            }
            if isJSON { return Answer(body: #"{"responses":[{"id":"1","status":\#(status)}]}"#) }
            let part = "Content-Type: application/http\r\n\r\nHTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n\r\n"
            return Answer(
                fields: ["Content-Type": "multipart/mixed; boundary=r"], body: "--r\r\n\(part)--r--\r\n")
        } _: { site, backEnd async throws in
            for expected in [429, 204, 204] {
                let answer: SiteAnswer
                if isJSON {
                    answer = try await Self.send(site, [Self.request("1", "A", body: "{}", repeatable: "n-1")])
                    #expect(Self.statuses(answer) == ["1": expected], "\(answer.text)")
                } else {
                    let body = """
                        --b\r\nContent-Type: application/http\r\n\r\nPOST A HTTP/1.1\r
                        Repeatability-Request-ID: n-1\r\nRepeatability-First-Sent: \(Self.date)\r\n\r\n{}\r\n--b--\r\n
                        """
                    answer = try await Wire.send(
                        "POST", site.url + "$batch", ["Content-Type": "multipart/mixed; boundary=b"], body: body)
                    #expect(answer.text.contains("HTTP/1.1 \(expected) "), "\(answer.text)")
                }
            }
            #expect(backEnd.seen.count == 2)
        }
    }

    @Test("With permissions too, the units of a batch are executed once (review, 12)")
    func permissions() async throws {
        try await ShopBackEnd.run {
            $0.permissions = [
                PermissionRule(role: "sales", set: "Products", verbs: ["read", "create", "update", "delete"])
            ]
        } _: { site, _ async throws in
            let requests = [
                Self.request("a", "Products", body: Self.product(80), repeatable: "p-1"),
                Self.request("b", "Products", body: Self.product(81), repeatable: "p-2"),
            ]
            for _ in 0..<2 {
                let answer = try await Self.send(site, requests)
                #expect(Self.statuses(answer) == ["a": 201, "b": 201], "\(answer.text)")
            }
            #expect(try await Wire.send("GET", site.url + "Products?$filter=ID%20ge%2080").rows.count == 2)
        }
    }

    @Test("A unit with the id of another one is refused, and the others are executed (review, 12)")
    func usedID() async throws {
        try await ShopBackEnd.run { site, _ async throws in
            let requests = [
                Self.request("a", "Products", body: Self.product(85), repeatable: "q-1"),
                Self.request("b", "Products", body: Self.product(86), repeatable: "q-1"),
            ]
            let answer = try await Self.send(site, requests)
            #expect(Self.statuses(answer) == ["a": 201, "b": 400], "\(answer.text)")
        }
    }

    @Test("Within a batch in JSON, no field speaks to a back end that trusts this server (review, 10)")
    func fields() async throws {
        try await ScriptedBackEnd.run { _, _ in
            let hidden = #"{"error":{"code":"Device\u0057iped","message":"x"}}"#
            let plain = #"{"error":{"code":"DeviceWiped","message":"x"}}"#
            return Answer(
                body: """
                    {"responses":[{"id":"1","status":403,"headers":{"set-cookie":"a=b"},"body":\(plain)},\
                    {"id":"2","status":403,"body":\(hidden)}]}
                    """)
        } _: { site, backEnd async throws in
            let smuggled = #","ssl_client_cert":"forged","authorization":"Basic x","cookie":"a=b","x-own":"kept""#
            let answer = try await Self.send(
                site,
                [
                    Self.request("1", "A", body: "{}", fields: smuggled),
                    Self.request("2", "A", body: "{}", fields: smuggled),
                ])
            let sent = try #require(backEnd.seen.first?.body.lowercased())
            #expect(sent.contains("x-own") && sent.contains("content-type"), "\(sent)")
            #expect(!sent.contains("forged") && !sent.contains("basic x") && !sent.contains("cookie"), "\(sent)")
            #expect(!answer.text.contains("iped") && !answer.text.contains("set-cookie"), "\(answer.text)")
            #expect(answer.text.components(separatedBy: DestinationFailure.replacement).count == 3, "\(answer.text)")
        }
    }
}
