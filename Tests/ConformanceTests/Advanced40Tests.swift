import Foundation
import Testing

@Suite("OData 4.0, advanced conformance")
struct Advanced40Tests {
    @Test("13.1.3 (9) $expand with every nested option")
    func expand() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get(
                "Categories?$filter=Name eq 'Electronics'&$expand=Products($filter=Price lt 1000;$orderby=Price desc;"
                    + "$top=2;$skip=1;$select=Name;$count=true)")
            let row = try #require(try answer.rows.first)
            let products = try #require(row["Products"] as? [[String: Any]])
            #expect(products.compactMap { $0["Name"] as? String } == ["Smartphone", "Gaming Mouse Ultra"])
            #expect(row["Products@odata.count"] as? Int == 4)
        }
    }

    @Test("13.1.3 (9.1) references and counts of related entities in place of them")
    func expandReferences() async throws {
        try await Site.reference { site async throws in
            let row = try await site.get("\(try await site.product())?$expand=Descriptions/$ref,Category/$ref").json
            let references = try #require(row["Descriptions"] as? [[String: Any]])
            #expect(references.count == 2)
            #expect(references.allSatisfy { ($0["@odata.id"] as? String)?.contains("ProductDescriptions(") == true })
            #expect((row["Category"] as? [String: Any])?["@odata.id"] is String)
            let counted = try await site.get("\(try await site.product())?$expand=Descriptions/$count").json
            #expect(counted["Descriptions@odata.count"] as? Int == 2)
        }
    }

    @Test("13.1.3 (9.3) a navigation property of a derived type is expanded")
    func expandCast() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get(
                "Categories?$expand=Products/ComplianceService.SpecialProduct($select=Name)&$filter=Name eq 'Electronics'"
            )
            let products = try #require(try answer.rows.first?["Products"] as? [[String: Any]])
            #expect(products.count == 3)
        }
    }

    @Test("13.1.3 (9.8) $levels expands a relation to itself")
    func levels() async throws {
        try await Site.reference { site async throws in
            let (laptop, mouse, mug) = (
                try await site.product(), try await site.product("Wireless Mouse"), try await site.product("Coffee Mug")
            )
            for (source, target) in [(laptop, mouse), (mouse, mug)] {
                let linked = try await site.send("POST", "\(source)/RelatedProducts/$ref", json: ["@id": target])
                #expect(linked.status == 204, "\(linked.text)")
            }
            let row = try await site.get("\(laptop)?$expand=RelatedProducts($levels=2)").json
            let first = try #require((row["RelatedProducts"] as? [[String: Any]])?.first)
            let second = try #require((first["RelatedProducts"] as? [[String: Any]])?.first)
            #expect(second["Name"] as? String == "Coffee Mug")
            #expect(second["RelatedProducts"] == nil)
        }
    }

    @Test("13.1.3 (11) a multipart batch has a change set that refers to entities it creates")
    func batch() async throws {
        try await Site.reference { site async throws in
            let body = """
                --b\r
                Content-Type: application/http\r
                Content-Transfer-Encoding: binary\r
                \r
                GET Products?$filter=Name%20eq%20'Laptop' HTTP/1.1\r
                Accept: application/json\r
                \r
                \r
                --b\r
                Content-Type: multipart/mixed; boundary=c\r
                \r
                --c\r
                Content-Type: application/http\r
                Content-Transfer-Encoding: binary\r
                Content-ID: 1\r
                \r
                POST Categories HTTP/1.1\r
                Content-Type: application/json\r
                \r
                {"Name":"Light"}\r
                --c\r
                Content-Type: application/http\r
                Content-Transfer-Encoding: binary\r
                Content-ID: 2\r
                \r
                POST $1/Products HTTP/1.1\r
                Content-Type: application/json\r
                \r
                {"Name":"Lamp","Price":1,"Rating":1,"Temperature":1,"Quantity":1,"Weight":1,"Status":"InStock"}\r
                --c--\r
                --b--\r

                """
            let answer = try await site.send(
                "POST", "$batch", ["Content-Type": "multipart/mixed; boundary=b"], body: Array(body.utf8))
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer["Content-Type"]?.hasPrefix("multipart/mixed") == true)
            #expect(answer.text.components(separatedBy: "HTTP/1.1 201").count == 3, "\(answer.text)")
            #expect(try await site.get("Products?$filter=Category/Name eq 'Light'").column("Name") == ["Lamp"])
        }
    }

    @Test("13.1.3 (11) a change set with a failing second request leaves nothing of its first")
    func atomicity() async throws {
        try await Site.reference { site async throws in
            let body = """
                --b\r
                Content-Type: multipart/mixed; boundary=c\r
                \r
                --c\r
                Content-Type: application/http\r
                Content-ID: 1\r
                \r
                POST Categories HTTP/1.1\r
                Content-Type: application/json\r
                \r
                {"Name":"Light"}\r
                --c\r
                Content-Type: application/http\r
                Content-ID: 2\r
                \r
                POST Categories HTTP/1.1\r
                Content-Type: application/json\r
                \r
                {"Name":"Kitchen"}\r
                --c--\r
                --b--\r

                """
            let answer = try await site.send(
                "POST", "$batch", ["Content-Type": "multipart/mixed; boundary=b"], body: Array(body.utf8))
            #expect(answer.status == 200)
            #expect(answer.text.contains("HTTP/1.1 409"), "\(answer.text)")
            #expect(!answer.text.contains("HTTP/1.1 201"))
            #expect(try await site.get("Categories/$count").text == "3")
        }
    }

    @Test("13.1.3 (12) resource paths: keys, properties, references, entities by id")
    func paths() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let id = "\(site.root)\(laptop)"
            #expect(try await site.get("$entity?$id=\(id)").json["Name"] as? String == "Laptop")
            #expect(try await site.get("\(laptop)/$ref").json["@odata.id"] as? String != nil)
            #expect(try await site.get("\(laptop)/ShippingAddress/City").json["value"] as? String == "Seattle")
            let key = try await site.key(of: "Products", named: "Laptop")
            let text = try await site.get("ProductDescriptions(ProductID=\(key),LanguageKey='DE')/Description").json
            #expect((text["value"] as? String)?.contains("Laptop") == true)
            #expect(try await site.get("\(laptop)/Descriptions(ProductID=\(key),LanguageKey='EN')").status == 200)
            #expect(try await site.get("$all").status == 200)
        }
    }

    @Test("13.1.3 (14) delta links return changed, created and deleted entities, and nothing else")
    func delta() async throws {
        try await Site.reference { site async throws in
            let first = try await site.get("Products", ["Prefer": "odata.track-changes"])
            #expect(first["Preference-Applied"]?.contains("track-changes") == true)
            let link = try #require(try first.control("deltaLink") as? String)
            let (laptop, mug) = (try await site.product(), try await site.product("Coffee Mug"))
            _ = try await site.send("PATCH", laptop, json: ["Price": 1])
            _ = try await site.send("DELETE", mug)
            _ = try await site.send("POST", "Products", json: Site.newProduct("Lamp"))
            let changes = try await site.get(link)
            #expect(try (changes.control("context") as? String)?.hasSuffix("#Products/$delta") == true)
            let rows = try changes.rows
            #expect(rows.count == 3)
            #expect(Set(rows.compactMap { $0["Name"] as? String }) == ["Laptop", "Lamp"])
            #expect(rows.contains { $0["@removed"] != nil || $0["@odata.removed"] != nil || $0["reason"] != nil })
            let next = try #require(try changes.control("deltaLink") as? String)
            #expect(try await site.get(next).rows.isEmpty)
        }
    }

    @Test("13.1.3 (15) cross joins pair entities")
    func crossJoin() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get(
                "$crossjoin(Products,Categories)?$filter=Products/CategoryID eq Categories/ID"
                    + "&$expand=Products($select=Name),Categories($select=Name)")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try answer.rows.count == 7)
        }
    }

    @Test("11.5.4 functions are called with and without parameters, overloaded, and composed")
    func functions() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("GetTopProducts(count=2)").column("Name") == ["Premium Laptop Pro", "Laptop"])
            let composed = try await site.get("GetTopProducts(count=5)?$filter=Price lt 300&$select=Name&$count=true")
            #expect(try composed.column("Name") == ["Office Chair", "Gaming Mouse Ultra"])
            #expect(try await site.get("Calculate(value=21)").json["value"] as? Int == 42)
            #expect(try await site.get("Calculate(a=1,b=2)").json["value"] as? Int == 3)
            #expect(try await site.get("Convert(input=@p)?@p='x'").json["value"] as? String == "String: x")
            let laptop = try await site.product()
            let total = try await site.get("\(laptop)/ComplianceService.GetTotalPrice(taxRate=0.1)").json["value"]
            #expect(abs((total as? Double ?? 0) - 1099.989) < 0.001)
            let average = try await site.get(
                "Products/$filter(Price gt 900)/ComplianceService.GetAveragePrice()"
            ).json["value"]
            #expect(average as? Double == 1499.99)
            #expect(try await site.get("GetProductStats()").json["totalProducts"] as? Int == 7)
            #expect(try await site.get("Calculate(value='x')").status == 400)
            #expect(try await site.get("Calculate(nothing=1)").status >= 400)
        }
    }

    @Test("11.5.5 actions act, return their result, and refuse invalid parameters")
    func actions() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let path = "\(laptop)/ComplianceService.ApplyDiscount"
            let answer = try await site.send("POST", path, json: ["percentage": 50])
            #expect(answer.status == 200, "\(answer.text)")
            #expect(abs((try answer.json["Price"] as? Double ?? 0) - 499.995) < 0.0001)
            #expect(
                try answer.control("context") as? String
                    == "\(site.root)$metadata#Products/ComplianceService.SpecialProduct/$entity")
            let selected = try await site.send("POST", "\(path)?$select=Name", json: ["percentage": 0])
            #expect(
                try selected.control("context") as? String
                    == "\(site.root)$metadata#Products/ComplianceService.SpecialProduct(Name)/$entity",
                "\(selected.text)")
            #expect(try await site.send("POST", path, json: ["percentage": "half"]).status == 400)
            #expect(try await site.send("POST", path, json: [:]).status == 400)
            #expect(try await site.get(path).status == 405)
            #expect(try await site.send("POST", "\(laptop)/ComplianceService.Activate").status == 204)
            #expect(try await site.send("POST", "ResetAllPrices").status == 204)
            #expect(try await site.get(laptop).json["Price"] as? Double == 999.99)
        }
    }
}
