import Foundation
import Testing

@Suite("OData 4.0, minimal conformance")
struct Minimal40Tests {
    @Test("13.1.1 (1) a service document stands at the service root")
    func serviceDocument() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("")
            #expect(answer.status == 200)
            #expect(try (answer.control("context") as? String) == "\(site.root)$metadata")
            let sets = try answer.rows
            for name in ["Products", "Categories", "ProductDescriptions", "MediaItems"] {
                let entry = try #require(sets.first { $0["name"] as? String == name })
                #expect(entry["url"] as? String == name)
                #expect(entry["kind"] == nil || entry["kind"] as? String == "EntitySet")
            }
            #expect(sets.contains { $0["name"] as? String == "Company" && $0["kind"] as? String == "Singleton" })
        }
    }

    @Test("13.1.1 (2) entities are returned in the OData JSON format")
    func json() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Products")
            #expect(answer["Content-Type"]?.hasPrefix("application/json") == true)
            #expect(try (answer.control("context") as? String) == "\(site.root)$metadata#Products")
            #expect(try answer.rows.count == 7)
        }
    }

    @Test("13.1.1 (3) partial results have next links that lead to all rows")
    func paging() async throws {
        try await Site.reference { site async throws in
            var names: [String] = []
            var next: String? = "Products?$orderby=Name desc"
            var pages = 0
            while let link = next {
                let page = try await site.get(link, ["Prefer": "odata.maxpagesize=3"])
                #expect(try page.rows.count <= 3)
                names += try page.column("Name")
                next = try page.control("nextLink") as? String
                pages += 1
                #expect(pages < 10)
            }
            #expect(pages == 3)
            #expect(names == names.sorted(by: >) && names.count == 7)
        }
    }

    @Test(
        "13.1.1 (4) the response states its version",
        arguments: [(nil, "4.01"), ("4.0", "4.0"), ("4.01", "4.01"), ("5.0", "4.01")])
    func version(asked: String?, given: String) async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Categories", asked.map { ["OData-MaxVersion": $0] } ?? [:])
            #expect(answer.status == 200)
            #expect(answer["OData-Version"] == given)
            let spelling = given == "4.0" || asked == nil ? "@odata.context" : "@context"
            #expect(try answer.json[spelling] != nil)
        }
    }

    @Test("13.1.1 (5.1) a format that Accept excludes is refused with 406")
    func accept() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("Products", ["Accept": "application/json"]).status == 200)
            #expect(try await site.get("Products", ["Accept": "*/*"]).status == 200)
            #expect(try await site.get("Products", ["Accept": "text/html;q=0.9,application/json;q=0.1"]).status == 200)
            #expect(try await site.get("Products", ["Accept": "image/png"]).status == 406)
            #expect(try await site.get("Products?$format=xyz").status == 406)
        }
    }

    @Test("13.1.1 (5.2) a version that is too old for the service is refused")
    func maxVersion() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("Products", ["OData-MaxVersion": "3.0"]).status == 400)
            #expect(try await site.get("Products", ["OData-MaxVersion": "words"]).status == 400)
        }
    }

    @Test("13.1.1 (6) unknown header fields and custom options are ignored, unknown system options are not")
    func extensibility() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("Products?custom=1", ["X-Custom": "x"]).status == 200)
            #expect(try await site.get("Products?$unknown=1").status == 400)
            #expect(try await site.get("Products?@alias=1").status == 200)
        }
    }

    @Test(
        "13.1.1 (7) a malformed request is refused with 400 and an error object",
        arguments: [
            "Products?$filter=Price gt", "Products?$filter=Unknown eq 1", "Products?$top=-1", "Products?$top=x",
            "Products?$skip=1.5", "Products?$orderby=Name upwards", "Products?$select=Unknown",
            "Products?$expand=Unknown", "Products?$count=maybe", "Products?$filter=Name eq 1 and",
            "Products?$filter=(Price gt 1",
        ])
    func malformed(url: String) async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get(url)
            #expect(answer.status == 400)
            let error = try answer.error
            #expect((error["code"] as? String)?.isEmpty == false)
            #expect((error["message"] as? String)?.isEmpty == false)
        }
    }

    @Test("13.1.1 (11) a missing resource is 404, also in a deep path")
    func notFound() async throws {
        try await Site.reference { site async throws in
            for path in [
                "Nothing", "Products(00000000-0000-0000-0000-000000000000)", "Company/Unknown",
                "Products(00000000-0000-0000-0000-000000000000)/Name",
            ] {
                let answer = try await site.get(path)
                #expect(answer.status == 404, "\(path): \(answer.text)")
                #expect(try answer.error["message"] != nil)
            }
        }
    }

    @Test("13.1.1 (12) related entities are expanded")
    func expand() async throws {
        try await Site.reference { site async throws in
            let row = try await site.get("\(try await site.product())?$expand=Category,Descriptions").json
            #expect((row["Category"] as? [String: Any])?["Name"] as? String == "Electronics")
            #expect((row["Descriptions"] as? [Any])?.count == 2)
        }
    }

    @Test("13.1.1 (13) the metadata are published as XML")
    func metadata() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("$metadata")
            #expect(answer.status == 200)
            #expect(answer["Content-Type"]?.hasPrefix("application/xml") == true)
            #expect(answer.text.contains("<edmx:Edmx"))
            #expect(answer.text.contains(#"EntitySet Name="Products""#))
            #expect(answer.text.contains(#"Function Name="GetTopProducts""#))
        }
    }

    @Test("13.1.1 (14) header fields and preferences work with the prefix odata")
    func prefixes() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Products", ["Prefer": "odata.maxpagesize=2"])
            #expect(try answer.rows.count == 2)
            #expect(answer["Preference-Applied"]?.contains("maxpagesize=2") == true)
        }
    }

    @Test("13.1.1 (15) enumeration and duration literals have their type in front")
    func typedLiterals() async throws {
        try await Site.reference { site async throws in
            let flagged = try await site.get(
                "Products?$filter=Status has ComplianceService.ProductStatus'Featured'&$orderby=Name")
            #expect(try flagged.column("Name") == ["Laptop", "Premium Laptop Pro", "Smartphone"])
            let long = try await site.get("Products?$filter=ShippingTime gt duration'PT3H'&$orderby=Name")
            #expect(try long.column("Name") == ["Coffee Mug", "Laptop", "Office Chair"])
        }
    }

    @Test("13.1.1 (16) an asynchronous request ends in an HTTP message for a 4.0 client")
    func asynchronous() async throws {
        try await Site.reference { site async throws in
            let accepted = try await site.get(
                "Products", ["Prefer": "respond-async", "OData-MaxVersion": "4.0", "Accept": "application/json"])
            #expect(accepted.status == 202)
            #expect(accepted["Preference-Applied"]?.contains("respond-async") == true)
            let monitor = try #require(accepted["Location"])
            var final = try await site.get(monitor, ["OData-MaxVersion": "4.0", "Accept": "application/http"])
            for _ in 0..<200 where final.status == 202 {
                try await Task.sleep(for: .milliseconds(10))
                final = try await site.get(monitor, ["OData-MaxVersion": "4.0", "Accept": "application/http"])
            }
            #expect(final.status == 200)
            #expect(final["Content-Type"]?.hasPrefix("application/http") == true)
            #expect(final.text.hasPrefix("HTTP/1.1 200"))
            #expect(final.text.contains("Laptop"))
        }
    }

    @Test("13.1.1 (1-13) all of these hold for Northwind", .enabled(if: Site.northwindFile != nil))
    func northwind() async throws {
        try await Site.northwind { site async throws in
            #expect(try await site.get("").rows.count >= 13)
            #expect(try await site.get("$metadata").text.contains(#"Name="Order_Details""#))
            let page = try await site.get("Orders?$orderby=Freight desc", ["Prefer": "maxpagesize=100"])
            #expect(try page.rows.count == 100)
            #expect(try page.control("nextLink") != nil)
            let order = try await site.get("Orders(10248)?$expand=Customer,Order_Details($expand=Product)").json
            #expect((order["Customer"] as? [String: Any])?["CustomerID"] as? String == "VINET")
            #expect((order["Order_Details"] as? [Any])?.count == 3)
            #expect(try await site.get("Orders?$filter=Freight gt").status == 400)
            #expect(try await site.get("Orders(1)").status == 404)
        }
    }
}
