import Foundation
import Testing

@Suite("OData 4.0, an updatable service")
struct Updatable40Tests {
    private static let full = ["Accept": "application/json;odata.metadata=full", "OData-MaxVersion": "4.0"]

    @Test("13.1.1 (18) entities have edit links in full metadata")
    func editLinks() async throws {
        try await Site.reference { site async throws in
            let path = try await site.product()
            let row = try await site.get(path, Self.full).json
            let link = try #require(row["@odata.editLink"] as? String ?? row["@odata.id"] as? String)
            let answer = try await site.get(link.hasPrefix("http") ? link : site.root + link)
            #expect(try answer.json["Name"] as? String == "Laptop")
        }
    }

    @Test("13.1.1 (19, 27) POST creates an entity and returns its location")
    func create() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.send("POST", "Products", json: Site.newProduct("Lamp"))
            #expect(answer.status == 201)
            #expect(try answer.json["Name"] as? String == "Lamp")
            #expect(try answer.json["Version"] as? Int == 1)
            let location = try #require(answer["Location"])
            #expect(location.hasPrefix(site.root))
            #expect(try await site.get(location).json["Name"] as? String == "Lamp")
            #expect(answer["ETag"] != nil)
        }
    }

    @Test("13.1.1 (19) a creation that violates the model is refused")
    func createRefused() async throws {
        try await Site.reference { site async throws in
            var missing = Site.newProduct("Broken")
            missing["Name"] = nil
            for (body, target) in [
                (missing, "Name"), (Site.newProduct("Broken", ["Price": "much"]), "Price"),
                (Site.newProduct(String(repeating: "x", count: 101)), "Name"),
                (Site.newProduct("Broken", ["Rating": 256]), "Rating"),
                (Site.newProduct("Broken", ["Nothing": 1]), "Nothing"),
            ] {
                let answer = try await site.send("POST", "Products", json: body)
                #expect(answer.status == 400, "\(answer.text)")
                let error = try answer.error
                #expect(
                    (error["target"] as? String)?.contains(target) == true
                        || (error["message"] as? String)?.contains(target) == true, "\(error)")
            }
            #expect(try await site.get("Products/$count").text == "7")
        }
    }

    @Test("13.1.1 (20) POST to a navigation property creates a related entity")
    func createRelated() async throws {
        try await Site.reference { site async throws in
            let category = "Categories(\(try await site.key(of: "Categories", named: "Kitchen")))"
            let answer = try await site.send("POST", "\(category)/Products", json: Site.newProduct("Kettle"))
            #expect(answer.status == 201, "\(answer.text)")
            let names: [String] = try await site.get("\(category)/Products?$orderby=Name").column("Name")
            #expect(names == ["Coffee Mug", "Kettle"])
        }
    }

    @Test("13.1.1 (21, 25) references are added to a collection and removed from it")
    func collectionReferences() async throws {
        try await Site.reference { site async throws in
            let (laptop, mug) = (try await site.product(), try await site.product("Coffee Mug"))
            let added = try await site.send(
                "POST", "\(laptop)/RelatedProducts/$ref", json: ["@odata.id": "\(site.root)\(mug)"])
            #expect(added.status == 204, "\(added.text)")
            #expect(try await site.get("\(laptop)/RelatedProducts").column("Name") == ["Coffee Mug"])
            let removed = try await site.send("DELETE", "\(laptop)/RelatedProducts/$ref?$id=\(site.root)\(mug)")
            #expect(removed.status == 204, "\(removed.text)")
            #expect(try await site.get("\(laptop)/RelatedProducts").rows.isEmpty)
            #expect(try await site.get(mug).status == 200)
        }
    }

    @Test("13.1.1 (22, 25) a single reference is set by PUT and removed by DELETE")
    func singleReference() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let kitchen = try await site.key(of: "Categories", named: "Kitchen")
            let set = try await site.send(
                "PUT", "\(laptop)/Category/$ref", json: ["@odata.id": "Categories(\(kitchen))"])
            #expect(set.status == 204, "\(set.text)")
            #expect(try await site.get("\(laptop)/Category").json["Name"] as? String == "Kitchen")
            #expect(try await site.send("DELETE", "\(laptop)/Category/$ref").status == 204)
            #expect(try await site.get("\(laptop)/Category").status == 204)
            #expect(try await site.get(laptop).json["CategoryID"] is NSNull)
        }
    }

    @Test("13.1.1 (23) PATCH changes the given properties and keeps the omitted ones")
    func patch() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let answer = try await site.send("PATCH", laptop, json: ["Price": 900])
            #expect(answer.status == 204)
            let row = try await site.get(laptop).json
            #expect(row["Price"] as? Double == 900)
            #expect(row["Name"] as? String == "Laptop")
            #expect(row["Version"] as? Int == 2)
            #expect((row["ShippingAddress"] as? [String: Any])?["City"] as? String == "Seattle")
        }
    }

    @Test("13.1.1 (23) PATCH merges a complex property, PUT resets omitted parts")
    func putAndComplex() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            #expect(
                try await site.send("PATCH", laptop, json: ["ShippingAddress": ["City": "Portland"]]).status == 204)
            var address = try #require(try await site.get(laptop).json["ShippingAddress"] as? [String: Any])
            #expect(address["City"] as? String == "Portland")
            #expect(address["Street"] as? String == "123 Tech Way")
            let put = try await site.send("PUT", laptop, json: Site.newProduct("Laptop"))
            #expect(put.status == 204, "\(put.text)")
            let row = try await site.get(laptop).json
            #expect(row["Description"] is NSNull)
            #expect(row["ShippingAddress"] is NSNull)
            address = [:]
        }
    }

    @Test("13.1.1 (24) DELETE removes an entity once")
    func delete() async throws {
        try await Site.reference { site async throws in
            let mug = try await site.product("Coffee Mug")
            #expect(try await site.send("DELETE", mug).status == 204)
            #expect(try await site.get(mug).status == 404)
            #expect(try await site.send("DELETE", mug).status == 404)
            #expect(try await site.get("ProductDescriptions/$count").text == "6")
        }
    }

    @Test("13.1.1 (26) a change with an outdated ETag is refused with 412")
    func etags() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let etag = try #require(try await site.get(laptop)["ETag"])
            #expect(try await site.send("PATCH", laptop, json: ["Price": 1], ["If-Match": etag]).status == 204)
            #expect(try await site.send("PATCH", laptop, json: ["Price": 2], ["If-Match": etag]).status == 412)
            #expect(try await site.send("DELETE", laptop, ["If-Match": etag]).status == 412)
            #expect(try await site.send("PATCH", laptop, json: ["Price": 3], ["If-Match": "*"]).status == 204)
            let now = try #require(try await site.get(laptop)["ETag"])
            #expect(now != etag)
            #expect(try await site.get(laptop, ["If-None-Match": now]).status == 304)
            #expect(try await site.get(laptop, ["If-None-Match": etag]).status == 200)
            #expect(try await site.send("DELETE", laptop, ["If-Match": now]).status == 204)
        }
    }

    @Test("13.1.1 (28) a creation without a response body returns the id in OData-EntityId")
    func entityID() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.send(
                "POST", "Products", json: Site.newProduct("Lamp"), ["Prefer": "return=minimal"])
            #expect(answer.status == 204)
            #expect(answer["Preference-Applied"] == "return=minimal")
            let id = try #require(answer["OData-EntityId"])
            #expect(answer["Location"] != nil)
            #expect(try await site.get(id).json["Name"] as? String == "Lamp")
        }
    }

    @Test("13.1.1 (29) PATCH and PUT create missing entities unless a condition forbids it")
    func upsert() async throws {
        try await Site.reference { site async throws in
            let path = "Products(\(UUID().uuidString.lowercased()))"
            let body = Site.newProduct("Lamp")
            #expect(try await site.send("PATCH", path, json: body, ["If-Match": "*"]).status == 412)
            let created = try await site.send("PATCH", path, json: body)
            #expect(created.status == 201 || created.status == 204, "\(created.text)")
            #expect(try await site.get(path).json["Name"] as? String == "Lamp")
            #expect(try await site.send("PATCH", path, json: body, ["If-None-Match": "*"]).status == 412)
        }
    }

    @Test("13.1.1 (30, 31) single properties are changed by PUT and PATCH and set to null by DELETE")
    func properties() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            #expect(try await site.send("PUT", "\(laptop)/Name", json: ["value": "Slate"]).status == 204)
            #expect(try await site.get("\(laptop)/Name").json["value"] as? String == "Slate")
            #expect(
                try await site.send("PATCH", "\(laptop)/ShippingAddress", json: ["City": "Boise"]).status == 204)
            #expect(try await site.get("\(laptop)/ShippingAddress/Street").json["value"] as? String == "123 Tech Way")
            #expect(try await site.send("DELETE", "\(laptop)/Description").status == 204)
            #expect(try await site.get("\(laptop)/Description").status == 204)
            #expect(try await site.send("DELETE", "\(laptop)/Name").status == 400)
        }
    }

    @Test("13.1.1 (32) a deep insert creates all or nothing")
    func deepInsert() async throws {
        try await Site.reference { site async throws in
            let body = Site.newProduct(
                "Lamp",
                [
                    "Category": ["Name": "Light", "Description": "Lamps"],
                    "Descriptions": [
                        ["LanguageKey": "EN", "Description": "A lamp"], ["LanguageKey": "DE", "Description": "Lampe"],
                    ],
                ])
            let answer = try await site.send("POST", "Products?$expand=Category,Descriptions", json: body)
            #expect(answer.status == 201, "\(answer.text)")
            let row = try answer.json
            #expect((row["Category"] as? [String: Any])?["Name"] as? String == "Light")
            #expect((row["Descriptions"] as? [Any])?.count == 2)
            var broken = body
            broken["Name"] = "Other"
            broken["Category"] = ["Name": "Dark"]
            broken["Descriptions"] = [["LanguageKey": "too long", "Description": "x"]]
            #expect(try await site.send("POST", "Products", json: broken).status == 400)
            #expect(try await site.get("Categories/$count?$filter=Name eq 'Dark'").text == "0")
            #expect(try await site.get("Products/$count").text == "8")
        }
    }

    @Test("13.1.1 (19) an existing entity is bound while another one is created")
    func bind() async throws {
        try await Site.reference { site async throws in
            let kitchen = try await site.key(of: "Categories", named: "Kitchen")
            let old = try await site.send(
                "POST", "Products?$expand=Category",
                json: Site.newProduct("Spoon", ["Category@odata.bind": "Categories(\(kitchen))"]))
            #expect(try (old.json["Category"] as? [String: Any])?["Name"] as? String == "Kitchen", "\(old.text)")
            let new = try await site.send(
                "POST", "Products?$expand=Category",
                json: Site.newProduct("Fork", ["Category": ["@id": "Categories(\(kitchen))"]]))
            #expect(try (new.json["Category"] as? [String: Any])?["Name"] as? String == "Kitchen", "\(new.text)")
        }
    }

    @Test("13.1.1 (10) a read-only set refuses changes and lists the allowed methods")
    func readOnly() async throws {
        try await Site.reference { site async throws in
            let created = try await site.send("POST", "ReadOnlyItems", json: ["Name": "x"])
            #expect(created.status == 405)
            #expect(created["Allow"]?.contains("GET") == true)
            let key = try await site.key(of: "ReadOnlyItems", named: "Read-only item A")
            #expect(try await site.send("DELETE", "ReadOnlyItems(\(key))").status == 405)
            #expect(try await site.send("PATCH", "ReadOnlyItems(\(key))", json: ["Name": "y"]).status == 405)
        }
    }

    @Test("13.1.1 (10) changes of computed and immutable values are ignored")
    func computed() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.send(
                "POST", "Products",
                json: Site.newProduct("Lamp", ["CreatedAt": "2001-01-01T00:00:00Z", "SerialNumber": "A1"]))
            #expect(try (answer.json["CreatedAt"] as? String)?.hasPrefix("2001") == false)
            let path = try #require(answer["Location"])
            let patched = try await site.send("PATCH", path, json: ["SerialNumber": "B2", "Price": 1])
            #expect(patched.status == 204)
            #expect(try await site.get(path).json["SerialNumber"] as? String == "A1")
        }
    }

    @Test("13.1.1 (10) a second entity with a unique value is refused with 409")
    func unique() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.send("POST", "Categories", json: ["Name": "Kitchen"])
            #expect(answer.status == 409)
        }
    }

    @Test("13.1.1 (23) a singleton is changed under its ETag and cannot be deleted")
    func singleton() async throws {
        try await Site.reference { site async throws in
            let etag = try #require(try await site.get("Company")["ETag"])
            #expect(try await site.send("PATCH", "Company", json: ["CEO": "Ada"], ["If-Match": etag]).status == 204)
            #expect(try await site.get("Company").json["CEO"] as? String == "Ada")
            #expect(try await site.send("PATCH", "Company", json: ["CEO": "Eve"], ["If-Match": etag]).status == 412)
            #expect(try await site.send("DELETE", "Company").status == 405)
        }
    }

    @Test("11.4.7 media entities are created, read, replaced and deleted")
    func media() async throws {
        try await Site.reference { site async throws in
            let bytes = Array("some bytes that are no picture".utf8)
            let created = try await site.send("POST", "MediaItems", ["Content-Type": "image/png"], body: bytes)
            #expect(created.status == 201, "\(created.text)")
            #expect(try created.json["ContentType"] as? String == "image/png")
            #expect(try created.json["Size"] as? Int == bytes.count)
            let path = try #require(created["Location"])
            let read = try await site.get("\(path)/$value")
            #expect(read.bytes == bytes)
            #expect(read["Content-Type"] == "image/png")
            let part = try await site.get("\(path)/$value", ["Range": "bytes=5-9"])
            #expect(part.status == 206 && part.text == "bytes")
            #expect(part["Content-Range"] == "bytes 5-9/\(bytes.count)")
            #expect(try await site.get("\(path)/$value", ["Range": "bytes=1000-"]).status == 416)
            let replaced = try await site.send(
                "PUT", "\(path)/$value", ["Content-Type": "text/plain"], body: Array("words".utf8))
            #expect(replaced.status == 204 || replaced.status == 200)
            #expect(try await site.get("\(path)/$value").text == "words")
            #expect(try await site.send("DELETE", path).status == 204)
            #expect(try await site.get("\(path)/$value").status == 404)
        }
    }

    @Test("11.4.8 a stream property is uploaded, read and removed")
    func stream() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let put = try await site.send(
                "PUT", "\(laptop)/Photo", ["Content-Type": "image/jpeg"], body: Array("photo".utf8))
            #expect(put.status == 204, "\(put.text)")
            let read = try await site.get("\(laptop)/Photo")
            #expect(read.text == "photo")
            #expect(read["Content-Type"] == "image/jpeg")
            let raw = try await site.get("\(laptop)/Photo/$value")
            #expect(raw.text == "photo" && raw["Content-Type"] == "image/jpeg", "\(raw.text)")
            let changed = try await site.send(
                "PUT", "\(laptop)/Photo/$value", ["Content-Type": "image/png"], body: Array("other".utf8))
            #expect(changed.status == 204, "\(changed.text)")
            #expect(try await site.get("\(laptop)/Photo").text == "other")
            #expect(try await site.send("DELETE", "\(laptop)/Photo").status == 204)
            #expect(try await site.get("\(laptop)/Photo").status == 204)
        }
    }
}
