import Foundation
import Testing

@Suite("OData 4.01, intermediate and advanced conformance")
struct Advanced401Tests {
    @Test("13.2.2 (5) $select within $select")
    func nestedSelect() async throws {
        try await Site.reference { site async throws in
            let row = try await site.get("\(try await site.product())?$select=ShippingAddress($select=City)").json
            #expect((row["ShippingAddress"] as? [String: Any])?.keys.sorted() == ["City"])
        }
    }

    @Test("13.2.2 (11) a collection is filtered in the path")
    func filterSegment() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("Products/$filter(Price gt 900)/$count").text == "2")
            let answer = try await site.get("Products/$filter(@f)?@f=Price gt 900&$orderby=Name")
            #expect(try answer.column("Name") == ["Laptop", "Premium Laptop Pro"])
        }
    }

    @Test("13.2.3 (4) $compute gives values that can be selected, filtered and ordered by")
    func compute() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get(
                "Products?$compute=Price mul 2 as Twice&$filter=Twice gt 1000&$orderby=Twice desc&$select=Name,Twice")
            #expect(try answer.column("Name") == ["Premium Laptop Pro", "Laptop", "Smartphone"])
            #expect(try answer.column("Twice", as: Double.self).first == 3999.98)
        }
    }

    @Test("13.2.3 (6) the JSON metadata hold every entity set, operation and annotation")
    func metadata() async throws {
        try await Site.reference { site async throws in
            let json = try await site.get("$metadata?$format=application/json").json
            let schema = try #require(json["ComplianceService"] as? [String: Any])
            let container = try #require(schema["Container"] as? [String: Any])
            #expect(container["Products"] != nil && container["Company"] != nil && container["Reseed"] != nil)
            #expect(schema["GetTotalPrice"] is [Any])
            #expect((schema["ProductStatus"] as? [String: Any])?["$IsFlags"] as? Bool == true)
        }
    }

    @Test("13.2.3 (7) a batch in JSON with groups, dependencies and references")
    func jsonBatch() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.send(
                "POST", "$batch",
                json: [
                    "requests": [
                        ["id": "1", "method": "GET", "url": "Products?$top=1"],
                        [
                            "id": "2", "atomicityGroup": "g", "method": "post", "url": "Categories",
                            "headers": ["content-type": "application/json"], "body": ["Name": "Light"],
                        ],
                        [
                            "id": "3", "atomicityGroup": "g", "dependsOn": ["2"], "method": "post",
                            "url": "$2/Products",
                            "headers": ["content-type": "application/json"], "body": Site.newProduct("Lamp"),
                        ],
                        ["id": "4", "dependsOn": ["g"], "method": "GET", "url": "Products/$count"],
                    ]
                ])
            #expect(answer.status == 200, "\(answer.text)")
            let responses = try #require(try answer.json["responses"] as? [[String: Any]])
            let statuses = Dictionary(
                uniqueKeysWithValues: responses.compactMap { response in
                    (response["id"] as? String).map { ($0, response["status"] as? Int ?? 0) }
                })
            #expect(statuses == ["1": 200, "2": 201, "3": 201, "4": 200])
            #expect(try await site.get("Products?$filter=Category/Name eq 'Light'").column("Name") == ["Lamp"])
        }
    }

    @Test("URL 4.15 all entities of the service are read at once, or those of one type")
    func allEntities() async throws {
        try await Site.reference { site async throws in
            let all = try await site.get("$all?$count=true")
            #expect(all.status == 200, "\(all.text)")
            #expect(try all.control("context") as? String == "\(site.root)$metadata#Collection(Edm.EntityType)")
            let rows = try all.rows
            let ids = rows.compactMap { $0["@odata.id"] as? String }
            #expect(rows.count == ids.count && Set(ids).count == ids.count)
            #expect(try all.control("count") as? Int == rows.count)
            #expect(rows.filter { $0["@odata.type"] as? String == "#ComplianceService.Category" }.count == 3)
            // Reading by pages returns the same rows, and $top limits their number.
            var paged: [String] = []
            var next: String? = "$all"
            while let url = next {
                let page = try await site.get(url, ["Prefer": "maxpagesize=2"])
                #expect(try page.rows.count <= 2)
                paged += try page.column("@odata.id")
                next = try page.control("nextLink") as? String
            }
            #expect(paged == ids)
            #expect(try await site.get("$all?$top=4").column("@odata.id") == Array(ids.prefix(4)))
            let categories = try await site.get("$all/ComplianceService.Category")
            #expect(
                try categories.control("context") as? String
                    == "\(site.root)$metadata#Collection(ComplianceService.Category)")
            #expect(try categories.rows.count == 3)
            #expect(try await site.get("$all?$skip=1&$top=3").column("@odata.id") == Array(ids.dropFirst().prefix(3)))
            #expect(try await site.get("$all?$skiptoken=x").status == 400)
        }
    }

    @Test("11.7.7.3 a condition in a batch refers to the ETag of an earlier response")
    func batchETags() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            func change(_ id: String, _ tag: String, _ price: Double) -> [String: Any] {
                [
                    "id": id, "method": "patch", "url": laptop, "body": ["Price": price],
                    "headers": ["content-type": "application/json", "if-match": tag],
                ]
            }
            let answer = try await site.send(
                "POST", "$batch",
                json: [
                    "requests": [
                        ["id": "1", "method": "GET", "url": laptop], change("2", "$1", 1), change("3", "$2", 2),
                        change("4", "$1", 3), change("5", "$9", 4),
                    ]
                ], ["Prefer": "continue-on-error"])
            let responses = try #require(try answer.json["responses"] as? [[String: Any]], "\(answer.text)")
            #expect(responses.compactMap { $0["status"] as? Int } == [200, 204, 204, 412, 400], "\(answer.text)")
            #expect(try await site.get(laptop).json["Price"] as? Double == 2)
        }
    }

    @Test("11.2.5.1 a query is sent in the body where the URL would be too long")
    func queryInBody() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.send(
                "POST", "Products/$query", ["Content-Type": "text/plain"],
                body: Array("$filter=Name%20eq%20'Laptop'&$select=Name".utf8))
            #expect(try answer.column("Name") == ["Laptop"])
        }
    }

    @Test("the aggregation extension: groups, sums and counts")
    func apply() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get(
                "Products?$apply=groupby((Category/Name),aggregate(Price with sum as Total,$count as Number))"
                    + "&$orderby=Total desc")
            let rows = try answer.rows
            #expect(rows.compactMap { $0["Number"] as? Int } == [5, 1, 1])
            #expect((rows.first?["Category"] as? [String: Any])?["Name"] as? String == "Electronics")
        }
    }

    @Test("Repeatable requests: the same request twice acts once")
    func repeatable() async throws {
        try await Site.reference { site async throws in
            let format = DateFormatter()
            format.locale = Locale(identifier: "en_US_POSIX")
            format.timeZone = TimeZone(identifier: "GMT")
            format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            let fields = [
                "Repeatability-Request-ID": UUID().uuidString, "Repeatability-First-Sent": format.string(from: Date()),
            ]
            let first = try await site.send("POST", "Categories", json: ["Name": "Light"], fields)
            let second = try await site.send("POST", "Categories", json: ["Name": "Light"], fields)
            #expect(first.status == 201 && second.status == 201, "\(second.text)")
            #expect(second["Repeatability-Result"] == "accepted")
            #expect(first["Location"] == second["Location"])
            #expect(try await site.get("Categories/$count").text == "4")
        }
    }
}
