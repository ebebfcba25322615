import Foundation
import Testing

@Suite("OData 4.0, intermediate conformance")
struct Intermediate40Tests {
    @Test("13.1.2 (3) $select returns the selected properties with the key, and nothing else")
    func select() async throws {
        try await Site.reference { site async throws in
            let row = try await site.get("\(try await site.product())?$select=Name,Price,ShippingAddress/City").json
            #expect(Set(row.keys.filter { !$0.contains("@") }) == ["ID", "Name", "Price", "ShippingAddress"])
            #expect((row["ShippingAddress"] as? [String: Any])?.keys.sorted() == ["City"])
            let all = try await site.get("Products?$select=*&$top=1").rows
            #expect(all.first?["Rating"] != nil)
        }
    }

    @Test("13.1.2 (4) a path is cast to a derived type")
    func cast() async throws {
        try await Site.reference { site async throws in
            let special = try await site.get("Products/ComplianceService.SpecialProduct?$orderby=Name")
            #expect(try special.column("Name") == ["Gaming Mouse Ultra", "Laptop", "Premium Laptop Pro"])
            let mug = try await site.product("Coffee Mug")
            #expect(try await site.get("\(mug)/ComplianceService.SpecialProduct").status == 404)
            let filtered = try await site.get("Products?$filter=isof(ComplianceService.SpecialProduct)&$count=true")
            #expect(try filtered.control("count") as? Int == 3)
        }
    }

    @Test("13.1.2 (5, 12, 13) $top, $skip and $count")
    func topSkipCount() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Products?$orderby=Name&$top=2&$skip=1&$count=true")
            #expect(try answer.column("Name") == ["Gaming Mouse Ultra", "Laptop"])
            #expect(try answer.control("count") as? Int == 7)
            #expect(try answer.control("nextLink") == nil)
            #expect(try await site.get("Products?$top=0").rows.isEmpty)
        }
    }

    @Test("13.1.2 (6) $value returns raw property values")
    func rawValue() async throws {
        try await Site.reference { site async throws in
            let laptop = try await site.product()
            let name = try await site.get("\(laptop)/Name/$value")
            #expect(name.text == "Laptop")
            #expect(name["Content-Type"]?.hasPrefix("text/plain") == true)
            #expect(try await site.get("\(laptop)/Price/$value").text == "999.99")
            #expect(try await site.get("\(laptop)/Data/$value").bytes == Array("test".utf8))
            let chair = try await site.product("Office Chair")
            #expect(try await site.get("\(chair)/Data/$value").status == 204)
        }
    }

    @Test(
        "13.1.2 (7) $filter with comparisons, logic and arithmetic",
        arguments: [
            ("Price eq 15.5", ["Coffee Mug"]),
            ("Name ne 'Laptop' and Price gt 799", ["Premium Laptop Pro", "Smartphone"]),
            ("Price lt 20 or Price ge 1999.99", ["Coffee Mug", "Premium Laptop Pro"]),
            ("not (Price gt 30)", ["Coffee Mug", "Wireless Mouse"]),
            ("Data eq null and Rating eq 255", ["Office Chair"]),
            ("Price add 0.5 eq 16", ["Coffee Mug"]), ("Quantity mod 7 eq 3", ["Laptop"]),
            ("Quantity div 2 eq 600", ["Laptop"]), ("-Temperature eq 10", ["Laptop"]),
            ("ShippingAddress/City eq 'Seattle'", ["Laptop"]), ("Category/Name eq 'Kitchen'", ["Coffee Mug"]),
            ("ReleaseDate eq 2024-01-20", ["Wireless Mouse"]), ("OpenTime lt 08:00:00", ["Coffee Mug"]),
        ])
    func filter(text: String, names: [String]) async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Products?$filter=\(text)&$orderby=Name")
            #expect(try answer.column("Name") == names, "\(text)")
        }
    }

    @Test("13.1.2 (7.2) filters use parameter aliases")
    func aliases() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Products?$filter=Name eq @name&@name='Laptop'")
            #expect(try answer.column("Name") == ["Laptop"])
        }
    }

    @Test(
        "13.1.2 (7.4) canonical functions",
        arguments: [
            ("contains(Name,'Mouse')", 2), ("startswith(Name,'Coffee')", 1), ("endswith(Name,'Pro')", 1),
            ("length(Name) eq 6", 1), ("indexof(Name,'top') eq 3", 1), ("substring(Name,1) eq 'aptop'", 1),
            ("substring(Name,1,3) eq 'apt'", 1), ("tolower(Name) eq 'laptop'", 1), ("toupper(Name) eq 'LAPTOP'", 1),
            ("trim(concat(Name,' ')) eq 'Laptop'", 1), ("matchesPattern(Name,'^L.*p$')", 1),
            ("year(CreatedAt) eq 2023", 2), ("month(CreatedAt) eq 7", 2), ("day(CreatedAt) eq 15", 2),
            ("hour(CreatedAt) eq 14", 2), ("minute(CreatedAt) eq 30", 2), ("second(CreatedAt) eq 0", 7),
            ("date(CreatedAt) eq 2024-01-15", 1), ("time(CreatedAt) eq 10:30:00", 1), ("CreatedAt lt now()", 7),
            ("totaloffsetminutes(CreatedAt) eq 0", 7), ("totalseconds(ShippingTime) eq 86400", 1),
            ("round(Price) eq 1000", 1), ("floor(Price) eq 999", 1), ("ceiling(Price) eq 16", 1),
            ("cast(Price,Edm.String) eq '15.5'", 1), ("isof(Name,Edm.String)", 7),
            ("geo.distance(Location,geography'SRID=4326;POINT(-122.3321 47.6062)') lt 10", 1),
            ("geo.intersects(Location,Area)", 6), ("geo.length(Route) gt 0", 6),
        ])
    func functions(text: String, count: Int) async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Products/$count?$filter=\(text)")
            #expect(answer.text == "\(count)", "\(text): \(answer.text)")
        }
    }

    @Test("13.1.2 (11) $search finds words, phrases and combinations")
    func search() async throws {
        try await Site.reference { site async throws in
            #expect(try await site.get("Products?$search=Smartphone").column("Name") == ["Smartphone"])
            #expect(try await site.get("Products?$search=Laptop&$count=true").control("count") as? Int ?? 0 >= 2)
            #expect(try await site.get("Products?$search=Laptop NOT Premium").column("Name") == ["Laptop"])
            #expect(try await site.get("Products?$search=\"Coffee Mug\"").column("Name") == ["Coffee Mug"])
            let either: [String] = try await site.get("Products?$search=Smartphone OR Mug&$orderby=Name").column("Name")
            #expect(either == ["Coffee Mug", "Smartphone"])
        }
    }

    @Test("13.1.2 (15) any and all")
    func lambda() async throws {
        try await Site.reference { site async throws in
            let german = try await site.get("Products?$filter=Descriptions/any(d:d/LanguageKey eq 'DE')")
            #expect(try german.column("Name") == ["Laptop"])
            let none = try await site.get("Products/$count?$filter=not Descriptions/any()")
            #expect(none.text == "3")
            let all = try await site.get("Categories?$filter=Products/all(p:p/Price gt 200)")
            #expect(try all.column("Name") == ["Furniture"])
        }
    }

    @Test("13.1.2 (16) $count of collections and navigation properties")
    func countSegment() async throws {
        try await Site.reference { site async throws in
            let answer = try await site.get("Products/$count")
            #expect(answer.text == "7")
            #expect(answer["Content-Type"]?.hasPrefix("text/plain") == true)
            #expect(try await site.get("\(try await site.product())/Descriptions/$count").text == "2")
        }
    }

    @Test("13.1.2 (17) $orderby both ways, with several keys and nulls first")
    func orderBy() async throws {
        try await Site.reference { site async throws in
            let names: [String] = try await site.get("Products?$orderby=Category/Name,Price desc").column("Name")
            #expect(names.first == "Premium Laptop Pro")
            #expect(names.last == "Coffee Mug")
            let dates = try await site.get("Products?$orderby=ReleaseDate,Name").rows.map { $0["ReleaseDate"] }
            #expect(dates.prefix(3).allSatisfy { $0 is NSNull })
            #expect(dates.last as? String == "2024-12-31")
        }
    }
}
