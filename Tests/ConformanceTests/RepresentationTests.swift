import Foundation
import Testing

@Suite("OData 4.01, representations in detail")
struct RepresentationTests {
    @Test("4.5 (JSON) control information has its prefix unless the client accepts 4.01")
    func prefixes() async throws {
        try await Site.reference { site async throws in
            let cases: [([String: String], String)] = [
                ([:], "@odata."), (["OData-MaxVersion": "4.0"], "@odata."), (["OData-MaxVersion": "4.01"], "@"),
                (["Accept": "application/json;odata.metadata=minimal"], "@odata."),
                (["Accept": "application/json;metadata=minimal"], "@"), (["OData-Version": "4.01"], "@"),
            ]
            for (fields, prefix) in cases {
                for path in ["", "Products?$count=true", try await site.product(), "Products/$ref", "Company/Name"] {
                    let answer = try await site.get(path, fields)
                    #expect(try answer.json["\(prefix)context"] is String, "\(fields) \(path)")
                    let type = try #require(answer["Content-Type"])
                    #expect(type.contains("odata.metadata=") == (prefix == "@odata."), "\(fields) \(path): \(type)")
                }
                #expect(try await site.get("Products?$count=true", fields).json["\(prefix)count"] as? Int == 7)
            }
        }
    }

    @Test("8.1.5 a request in an unknown future version is refused")
    func unknownVersions() async throws {
        try await Site.reference { site async throws in
            for version in ["5.0", "4.02", "3.0", "abc"] {
                let answer = try await site.get("Products", ["OData-Version": version])
                #expect(answer.status == 400, "\(version)")
                #expect(try answer.error["target"] as? String == "OData-Version")
            }
            #expect(try await site.get("Products", ["OData-MaxVersion": "5.0"]).status == 200)
        }
    }

    @Test("3.1.2 (JSON) full metadata annotate every member of a collection")
    func fullMetadata() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get(
                "Products?$expand=Descriptions&$top=2", ["Accept": "application/json;odata.metadata=full"])
            for row in try answer.rows {
                let id = try #require(row["@odata.id"] as? String)
                #expect(row["@odata.editLink"] as? String == id)
                #expect((row["@odata.type"] as? String)?.hasPrefix("#ComplianceService.") == true)
                #expect(row["@odata.etag"] is String)
                #expect(row["Category@odata.navigationLink"] as? String == "\(id)/Category")
                #expect(row["Category@odata.associationLink"] as? String == "\(id)/Category/$ref")
                #expect(row["Photo@odata.mediaReadLink"] as? String == "\(id)/Photo")
                #expect(row["CreatedAt@odata.type"] as? String == "#DateTimeOffset")
                #expect(row["ID@odata.type"] as? String == "#Guid")
                #expect(row["Name@odata.type"] == nil)
                #expect(row["#ComplianceService.ApplyDiscount"] is [String: Any])
                for description in try #require(row["Descriptions"] as? [[String: Any]]) {
                    #expect(description["@odata.id"] is String)
                    #expect(description["Product@odata.navigationLink"] is String)
                }
            }
            // Paging works as for other formats.
            var rows = 0
            var next: String? = "Products"
            while let path = next {
                let page = try await site.get(
                    path, ["Accept": "application/json;odata.metadata=full", "Prefer": "odata.maxpagesize=3"])
                rows += try page.rows.count
                next = try page.control("nextLink") as? String
            }
            #expect(rows == 7)
            let sparse = try await site.get(
                "Products", ["Accept": "application/json;odata.metadata=full", "Prefer": "omit-values=nulls"])
            #expect(try sparse.rows.allSatisfy { row in !row.values.contains { $0 is NSNull } })
        }
    }

    @Test("4.6.3 (JSON) the types of computed and aggregated numbers are stated, unless they are doubles")
    func statedTypes() async throws {
        try await Site.reference { site async throws in
            let total = try #require(
                try await site.get(
                    "Products?$apply=aggregate(Price with sum as Total,$count as Count,Version with max as Last)"
                ).rows.first)
            #expect(total["Total@odata.type"] == nil)
            #expect((total["Count@odata.type"] as? String)?.hasPrefix("#") == true)
            #expect(total["Last@odata.type"] as? String == "#Int32")
            let grouped = try #require(
                try await site.get(
                    "Products?$apply=groupby((CategoryID,Category/Name),aggregate($count as Count))",
                    ["OData-MaxVersion": "4.01"]
                ).rows.first)
            // A declared property needs no type annotation.
            #expect(grouped["CategoryID@type"] == nil)
            #expect(grouped["Count@type"] is String)
            let computed = try #require(
                try await site.get("Products?$compute=length(Name) as Length,Price mul 2 as Twice&$top=1").rows.first)
            #expect(computed["Length@odata.type"] as? String == "#Int32")
            #expect(computed["Twice@odata.type"] == nil)
            let bare = try await site.get(
                "Products?$apply=aggregate($count as Count)", ["Accept": "application/json;odata.metadata=none"])
            #expect(try bare.rows.first?.keys.sorted() == ["Count"])
        }
    }

    @Test("10.15 the context of a property behind navigation names the owning entity")
    func canonicalContext() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let category = "Categories(\(try await site.key(of: "Categories", named: "Electronics")))"
            let answer = try await site.get("\(laptop)/Category/Name")
            #expect((try answer.control("context") as? String)?.hasSuffix("#\(category)/Name") == true)
            let city = try await site.get(
                "\(category)/Products(\(laptop.dropFirst(9).dropLast()))/ShippingAddress/City")
            #expect((try city.control("context") as? String)?.hasSuffix("#\(laptop)/ShippingAddress/City") == true)
            let grouped = try await site.get(
                "Products?$apply=groupby((Category/Name,ShippingAddress/City),aggregate($count as Count))")
            #expect(
                (try grouped.control("context") as? String)?.hasSuffix(
                    "#Products(Category(Name),ShippingAddress/City,Count)") == true)
        }
    }

    @Test("11.2.5.2 streams are selected, and expanded with their bytes")
    func streams() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            func photo(_ type: String, _ bytes: String) async throws {
                let answer = try await site.send(
                    "PUT", "\(laptop)/Photo", ["Content-Type": type], body: Array(bytes.utf8))
                #expect(answer.status == 204)
            }
            try await photo("image/png", "png!")
            let selected = try await site.get("\(laptop)?$select=Photo")
            #expect(selected.status == 200)
            #expect(try selected.json["Photo@odata.mediaContentType"] as? String == "image/png")
            #expect(try selected.json["Name"] == nil)
            // The control information of a stream that is not selected is left out.
            #expect(try await site.get("\(laptop)?$select=Name").json["Photo@odata.mediaContentType"] == nil)
            #expect(try await site.get("\(laptop)?$expand=Photo").json["Photo"] as? String == "cG5nIQ")
            let both = try await site.get("\(laptop)?$select=Photo&$expand=Photo")
            #expect((try both.control("context") as? String)?.contains("(Photo)") == true)
            let page = try await site.get("Products?$expand=Photo&$orderby=Name")
            #expect(try page.rows.count == 7)
            #expect(try page.rows.filter { $0["Photo"] is NSNull }.count == 6)
            try await photo("text/plain;charset=utf-8", "a text")
            #expect(try await site.get("\(laptop)?$expand=Photo").json["Photo"] as? String == "a text")
            try await photo("application/json", "{\"Wide\":true}")
            let inline = try await site.get("\(laptop)?$expand=Photo").json["Photo"] as? [String: Any]
            #expect(inline?["Wide"] as? Bool == true)
            let media = try await site.get("MediaItems?$expand=$value")
            #expect(try media.rows.allSatisfy { $0["$value@odata.mediaContentType"] is String })
            let picture = try media.rows.first { $0["$value@odata.mediaContentType"] as? String == "image/png" }
            #expect(picture?["$value"] is String)
            let category = try await site.get(
                "Categories?$filter=Name eq 'Electronics'&$expand=Products($expand=Photo)")
            let products = try category.rows.first?["Products"] as? [[String: Any]] ?? []
            #expect(products.contains { $0["Photo"] is [String: Any] })
        }
    }

    @Test("8.2.1 (Core) the raw value of a binary property has the media type from the metadata")
    func mediaType() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("Company/Logo/$value")["Content-Type"] == "image/svg+xml")
            let laptop = try await site.product()
            #expect(try await site.get("\(laptop)/Data/$value")["Content-Type"] == "application/octet-stream")
        }
    }

    @Test("10.6 the context of an entity of a derived type names that type")
    func derivedContext() async throws {
        try await Site.reference { site async throws in
            func context(_ answer: Answer) throws -> String? {
                try (answer.control("context") as? String)?.split(separator: "#").last.map(String.init)
            }
            let laptop = try await site.product()
            #expect(try await context(site.get(laptop)) == "Products/ComplianceService.SpecialProduct/$entity")
            #expect(
                try await context(site.get("\(laptop)?$select=Name"))
                    == "Products/ComplianceService.SpecialProduct(Name)/$entity")
            #expect(try await context(site.get("\(laptop)/Category")) == "Categories/$entity")
            let plain = Site.newProduct("Plain")
            #expect(try await context(site.send("POST", "Products", json: plain)) == "Products/$entity")
            let special = Site.newProduct("Special", ["@type": "#ComplianceService.SpecialProduct"])
            #expect(
                try await context(site.send("POST", "Products", json: special))
                    == "Products/ComplianceService.SpecialProduct/$entity")
            #expect(try await context(site.get("Products")) == "Products")
        }
    }

    @Test("4.12 (URL) an invalid condition in a path is 400 and not 404")
    func pathConditions() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("Products/$filter(Nothing eq 1)").status == 400)
            #expect(try await site.get("Products/$filter(Price gt 100)/Nothing").status == 404)
        }
    }

    @Test("3.2.3 (Aggregation) grouped paths are nested objects at every metadata level")
    func groupedPaths() async throws {
        try await Site.reference { site async throws in
            let query =
                "Products?$apply=groupby((Category/Name,ShippingAddress/City),aggregate(Quantity with sum as N))"
            // The row of a product without a category contains the path, but no entity.
            _ = try await site.send("POST", "Products", json: Site.newProduct("Loose"))
            let expected = try await site.get(query, ["Accept": "application/json;metadata=none"]).rows
            let dearest = "Products?$apply=groupby((Category/Name),topcount(1,Price))"
            for level in ["minimal", "full"] {
                let best = try await site.get(dearest, ["Accept": "application/json;metadata=\(level)"]).rows
                #expect(best.count == 4)
                #expect(best.allSatisfy { ($0["Category"] as? [String: Any])?["Name"] != nil }, "\(best)")
                let rows = try await site.get(query, ["Accept": "application/json;metadata=\(level)"]).rows
                #expect(rows.count == expected.count && rows.count > 2)
                for (row, other) in zip(rows, expected) {
                    for (name, inner) in [("Category", "Name"), ("ShippingAddress", "City")] {
                        let (found, wanted) = (row[name] as? [String: Any], other[name] as? [String: Any])
                        #expect(found?[inner] as? String == wanted?[inner] as? String)
                        #expect(found?[inner] != nil && row["\(name)/\(inner)"] == nil, "\(row)")
                    }
                }
            }
        }
    }

    @Test("3.1 (JSON) all levels of metadata hold the same properties, counts and links")
    func levels() async throws {
        try await Site.reference { site async throws in
            func rows(_ path: String, _ level: String) async throws -> [[String: Any]] {
                try await site.get(path, ["Accept": "application/json;metadata=\(level)"]).rows
            }
            for level in ["minimal", "full"] {
                let counted = try await rows("Products?$expand=Descriptions/$count", level)
                #expect(counted.allSatisfy { $0["Descriptions@count"] is Int && $0["Descriptions"] == nil })
                let joined = try await rows("$crossjoin(Products,Categories)?$top=2", level)
                #expect(joined.allSatisfy { $0["Products@navigationLink"] is String && $0["Products"] == nil })
                let grouped = try await rows("Products?$apply=groupby((Category))", level)
                #expect(grouped.allSatisfy { $0["Category@navigationLink"] is String && $0["Category"] == nil })
            }
        }
    }

    @Test("3.4.2 (Aggregation) nested rows hold binary values and combined flags")
    func nestedValues() async throws {
        try await Site.reference { site async throws in
            let query = "Categories?$apply=addnested(Products,filter(Price gt 0) as All)"
            let rows = try await site.get(query).rows
            #expect(rows.count == 3)
            for row in rows {
                let nested = try #require(row["All"] as? [[String: Any]], "\(row)")
                let name = try #require(row["Name"] as? String)
                let products = try await site.get("Products?$filter=Category/Name eq '\(name)'").rows
                #expect(nested.count == products.count && !nested.isEmpty)
                for product in nested {
                    let other = products.first { $0["Name"] as? String == product["Name"] as? String }
                    #expect(product["Data"] as? String == other?["Data"] as? String)
                    #expect(product["Status"] as? String == other?["Status"] as? String)
                }
            }
        }
    }

    @Test("11.5.3 full metadata list collection operations on the collection and entity operations on the entity")
    func advertisedOperations() async throws {
        try await Site.reference { site async throws in
            let full = ["Accept": "application/json;odata.metadata=full"]
            let products = try await site.get("Products?$filter=Price gt 1&$top=2", full)
            let offer = try #require(
                try products.json["#ComplianceService.MarkAllAsReviewed"] as? [String: Any], "\(products.text)")
            #expect(offer["target"] as? String == site.root + "Products/ComplianceService.MarkAllAsReviewed")
            #expect(offer["title"] as? String == "MarkAllAsReviewed")
            #expect(try products.json["#ComplianceService.ApplyDiscount"] == nil)
            let row = try #require(try products.rows.first)
            #expect(row["#ComplianceService.ApplyDiscount"] != nil)
            #expect(row["#ComplianceService.MarkAllAsReviewed"] == nil)
            // An explicit `$select` or minimal metadata leaves out the control information that can be
            // computed.
            for (path, fields) in [("Products?$select=Name", full), ("Products", [:])] {
                #expect(try await site.get(path, fields).json["#ComplianceService.MarkAllAsReviewed"] == nil)
            }
            let target = try #require(offer["target"] as? String)
            #expect(try await site.send("POST", target).status == 204)
        }
    }
}
