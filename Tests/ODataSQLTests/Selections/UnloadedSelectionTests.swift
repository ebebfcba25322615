import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

@Suite("Dynamic queries over rows without some of their values (rule 12)")
struct UnloadedSelectionTests {
    private static let customers = Selection.from("Customers", as: "c")
    private static let orders = Selection.from("Orders", as: "o")

    /// A store in which the customer 2 has no city and the order 10 has no amount.
    private func shop() async throws -> SelectionShop {
        let shop = try SelectionShop()
        let rows: [(set: String, values: [String: ODataValue])] = [
            ("Customers", ["ID": 1, "Name": "Smith", "City": "Bern", "Grade": .null, "Place": .null, "Tags": .null]),
            ("Customers", ["ID": 2, "Name": "Jones", "Grade": .null, "Place": .null, "Tags": .null]),
            ("Orders", ["ID": 10, "CustomerID": 1, "Day": .null, "City": .null]),
            ("Orders", ["ID": 11, "CustomerID": 2, "Amount": .decimal(ODataDecimal(2)), "Day": .null, "City": .null]),
        ]
        try await load(rows, into: shop)
        return shop
    }

    private func load(_ rows: [(set: String, values: [String: ODataValue])], into shop: SelectionShop) async throws {
        let mapping = shop.provider.mapping
        try await shop.queue.write { database in
            for row in rows {
                guard let table = mapping.tables[row.set] else { throw ODataError.notFound(row.set) }
                let loader = try BulkLoader(table: table, in: database)
                try loader.load(ODataEntity(shape: table.shape, row.values), owner: 1)
            }
        }
    }

    /// A query that reads a missing value, and its name.
    static let refused: [(Selection, String)] = [
        (customers.select("c.City"), "Customers/City"), (customers, "Customers/City"),
        (customers.where(.attribute("c.City", .isNull)).select("c.ID"), "Customers/City"),
        (customers.where(.attribute("c.City", .equal, "Bern")).select("c.ID"), "Customers/City"),
        (
            customers.where(.attribute("c.ID", .equal, 2) || .attribute("c.City", .equal, "Bern")).select("c.ID"),
            "Customers/City"
        ), (customers.select("c.ID").orderBy(.operand(.attribute("c.City"))), "Customers/City"),
        (customers.groupBy("c.City").select("c.City"), "Customers/City"),
        (orders.select(.column(.sum("o.Amount"), as: "sum")), "Orders/Amount"),
        (
            customers.join("Orders", as: "o", on: .attribute("o.CustomerID", .equal, .attribute("c.ID")))
                .select("c.ID", "o.Amount"), "Orders/Amount"
        ), (orders.select("o.Customer/City"), "Customers/City"),
        (
            customers.where(.attribute("c.ID", .in, .selection(orders.select("o.Amount")))).select("c.ID"),
            "Orders/Amount"
        ),
        (
            customers.where(
                .exists(
                    orders.where(
                        .attribute("o.CustomerID", .equal, .attribute("c.ID")) && .attribute("o.Amount", .isNull)))
            ).select("c.ID"), "Orders/Amount"
        ), (Selection.from(customers.select("c.City"), as: "s").select("s.City"), "Customers/City"),
        (orders.select("o.City").union(customers.select("c.City")), "Customers/City"),
    ]

    @Test("A query that needs a missing value names it and the remedy", arguments: refused.indices)
    func refusal(index: Int) async throws {
        let (selection, name) = Self.refused[index]
        let shop = try await shop()
        let error = await #expect(throws: ODataError.self) { try await shop.provider.select(selection) }
        #expect(error?.isNotLoaded == true && error?.target == name, "\(selection): \(String(describing: error))")
        let attribute = name.split(separator: "/")[1]
        #expect(error?.definingQuery == "\(name.split(separator: "/")[0])?$select=\(attribute)")
        var rows = try shop.provider.rows(of: selection).makeAsyncIterator()
        await #expect(throws: ODataError.self) { _ = try await rows.next() }
    }

    @Test("A query that does not need the missing values is answered, as is one whose conditions exclude their rows")
    func answers() async throws {
        let shop = try await shop()
        func texts(_ selection: Selection) async throws -> [String] {
            try await shop.provider.select(selection).rows.map { row in
                row.values.map { $0.isNull ? "-" : $0.lexicalText ?? "?" }.joined(separator: " ")
            }
        }
        #expect(try await texts(Self.customers.select("c.Name").orderBy("Name")) == ["Jones", "Smith"])
        let first = Self.customers.where(.attribute("c.ID", .equal, 1))
        #expect(try await texts(first.select("c.City")) == ["Bern"])
        let named = Self.customers.where(.attribute("c.City", .equal, "Bern") && .attribute("c.Name", .equal, "Smith"))
        #expect(try await texts(named.select("c.ID")) == ["1"])
        let joined = Self.customers
            .join(
                "Orders", as: "o",
                on: .attribute("o.CustomerID", .equal, .attribute("c.ID")) && .attribute("o.ID", .greaterThan, 10)
            )
            .select("c.Name", "o.Amount")
        #expect(try await texts(joined) == ["Jones 2"])
        // EXISTS and the number of rows read no values.
        let having = Self.customers.where(
            .exists(Self.orders.where(.attribute("o.CustomerID", .equal, .attribute("c.ID")))))
        #expect(try await texts(having.select("c.ID").orderBy("ID")) == ["1", "2"])
        #expect(try await texts(Self.orders.select(.column(.count, as: "n"))) == ["2"])
    }

    @Test("A query is answered as soon as a download brings the values, and refused when one is lost again")
    func changes() async throws {
        let shop = try await shop()
        let cities = Self.customers.select("c.City").orderBy("City")
        await #expect(throws: ODataError.self) { try await shop.provider.select(cities) }
        try await load([("Customers", ["ID": 2, "City": "Oslo"])], into: shop)
        for _ in 0..<2 {
            let found = try await shop.provider.select(cities).rows.map(\.values)
            #expect(found == [["Bern"], ["Oslo"]])
        }
        // A local creation knows all its values.
        try await shop.add("Customers", ["ID": 3])
        #expect(try await shop.provider.select(cities).rows.count == 3)
        try await load([("Customers", ["ID": 4])], into: shop)
        let error = await #expect(throws: ODataError.self) { try await shop.provider.select(cities) }
        #expect(error?.target == "Customers/City")
    }
}
