import Foundation
import Testing

@Suite("OData 4.01, responses with subtle errors")
struct RightAnswerTests {
    /// The letter `é` as one code point and as two.
    private static let spellings = ["\u{E9}", "e\u{301}"]
    private static let encoded = ["%C3%A9", "e%CC%81"]

    @Test("4.3.6 (URL) keys that are canonically equivalent in Unicode are different keys")
    func keys() async throws {
        for order in [[0, 1], [1, 0]] {
            try await Site.reference { site async throws in
                let product = try await site.product()
                let key = String(product.dropFirst(9).dropLast())
                for (index, spelling) in Self.spellings.enumerated() {
                    let text = ["ProductID": key, "LanguageKey": spelling, "Description": "\(index)"]
                    #expect(try await site.send("POST", "ProductDescriptions", json: text).status == 201)
                }
                for index in order + order {
                    let segments = try await site.get("ProductDescriptions/\(key)/\(Self.encoded[index])")
                    #expect(try segments.json["Description"] as? String == "\(index)", "\(order)")
                    let query = Array("$filter=LanguageKey eq '\(Self.spellings[index])'".utf8)
                    let rows = try await site.send(
                        "POST", "ProductDescriptions/$query", ["Content-Type": "text/plain"], body: query)
                    #expect(try rows.column("Description") == ["\(index)"], "\(order)")
                    let length = try await site.get(
                        "Products?$compute=length('\(Self.encoded[index])') as \(Self.encoded[index])&$top=1"
                            + "&$select=\(Self.encoded[index])")
                    #expect(length.text.utf8.contains(Self.spellings[index].utf8))
                    #expect(try length.column(Self.spellings[index]) == [index + 1])
                }
                func url(_ index: Int) -> String {
                    "ProductDescriptions(ProductID=\(key),LanguageKey='\(Self.spellings[index])')"
                }
                let requests: [[String: Any]] = [
                    ["id": "1", "method": "GET", "url": url(order[0])],
                    ["id": "2", "method": "PATCH", "url": url(order[1]), "body": ["Description": "changed"]],
                    ["id": "3", "method": "DELETE", "url": url(order[1])],
                ]
                let batch = try await site.send("POST", "$batch", json: ["requests": requests])
                #expect(batch.status == 200)
                let left = try await site.get("\(product)/Descriptions?$filter=length(Description) eq 1")
                #expect(try left.column("Description") == ["\(order[0])"], "\(order)")
            }
        }
    }

    @Test("5.1.1.2.5 (URL) a decimal literal divides as a decimal after an integer division")
    func division() async throws {
        let pairs = [
            ("Rating div 3.5 gt 57.1", "Rating div 3.0 gt 66.6"),
            ("-Rating div 3.5 lt -57.1", "-Rating div 3.0 lt -66.6"),
            ("100.5 div Rating gt 0.4", "100.0 div Rating gt 0.4"),
        ]
        for (first, second) in pairs {
            var counts: [[Int]] = []
            for order in [[first, second], [second, first]] {
                try await Site.reference { site async throws in
                    var found: [String: Int] = [:]
                    for filter in order { found[filter] = try await site.get("Products?$filter=\(filter)").rows.count }
                    counts.append([found[first] ?? -1, found[second] ?? -1])
                }
            }
            #expect(counts[0] == counts[1], "\(first), \(second)")
        }
        try await Site.reference { site async throws in
            let divisions: [(String, Double)] = [
                ("7 div 2.0", 3.5), ("7.0 div 2", 3.5), ("7 div 2", 3), ("7 div -2.0", -3.5), ("7 div 2.5", 2.8),
                ("7 divby 2", 3.5),
                ("7 mod 2.0", 1),
            ]
            for (expression, value) in divisions {
                let rows = try await site.get("Products?$compute=\(expression) as X&$select=X&$top=1").rows
                #expect(rows.first?["X"] as? Double == value, "\(expression)")
            }
        }
    }

    @Test(
        "11.4.12 PUT and PATCH of a collection refuse query options and type segments that select members"
    )
    func collections() async throws {
        try await Site.reference { site async throws in
            let options = [
                "?$filter=Price gt 100000", "?$top=0", "?$search=zzz", "?$skip=100",
                "/ComplianceService.SpecialProduct",
            ]
            for (method, version) in [("PUT", "4.01"), ("PUT", "4.0"), ("PATCH", "4.01")] {
                for option in options {
                    let body: [String: Any] =
                        method == "PUT" ? ["value": [Any]()] : ["@context": "#$delta", "value": [Any]()]
                    let refused = try await site.send(
                        method, "Products\(option)", json: body, ["OData-Version": version])
                    #expect(refused.status == 400, "\(method) \(option)")
                }
            }
            #expect(try await site.get("Products/$count").text == "7")
        }
    }

    @Test(
        "11.4.6.2 unlinking an entity is refused if its key contains the foreign key"
    )
    func dependents() async throws {
        try await Site.reference { site async throws in
            let (mouse, laptop) = (try await site.product("Wireless Mouse"), try await site.product())
            let before = try await site.get("ProductDescriptions?$orderby=ProductID,LanguageKey").text
            let own = try #require(try await site.get("\(mouse)/Descriptions/$ref").rows.first?["@odata.id"] as? String)
            let other = try #require(
                try await site.get("\(laptop)/Descriptions/$ref").rows.first?["@odata.id"] as? String)
            let requests: [(String, String, [String: Any])] = [
                ("PUT", "\(mouse)/Descriptions/$ref", ["value": [Any]()]),
                ("PATCH", mouse, ["Descriptions@delta": [["@removed": ["reason": "changed"], "@id": own]]]),
                ("PATCH", mouse, ["Descriptions": [Any]()]), ("DELETE", "\(mouse)/Descriptions/$ref?$id=\(own)", [:]),
                ("POST", "\(mouse)/Descriptions/$ref", ["@id": other]),
                ("PATCH", mouse, ["Descriptions@odata.bind": [other]]),
                ("POST", "Products", Site.newProduct("New", ["Descriptions@odata.bind": [other]])),
            ]
            for (method, path, body) in requests {
                let refused =
                    body.isEmpty ? try await site.send(method, path) : try await site.send(method, path, json: body)
                #expect((400...409).contains(refused.status), "\(method) \(path) \(refused.text)")
                #expect(try await site.get("ProductDescriptions?$orderby=ProductID,LanguageKey").text == before)
            }
            #expect(try await site.get("Products/$count").text == "7")
        }
    }

    @Test("11.4.3.1 an update of 4.0 may bind entities, and is refused with inline entities")
    func inlineEntities() async throws {
        try await Site.reference { site async throws in
            let category = "Categories(\(try await site.key(of: "Categories", named: "Kitchen")))"
            let laptop = try await site.product()
            let old = ["OData-Version": "4.0"]
            #expect(try await site.send("PATCH", category, json: ["Products": [Any]()], old).status == 400)
            #expect(try await site.send("PATCH", laptop, json: ["Category": ["Name": "x"]], old).status == 400)
            #expect(try await site.get("\(category)/Products").rows.count == 1)
            #expect(try await site.send("PATCH", laptop, json: ["Category@odata.bind": category], old).status == 204)
            let new = ["OData-Version": "4.01"]
            #expect(try await site.send("PATCH", category, json: ["Products": [Any]()], new).status == 204)
            #expect(try await site.get("\(category)/Products").rows.isEmpty)
        }
    }

    @Test("11.4.2.1 a reference to another host is refused everywhere")
    func references() async throws {
        try await Site.reference { site async throws in
            let kitchen = "Categories(\(try await site.key(of: "Categories", named: "Kitchen")))"
            let laptop = try await site.product()
            for place in ["http://elsewhere.example/x/y/", "http://elsewhere.example/", "\(site.root)x/y/"] {
                let id = place + kitchen
                let requests: [(String, String, [String: Any])] = [
                    ("POST", "Products", Site.newProduct("New", ["Category@odata.bind": id])),
                    ("POST", "Products", Site.newProduct("New", ["Category": ["@id": id]])),
                    ("PATCH", laptop, ["Category@odata.bind": id]), ("PUT", "\(laptop)/Category/$ref", ["@id": id]),
                    ("POST", "\(kitchen)/Products/$ref", ["@odata.id": place + laptop]),
                ]
                for (method, path, body) in requests {
                    #expect(try await site.send(method, path, json: body).status == 400, "\(method) \(path) \(body)")
                }
                let unlinked = try await site.send("DELETE", "\(kitchen)/Products/$ref?$id=\(place)\(laptop)")
                #expect(unlinked.status == 400)
            }
            #expect(try await site.get("Products/$count").text == "7")
            let own = try await site.send("PATCH", laptop, json: ["Category@odata.bind": site.root + kitchen])
            #expect(own.status == 204, "\(own.text)")
        }
    }

    @Test("11.4.3 a foreign key to a missing entity is refused")
    func foreignKeys() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let before = try await site.get(laptop).text
            let refused = try await site.send("PATCH", laptop, json: ["CategoryID": UUID().uuidString])
            #expect(refused.status == 400)
            #expect(try refused.error["target"] as? String == "Category")
            #expect(try await site.get(laptop).text == before)
            let text = ["ProductID": UUID().uuidString, "LanguageKey": "EN", "Description": "x"]
            #expect(try await site.send("POST", "ProductDescriptions", json: text).status == 400)
        }
    }

    @Test("8.2.4 a change of a guarded entity without an ETag is refused with 428")
    func concurrency() async throws {
        try await Site.reference { site async throws in
            let before = try await site.get("Company")
            #expect(try await site.send("PATCH", "Company", json: ["CEO": "x"]).status == 428)
            #expect(try await site.send("PUT", "Company/CEO", json: ["value": "x"]).status == 428)
            #expect(try await site.get("Company").text == before.text)
            let etag = try #require(before["ETag"])
            #expect(try await site.send("PATCH", "Company", json: ["CEO": "x"], ["If-Match": etag]).status == 204)
            // Products have ETags, but their metadata does not require them.
            let metadata = try await site.get("$metadata", ["Accept": "application/xml"]).text
            #expect(metadata.matches(of: /Core\.OptimisticConcurrency|Core\.V1\.OptimisticConcurrency/).count == 1)
            #expect(try await site.get(site.product())["ETag"] != nil)
            #expect(try await site.send("PATCH", site.product(), json: ["Price": 1]).status == 204)
        }
    }

    @Test("4.12 (URL) options of $each are evaluated after the change and select the returned members")
    func each() async throws {
        try await Site.reference { site async throws in
            let changed = try await site.send(
                "PATCH", "Products/$each?$filter=Rating eq 99&$top=2", json: ["Rating": 99])
            #expect(try changed.rows.count == 2, "\(changed.text)")
            #expect(try await site.get("Products/$count?$filter=Rating eq 99").text == "7")
            #expect(try await site.send("PATCH", "Products/$each?$top=0", json: ["Rating": 98]).rows.isEmpty)
            #expect(try await site.get("Products/$count?$filter=Rating eq 98").text == "7")
            #expect(try await site.send("DELETE", "Products/$each?$filter=Rating eq 1").status == 400)
            #expect(try await site.get("Products/$count").text == "7")
        }
    }
}
