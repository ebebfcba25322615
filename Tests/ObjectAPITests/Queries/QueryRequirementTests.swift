import ODataModel
import ODataQuery
import ODataService
import ObjectAPI
import Testing

/// Dynamic queries over the objects of a package, with the types and names of generated code.
@Suite("The parts of a dynamic query")
struct QueryRequirementTests {
    private let c = QueryAlias<Customer>("c")
    private let o = QueryAlias<SalesOrder>("o")

    /// A database with Smith and Byrne of Dublin, Jones of Cork and Lovelace without a city. Smith has orders of 10 and
    /// 20, Jones has one of 40.
    private func database() async throws -> CrmDatabase {
        let service = try await CrmService()
        try await service.addCustomer("Byrne", city: "Dublin")
        let crm = try await service.synchronized()
        try await crm.create(Customer(lastName: "Lovelace", region: "North"))
        for (name, amounts) in [("Smith", [10, 20]), ("Jones", [40])] as [(String, [Int64])] {
            let customer = try #require(try await crm.customers.filter(\.lastName == name).first())
            for amount in amounts {
                let order = SalesOrder(amount: ODataDecimal(amount))
                try await crm.create(order, in: \.salesOrders, of: customer)
            }
        }
        return crm
    }

    private func names(_ crm: CrmDatabase, _ query: DynamicQuery) async throws -> [String] {
        try await crm.execute(query).map { try $0.value("LastName", as: String.self) }
    }

    /// The query for the last names of customers, in their order.
    private var lastNames: DynamicQuery { .from(c).select(c.lastName).orderBy("LastName") }

    // MARK: Rows

    @Test("joins types, groups them and orders the totals")
    func totals() async throws {
        let crm = try await database()
        let totals = DynamicQuery.from(c).join(o, on: o.customerID == c.id)
            .where(c.region.isIn(["North", "West"]))
            .groupBy(c.city).having(o.amount.sum > 20)
            .select(c.city, o.amount.sum.named("total"), o.id.count.named("orders"))
            .orderBy("total", descending: true).take(10)
        let result = try await crm.execute(totals)
        #expect(result.columnNames == ["City", "total", "orders"])
        #expect(try result.map { try $0.optional("City", as: String.self) } == ["Cork", "Dublin"])
        #expect(try result.map { try $0.value("total", as: ODataDecimal.self) } == [40, 30])
        #expect(try result.map { try $0.value("orders", as: Int64.self) } == [1, 2])
    }

    @Test("has five aggregates")
    func aggregates() async throws {
        let crm = try await database()
        let query = DynamicQuery.from(o).select(
            o.amount.count.named("count"), o.amount.sum.named("sum"), o.amount.average.named("average"),
            o.amount.minimum.named("least"), o.amount.maximum.named("greatest"))
        let row = try #require(try await crm.execute(query).first)
        #expect(row["count"] == 3 && row["sum"] == .decimal(70))
        #expect(row["least"] == .decimal(10) && row["greatest"] == .decimal(40))
        #expect(try row.value("average", as: ODataDecimal.self) > 23)
    }

    @Test("orders by several attributes, and returns a range of distinct rows")
    func range() async throws {
        let crm = try await database()
        let ordered = DynamicQuery.from(c).select(c.city, c.lastName).orderBy(c.city, descending: true).orderBy(
            c.lastName)
        #expect(try await names(crm, ordered) == ["Byrne", "Smith", "Jones", "Lovelace"])
        #expect(try await names(crm, ordered.skip(1).take(2)) == ["Smith", "Jones"])
        let cities = DynamicQuery.from(c).where(c.city.isNotNull).select(c.city).distinct().orderBy("City")
        #expect(try await crm.execute(cities).map { $0[0] } == ["Cork", "Dublin"])
    }

    @Test("joins a type with itself, and the result of another query")
    func sources() async throws {
        let crm = try await database()
        let d = QueryAlias<Customer>("d")
        let neighbours = DynamicQuery.from(c).join(d, on: c.city == d.city && c.id != d.id).select(c.lastName)
            .orderBy("LastName")
        #expect(try await names(crm, neighbours) == ["Byrne", "Smith"])
        let totals = DynamicQuery.from(o).groupBy(o.customerID).select(o.customerID, o.amount.sum.named("total"))
        let rich = DynamicQuery.from(c).join(
            totals, as: "t", on: .attribute("t.CustomerID", .equal, .attribute("c.ID"))
        ).where(.attribute("t.total", .greaterThan, 35)).select(c.lastName)
        #expect(try await names(crm, rich) == ["Jones"])
    }

    @Test("has each of the twenty operators, and compositions of them")
    func operators() async throws {
        let crm = try await database()
        let orders = DynamicQuery.from(o).where(o.customerID == c.id)
        let buyers = DynamicQuery.from(o).select(o.customerID)
        let expected: [(QueryTest, [String])] = [
            (c.city.isNull, ["Lovelace"]), (c.city.isNotNull, ["Byrne", "Jones", "Smith"]),
            (c.city == "Cork", ["Jones"]), (c.city != "Cork", ["Byrne", "Lovelace", "Smith"]),
            (c.lastName.isLike("S%th"), ["Smith"]), (c.lastName.isNotLike("_o%"), ["Byrne", "Smith"]),
            (c.lastName < "Jones", ["Byrne"]), (c.lastName <= "Jones", ["Byrne", "Jones"]),
            (c.lastName > "Jones", ["Lovelace", "Smith"]), (c.lastName >= "Lovelace", ["Lovelace", "Smith"]),
            (c.lastName.contains("ne"), ["Byrne", "Jones"]), (c.lastName.startsWith("S"), ["Smith"]),
            (c.lastName.endsWith("e"), ["Byrne", "Lovelace"]), (c.city.doesNotContain("ub"), ["Jones", "Lovelace"]),
            (c.city.doesNotStart(with: "D"), ["Jones", "Lovelace"]),
            (c.city.doesNotEnd(with: "n"), ["Jones", "Lovelace"]), (c.id.isIn(buyers), ["Jones", "Smith"]),
            (c.lastName.isNotIn(["Smith", "Jones"]), ["Byrne", "Lovelace"]), (orders.exists, ["Jones", "Smith"]),
            (.notExists(orders), ["Byrne", "Lovelace"]),
            (!(c.city == "Cork") && (c.city.isNull || c.lastName.startsWith("B")), ["Byrne", "Lovelace"]),
        ]
        for (test, names) in expected {
            #expect(try await self.names(crm, lastNames.where(test)) == names, "\(test)")
        }
    }

    @Test("accepts any text as a value")
    func values() async throws {
        let crm = try await database()
        let text = "O'Brien\"; DROP TABLE Customers; --"
        try await crm.create(Customer(lastName: text, region: "West"))
        #expect(try await names(crm, lastNames.where(c.lastName == text)) == [text])
        #expect(try await crm.customers.count() == 5)
    }

    @Test("may have values of other queries as columns")
    func subqueries() async throws {
        let crm = try await database()
        let total = DynamicQuery.from(o).where(o.customerID == c.id).select(o.amount.sum.named("sum"))
        let query = DynamicQuery.from(c).select(
            c.lastName, total.value(as: ODataDecimal.self).named("total")
        ).orderBy("LastName")
        let result = try await crm.execute(query)
        #expect(try result.map { try $0.optional("total", as: ODataDecimal.self) } == [nil, 40, nil, 30])
    }

    @Test("combines the results of queries from left to right")
    func combinations() async throws {
        let crm = try await database()
        let dublin = DynamicQuery.from(c).where(c.city == "Dublin").select(c.lastName)
        let short = DynamicQuery.from(c).where(c.lastName.isLike("_____")).select(c.lastName)
        #expect(try await names(crm, dublin.union(short).orderBy("LastName")) == ["Byrne", "Jones", "Smith"])
        #expect(try await names(crm, dublin.unionAll(short)).count == 5)
        #expect(try await names(crm, short.except(dublin)) == ["Jones"])
        #expect(try await names(crm, lastNames.intersect(dublin).orderBy("LastName")) == ["Byrne", "Smith"])
        let customers = DynamicQuery.from(c).select(c.lastName, c.city)
        let error = try await refusal { _ = try await crm.execute(customers.union(short)) }
        #expect(error?.legacyName == "SUPPersistenceException")
    }

    @Test("filters by the states of objects, also of joined ones")
    func states() async throws {
        let crm = try await database()
        #expect(try await names(crm, lastNames.where(c.objectState(.newOrUpdated))) == ["Lovelace"])
        #expect(try await names(crm, lastNames.where(!c.objectState(.pending))).count == 3)
        let waiting = DynamicQuery.from(c).join(o, on: o.customerID == c.id).where(o.objectState(.created))
            .select(c.lastName).distinct().orderBy("LastName")
        #expect(try await names(crm, waiting) == ["Jones", "Smith"])
    }

    // MARK: Results

    @Test("has a result whose values are read with their types, by name and by position")
    func results() async throws {
        let crm = try await database()
        let query = DynamicQuery.from(c).where(c.lastName == "Lovelace").select(c.lastName, c.city, c.id)
        let result = try await crm.execute(query)
        let row = try #require(result.first)
        #expect(result.count == 1 && row[0] == "Lovelace" && row[1] == .null && row[3] == nil)
        #expect(try row.value(0, as: String.self) == "Lovelace")
        #expect(try row.optional("City", as: String.self) == nil)
        let wrong = try await refusal { _ = try row.value("LastName", as: Int64.self) }
        #expect(wrong?.legacyName == "SUPWrongDataTypeException")
        let missing = try await refusal { _ = try row.value("Town", as: String.self) }
        #expect(missing?.legacyName == "SUPNoSuchAttributeException")
        let null = try await refusal { _ = try row.value("City", as: String.self) }
        #expect(null?.legacyName == "SUPWrongDataTypeException")
    }

    // MARK: Names

    @Test("by names finds the same rows, with attributes of the only source without an alias")
    func byName() async throws {
        let crm = try await database()
        let query = DynamicQuery.from("Customer", as: "c")
            .where(.any([.attribute("LastName", .like, "S%th"), .not(.attribute("c.City", .notNull))]))
            .select("c.LastName").orderBy("LastName")
        #expect(try await names(crm, query) == ["Lovelace", "Smith"])
        let text = DynamicQuery.from("SalesOrder", as: "o").where(.attribute("o.Amount", .equal, "40")).select(
            "o.Amount")
        #expect(try await crm.execute(text).count == 1, "a text is read as a number")
    }

    @Test(
        "with unknown names or wrong types is refused with the class of the predecessor",
        arguments: [
            ("Ship", "c.LastName", "SUPNoSuchClassException"), ("Customer", "c.Town", "SUPNoSuchAttributeException"),
            ("Customer", "d.City", "SUPNoSuchAttributeException"), ("Customer", "c.Photo", "SUPPersistenceException"),
        ])
    func errors(entity: String, attribute: String, legacy: String) async throws {
        let crm = try await database()
        let query = DynamicQuery.from(entity, as: "c").where(.attribute(QueryAttribute(attribute), .notNull))
        #expect(try await refusal { _ = try await crm.execute(query) }?.legacyName == legacy)
    }

    @Test("refuses non-numeric numbers, sums of texts and types without dynamic queries")
    func prerequisites() async throws {
        let crm = try await database()
        let text = DynamicQuery.from("SalesOrder", as: "o").where(.attribute("o.Amount", .equal, "many"))
        #expect(try await refusal { _ = try await crm.execute(text) }?.legacyName == "SUPInvalidDataTypeException")
        let sum = DynamicQuery.from("Customer", as: "c").select(Selection.Column(.sum("c.City"), as: "sum"))
        #expect(try await refusal { _ = try await crm.execute(sum) }?.legacyName == "SUPPersistenceException")
        let depot = try await DepotService().synchronized()
        let papers = DynamicQuery.from("Paper", as: "p")
        #expect(try await refusal { _ = try await depot.execute(papers) }?.legacyName == "SUPPersistenceException")
        let tools = DynamicQuery.from("Tool", as: "t").select("t.Name")
        #expect(try await depot.execute(tools).isEmpty)
    }

    /// The error of a query; `nil` if it has none.
    private func refusal(_ body: () async throws -> Void) async throws -> SelectionError? {
        do {
            try await body()
            return nil
        } catch let error as SelectionError {
            return error
        }
    }
}
