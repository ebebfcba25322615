import Foundation
import Testing

/// The requirements in the sections of the protocol, in addition to the numbered conformance clauses.
@Suite("OData 4.01 Protocol and URL Conventions, section by section")
struct ProtocolDetailTests {
    @Test("8.2.4 a request with If-Match is processed only for the current ETag, reads included")
    func ifMatch() async throws {
        try await Site.reference { site async throws in
            let path = try await site.product()
            #expect(try await site.get(path, ["If-Match": "W/\"1\""]).status == 200)
            #expect(try await site.get(path, ["If-Match": "\"other\""]).status == 412)
            #expect(try await site.send("PATCH", path, json: ["Price": 1], ["If-Match": "no tag"]).status == 412)
            #expect(try await site.get(path).json["Version"] as? Int == 1)
        }
    }

    @Test("8.2.8.6 Preference-Applied names omit-values if nulls are omitted")
    func omitValues() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Products?$select=Name,Description", ["Prefer": "omit-values=nulls"])
            #expect(answer["Preference-Applied"] == "omit-values=nulls")
            #expect(try answer.rows.allSatisfy { $0["Description"] == nil })
        }
    }

    @Test("9.2.2 Allow lists the methods of a resource, like OPTIONS, with HEAD if it can be read")
    func allow() async throws {
        try await Site.reference { site async throws in
            for (method, path, allowed) in [
                ("DELETE", "Products", "GET, HEAD, POST, PATCH, PUT"), ("POST", "ReadOnlyItems", "GET, HEAD"),
                ("POST", "GetTopProducts()", "GET, HEAD"), ("GET", "ResetProducts", "POST"),
                ("DELETE", "Company", "GET, HEAD, PATCH, PUT"), ("GET", "$batch", "POST"),
            ] {
                let refused = try await site.send(method, path)
                #expect(refused.status == 405)
                #expect(refused["Allow"] == allowed, "\(path)")
                #expect(try await site.send("OPTIONS", path)["Allow"] == "\(allowed), OPTIONS")
            }
        }
    }

    @Test("10.4 the id and context of a singleton are its name, also for its properties")
    func singleton() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("Company").control("id") as? String == "Company")
            let context = try await site.get("Company/Name").control("context") as? String
            #expect(context?.hasSuffix("$metadata#Company/Name") == true)
        }
    }

    @Test("10.7 the context names paths within selected complex values, recursion and computed properties")
    func contexts() async throws {
        try await Site.reference { site async throws in
            for (query, selection) in [
                ("$select=ShippingAddress/City", "(ShippingAddress/City)"), ("$select=Category", "(Category)"),
                ("$select=Name&$expand=RelatedProducts($levels=2)", "(Name,RelatedProducts+())"),
                ("$select=Name&$expand=*", "(Name,Category(),Descriptions(),RelatedProducts())"),
                ("$compute=Price mul 2 as Twice", "(*,Twice)"),
                ("$select=ComplianceService.*", "(ComplianceService.*)"),
            ] {
                let context = try await site.get("Products?\(query)").control("context") as? String
                #expect(context?.hasSuffix("#Products\(selection)") == true, "\(context ?? "")")
            }
            let old = try await site.get("Products?$select=Name&$expand=Category", ["OData-MaxVersion": "4.0"])
            #expect((try old.control("context") as? String)?.hasSuffix("#Products(Name)") == true)
        }
    }

    @Test("10.15 the context of a property has the canonical URL of its entity for any request URL")
    func canonicalContext() async throws {
        try await Site.reference { site async throws in
            let key = try await site.key(of: "Products", named: "Laptop")
            let context = try await site.get("Products/\(key)/Name").control("context") as? String
            #expect(context?.hasSuffix("#Products(\(key))/Name") == true)
        }
    }

    @Test("11.2.4.1 query options without a collection to apply to are refused")
    func misplacedOptions() async throws {
        try await Site.reference { site async throws in
            let path = try await site.product()
            for url in ["?$filter=true", "$metadata?$top=1", "\(path)/Name?$select=Name", "\(path)?$orderby=Name"] {
                #expect(try await site.get(url).status == 400, "\(url)")
            }
            let selected = try await site.get("\(path)/ShippingAddress?$select=City").json
            #expect(selected.keys.sorted() == ["@odata.context", "City"])
        }
    }

    @Test("11.2.10 $expand with $ref returns only references")
    func expandedReferences() async throws {
        try await Site.reference { site async throws in
            let rows = try await site.get("Products?$expand=Category/$ref&$select=Name").rows
            for row in rows {
                let category = try #require(row["Category"] as? [String: Any])
                #expect(category["Name"] == nil)
                #expect((category["@odata.id"] as? String)?.hasPrefix("Categories(") == true)
            }
        }
    }

    @Test("11.4.2 a created entity gets the defaults of the service, and is refused without required values")
    func initialValues() async throws {
        try await Site.reference { site async throws in
            let created = try await site.send("POST", "Products", json: ["Name": "Pen", "Price": 1.5])
            #expect(created.status == 201)
            #expect(try created.json["Rating"] as? Int == 0)
            #expect(try await site.send("POST", "Products", json: ["Name": "Pen"]).status == 400)
            let path = try #require(try created.control("id") as? String)
            #expect(try await site.send("PUT", path, json: ["Name": "Quill", "Price": 2]).status == 204)
            #expect(try await site.get(path).json["ProductType"] as? String == "Product")
            let wrong = ["Name": "Pen", "Price": 1.5, "@odata.type": "#ComplianceService.Pen"] as [String: Any]
            #expect(try await site.send("POST", "Products", json: wrong).status == 400)
        }
    }

    @Test("11.4.2.1 a relationship to an entity that does not exist is refused")
    func brokenBinding() async throws {
        try await Site.reference { site async throws in
            let nowhere = "Categories(00000000-0000-0000-0000-000000000000)"
            let bound = ["Name": "Pen", "Price": 1, "Category@odata.bind": nowhere] as [String: Any]
            #expect(try await site.send("POST", "Products", json: bound).status == 400)
            let path = try await site.product()
            #expect(try await site.send("PUT", "\(path)/Category/$ref", json: ["@id": nowhere]).status == 400)
            #expect(try await site.get("\(path)/Category").status == 200)
        }
    }

    @Test("11.4.4 a patch without required values updates existing entities only")
    func upsert() async throws {
        try await Site.reference { site async throws in
            let path = "Products(22222222-2222-2222-2222-222222222222)"
            #expect(try await site.send("PATCH", path, json: ["Price": 3]).status == 404)
            #expect(try await site.send("PATCH", path, json: ["Name": "New", "Price": 3]).status == 201)
            #expect(try await site.send("PATCH", path, json: ["Price": 4]).status == 204)
        }
    }

    @Test("11.4.4 a change through a single-valued navigation property does not create its target")
    func upsertOfRelated() async throws {
        try await Site.reference { site async throws in
            let created = try await site.send("POST", "Products", json: Site.newProduct("Lonely"))
            let path = "Products(\(try #require(try created.json["ID"] as? String)))"
            #expect(try await site.get("\(path)/Category").status == 204)
            for method in ["PATCH", "PUT"] {
                let answer = try await site.send(method, "\(path)/Category", json: ["Name": "Nothing"])
                #expect(answer.status == 404, "\(answer.text)")
            }
            #expect(try await site.get("\(path)/Category").status == 204)
            #expect(try await site.get("Categories?$filter=Name eq 'Nothing'").rows.isEmpty)
        }
    }

    @Test("11.4.3 an ETag in the body of an update is a condition in 4.01 and ignored in 4.0")
    func tagInBody() async throws {
        try await Site.reference { site async throws in
            let path = try await site.product()
            let etag = try #require(try await site.get(path)["ETag"])
            let (new, old) = (["OData-Version": "4.01"], ["OData-Version": "4.0"])
            let stale = ["@etag": "W/\"999\"", "Price": 3] as [String: Any]
            #expect(try await site.send("PATCH", path, json: stale, new).status == 412)
            #expect(try await site.send("PATCH", path, json: ["@etag": etag, "Price": 3], new).status == 204)
            // The conditions of the header field and of the body must both hold.
            let current = try #require(try await site.get(path)["ETag"])
            let both = new.merging(["If-Match": etag]) { $1 }
            #expect(try await site.send("PATCH", path, json: ["@etag": current, "Price": 4], both).status == 412)
            #expect(try await site.send("PATCH", path, json: ["@etag": "*", "Price": 4], new).status == 204)
            let ignored = ["@odata.etag": "W/\"999\"", "Price": 5] as [String: Any]
            #expect(try await site.send("PATCH", path, json: ignored, old).status == 204)
            #expect(try await site.get(path).json["Price"] as? Double == 5)
        }
    }

    @Test("11.2.1 a system query option without an effect on the resource is refused")
    func index() async throws {
        try await Site.reference { site async throws in
            for (method, path) in [
                ("GET", "Products?$index=1"), ("POST", "Products?$index=0"), ("GET", "Products?index=1"),
            ] {
                let answer = try await site.send(method, path, json: Site.newProduct("Somewhere"))
                #expect(answer.status == 501 && answer.text.contains("$index"), "\(answer.text)")
            }
            #expect(try await site.get("Products?$filter=Name eq 'Somewhere'").rows.isEmpty)
        }
    }

    @Test("11.5.2 an operation on each member of a collection is refused by name")
    func operationOnEach() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.send("POST", "Products/$each/ComplianceService.Activate")
            #expect(answer.status == 501 && answer.text.contains("each member"), "\(answer.text)")
            #expect(try await site.send("POST", "Products/$each/ComplianceService.Nothing").status == 404)
            #expect(try await site.get("Products?$apply=groupby((ShippingAddress))").status == 501)
        }
    }

    @Test("11.4.13 PUT to a collection replaces its members")
    func replaceCollection() async throws {
        try await Site.reference { site async throws in
            let kept = try await site.key(of: "Categories", named: "Kitchen")
            let members = [["ID": kept, "Name": "Cooking"], ["Name": "Garden"]]
            #expect(try await site.send("PUT", "Categories", json: ["value": members]).status == 204)
            let rows = try await site.get("Categories?$orderby=Name").rows
            #expect(rows.map { $0["Name"] as? String } == ["Cooking", "Garden"])
            // Missing properties get their default values, as with PUT.
            #expect(rows.first?["Description"] is NSNull)
            #expect(rows.first?["ID"] as? String == kept)
            #expect(try await site.send("PUT", "ReadOnlyItems", json: ["value": [Any]()]).status == 405)
        }
    }

    @Test("11.5.4 a path continues behind the result of a function")
    func composition() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("GetProductStats()/totalProducts/$value").text == "7")
            #expect(try await site.get("GetProductStats()/maxPrice").json["value"] as? Double == 1999.99)
            #expect(try await site.get("Calculate(value=4)/$value").text == "8")
            #expect(try await site.get("GetProductStats()/Nothing").status == 404)
        }
    }

    @Test("11.5.5.2 overloads of an action are distinguished by the parameters in the body")
    func overloads() async throws {
        try await Site.reference { site async throws in
            let both = try await site.send("POST", "Process", json: ["percentage": 50, "minPrice": 1000])
            #expect(both.status == 204)
            for (name, price) in [("Premium Laptop Pro", 999.995), ("Laptop", 999.99)] {
                let path = try await site.product(name)
                #expect(try await site.get(path).json["Price"] as? Double == price)
            }
            #expect(try await site.send("POST", "Process", json: ["percentage": 10]).status == 204)
            for parameters in [["minPrice": 5], ["percentage": 1, "other": 2], [:]] {
                #expect(try await site.send("POST", "Process", json: parameters).status == 400)
            }
        }
    }

    @Test("4.8 (URL) $entity may be followed by a cast")
    func castReference() async throws {
        try await Site.reference { site async throws in
            let path = try await site.product()
            let answer = try await site.get("$entity/ComplianceService.SpecialProduct?$id=\(path)&$select=Name")
            #expect(try answer.json["Name"] as? String == "Laptop")
            #expect((try answer.control("context") as? String)?.hasSuffix("SpecialProduct(Name)/$entity") == true)
        }
    }

    @Test("2 (URL) plus signs for spaces, empty options and a final slash are accepted")
    func lenientURLs() async throws {
        try await Site.reference { site async throws in
            for url in [
                "Products?$filter=Name+eq+'Coffee+Mug'&$select=Name", "Products/?$filter=Name eq 'Coffee Mug'",
                "Products?&$filter=Name eq 'Coffee Mug'&",
            ] {
                #expect(try await site.get(url).column("Name") == ["Coffee Mug"], "\(url)")
            }
            // A literal plus sign is not decoded as a space.
            #expect(try await site.get("Products?$filter=contains(Name,'Coffee+Mug')").rows.isEmpty)
            #expect(try await site.get("Products//").status == 400)
        }
    }

    @Test("5.1.2 (URL) format parameters follow an abbreviation too")
    func abbreviatedFormat() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Products?$format=json;odata.metadata=none&$top=1")
            #expect(answer["Content-Type"] == "application/json;odata.metadata=none")
            #expect(try answer.control("context") == nil)
        }
    }

    @Test("7.1 (CSDL) the metadata refer to the used vocabularies, in the requested version")
    func references() async throws {
        try await Site.reference { site async throws in
            let text = try await site.get("$metadata").text
            #expect(text.contains("<edmx:Include Namespace=\"Org.OData.Core.V1\" Alias=\"Core\"/>"))
            let old = try await site.get("$metadata", ["OData-MaxVersion": "4.0"]).text
            #expect(old.contains("Version=\"4.0\""))
        }
    }

    @Test("11.5.4.1.1 URL options are assigned to the function overload that they all fit")
    func implicitParameters() async throws {
        try await Site.reference { site async throws in
            for path in ["GetTopProducts", "Products/ComplianceService.GetTopProducts"] {
                #expect(try await site.get("\(path)?@count=2").rows.count == 2)
                #expect(try await site.get("\(path)?@count=1&@category='Electronics'").rows.count == 1)
                #expect(try await site.get(path).rows.count > 2)
            }
            #expect(try await site.get("Calculate?@a=3&@b=4").json["value"] as? Int == 7)
        }
    }

    @Test("5.3 (URL) an alias stands for a complex value in JSON")
    func complexAlias() async throws {
        try await Site.reference { site async throws in
            let address = try #require(try await site.get(site.product()).json["ShippingAddress"] as? [String: Any])
            let text = String(decoding: try JSONSerialization.data(withJSONObject: address), as: UTF8.self)
            let found = try await site.get("Products?$filter=ShippingAddress eq @a&@a=\(text)&$select=Name")
            #expect(try found.column("Name") == ["Laptop"], "\(found.text)")
            let others = try await site.get("Products?$filter=@a ne ShippingAddress&@a=\(text)&$select=Name")
            #expect(try others.rows.count > 1 && !others.column("Name").contains("Laptop"))
            #expect(try await site.get("Products?$filter=ShippingAddress eq @a&@a={\"City\":[]}").status == 400)
        }
    }

    @Test("4.14 (URL) $id is refused where no entity is looked up")
    func strayID() async throws {
        try await Site.reference { site async throws in
            let product = try await site.product()
            for path in ["Products", product, "\(product)/Name", "Products/$count", "Company"] {
                let refused = try await site.get("\(path)?$id=\(product)")
                #expect(refused.status == 400)
                #expect(try refused.error["target"] as? String == "$id")
            }
            #expect(try await site.get("$entity?$id=\(product)").status == 200)
        }
    }

    @Test("11.3.2 $count may be appended to the delta link of any query")
    func countedDelta() async throws {
        try await Site.reference { site async throws in
            let first = try await site.get(
                "Products?$select=Name&$expand=Category", ["Prefer": "track-changes"])
            let link = try #require(try first.control("deltaLink") as? String)
            _ = try await site.send("PATCH", site.product(), json: ["Price": 1])
            let counted = try await site.get(link.replacingOccurrences(of: "/Products?", with: "/Products/$count?"))
            #expect(counted.text == "1")
            #expect(try await site.get(link).rows.count == 1)
        }
    }

    @Test("11.4.13 If-Match with * matches all members of a collection, a single ETag does not")
    func conditionOfMembers() async throws {
        try await Site.reference { site async throws in
            let members = "Products/$filter(Name eq 'Laptop')/$each"
            #expect(try await site.send("PATCH", members, json: ["Price": 3], ["If-Match": "*"]).status < 300)
            #expect(try await site.get(site.product()).json["Price"] as? Double == 3)
            #expect(try await site.send("PATCH", members, json: ["Price": 4], ["If-Match": "W/\"1\""]).status == 412)
        }
    }

    @Test("5.1.1.10 (URL) types may stand in quotes, and enumerations are cast to text")
    func castsOfEnumerations() async throws {
        try await Site.reference { site async throws in
            let special = try await site.get("Products?$filter=isof(ComplianceService.SpecialProduct)").rows.count
            #expect(special > 0)
            #expect(
                try await site.get("Products?$filter=isof('ComplianceService.SpecialProduct')").rows.count == special)
            let rows = try await site.get("Products?$select=Status").column("Status", as: String.self)
            for status in Set(rows) {
                let found = try await site.get(
                    "Products?$filter=cast(Status,'Edm.String') eq '\(status)'&$select=Status")
                #expect(try found.column("Status") == rows.filter { $0 == status })
            }
        }
    }
}
