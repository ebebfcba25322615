import ODataModel
import ODataService
import Testing

@testable import ODataStore

@Suite("$apply as SQL")
struct ApplyTests {
    let traders: Traders

    init() throws { traders = try Traders() }

    private func rows(_ apply: String) async throws -> [String] {
        try await traders.page(apply).entities.map { entity in
            let declared = zip(entity.shape.properties, entity.values).map { "\($0.name)=\($1?.lexicalText ?? "null")" }
            let dynamic = entity.dynamicProperties.sorted { $0.key < $1.key }
                .map { "\($0.key)=\($0.value.lexicalText ?? "null")" }
            return (declared + dynamic).joined(separator: " ")
        }
    }

    @Test("3.1 Aggregates are exact, and nulls do not count")
    func aggregates() async throws {
        #expect(
            try await rows("Orders?$apply=aggregate(Freight with sum as S,Freight with average as A,$count as N)")
                == ["S=109.09 A=27.2725 N=5"])
        #expect(
            try await rows("Items?$apply=aggregate(Price with sum as S,Price with max as M,Quantity with sum as Q)")
                == ["S=32.49 M=19.99 Q=16"])
        #expect(
            try await rows("Items?$apply=aggregate(Price mul Quantity with sum as Total)") == ["Total=232.4"])
        #expect(
            try await rows("Orders?$apply=aggregate(CustomerID with countdistinct as C,Placed with countdistinct as P)")
                == ["C=3 P=2"])
        #expect(
            try await rows("Orders?$apply=filter(OrderID gt 99)/aggregate(Freight with sum as S,$count as N)")
                == ["S=null N=0"])
        #expect(try await rows("Orders?$apply=aggregate(Weight with sum as S)") == ["S=12345678901234567889.8"])
    }

    @Test("3.10 Groups by navigation paths, then filtered, computed, ordered and cut")
    func groups() async throws {
        #expect(
            try await rows("Orders?$apply=groupby((Customer/Country),aggregate(Freight with sum as S))&$orderby=S desc")
                == [
                    "Customer/Country=germany S=65", "Customer/Country=Germany S=43.99", "Customer/Country=null S=0.1",
                    "Customer/Country=USA S=null",
                ])
        #expect(
            try await rows(
                "Orders?$apply=filter(CustomerID ne null)/groupby((CustomerID),aggregate($count as N))/"
                    + "filter(N gt 0)/orderby(N desc,CustomerID)/top(2)") == ["CustomerID=A N=2", "CustomerID=B N=1"])
        #expect(
            try await rows(
                "Items?$apply=compute(Price mul Quantity as T)/groupby((OrderID),aggregate(T with sum as S))")
                == ["OrderID=1 S=32.5", "OrderID=2 S=199.9", "OrderID=4 S=null"])
        #expect(
            try await rows("Orders?$apply=groupby((CustomerID))&$filter=CustomerID ge 'B'") == [
                "CustomerID=B", "CustomerID=D",
            ])
    }

    @Test("top, skip and filter act in the order they are written")
    func order() async throws {
        #expect(
            try await traders.keys("Orders?$apply=orderby(OrderID desc)/top(3)/filter(OrderID lt 5)") == ["4", "3"])
        #expect(try await traders.keys("Orders?$apply=orderby(OrderID)/skip(2)/top(2)") == ["3", "4"])
        #expect(try await traders.keys("Orders?$apply=top(2)&$orderby=OrderID desc") == ["2", "1"])
        #expect(try await traders.keys("Orders?$apply=identity/filter(OrderID lt 3)&$skip=1") == ["2"])
    }

    @Test("$compute names values that $filter, $orderby and $select use")
    func compute() async throws {
        let page = try await traders.page(
            "Orders?$compute=OrderID mul 2 as Twice&$filter=Twice gt 4&$orderby=Twice desc&$select=OrderID,Twice")
        #expect(page.entities.map { $0["Twice"] } == [10, 8, 6])
    }
}
