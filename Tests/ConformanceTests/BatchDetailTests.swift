import Foundation
import Testing

@Suite("OData 4.01, batches in detail")
struct BatchDetailTests {
    private func batch(
        _ site: Site, _ requests: [[String: Any]], _ fields: [String: String] = [:]
    ) async throws -> [[String: Any]] {
        let answer = try await site.send("POST", "$batch", json: ["requests": requests], fields)
        #expect(answer.status == 200, "\(answer.text.prefix(300))")
        return try #require(try answer.json["responses"] as? [[String: Any]])
    }

    private func statuses(_ responses: [[String: Any]]) -> [Int] { responses.compactMap { $0["status"] as? Int } }

    @Test("19.1 (JSON) a condition decides by earlier responses whether a request is executed")
    func conditions() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let requests: [[String: Any]] = [
                ["id": "1", "method": "get", "url": laptop], ["id": "2", "method": "get", "url": "Nothing"],
                ["id": "3", "method": "get", "url": "Products/$count", "dependsOn": ["1"], "if": "$1/Price gt 500"],
                ["id": "4", "method": "get", "url": "Products/$count", "dependsOn": ["1"], "if": "$1/Price lt 500"],
                ["id": "5", "method": "get", "url": "Products/$count", "dependsOn": ["2"], "if": "not $2/$succeeded"],
                [
                    "id": "6", "method": "get", "url": "Products/$count", "dependsOn": ["2"],
                    "if": "$1/$succeeded and $2/$succeeded",
                ],
                ["id": "7", "method": "get", "url": "\(laptop)/Name"],
                [
                    "id": "8", "method": "get", "url": "Products/$count", "dependsOn": ["7"],
                    "if": "$7 eq 'Laptop' and contains($1/ShippingAddress/City,'$1')",
                ],
                ["id": "9", "method": "get", "url": "Products/$count", "if": "$1/Price gt"],
                ["id": "10", "method": "get", "url": "Products/$count", "if": "$2/Price gt 1"],
                ["id": "11", "method": "get", "url": "Products/$count", "if": "$77/Price gt 1"],
            ]
            let found = statuses(try await batch(site, requests))
            #expect(found == [200, 404, 200, 424, 200, 424, 200, 424, 400, 424, 400])
        }
    }

    @Test("19.1 (JSON) a false condition skips all requests of its group")
    func conditionOfGroup() async throws {
        try await Site.reference { site async throws in
            let responses = try await batch(
                site,
                [
                    ["id": "1", "method": "get", "url": "Products/$count"],
                    [
                        "id": "2", "atomicityGroup": "g", "method": "post", "url": "Categories",
                        "body": ["Name": "Garden"],
                    ],
                    [
                        "id": "3", "atomicityGroup": "g", "method": "post", "url": "Categories",
                        "body": ["Name": "Sports"], "if": "$1 eq 0",
                    ],
                ])
            #expect(statuses(responses) == [200, 424, 424])
            #expect(try await site.get("Categories/$count").text == "3")
        }
    }

    @Test("19.4 (JSON) a JSON batch continues after an error by default")
    func continuesOnError() async throws {
        try await Site.reference { site async throws in
            let requests: [[String: Any]] = [
                ["id": "1", "method": "get", "url": "Nothing"], ["id": "2", "method": "get", "url": "Products/$count"],
            ]
            #expect(statuses(try await batch(site, requests)) == [404, 200])
            #expect(statuses(try await batch(site, requests, ["Prefer": "continue-on-error=false"])) == [404])
        }
    }

    @Test("8.2.8.3 Preference-Applied names continue-on-error if the batch requests it")
    func appliedContinueOnError() async throws {
        try await Site.reference { site async throws in
            let body: [String: Any] = ["requests": [["id": "1", "method": "get", "url": "Products/$count"]]]
            for (wish, version, applied) in [
                ("continue-on-error", "4.01", "continue-on-error"),
                ("continue-on-error=false", "4.01", "continue-on-error=false"),
                ("odata.continue-on-error", "4.0", "odata.continue-on-error"),
            ] {
                let answer = try await site.send(
                    "POST", "$batch", json: body, ["Prefer": wish, "OData-MaxVersion": version])
                #expect(answer["Preference-Applied"] == applied)
            }
            #expect(try await site.send("POST", "$batch", json: body)["Preference-Applied"] == nil)
        }
    }

    @Test("11.7.4 the responses of a long batch are written one by one")
    func manyAnswers() async throws {
        try await Site.reference { site async throws in
            let requests = (0..<500).map { ["id": "\($0)", "method": "get", "url": "Products"] }
            let responses = try await batch(site, requests)
            #expect(responses.compactMap { $0["id"] as? String } == (0..<500).map(String.init))
            let rows = responses.compactMap { ($0["body"] as? [String: Any])?["value"] as? [Any] }
            #expect(rows.count == 500 && rows.allSatisfy { $0.count == 7 })
            #expect(try await batch(site, []).isEmpty)
        }
    }

    @Test("11.7.7 an action in a change set returns its result")
    func actionInGroup() async throws {
        try await Site.reference { site async throws in
            let path = try await site.product("Coffee Mug")
            let responses = try await batch(
                site,
                [
                    [
                        "id": "1", "atomicityGroup": "g", "method": "post", "url": "\(path)/ApplyDiscount",
                        "body": ["percentage": 50],
                    ],
                    [
                        "id": "2", "atomicityGroup": "g", "method": "post", "url": "\(path)/CalculateDiscount",
                        "body": ["percentage": 50],
                    ],
                ])
            #expect(statuses(responses) == [200, 200])
            #expect((responses[0]["body"] as? [String: Any])?["Price"] as? Double == 7.75)
            #expect((responses[1]["body"] as? [String: Any])?["value"] as? Double == 3.875)
        }
    }

    @Test("2 (Repeatable requests) a repeated action acts once and returns the first response")
    func repeatedAction() async throws {
        try await Site.reference { site async throws in
            let path = try await site.product("Coffee Mug")
            let sent = Self.now
            func call(_ name: String, _ parameters: [String: Any], _ id: String) async throws -> Answer {
                try await site.send(
                    "POST", "\(path)/\(name)", json: parameters,
                    ["Repeatability-Request-ID": id, "Repeatability-First-Sent": sent])
            }
            let first = try await call("ApplyDiscount", ["percentage": 50], "a")
            let second = try await call("ApplyDiscount", ["percentage": 50], "a")
            #expect(first.status == 200 && second.status == 200)
            #expect(second["Repeatability-Result"] == "accepted")
            #expect(try second.json["Price"] as? Double == 7.75)
            #expect(try second.control("context") as? String == first.control("context") as? String)
            let value = try await call("CalculateDiscount", ["percentage": 50], "b")
            _ = try await site.send("POST", "\(path)/IncreasePrice", json: ["amount": 100])
            let again = try await call("CalculateDiscount", ["percentage": 50], "b")
            // The repeated call returns the recorded value.
            #expect(try again.json["value"] as? Double == value.json["value"] as? Double)
            let nothing = try await call("IncreasePrice", ["amount": 1], "c")
            #expect(nothing.status == 204)
            #expect(try await call("IncreasePrice", ["amount": 1], "c").status == 204)
            #expect(try await site.get("\(path)/Price/$value").text == "108.75")
        }
    }

    private static var now: String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date())
    }

    @Test("13.2.1 (13) the metadata state the capabilities of the service truthfully")
    func capabilities() async throws {
        try await Site.reference { site async throws in
            let metadata = try await site.get("$metadata?$format=json").json
            let schema = try #require(metadata["ComplianceService"] as? [String: Any])
            let container = try #require(schema["Container"] as? [String: Any])
            func record(_ element: Any?, _ term: String) -> [String: Any]? {
                (element as? [String: Any])?["@Capabilities.\(term)"] as? [String: Any]
            }
            #expect(container["@Capabilities.AsynchronousRequestsSupported"] as? Bool == true)
            #expect(record(container, "BatchSupport")?["RequestDependencyConditionsSupported"] as? Bool == true)
            #expect(container["@Capabilities.ConformanceLevel"] != nil)
            // The stated capabilities match the actual behaviour.
            for (set, isInsertable) in [("Products", true), ("ReadOnlyItems", false)] {
                #expect(record(container[set], "InsertRestrictions")?["Insertable"] as? Bool == isInsertable)
                let status = try await site.send("POST", set, json: Site.newProduct("x")).status
                #expect((status != 405) == isInsertable)
            }
            for set in ["Products", "Categories"] {
                let isTracked = record(container[set], "ChangeTracking")?["Supported"] as? Bool
                let answer = try await site.get(set, ["Prefer": "track-changes"])
                #expect(isTracked == (answer["Preference-Applied"] == "track-changes"))
            }
            #expect(record(container["Products"], "SearchRestrictions")?["Searchable"] as? Bool == true)
            #expect(try await site.get("Products?$search=laptop").rows.count == 2)
            #expect(try await site.get("Products", ["Isolation": "snapshot"]).status == 200)
        }
    }

    @Test("11.7.6 a request of a batch uses values of earlier responses in its query")
    func valueReferences() async throws {
        try await Site.reference { site async throws in
            let path = try await site.product()
            let price = try #require(try await site.get(path).json["Price"] as? Double)
            let cheaper = try await site.get("Products?$filter=Price lt \(price)").rows.count
            let requests: [[String: Any]] = [
                ["id": "p", "method": "GET", "url": path],
                ["id": "n", "method": "GET", "url": "\(path)/Name"],
                ["id": "a", "method": "GET", "url": "Products?$filter=Price%20lt%20$p/Price", "dependsOn": ["p"]],
                ["id": "b", "method": "GET", "url": "Products?$filter=Name eq $n&$select=Name", "dependsOn": ["n"]],
                ["id": "c", "method": "GET", "url": "Products?$filter=Name eq '$n'", "dependsOn": ["n"]],
                [
                    "id": "d", "method": "GET", "dependsOn": ["p"],
                    "url": "Products?$filter=ShippingAddress/City eq $p/ShippingAddress/City and ID ne $it/Category/ID",
                ],
                ["id": "e", "method": "GET", "url": "Products?$filter=Price lt $p/Nothing", "dependsOn": ["p"]],
                ["id": "f", "method": "GET", "url": "Products?$filter=Price lt $z/Price"],
                ["id": "g", "method": "GET", "url": "Products?$filter=Price lt $a/Price", "dependsOn": ["a"]],
            ]
            let answers = try await site.send("POST", "$batch", json: ["requests": requests]).json
            let responses = try #require(answers["responses"] as? [[String: Any]])
            #expect(responses.map { $0["status"] as? Int } == [200, 200, 200, 200, 200, 200, 424, 400, 424])
            let counts = responses[2...5].map { (($0["body"] as? [String: Any])?["value"] as? [Any])?.count }
            #expect(counts == [cheaper, 1, 0, 1])
            // The responses do not contain the names of batch requests (11.7.7.5).
            #expect(!"\(responses[2...5])".contains("$p"))
        }
    }

    @Test("11.7.6 a batch is processed later, and its monitor returns all responses in the end")
    func later() async throws {
        try await Site.reference { site async throws in
            let requests = (1...20).map { ["id": "\($0)", "method": "get", "url": "Products?$orderby=Name"] }
            let accepted = try await site.send(
                "POST", "$batch", json: ["requests": requests], ["Prefer": "respond-async"])
            #expect(accepted.status == 202)
            let first = try #require(accepted["Location"])
            var next: String? = first
            var ids: [String] = []
            while let monitor = next {
                let answer = try await site.get(monitor)
                if answer.status == 202 { continue }
                #expect(answer.status == 200 && answer["AsyncResult"] == "200", "\(answer.text.prefix(200))")
                let responses = try #require(try answer.json["responses"] as? [[String: Any]])
                #expect(responses.allSatisfy { $0["status"] as? Int == 200 && $0["body"] is [String: Any] })
                ids += responses.compactMap { $0["id"] as? String }
                next = try answer.control("nextLink") as? String
            }
            #expect(ids == (1...20).map { "\($0)" })
        }
    }

    @Test("8.2.6 a batch under snapshot isolation sees its own changes")
    func isolation() async throws {
        try await Site.reference { site async throws in
            let requests: [[String: Any]] = [
                ["id": "1", "method": "get", "url": "Categories?$count=true"],
                ["id": "2", "method": "post", "url": "Categories", "body": ["Name": "Garden"]],
                ["id": "3", "method": "get", "url": "Categories?$count=true"],
            ]
            for name in ["OData-Isolation", "Isolation"] {
                let responses = try await batch(site, requests, [name: "snapshot"])
                #expect(statuses(responses).first == 200)
                let counts = responses.compactMap { response in
                    let body = response["body"] as? [String: Any]
                    return body?["@odata.count"] as? Int ?? body?["@count"] as? Int
                }
                #expect(counts == (name == "Isolation" ? [4, 4] : [3, 4]))
            }
            let refused = try await site.send(
                "POST", "$batch", json: ["requests": requests], ["OData-Isolation": "serializable"])
            #expect(refused.status == 412)
        }
    }
}
