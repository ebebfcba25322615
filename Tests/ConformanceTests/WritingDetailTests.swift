import Foundation
import Testing

@Suite("OData 4.01, changes in detail")
struct WritingDetailTests {
    @Test("11.4.9 a property that updates ignore cannot be changed by its own URL")
    func properties() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let before = try await site.get(laptop).text
            let values: [(String, Any, String)] = [
                ("ID", UUID().uuidString, "KeyProperty"), ("CreatedAt", "2000-01-01T00:00:00Z", "ComputedProperty"),
                ("Version", 99, "ComputedProperty"), ("SerialNumber", "S-1", "ImmutableProperty"),
            ]
            for (name, value, code) in values {
                for method in ["PUT", "PATCH", "DELETE"] {
                    let answer =
                        method == "DELETE"
                        ? try await site.send(method, "\(laptop)/\(name)")
                        : try await site.send(method, "\(laptop)/\(name)", json: ["value": value])
                    #expect(answer.status == 400, "\(method) \(name)")
                    #expect(try answer.error["target"] as? String == name)
                    // A non-nullable property is refused for that reason first.
                    if method == "PUT" { #expect(try answer.error["code"] as? String == code) }
                }
            }
            #expect(try await site.get(laptop).text == before)
            // In the body of an update of the entity, the same values are ignored.
            let patch = Dictionary(uniqueKeysWithValues: values.map { ($0.0, $0.1) })
            #expect(try await site.send("PATCH", laptop, json: patch).status == 204)
            let after = try await site.get(laptop).json
            #expect(after["SerialNumber"] is NSNull)
            #expect(after["CreatedAt"] as? String == "2024-01-15T10:30:00Z")
        }
    }

    @Test("15.4, 15.5 (JSON) a delta adds and removes relations")
    func links() async throws {
        try await Site.reference { site async throws in
            let (laptop, mug) = (try await site.product(), try await site.product("Coffee Mug"))
            func send(_ items: [[String: Any]], _ method: String = "PATCH") async throws -> Answer {
                // The context comes first, because it states the kind of the link.
                let links = try items.map { item in
                    let members = try item.sorted { $0.key < $1.key }.map { key, value in
                        let text = try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
                        return "\"\(key)\":\(String(decoding: text, as: UTF8.self))"
                    }
                    return "{\(members.joined(separator: ","))}"
                }
                let body = "{\"@context\":\"#$delta\",\"value\":[\(links.joined(separator: ","))]}"
                return try await site.send(
                    method, "Products", ["Content-Type": "application/json"], body: Array(body.utf8))
            }
            func link(_ kind: String, _ more: [String: Any]) -> [String: Any] {
                ["@context": "#Products/\(kind)", "source": laptop].merging(more) { $1 }
            }
            let related: [String: Any] = ["relationship": "RelatedProducts", "target": mug]
            func names() async throws -> [String] { try await site.get("\(laptop)/RelatedProducts").column("Name") }
            let before = try await names()
            #expect(try await send([link("$link", related)]).status == 204)
            #expect(try await names().contains("Coffee Mug"))
            #expect(try await send([link("$deletedLink", related)]).status == 204)
            #expect(try await Set(names()) == Set(before).subtracting(["Coffee Mug"]))
            // A relation by a foreign key, with the absolute id of the other entity.
            let kitchen = "Categories(\(try await site.key(of: "Categories", named: "Kitchen")))"
            let category: [String: Any] = ["relationship": "Category", "target": site.root + kitchen]
            #expect(try await send([link("$link", category)]).status == 204)
            #expect(try await site.get("\(laptop)/Category").json["Name"] as? String == "Kitchen")
            #expect(try await send([link("$deletedLink", ["relationship": "Category"])]).status == 204)
            #expect(try await site.get("\(laptop)/Category").status == 204)
            // The changes succeed or fail together.
            let wrong: [[String: Any]] = [
                link("$link", ["relationship": "Nothing", "target": mug]),
                link("$link", ["relationship": "RelatedProducts", "target": "Products(\(UUID()))"]),
                link("$link", ["relationship": "RelatedProducts"]),
                link("$deletedLink", ["relationship": "RelatedProducts"]),
                ["@context": "#Products/$link", "source": kitchen, "relationship": "Products", "target": mug],
            ]
            for item in wrong {
                #expect(try await (400...404).contains(send([link("$link", related), item]).status), "\(item)")
                #expect(try await !names().contains("Coffee Mug"))
            }
            #expect(try await send([link("$link", related)], "PUT").status == 400)
        }
    }

    @Test("4.3.4 (URL) a key may omit parts that a referential constraint determines")
    func shortKeys() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let whole = try await site.get(
                "\(laptop)/Descriptions(ProductID=\(laptop.dropFirst(9).dropLast()),LanguageKey='EN')")
            #expect(whole.status == 200)
            for key in ["LanguageKey='EN'", "'EN'"] {
                #expect(try await site.get("\(laptop)/Descriptions(\(key))").text == whole.text, "\(key)")
            }
            #expect(try await site.get("\(laptop)/Descriptions('XX')").status == 404)
            #expect(
                try await site.send("PATCH", "\(laptop)/Descriptions('EN')", json: ["LongText": "long"]).status == 204)
            #expect(try await site.get("\(laptop)/Descriptions('EN')/LongText").json["value"] as? String == "long")
            #expect(try await site.get("Products/Nothing").status == 404)
        }
    }
}
