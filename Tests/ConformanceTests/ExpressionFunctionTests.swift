import Foundation
import Testing

@Suite("OData 4.01, functions of the service within expressions")
struct ExpressionFunctionTests {
    @Test("11.5.4.1 functions work in $filter, $orderby and $compute")
    func everywhere() async throws {
        try await Site.reference { site async throws in
            let all = try await site.get("Products").rows
            func names(_ query: String) async throws -> [String] {
                try await site.get("Products?\(query)").column("Name")
            }
            let expensive = all.filter { ($0["Price"] as? Double ?? 0) * 1.1 > 900 }.compactMap {
                $0["Name"] as? String
            }
            #expect(!expensive.isEmpty && expensive.count < all.count)
            for call in ["ComplianceService.GetTotalPrice", "GetTotalPrice", "$it/ComplianceService.GetTotalPrice"] {
                #expect(try await Set(names("$filter=\(call)(taxRate=0.1) gt 900")) == Set(expensive), "\(call)")
            }
            let ordered = try await names("$orderby=ComplianceService.GetTotalPrice(taxRate=0.1) desc")
            let prices = try await names("$orderby=Price desc")
            #expect(ordered == prices)
            let computed = try await site.get(
                "Products?$compute=ComplianceService.GetInfo(format='short') as Info&$select=Name,Info&$orderby=Name&$top=1"
            )
            #expect(
                try computed.rows.first?["Info"] as? String == "Product: Coffee Mug (Price: 15.50) in short format")
            // The overloads are distinguished by the names of their parameters.
            #expect(
                try await names("$filter=ComplianceService.CalculatePrice(discount=50,tax=100) eq Price").count == 7)
            #expect(try await names("$filter=ComplianceService.CalculatePrice(discount=50) eq Price").isEmpty)
            // An unbound function, and one with a property as its argument.
            #expect(
                try await names("$filter=ComplianceService.Calculate(a=Version,b=1) eq 2").count
                    == all.filter { $0["Version"] as? Int == 1 }.count)
            #expect(
                try await names("$filter=contains(ComplianceService.Convert(input=Name),'String: Laptop')") == [
                    "Laptop"
                ])
        }
    }

    @Test("11.5.4.1 functions work within lambdas and behind navigation, and are not called on null")
    func navigation() async throws {
        try await Site.reference { site async throws in
            let categories = try await site.get(
                "Categories?$filter=Products/any(p:p/ComplianceService.GetTotalPrice(taxRate=0) gt 900)")
            #expect(try categories.column("Name") == ["Electronics"])
            let descriptions = try await site.get(
                "ProductDescriptions?$filter=Product/ComplianceService.GetTotalPrice(taxRate=0) gt 900&$expand=Product")
            #expect(!(try descriptions.rows.isEmpty))
            #expect(
                try descriptions.rows.allSatisfy { (($0["Product"] as? [String: Any])?["Price"] as? Double ?? 0) > 900 }
            )
        }
    }

    @Test("11.5.4.1 bad arguments, unknown functions and collection results are refused with a reason")
    func refusals() async throws {
        try await Site.reference { site async throws in
            let overflow = try await site.get(
                "Products?$filter=ComplianceService.Calculate(a=9223372036854775807,b=Version) gt 0")
            #expect(overflow.status == 400)
            #expect((try overflow.error["message"] as? String)?.contains("64 bits") == true)
            for call in [
                "GetTotalPrice(rate=1)", "GetTotalPrice(taxRate='x')", "GetRelatedProducts()", "ApplyDiscount()",
            ] {
                let answer = try await site.get("Products?$filter=ComplianceService.\(call) gt 0")
                #expect((400..<500).contains(answer.status) || answer.status == 501, "\(call) \(answer.status)")
            }
            // The value depends on more than the row, so the service returns no delta link.
            let tracked = try await site.get(
                "Products?$filter=ComplianceService.GetTotalPrice(taxRate=0) gt 900", ["Prefer": "track-changes"])
            #expect(try tracked.control("deltaLink") == nil)
        }
    }
}
