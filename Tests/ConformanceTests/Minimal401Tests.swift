import Foundation
import Testing

@Suite("OData 4.01, minimal conformance")
struct Minimal401Tests {
    @Test("13.2.1 (3) the final response to an asynchronous request has AsyncResult")
    func asyncResult() async throws {
        try await Site.reference { site async throws in
            let accepted = try await site.get("Products", ["Prefer": "respond-async"])
            #expect(accepted.status == 202)
            let monitor = try #require(accepted["Location"])
            var final = try await site.get(monitor)
            for _ in 0..<200 where final.status == 202 {
                try await Task.sleep(for: .milliseconds(10))
                final = try await site.get(monitor)
            }
            #expect(final.status == 200)
            #expect(final["AsyncResult"] == "200")
            #expect(try final.rows.count == 7)
        }
    }

    @Test("13.2.1 (4) header fields and preferences work without the prefix odata")
    func prefixes() async throws {
        try await Site.reference { site async throws in
            for preference in ["maxpagesize=2", "odata.maxpagesize=2"] {
                let answer = try await site.get("Products", ["Prefer": preference])
                #expect(try answer.rows.count == 2)
            }
        }
    }

    @Test("13.2.1 (5) a request for another version of the schema is refused")
    func schemaVersion() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("Products?$schemaversion=1.0").status == 200)
            #expect(try await site.get("Products?$schemaversion=*").status == 200)
            #expect(try await site.get("Products?$schemaversion=2.0").status == 404)
        }
    }

    @Test("13.2.1 (6, 7) query options work without $, and names of options and functions in any case")
    func spelling() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Products?filter=CONTAINS(Name,'Mouse') AND Price GT 100&SELECT=Name")
            #expect(try answer.column("Name") == ["Gaming Mouse Ultra"])
            #expect(try answer.rows.first?.keys.contains("Price") == false)
        }
    }

    @Test("13.2.1 (9.1, 9.2) URLs cast strings, and accept enumerations and durations without a type")
    func literals() async throws {
        try await Site.reference { site async throws in
            let key = try await site.key(of: "Products", named: "Laptop")
            #expect(try await site.get("Products/$count?$filter=ID eq cast('\(key)',Edm.Guid)").text == "1")
            for (cast, count) in [
                ("cast(Name,Edm.Guid) eq null", 7), ("cast(Name,Edm.Date) eq cast('2020-01-01',Edm.Date)", 0),
                (
                    "cast(concat('P',concat(cast(Quantity,Edm.String),'D')),Edm.Duration)"
                        + " gt cast('P1000D',Edm.Duration)", 2
                ),
                ("cast(cast(ID,Edm.String),Edm.Guid) eq ID", 7),
            ] {
                let answer = try await site.get("Products/$count?$filter=\(cast)")
                #expect(answer.text == "\(count)", "\(cast): \(answer.text)")
            }
            #expect(try await site.get("Products/$count?$filter=Status has 'Featured'").text == "3")
            #expect(try await site.get("Products/$count?$filter=ShippingTime eq 'P1D'").text == "1")
        }
    }

    @Test("13.2.1 (9.3-9.6) operations without parentheses, without a namespace, with aliases, with an empty body")
    func operations() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("GetTopProducts").rows.count == 7)
            #expect(try await site.get("GetProductStats").json["totalProducts"] as? Int == 7)
            let laptop = try await site.product()
            #expect(try await site.get("\(laptop)/GetTotalPrice(taxRate=0)").json["value"] as? Double == 999.99)
            #expect(try await site.get("\(laptop)/GetTotalPrice(taxRate=@t)?@t=0").json["value"] as? Double == 999.99)
            #expect(try await site.send("POST", "\(laptop)/Activate", json: [:]).status == 204)
            #expect(try await site.send("POST", "\(laptop)/Activate").status == 204)
        }
    }

    @Test("13.2.1 (9.7) omitted function parameters are taken from the query string")
    func implicitAliases() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("Calculate?value=4").json["value"] as? Int == 8)
        }
    }

    @Test(
        "13.2.1 (9.8-9.14) in, divby, null navigation, negative substring, counts and structural comparison",
        arguments: [
            ("Category ne null", 7), ("Category eq null", 0), ("Name in ('Laptop','Coffee Mug')", 2),
            ("Quantity divby 7 gt 171.4 and Quantity divby 7 lt 171.5", 1), ("substring(Name,-3) eq 'Mug'", 1),
            ("Descriptions/$count eq 2", 3), ("Descriptions/$count($filter=LanguageKey eq 'DE') eq 1", 1),
        ])
    func expressions(text: String, count: Int) async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Products/$count?$filter=\(text)")
            #expect(answer.text == "\(count)", "\(text): \(answer.text)")
        }
    }

    @Test("13.2.1 (9.12) keys may be path segments")
    func keyAsSegment() async throws {
        try await Site.reference { site async throws in
            let key = try await site.key(of: "Products", named: "Laptop")
            #expect(try await site.get("Products/\(key)/Name").json["value"] as? String == "Laptop")
        }
    }

    @Test("13.2.1 (10) the metadata are published as JSON")
    func metadata() async throws {
        try await Site.reference { site async throws in
            for answer in [
                try await site.get("$metadata", ["Accept": "application/json"]),
                try await site.get("$metadata?$format=json"),
            ] {
                #expect(answer.status == 200)
                let json = try answer.json
                #expect(json["$Version"] as? String == "4.01")
                #expect(json["$EntityContainer"] as? String == "ComplianceService.Container")
            }
        }
    }

    @Test("13.2.1 (12, 13) the metadata name the versions and capabilities of the service")
    func capabilities() async throws {
        try await Site.reference { site async throws in
            let text = try await site.get("$metadata").text
            #expect(text.contains("Org.OData.Core.V1.ODataVersions") || text.contains("Core.ODataVersions"))
            #expect(text.contains("Capabilities.ConformanceLevel") || text.contains("Capabilities.V1.ConformanceLevel"))
        }
    }
}

@Suite("OData 4.01, an updatable service")
struct Updatable401Tests {
    @Test("13.2.1 (19) a reference is removed by the URL of the member")
    func memberReference() async throws {
        try await Site.reference { site async throws in
            let (laptop, mug) = (try await site.product(), try await site.product("Coffee Mug"))
            #expect(
                try await site.send("POST", "\(laptop)/RelatedProducts/$ref", json: ["@id": mug]).status == 204)
            let key = try await site.key(of: "Products", named: "Coffee Mug")
            #expect(try await site.send("DELETE", "\(laptop)/RelatedProducts(\(key))/$ref").status == 204)
            #expect(try await site.get("\(laptop)/RelatedProducts").rows.isEmpty)
        }
    }

    @Test("13.2.1 (20, 21) a deep update changes, adds and removes related entities at once")
    func deepUpdate() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let key = try await site.key(of: "Products", named: "Laptop")
            let answer = try await site.send(
                "PATCH", laptop,
                json: [
                    "Price": 5,
                    "Descriptions@delta": [
                        ["ProductID": key, "LanguageKey": "EN", "Description": "Changed"],
                        ["ProductID": key, "LanguageKey": "ES", "Description": "Nuevo"],
                        ["@removed": ["reason": "deleted"], "ProductID": key, "LanguageKey": "DE"],
                    ],
                ])
            #expect(answer.status == 204, "\(answer.text)")
            let texts = try await site.get("\(laptop)/Descriptions?$orderby=LanguageKey")
            #expect(try texts.column("LanguageKey") == ["EN", "ES"])
            #expect(try texts.column("Description") == ["Changed", "Nuevo"])
        }
    }

    @Test("13.2.1 (22) the references of a collection are replaced by PUT")
    func replaceReferences() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let targets = [try await site.product("Coffee Mug"), try await site.product("Smartphone")]
            let answer = try await site.send(
                "PUT", "\(laptop)/RelatedProducts/$ref", json: ["value": targets.map { ["@id": $0] }])
            #expect(answer.status == 204, "\(answer.text)")
            let names: [String] = try await site.get("\(laptop)/RelatedProducts?$orderby=Name").column("Name")
            #expect(names == ["Coffee Mug", "Smartphone"])
        }
    }

    @Test("13.2.1 (24) members of a filtered collection are changed and deleted together")
    func each() async throws {
        try await Site.reference { site async throws in
            let changed = try await site.send(
                "PATCH", "Products/$filter(@f)/$each?@f=Price lt 20", json: ["Quantity": 99])
            #expect(changed.status == 200 || changed.status == 204, "\(changed.text)")
            #expect(try await site.get("Products?$filter=Quantity eq 99").column("Name") == ["Coffee Mug"])
            let deleted = try await site.send("DELETE", "Products/$filter(Price lt 20)/$each")
            #expect(deleted.status == 200 || deleted.status == 204, "\(deleted.text)")
            #expect(try await site.get("Products/$count").text == "6")
        }
    }

    @Test("13.2.1 (26) a delta payload changes a collection")
    func deltaPayload() async throws {
        try await Site.reference { site async throws in
            let (laptop, mug) = (
                try await site.key(of: "Products", named: "Laptop"),
                try await site.key(of: "Products", named: "Coffee Mug")
            )
            let answer = try await site.send(
                "PATCH", "Products",
                json: [
                    "@context": "#$delta",
                    "value": [
                        ["ID": laptop, "Price": 1], Site.newProduct("Lamp", ["ID": UUID().uuidString.lowercased()]),
                        ["@removed": ["reason": "deleted"], "ID": mug],
                    ],
                ])
            #expect(answer.status == 200 || answer.status == 204, "\(answer.text)")
            let names: [String] = try await site.get("Products?$filter=Price lt 11&$orderby=Name").column("Name")
            #expect(names == ["Lamp", "Laptop"])
            #expect(try await site.get("Products(\(mug))").status == 404)
        }
    }

    @Test("13.2.1 (27) a create is answered with the selected and expanded properties")
    func selectOnCreate() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.send("POST", "Products?$select=Name,Version", json: Site.newProduct("Lamp"))
            #expect(answer.status == 201)
            #expect(Set(try answer.json.keys.filter { !$0.contains("@") }) == ["ID", "Name", "Version"])
        }
    }
}
