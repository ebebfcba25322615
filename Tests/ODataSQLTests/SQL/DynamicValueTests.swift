import GRDB
import ODataModel
import ODataService
import Testing

@testable import ODataSQL

/// Values of one dynamic property may have several types. A value that cannot be compared satisfies no condition
/// and does not cause an error (OData URL Conventions 4.01, 5.1.1.1 and 5.1.1.10.1).
@Suite("Dynamic properties of several types")
struct DynamicValueTests {
    let traders: Traders

    init() throws {
        traders = try Traders()
        let rows = [
            "A": #"{"Size":5,"Due":"2023-05-06","Ref":"0f8fad5b-d9cb-469f-a165-70867728950e","Mark":4.0,"In":{"x":1}}"#,
            "B": #"{"Size":"XL","Due":"soon","Ref":"none","Mark":"4","In":["p",{"x":2}]}"#,
            "C": #"{"Size":"5.5","Mark":true,"In":"x"}"#, "D": #"{"Size":null,"In":null}"#,
        ]
        try traders.queue.write { database in
            for (id, json) in rows {
                try database.execute(sql: "UPDATE customer SET more = ? WHERE id = ?", arguments: [json, id])
            }
        }
    }

    @Test(
        "Comparisons find only values of the requested type",
        arguments: [
            // Decimals are stored as texts.
            ("Size gt 1", "A C"), ("Size lt 10", "A C"), ("Size eq 5", "A"), ("Size eq 5.5", "C"),
            ("Size ne 5.5", "A B D"), ("Size le 5.5e0", "A C"), ("1 lt Size", "A C"), ("Size lt 'ZZ'", "B C"),
            ("Size eq 'XL'", "B"), ("not (Size gt 1)", "B D"), ("Size eq null", "D"), ("Size ge null", "D"),
            ("Due lt 2024-01-01", "A"), ("Due ge 2024-01-01", ""), ("Due lt 2024-01-01T00:00:00Z", ""),
            ("Ref eq 0f8fad5b-d9cb-469f-a165-70867728950e", "A"),
            ("Ref ne 0f8fad5b-d9cb-469f-a165-70867728950e", "B C D"),
            ("Due lt duration'PT1H'", ""), ("Due lt 12:00:00", ""), ("Mark eq true", "C"), ("Mark eq 1", ""),
            ("Mark eq 4", "A B"), ("Size in (5,'XL')", "A B"), ("Size in (1,2,3)", ""),
        ])
    func comparisons(filter: String, expected: String) async throws {
        let keys = try await traders.keys("Customers?$filter=\(filter)")
        #expect(keys.joined(separator: " ") == expected)
    }

    @Test(
        "Two dynamic values, and columns, are compared if they have the same type",
        arguments: [
            ("Size eq Mark", "D"), ("Size ne Mark", "A B C"), ("Size gt Mark", "A B"), ("Size eq ID", ""),
            ("Size gt length(ID)", "A C"), ("Size lt Name", ""), ("Size gt Name", "B"),
            ("Mark eq Name", ""), ("Mark ne Name", "A B C D"), ("Name eq Mark", ""), ("not (Mark le Name)", "A C D"),
            ("In eq Size", "D"),
        ])
    func twoOperands(filter: String, expected: String) async throws {
        let keys = try await traders.keys("Customers?$filter=\(filter)")
        #expect(keys.joined(separator: " ") == expected)
    }

    @Test(
        "A failed cast is null",
        arguments: [
            ("cast(Size,Edm.Decimal) gt 1", "A C"), ("cast(Size,Edm.Int32) gt 1", "A C"),
            ("cast(Size,Edm.Decimal) eq null", "B D"), ("cast(Size,Edm.Double) eq 5", "A"),
            ("cast(Size,Edm.Single) eq 5.5", "C"), ("cast(Size,Edm.Date) eq null", "A B C D"),
            ("cast(Due,Edm.Date) lt 2024-01-01", "A"), ("cast(Ref,Edm.Guid) ne null", "A"),
            ("cast(Size,Edm.String) eq '5'", "A"), ("cast(Mark,Edm.String) eq '4'", "A B"),
            ("cast(Mark,Edm.String) eq 'true'", "C"), ("cast(Mark,Edm.Boolean) eq true", "C"),
            ("cast(Size,Edm.Byte) eq 5", "A C"), ("contains(cast(Size,Edm.String),'5')", "A C"),
        ])
    func casts(filter: String, expected: String) async throws {
        let keys = try await traders.keys("Customers?$filter=\(filter)")
        #expect(keys.joined(separator: " ") == expected)
    }

    @Test(
        "Only texts have substrings, and only objects have members",
        arguments: [
            ("contains(Size,'X')", "B"), ("startswith(Size,'5')", "C"), ("In/x eq 1", "A"), ("Size/x eq 1", ""),
            ("In/x/y eq 1", ""),
        ])
    func parts(filter: String, expected: String) async throws {
        let keys = try await traders.keys("Customers?$filter=\(filter)")
        #expect(keys.joined(separator: " ") == expected)
    }

    @Test("Computed values are compared in the same way, also after a cast of the row")
    func elsewhere() async throws {
        #expect(try await traders.keys("Customers?$compute=Size as S&$filter=S gt 1") == ["A", "C"])
        for (apply, expected) in [("Size as S)/filter(S gt 1)", ["A", "C"]), ("Mark as S)/filter(S eq true)", ["C"])] {
            let found = try await traders.page("Customers?$apply=compute(\(apply)").entities.map { $0["ID"] }
            #expect(found == expected.map { .string($0) }, "\(apply)")
        }
        #expect(
            try await traders.json(
                "Customers?$compute=Size as S&$select=S", format: ResponseFormat(metadata: .none))
                == #"{"value":[{"S":5},{"S":"XL"},{"S":"5.5"},{"S":null}]}"#)
        #expect(try await traders.keys("Customers?$filter=$root/Customers('A')/Size eq 5").count == 4)
        #expect(try await traders.keys("Customers?$filter=$root/Customers('B')/Size gt 5") == [])
        #expect(try await traders.keys("Customers?$filter=NW.Vip/Size eq 5") == [])
        #expect(try await traders.keys("Customers?$filter=NW.Vip/Size eq 5.5") == ["C"])
        #expect(try await traders.keys("Orders?$filter=Customer/Size eq 5") == ["1", "2"])
    }
}
