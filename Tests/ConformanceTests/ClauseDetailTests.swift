import Foundation
import Testing

@Suite("OData 4.01, further clauses")
struct ClauseDetailTests {
    // MARK: Operations

    @Test("11.5.5.1 an action without parameters needs no body, with any media type")
    func emptyActionBody() async throws {
        try await Site.reference { site async throws in
            let types: [[String: String]] = [
                [:], ["Content-Type": "application/json"], ["Content-Type": "text/plain"],
                ["Content-Type": "application/json;odata.metadata=minimal"],
            ]
            for fields in types {
                // Seeding assigns new keys.
                let laptop = try await site.product()
                #expect(try await site.send("POST", "\(laptop)/ComplianceService.Activate", fields).status < 300)
                #expect(try await site.send("POST", "Products/MarkAllAsReviewed", fields).status < 300)
                #expect(try await site.send("POST", "Reseed", fields).status < 300)
            }
            // The media type of a body is still checked, and missing required parameters are reported.
            let text = ["Content-Type": "text/plain"]
            let activate = "\(try await site.product())/ComplianceService.Activate"
            #expect(try await site.send("POST", activate, text, body: Array("{}".utf8)).status == 415)
            let discount = "\(try await site.product())/ComplianceService.ApplyDiscount"
            let answer = try await site.send("POST", discount, ["Content-Type": "application/json"])
            #expect(answer.status == 400)
            #expect(try answer.error["code"] as? String == "MissingParameter")
        }
    }

    @Test("11.5.4.1 If-Match is also a condition of functions and of operations on collections")
    func conditionsOfOperations() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let etag = try #require(try await site.get(laptop)["ETag"])
            let (stale, present) = (["If-Match": "W/\"999\""], ["If-Match": etag])
            let function = "\(laptop)/ComplianceService.GetTotalPrice(taxRate=0.1)"
            #expect(try await site.get(function, stale).status == 412)
            #expect(try await site.get(function, present).status == 200)
            #expect(try await site.get(function, ["If-Match": "*"]).status == 200)
            // The ETag is that of the bound entity, and not that of an entity in the result.
            let related = "\(laptop)/ComplianceService.GetRelatedProducts()"
            #expect(try await site.get(related, present).status == 200)
            #expect(try await site.get(related, stale).status == 412)
            #expect(try await site.send("POST", "Products/MarkAllAsReviewed", stale).status == 412)
            #expect(try await site.get("Products/ComplianceService.GetAveragePrice()", stale).status == 412)
            #expect(try await site.get("GetProductStats()", stale).status == 412)
            #expect(try await site.send("POST", "Products/MarkAllAsReviewed", ["If-Match": "*"]).status < 300)
        }
    }

    @Test("11.5.1 (URL) functions after $root are refused as not supported")
    func functionsAfterRoot() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Products?$filter=$root/Calculate(value=1) eq 2")
            #expect(answer.status == 501)
            #expect(try await site.get("Products?$filter=$root/Nothing(value=1) eq 2").status == 400)
        }
    }

    // MARK: References

    @Test("5.1 (URL) references are counted, and refuse options that choose properties")
    func referenceOptions() async throws {
        try await Site.reference { site async throws in
            let counted = try await site.get("Products/$ref?$count=true&$top=2")
            #expect(try counted.control("count") as? Int == 7)
            #expect(try counted.rows.count == 2)
            let filtered = try await site.get("Products/$ref?$count=true&$filter=Price gt 500&$orderby=Price desc")
            #expect(try filtered.control("count") as? Int == filtered.rows.count)
            let laptop = try await site.product()
            for path in ["Products/$ref", "\(laptop)/Category/$ref", "\(laptop)/Descriptions/$ref"] {
                #expect(try await site.get(path).status == 200)
                #expect(try await site.get("\(path)?$select=Name").status == 400)
                #expect(try await site.get("\(path)?$expand=Product").status == 400)
            }
            #expect(try await site.get("\(laptop)/Category/$ref?$count=true").status == 400)
        }
    }

    @Test("8.2.8.5 maxpagesize pages references, expanded collections and results of functions")
    func pageSizes() async throws {
        try await Site.reference { site async throws in
            let two = ["Prefer": "maxpagesize=2"]
            /// Returns the pages from a URL to the last next link.
            func pages(_ path: String) async throws -> [[[String: Any]]] {
                var pages: [[[String: Any]]] = []
                var next: String? = path
                while let path = next {
                    let answer = try await site.get(path, two)
                    #expect(answer["Preference-Applied"] == "maxpagesize=2", "\(path)")
                    pages.append(try answer.rows)
                    next = try answer.control("nextLink") as? String
                }
                return pages
            }
            let references = try await pages("Products/$ref?$top=5")
            #expect(references.map(\.count) == [2, 2, 1])
            #expect(Set(references.joined().compactMap { $0["@odata.id"] as? String }).count == 5)
            let best = try await pages("GetTopProducts(count=5)?$select=Name")
            #expect(best.map(\.count) == [2, 2, 1])
            let whole = try await site.get("GetTopProducts(count=5)?$select=Name").column("Name", as: String.self)
            #expect(best.joined().compactMap { $0["Name"] as? String } == whole)
            let expand = "Categories?$expand=Products($select=Name;$orderby=Name)&$filter=Name eq 'Electronics'"
            let category = try #require(try await site.get(expand, two).rows.first)
            #expect((category["Products"] as? [Any])?.count == 2)
            let next = try #require(category["Products@odata.nextLink"] as? String)
            let rest = try await pages(next).joined()
            let all = try #require(try await site.get(expand).rows.first?["Products"] as? [Any])
            #expect(rest.count + 2 == all.count)
            // An expanded collection of a single entity is also paged.
            let single = "Categories(\(try await site.key(of: "Categories", named: "Electronics")))?$expand=Products"
            #expect((try await site.get(single, two).json["Products"] as? [Any])?.count == 2)
        }
    }

    // MARK: Addresses

    @Test("4.3.6 (URL) key segments omit parts that a constraint implies, and may begin with a dollar sign")
    func keySegments() async throws {
        try await Site.reference { site async throws in
            let mouse = try await site.key(of: "Products", named: "Wireless Mouse")
            for product in ["Products(\(mouse))", "Products/\(mouse)"] {
                let description = try await site.get("\(product)/Descriptions/EN")
                #expect(try description.json["LanguageKey"] as? String == "EN")
                #expect(try await site.get("\(product)/Descriptions/EN/Description").status == 200)
                #expect(try await site.get("\(product)/Descriptions('EN')").status == 200)
                #expect(try await site.get("\(product)/Descriptions/\(mouse)/EN").status == 404)
            }
            #expect(try await site.get("ProductDescriptions/\(mouse)/EN").status == 200)
            // Only segments that the standard defines take precedence over keys.
            #expect(try await site.get("ProductDescriptions/\(mouse)/%24a").status == 404)
            let before = try #require(Int(try await site.get("Products(\(mouse))/Descriptions/$count").text))
            let created: [String: Any] = ["ProductID": mouse, "LanguageKey": "$a", "Description": "odd"]
            #expect(try await site.send("POST", "ProductDescriptions", json: created).status == 201)
            for segment in ["%24a", "$a"] {
                let odd = try await site.get("ProductDescriptions/\(mouse)/\(segment)")
                #expect(try odd.json["Description"] as? String == "odd", "\(segment)")
            }
            #expect(try await site.get("Products(\(mouse))/Descriptions/$count").text == "\(before + 1)")
        }
    }

    @Test("10.13 the context of a property names its entity by the canonical URL")
    func canonicalContexts() async throws {
        try await Site.reference { site async throws in
            let mouse = try await site.key(of: "Products", named: "Wireless Mouse")
            let canonical = "\(site.root)$metadata#Products(\(mouse))/Name"
            let paths = [
                "Products(\(mouse))/Name", "Products(ID=\(mouse))/Name", "Products/\(mouse)/Name",
                "Products(@k)/Name?@k=\(mouse)", "Products(ID=@k)/Name?@k=\(mouse)",
                "ProductDescriptions(ProductID=\(mouse),LanguageKey='EN')/Product/Name",
            ]
            for path in paths {
                #expect(try await site.get(path).control("context") as? String == canonical, "\(path)")
            }
            let description =
                "\(site.root)$metadata#ProductDescriptions(ProductID=\(mouse),LanguageKey='EN')/Description"
            for key in ["LanguageKey='EN',ProductID=\(mouse)", "LanguageKey=@l,ProductID=\(mouse)"] {
                let answer = try await site.get("ProductDescriptions(\(key))/Description?@l='EN'")
                #expect(try answer.control("context") as? String == description, "\(key)")
            }
        }
    }

    @Test("4.15 (URL) $all includes singletons, and each entity has its own context")
    func allEntities() async throws {
        try await Site.reference { site async throws in
            let all = try await site.get("$all")
            let contexts = try all.rows.compactMap { $0["@odata.context"] as? String }
            #expect(try contexts.count == all.rows.count)
            #expect(contexts.contains("\(site.root)$metadata#Company"))
            #expect(contexts.contains("\(site.root)$metadata#Products/$entity"))
            #expect(contexts.contains("\(site.root)$metadata#Products/ComplianceService.SpecialProduct/$entity"))
            let company = try await site.get("$all/ComplianceService.CompanyInfo")
            #expect(try company.rows.count == 1)
            let count = try await site.get("$all?$count=true&$top=1")
            #expect(try count.control("count") as? Int == all.rows.count)
            // The last page contains the singleton, whatever the page size.
            var next: String? = "$all"
            var sizes = 0
            var last: [[String: Any]] = []
            while let path = next {
                let page = try await site.get(path, ["Prefer": "maxpagesize=5"])
                last = try page.rows
                sizes += last.count
                next = try page.control("nextLink") as? String
            }
            #expect(try sizes == all.rows.count)
            #expect((last.last?["@odata.context"] as? String)?.contains("#Company") == true)
            // Options that could be applied to `$all` but are not supported are refused with 501.
            for option in ["$filter=true", "$orderby=ID", "$apply=aggregate($count as N)"] {
                #expect(try await site.get("$all?\(option)").status == 501, "\(option)")
            }
            #expect(try await site.get("$all/ComplianceService.Product?$orderby=Name").status == 501)
        }
    }

    @Test("2 (URL) a plus sign separates words in $search, and a mistake behind one is marked")
    func plusSigns() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("Products?$search=Mug+Coffee&$select=Name").column("Name") == ["Coffee Mug"])
            let both = "Products?$search=Mug+Coffee&$filter=Name+eq+'Coffee+Mug'&$select=Name"
            #expect(try await site.get(both).column("Name") == ["Coffee Mug"])
            let message = try await site.get("Products?$filter=Weight+eq+3.14f").error["message"] as? String
            #expect(message?.contains("+") == false)
            #expect(
                message?.contains("found \u{201C}f\u{201D}") == true || message?.contains("3.14f") == true,
                "\(message ?? "")")
        }
    }

    // MARK: Changes

    @Test("11.4.12 the response to a delta payload is a delta in the order of the request")
    func deltaAnswers() async throws {
        try await Site.reference { site async throws in
            let (laptop, mug) = (try await site.product(), try await site.product("Coffee Mug"))
            let key = try await site.key(of: "Products", named: "Laptop")
            let etag = try #require(try await site.get(laptop)["ETag"])
            let term = "@Org.OData.Core.V1.DataModificationException"
            func patch(_ items: [[String: Any]], _ prefer: String) async throws -> Answer {
                try await site.send(
                    "PATCH", "Products", json: ["@context": "#$delta", "value": items], ["Prefer": prefer])
            }
            let done = try await patch(
                [
                    ["@removed": ["reason": "deleted"], "@id": mug],
                    ["ID": key, "Rating": 9, "@Org.OData.Core.V1.ContentID": "a"], Site.newProduct("Lamp"),
                ], "return=representation")
            #expect(done.status == 200)
            #expect(try done.control("context") as? String == "\(site.root)$metadata#Products/$delta")
            let items = try done.rows
            #expect(items.count == 3)
            #expect(items[0]["@odata.id"] as? String == mug)
            #expect((items[0]["@odata.removed"] as? [String: Any])?["reason"] as? String == "deleted")
            #expect(items[1]["Rating"] as? Int == 9)
            #expect(items[1]["@Org.OData.Core.V1.ContentID"] as? String == "a")
            #expect(items[2]["Name"] as? String == "Lamp")

            let link: [String: Any] = [
                "@context": "#Products/$link", "source": laptop, "relationship": "RelatedProducts",
                "target": "Products(\(UUID()))",
            ]
            let linkText = String(
                decoding: try JSONSerialization.data(withJSONObject: link, options: .sortedKeys), as: UTF8.self)
            let body = """
                {"@context":"#$delta","value":[{"Name":"Half"},{"ID":"\(key)","@etag":"\(etag.replacing("\"", with: "\\\""))",
                "Rating":1},\(linkText)]}
                """
            let failed = try await site.send(
                "PATCH", "Products", ["Content-Type": "application/json", "Prefer": "continue-on-error"],
                body: Array(body.utf8))
            #expect(failed.status == 200)
            #expect(try failed.control("context") as? String == "\(site.root)$metadata#Products/$delta")
            let failures = try failed.rows
            #expect(failures.count == 3)
            let operations = failures.compactMap { ($0[term] as? [String: Any])?["failedOperation"] as? String }
            #expect(operations == ["insert", "update", "link"])
            // A failed insertion is reported as a deleted entity, and a failed link as a deleted link.
            #expect(failures[0]["@odata.removed"] != nil)
            #expect(failures[1]["@odata.removed"] == nil)
            #expect((failures[2]["@odata.context"] as? String)?.hasSuffix("#Products/$deletedLink") == true)
        }
    }

    @Test("9.1.4 a response without content has an ETag only if the client knows its resource")
    func etagsWithoutContent() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let blind = try await site.send("PATCH", laptop, json: ["Rating": 7])
            #expect(blind.status == 204)
            #expect(blind["ETag"] == nil)
            let etag = try #require(try await site.get(laptop)["ETag"])
            let seen = try await site.send("PATCH", laptop, json: ["Rating": 8], ["If-Match": etag])
            #expect(seen.status == 204)
            #expect(try await site.get(laptop)["ETag"] == seen["ETag"])
            #expect(try await site.send("PATCH", laptop, json: ["Rating": 9], ["If-Match": "*"])["ETag"] == nil)
            // The service computes CreatedAt.
            let created = try await site.send(
                "POST", "Products", json: Site.newProduct("Desk"), ["Prefer": "return=minimal"])
            #expect(created.status == 204)
            #expect(created["ETag"] == nil)
            #expect(created["OData-EntityId"] != nil)
            // A returned entity contains the ETag.
            let shown = try await site.send(
                "PATCH", laptop, json: ["Rating": 1], ["Prefer": "return=representation"])
            #expect(shown["ETag"] != nil)
        }
    }

    @Test("8.2.5 the error for a failed condition names the condition")
    func failedConditions() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            func message(_ path: String, _ fields: [String: String]) async throws -> String {
                let answer = try await site.send("PATCH", path, json: ["Rating": 1], fields)
                #expect(answer.status == 412)
                return try answer.error["message"] as? String ?? ""
            }
            #expect(try await message(laptop, ["If-None-Match": "*"]).contains("exists already"))
            #expect(try await message("Products(\(UUID()))", ["If-Match": "*"]).contains("does not exist"))
            #expect(try await message(laptop, ["If-Match": "W/\"999\""]).contains("changed by somebody else"))
            let etag = try #require(try await site.get(laptop)["ETag"])
            #expect(try await message(laptop, ["If-None-Match": etag]).contains("still has the ETag"))
        }
    }

    @Test("7.1 (JSON) a number in a string is refused")
    func numbersInStrings() async throws {
        try await Site.reference { site async throws in
            for (name, text) in [("Price", "1e2"), ("Rating", "5"), ("Weight", "1.5"), ("Quantity", "3")] {
                let answer = try await site.send("POST", "Products", json: Site.newProduct("Lamp", [name: text]))
                #expect(answer.status == 400, "\(name)")
                #expect(try answer.error["target"] as? String == name)
            }
            // Values without a JSON number, 64-bit integers and decimals may be strings.
            let infinite = Site.newProduct("Lamp", ["Price": "INF"])
            #expect(try await site.send("POST", "Products", json: infinite).status == 201)
            let laptop = try await site.product()
            let call = "\(laptop)/ComplianceService.ApplyDiscount"
            #expect(try await site.send("POST", call, json: ["percentage": "10"]).status == 400)
            #expect(try await site.send("PUT", "\(laptop)/Price", json: ["value": "10"]).status == 400)
        }
    }

    // MARK: Batches

    @Test("11.7 a malformed request of a batch does not affect the other requests")
    func malformedRequests() async throws {
        try await Site.reference { site async throws in
            func part(_ text: String, _ fields: String = "") -> String {
                "Content-Type: application/http\r\n\(fields)\r\n\(text)\r\n\r\n\r\n"
            }
            let set = { (parts: [String]) in
                "Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n" + parts.joined(separator: "--c\r\n")
                    + "--c--\r\n"
            }
            let good = part("GET Products/$count HTTP/1.1")
            let patch =
                "PATCH Categories HTTP/1.1\r\nContent-Type: application/json\r\n\r\n" + #"{"value":[]}"#
            let parts = [
                part("GET Products/$count\r\nHost: host"), set([part("GET Products HTTP/1.1", "Content-ID: 1\r\n")]),
                set([part(patch, "Content-ID: 2\r\n"), part(patch, "Content-ID: 2\r\n")]), part("nonsense"),
                "Content-Type: text/plain\r\n\r\nhello\r\n", part("GET Products/$count HTTP/1.1\r\nno colon"), good,
            ]
            let body = "--b\r\n" + parts.joined(separator: "--b\r\n") + "--b--"
            let answer = try await site.send(
                "POST", "$batch",
                ["Content-Type": "multipart/mixed;boundary=b", "Prefer": "continue-on-error"], body: Array(body.utf8))
            #expect(answer.status == 200)
            let statuses = answer.text.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.1) }
            #expect(statuses == ["200", "400", "400", "400", "400", "400", "200"], "\(answer.text)")
            #expect(answer.text.contains("two requests have the id 2"))
        }
    }

    @Test("19.1 (JSON) a request with a used id, an unknown dependency or no URL is refused alone")
    func malformedItems() async throws {
        try await Site.reference { site async throws in
            let url = "Products/$count"
            let requests: [[String: Any]] = [
                ["id": "1", "method": "get", "url": url], ["id": "1", "method": "get", "url": url],
                ["id": "2", "method": "get", "url": url, "dependsOn": ["9"]],
                ["id": "3", "method": "get", "url": url, "dependsOn": ["2"]], ["id": "4", "method": "get"],
                ["id": "5", "method": "get", "url": url, "dependsOn": ["1"]],
            ]
            let answer = try await site.send("POST", "$batch", json: ["requests": requests])
            #expect(answer.status == 200)
            let responses = try #require(try answer.json["responses"] as? [[String: Any]])
            #expect(responses.compactMap { $0["status"] as? Int } == [200, 400, 400, 424, 400, 200])
            #expect(responses.compactMap { $0["id"] as? String } == ["1", "1", "2", "3", "4", "5"])
        }
    }

    // MARK: Aggregation

    @Test("3.3.1 (Aggregation) the amount of topcount is positive, and that of toppercent is at most 100")
    func rankedAmounts() async throws {
        try await Site.reference { site async throws in
            let wrong = [
                "topcount(0,Price)", "bottomcount(0,Price)", "topcount(-1,Price)", "topcount(1.5,Price)",
                "toppercent(101,Price)", "toppercent(0,Price)", "bottompercent(100.5,Price)", "bottompercent(-1,Price)",
            ]
            for transformation in wrong {
                #expect(try await site.get("Products?$apply=\(transformation)").status == 400, "\(transformation)")
            }
            for transformation in ["topcount(1,Price)", "toppercent(100,Price)", "bottompercent(0.5,Price)"] {
                #expect(try await site.get("Products?$apply=\(transformation)").status == 200, "\(transformation)")
            }
        }
    }

    @Test("3.1.1 (Aggregation) an alias must differ from all properties of the input")
    func aliases() async throws {
        try await Site.reference { site async throws in
            let wrong = [
                "aggregate(Price with sum as Name)", "aggregate(Price with average as Description)",
                "aggregate($count as Category)", "groupby((Name),aggregate(Price with sum as Price))",
                "groupby((Name),aggregate(Price with sum as Total))/aggregate(Total with max as Price)",
                "groupby((Name),aggregate(Price with sum as Total))/aggregate(Total with max as Total)",
                "groupby((Name))/compute(length(Name) as Price)",
            ]
            for apply in wrong { #expect(try await site.get("Products?$apply=\(apply)").status == 400, "\(apply)") }
            #expect(try await site.get("Products?$apply=aggregate(Price with sum as Total)").status == 200)
        }
    }

    @Test("3.2.1.4 (Aggregation) counts are decimals and divide as decimals")
    func counts() async throws {
        try await Site.reference { site async throws in
            let row = try #require(
                try await site.get("Products?$apply=aggregate($count as N,Name with countdistinct as D)").rows.first)
            for name in ["N", "D"] {
                #expect(row["\(name)@odata.type"] as? String == "#Decimal")
                #expect(row[name] as? Int == 7)
            }
            let half = try await site.get(
                "Products?$apply=aggregate($count as N)/compute(N div 2 as Half)&$select=Half")
            #expect(try half.rows.first?["Half"] as? Double == 3.5)
            let grouped = "Products?$apply=groupby((CategoryID),aggregate($count as N))/filter(N gt 1)&$orderby=N desc"
            #expect(try await site.get(grouped).column("N", as: Int.self).allSatisfy { $0 > 1 })
        }
    }

    @Test("3.1.1 (Aggregation) the context lists only properties that all rows have")
    func selectLists() async throws {
        try await Site.reference { site async throws in
            func list(_ options: String) async throws -> String? {
                let context = try await site.get("Products?\(options)").control("context") as? String
                return context.map { String($0.drop { $0 != "#" }) }
            }
            let apart = "$apply=concat(aggregate($count as N),aggregate(Price with sum as S))"
            #expect(try await list(apart) == "#Products(@Core.AnyStructure)")
            let common =
                "$apply=concat(aggregate($count as N,Price with sum as S),aggregate(Price with max as M,$count as N))"
            #expect(try await list(common) == "#Products(N)")
            let rolled = "$apply=groupby((rollup($all,ProductType,Name)),aggregate($count as N))"
            #expect(try await list(rolled) == "#Products(N)")
            #expect(try await list("$apply=groupby((Name),aggregate($count as N))") == "#Products(Name,N)")
        }
    }
}
