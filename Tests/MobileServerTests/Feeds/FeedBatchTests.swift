import Foundation
import ServerState
import Synchronization
import Testing

@testable import MobileServer

@Suite("Feeds in a batch")
struct FeedBatchTests {
    private struct Part {
        var url: String
        var isTracked = true
    }

    /// Sends reads as a batch in multipart format, and returns the responses: status and JSON body.
    private func multipart(
        _ parts: [Part], to site: DestinationSite, prefer: String? = nil
    ) async throws -> [(status: Int, json: [String: Any])] {
        let text = parts.map { part in
            "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
                + "GET \(part.url) HTTP/1.1\r\nAccept: application/json\r\n"
                + (part.isTracked ? "Prefer: odata.track-changes\r\n" : "") + "\r\n\r\n"
        }
        var fields = ["Content-Type": "multipart/mixed; boundary=b"]
        fields["Prefer"] = prefer
        let answer = try await Wire.send(
            "POST", site.url + "$batch", fields, body: text.joined() + "--b--\r\n")
        guard answer.status == 200, let type = answer.field("Content-Type"),
            let boundary = type.split(separator: "boundary=").last
        else { return [(answer.status, answer.json)] }
        return try MultipartBody(answer.bytes, boundary: String(boundary)).parts.flatMap(\.messages).map { message in
            let status = Int(message.line.split(separator: " ").dropFirst().first ?? "") ?? 0
            return (status, SiteAnswer(response: answer.response, bytes: message.body).json)
        }
    }

    private func names(_ json: [String: Any]) -> [String] {
        (json["value"] as? [[String: Any]])?.compactMap { $0["Name"] as? String } ?? []
    }

    @Test("A batch is answered from the feeds in its order, and the rest of it by the back end (review, 23)")
    func mixed() async throws {
        try await ShopBackEnd.run { site, backEnd in
            let first = try await multipart(
                [Part(url: "Categories"), Part(url: "Products"), Part(url: "Products(1)", isTracked: false)], to: site)
            #expect(first.map(\.status) == [200, 200, 200])
            #expect(names(try #require(first.first).json) == ["Writing", "Light"])
            #expect(names(first[1].json).count == 3)
            #expect(first[2].json["Name"] as? String == "Product 1")
            let delta = try #require(first[1].json["@odata.deltaLink"] as? String)
            #expect(delta.hasPrefix(site.url + "Products?$deltatoken="))
            // The read of the feed itself, and none for the device.
            #expect(backEnd.requests.count { $0.hasPrefix("GET /Products") } == 1)

            try await backEnd.send("PATCH", "Products(2)", "{\"Name\": \"Changed\"}")
            try await site.refresh()
            let second = try await multipart([Part(url: delta)], to: site)
            #expect(second.count == 1 && names(second[0].json) == ["Changed"])
        }
    }

    @Test("A batch in JSON is answered in the same way")
    func json() async throws {
        try await ShopBackEnd.run { site, backEnd in
            let answer = try await Wire.send(
                "POST", site.url + "$batch", ["Content-Type": "application/json"],
                body: """
                    {"requests": [
                    {"id": "c", "method": "get", "url": "Categories"},
                    {"id": "p", "method": "get", "url": "Products", "headers": {"prefer": "odata.track-changes"}}]}
                    """)
            let responses = try #require(answer.json["responses"] as? [[String: Any]], "\(answer.text)")
            #expect(responses.map { $0["id"] as? String } == ["c", "p"])
            #expect(responses.map { $0["status"] as? Int } == [200, 200])
            let body = try #require(responses.last?["body"] as? [String: Any])
            #expect(names(body).count == 3 && body["@odata.deltaLink"] != nil)
            #expect(backEnd.requests.count { $0.hasPrefix("GET /Products") } == 1)
        }
    }

    @Test("A read that another request of the batch depends on passes to the back end")
    func references() async throws {
        try await ShopBackEnd.run { site, _ in
            let answer = try await Wire.send(
                "POST", site.url + "$batch", ["Content-Type": "application/json"],
                body: """
                    {"requests": [
                    {"id": "p", "method": "get", "url": "Products", "headers": {"prefer": "odata.track-changes"}},
                    {"id": "c", "method": "get", "url": "Categories", "dependsOn": ["p"]}]}
                    """)
            let responses = try #require(answer.json["responses"] as? [[String: Any]], "\(answer.text)")
            #expect(responses.count == 2)
            #expect((responses.first?["body"] as? [String: Any])?["@odata.deltaLink"] == nil)
            #expect(try await site.feed() == nil)
        }
    }

    @Test("An expired link ends a batch, unless it goes on after errors")
    func expired() async throws {
        try await ShopBackEnd.run { site, backEnd in
            let first = try await multipart([Part(url: "Products")], to: site)
            let delta = try #require(first.first?.json["@odata.deltaLink"] as? String)
            let forged = delta.replacing("deltatoken=A", with: "deltatoken=B")
            let parts = [Part(url: forged), Part(url: "Categories", isTracked: false)]
            let before = backEnd.requests.count
            let ended = try await multipart(parts, to: site)
            #expect(ended.map(\.status) == [410])
            #expect(backEnd.requests.count == before)
            let whole = try await multipart(parts, to: site, prefer: "continue-on-error")
            #expect(whole.map(\.status) == [410, 200])
        }
    }

    @Test("A link out of the destination in a batch is refused")
    func foreign() async throws {
        try await ShopBackEnd.run { site, backEnd in
            let parts = [Part(url: "http://127.0.0.1:1/Products"), Part(url: "Products")]
            let answer = try await multipart(parts, to: site)
            #expect(answer.map(\.status) == [400])
            #expect(!backEnd.requests.contains { $0.contains("$batch") })
        }
    }
}
