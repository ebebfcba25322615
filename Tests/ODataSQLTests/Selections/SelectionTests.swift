import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

@Suite("Dynamic queries")
struct SelectionTests {
    private static let customers = Selection.from("Customers", as: "c")
    private static let orders = Selection.from("Orders", as: "o")

    // MARK: Operators

    /// The operator with its operand, and the ids of the customers that satisfy the test.
    static let operators: [(QueryTest, [Int])] = [
        (.attribute("c.City", .isNull), [3]), (.attribute("c.City", .notNull), [1, 2, 4]),
        (.attribute("c.City", .equal, "Bern"), [1, 4]), (.attribute("c.City", .notEqual, "Bern"), [2, 3]),
        (.attribute("c.City", .equal, nil), [3]), (.attribute("c.City", .notEqual, nil), [1, 2, 4]),
        (.attribute("c.Name", .like, "Sm_th"), [1, 2]), (.attribute("c.Name", .notLike, "Sm_th"), [3, 4]),
        (.attribute("c.City", .notLike, "B%"), [2, 3]), (.attribute("c.ID", .lessThan, 2), [1]),
        (.attribute("c.ID", .lessEqual, 2), [1, 2]), (.attribute("c.ID", .greaterThan, "2"), [3, 4]),
        (.attribute("c.ID", .greaterEqual, 2.0), [2, 3, 4]), (.attribute("c.Name", .contains, "mit"), [1, 4]),
        (.attribute("c.Name", .startsWith, "S"), [1, 2]), (.attribute("c.Name", .endsWith, "th"), [1, 2, 4]),
        (.attribute("c.City", .notStartsWith, "B"), [2, 3]), (.attribute("c.City", .notEndsWith, "lo"), [1, 3, 4]),
        (.attribute("c.City", .notContains, "er"), [2, 3]), (.attribute("c.ID", .in, [1, 3, 9]), [1, 3]),
        (.attribute("c.ID", .in, []), []), (.attribute("c.ID", .notIn, [1, 3]), [2, 4]),
        (.attribute("c.City", .in, ["Oslo", nil]), [2, 3]), (.attribute("c.City", .notIn, ["Oslo", nil]), [1, 4]),
        (.attribute("c.Grade", .equal, "High"), [2, 4]), (.attribute("c.Grade", .equal, .value(.enumeration(0))), [1]),
        (.attribute("c.ID", .in, .selection(orders.select("o.CustomerID"))), [1, 2, 4]),
        (.attribute("c.ID", .notIn, .selection(orders.select("o.CustomerID"))), [3]),
        (.exists(orders.where(.attribute("o.CustomerID", .equal, .attribute("c.ID"))).select("o.ID")), [1, 2, 4]),
        (.notExists(orders.where(.attribute("o.CustomerID", .equal, .attribute("c.ID"))).select("o.ID")), [3]),
        (.attribute("c.ID", .greaterThan, .selection(orders.select(.column(.count, as: "n")))), []),
        (.all([]), [1, 2, 3, 4]), (.any([]), []), (.not(.attribute("c.City", .like, "B%")), [2, 3]),
        (.attribute("c.ID", .equal, 1) || .attribute("c.Name", .equal, "smith"), [1, 4]),
        (.attribute("c.City", .equal, "Bern") && !.attribute("c.ID", .equal, 1), [4]),
        (.test("Bern", .equal, .attribute("c.City")), [1, 4]),
    ]

    @Test("Each operator finds the matching rows, in SQL and in memory", arguments: operators.indices)
    func eachOperator(index: Int) async throws {
        let (test, ids) = Self.operators[index]
        let shop = try await SelectionShop.filled()
        let found = try await shop.texts(Self.customers.where(test).select("c.ID").orderBy("ID"))
        #expect(found == ids.map(String.init), "\(test)")
    }

    @Test("All twenty operators are tested")
    func allOperators() {
        var seen: Set<QueryOperator> = []
        func add(_ test: QueryTest) {
            switch test {
            case .test(_, let symbol, _): seen.insert(symbol)
            case .all(let tests), .any(let tests): tests.forEach(add)
            case .not(let test): add(test)
            case .state: break
            }
        }
        for (test, _) in Self.operators { add(test) }
        #expect(seen == Set(QueryOperator.allCases))
        #expect(QueryOperator.allCases.count == 20)
    }

    // MARK: Clauses

    @Test("Joined and grouped rows have aggregates, group conditions and an order")
    func groups() async throws {
        let shop = try await SelectionShop.filled()
        let totals = Self.customers.join("Orders", as: "o", on: .attribute("o.CustomerID", .equal, .attribute("c.ID")))
            .groupBy("c.City").having(.test(.count, .greaterThan, 1))
            .select("c.City", .column(.sum("o.Amount"), as: "total"), .column(.count("o.Amount"), as: "n"))
            .orderBy("total", descending: true)
        #expect(try await shop.texts(totals) == ["Bern 12.5 2"])
        let all = Self.orders.select(.column(.count, as: "rows"), .column(.average("o.Amount"), as: "mean"))
        #expect(try await shop.texts(all) == ["5 29.875"])
        let none = Self.orders.where(.attribute("o.ID", .lessThan, 0))
            .select(.column(.count, as: "rows"), .column(.sum("o.Amount"), as: "sum"))
        #expect(try await shop.texts(none) == ["0 -"])
    }

    @Test("A set is joined with itself under two aliases, also by inequality")
    func selfJoin() async throws {
        let shop = try await SelectionShop.filled()
        let pairs = Self.customers.join(
            "Customer", as: "d",
            on: .attribute("d.City", .equal, .attribute("c.City"))
                && .attribute("d.ID", .greaterThan, .attribute("c.ID"))
        ).select(.column(QueryAttribute("c.ID"), as: "a"), .column(QueryAttribute("d.ID"), as: "b"))
        #expect(try await shop.texts(pairs) == ["1 4"])
    }

    @Test("A join condition may follow a relation")
    func relation() async throws {
        let shop = try await SelectionShop.filled()
        let named = Self.customers.join(
            "Orders", as: "o", on: .attribute("o.Customer/Name", .equal, .attribute("c.Name"))
        )
        .select("c.Name", .column(QueryAttribute("o.ID"), as: "order")).orderBy("order")
        #expect(try await shop.texts(named) == ["Smith 10", "Smith 11", "Smyth 12", "smith 14"])
    }

    @Test("A query may stand in from, in select and in conditions, and refer to the outer query")
    func nested() async throws {
        let shop = try await SelectionShop.filled()
        let inner = Self.orders.groupBy("o.CustomerID")
            .select("o.CustomerID", .column(.sum("o.Amount"), as: "total"))
        let best = Selection.from(inner, as: "t").where(.attribute("t.total", .greaterThan, 12)).select("t.CustomerID")
        #expect(try await shop.texts(best.orderBy("CustomerID")) == ["1", "2"])
        let last = Self.orders.where(.attribute("o.CustomerID", .equal, .attribute("c.ID")))
            .select(.column(.maximum("o.Day"), as: "day"))
        let days = Self.customers.select("c.ID", .column(QueryOperand.selection(last), as: "last")).orderBy("ID")
        #expect(try await shop.texts(days) == ["1 2024-10-05", "2 2024-10-06", "3 -", "4 2024-10-08"])
    }

    @Test("A query as a value refuses several rows")
    func severalRows() async throws {
        let shop = try await SelectionShop.filled()
        let many = Self.customers.select(.column(QueryOperand.selection(Self.orders.select("o.ID")), as: "order"))
        await #expect {
            _ = try await shop.provider.select(many)
        } throws: { ($0 as? ODataError)?.message.contains("one row") == true }
    }

    @Test("Results are united, subtracted and intersected from left to right, and nulls are equal")
    func combinations() async throws {
        let shop = try await SelectionShop.filled()
        let cities = Self.customers.select("c.City")
        let bern = cities.where(.attribute("c.City", .equal, "Bern"))
        let none = cities.where(.attribute("c.City", .isNull))
        #expect(try await shop.texts(cities.union(none).orderBy("City")) == ["-", "Bern", "Oslo"])
        #expect(try await shop.texts(bern.unionAll(none).orderBy("City")) == ["-", "Bern", "Bern"])
        #expect(try await shop.texts(cities.except(none).orderBy("City")) == ["Bern", "Oslo"])
        #expect(try await shop.texts(cities.intersect(none.union(bern)).orderBy("City")) == ["-", "Bern"])
        #expect(try await shop.texts(cities.except(bern).unionAll(none).orderBy("City")) == ["-", "-", "Oslo"])
        let first = cities.orderBy("City").take(1).unionAll(bern).orderBy("City", descending: true)
        #expect(try await shop.texts(first) == ["Bern", "Bern", "-"])
    }

    @Test("Distinct rows, and a range of ordered rows, are returned")
    func range() async throws {
        let shop = try await SelectionShop.filled()
        let cities = Self.customers.select("c.City").distinct().orderBy("City", descending: true)
        #expect(try await shop.texts(cities) == ["Oslo", "Bern", "-"])
        #expect(try await shop.texts(cities.skip(1).take(1)) == ["Bern"])
        #expect(try await shop.texts(Self.orders.select("o.ID").orderBy("ID").skip(3)) == ["13", "14"])
        #expect(try await shop.texts(Self.orders.select("o.ID").take(0)) == [])
    }

    @Test("Without columns, a query returns all attributes except large ones and collections")
    func allColumns() async throws {
        let shop = try await SelectionShop.filled()
        let result = try await shop.provider.select(Self.customers)
        #expect(result.columnNames == ["ID", "Name", "City", "Grade"])
        let joined = Self.customers.join("Orders", as: "o")
        #expect(
            try await shop.provider.select(joined).columnNames
                == ["c_ID", "Name", "c_City", "Grade", "o_ID", "CustomerID", "Amount", "Day", "o_City"])
    }

    @Test("The state of a row can be a condition for any source")
    func states() async throws {
        let shop = try await SelectionShop.filled()
        let odd = Self.customers.join("Orders", as: "o", on: .attribute("o.CustomerID", .equal, .attribute("c.ID")))
            .where(.state("isOdd", of: "o")).select("c.ID").orderBy("ID")
        let found = try await shop.provider.select(odd)
        let stored = try await shop.queue.read { database in
            try Int.fetchAll(
                database,
                sql: "SELECT \"CustomerID\" FROM \"Orders\" WHERE rowid % 2 = 1 AND \"CustomerID\" NOT NULL ORDER BY 1")
        }
        #expect(try found.map { try $0.value("ID", as: Int32.self) } == stored.map(Int32.init))
        #expect(!found.isEmpty && found.count < 4)
        let one = Self.customers.where(.not(.state("isOdd", of: nil))).select("c.ID")
        #expect(try await shop.provider.select(one).count == 2)
    }

    @Test("Texts are compared, matched and sorted in the forms of the store")
    func forms() async throws {
        let caseless = ScalarFunction("App.caseless", [.primitive(.string)], returns: .primitive(.string)) {
            arguments in
            guard case .string(let text) = arguments[0] else { return .null }
            return .string(text.lowercased())
        }
        let shop = try await SelectionShop.filled(forms: TextForms(compared: caseless, searched: caseless))
        let customers = Self.customers.select("c.ID").orderBy("ID")
        let cases: [(QueryTest, [String])] = [
            (.attribute("c.Name", .equal, "SMITH"), ["1", "4"]),
            (.attribute("c.Name", .like, "SM_TH"), ["1", "2", "4"]),
            (.attribute("c.Name", .notLike, "%mi%H"), ["2", "3"]), (.attribute("c.City", .like, "BERN"), ["1", "4"]),
            (.attribute("c.Name", .startsWith, "sM"), ["1", "2", "4"]), (.attribute("c.City", .in, ["OSLO"]), ["2"]),
            (
                .attribute(
                    "c.Name", .in, .selection(Self.customers.where(.attribute("c.ID", .equal, 4)).select("c.Name"))),
                ["1", "4"]
            ),
        ]
        for (test, ids) in cases { #expect(try await shop.texts(customers.where(test)) == ids, "\(test)") }
        let order = Self.customers.select("c.ID").orderBy(.operand(.attribute("c.Name"))).orderBy("ID")
        #expect(try await shop.texts(order) == ["1", "4", "2", "3"])
    }

    @Test("A result has typed access by name and by position")
    func access() async throws {
        let shop = try await SelectionShop.filled()
        let row = try #require(
            try await shop.provider.select(Self.customers.where(.attribute("c.ID", .equal, 3))).first)
        #expect(try row.value("Name", as: String.self) == "Ångström")
        #expect(try row.value(0, as: Int32.self) == 3)
        #expect(try row.optional("City", as: String.self) == nil)
        #expect(throws: SelectionError.self) { try row.value("City", as: String.self) }
        #expect(throws: SelectionError.self) { try row.value("Name", as: Int32.self) }
        #expect(throws: SelectionError.self) { try row.optional("Town", as: String.self) }
        #expect(throws: SelectionError.self) { try row.optional(9, as: String.self) }
    }

    @Test("Rows are read from a snapshot that later changes do not affect")
    func snapshot() async throws {
        let shop = try SelectionShop()
        for id in 1...2_500 as ClosedRange<Int64> { try await shop.add("Orders", ["ID": .integer(id)]) }
        var ids: [Int32] = []
        for try await row in try shop.provider.rows(of: Self.orders.select("o.ID").orderBy("ID")) {
            ids.append(try row.value("ID", as: Int32.self))
            if ids.count == 1 {
                try await shop.queue.write { try $0.execute(sql: "DELETE FROM \"Orders\" WHERE \"ID\" > 1000") }
            }
        }
        #expect(ids == Array(1...2_500))
    }

    @Test("Values are bound and names are quoted")
    func injection() async throws {
        let shop = try await SelectionShop.filled()
        let hostile = "x'; DROP TABLE \"Orders\"; --"
        let selection = Self.customers.where(.attribute("c.Name", .equal, .value(.string(hostile))))
            .select(.column(QueryAttribute("c.ID"), as: "\"; --"))
        #expect(try await shop.texts(selection) == [])
        let explanation = try await shop.provider.explain(selection)
        #expect(explanation.statements[0].sql.contains("DROP") == false)
        #expect(explanation.statements[0].arguments.contains { $0.contains("DROP") })
        #expect(explanation.tree.contains { $0.hasPrefix("from Customers as c") })
    }
}
