import ODataModel
import ODataQuery
import ODataService
import ObjectAPI
import OfflineOData
import Testing

@Suite("Dynamic queries over objects")
struct DynamicQueryTests {
    private let c = QueryAlias<Customer>("c")
    private let o = QueryAlias<SalesOrder>("o")

    /// A database with the customers Smith and Jones, and three orders that are not submitted.
    private func database(_ service: CrmService) async throws -> CrmDatabase {
        let crm = try await service.synchronized()
        for customer in try await crm.customers.orderBy(\.lastName).all() {
            try await crm.create(SalesOrder(amount: 12.50), in: \.salesOrders, of: customer)
            if customer.lastName == "Smith" {
                try await crm.create(SalesOrder(amount: 1000), in: \.salesOrders, of: customer)
            }
        }
        return crm
    }

    @Test("join, group and order objects by key paths, including local changes")
    func groups() async throws {
        let service = try await CrmService()
        let crm = try await database(service)
        let totals = DynamicQuery.from(c).join(o, on: o.customerID == c.id)
            .where(c.region.isIn(["North", "West"]) && !c.objectState(.failed))
            .groupBy(c.city).having(o.amount.sum > 1000)
            .select(c.city, o.amount.sum.named("total"), o.id.count.named("orders"))
            .orderBy("total", descending: true).take(10)
        let result = try await crm.execute(totals)
        #expect(result.columnNames == ["City", "total", "orders"])
        let row = try #require(result.first)
        #expect(result.count == 1)
        #expect(try row.optional("City", as: String.self) == "Dublin")
        #expect(try row.value("total", as: ODataDecimal.self) == 1012.50)
        #expect(try row.value("orders", as: Int64.self) == 2)
    }

    @Test("find objects by the state of their changes")
    func states() async throws {
        let service = try await CrmService()
        let crm = try await database(service)
        let created = DynamicQuery.from(o).where(o.objectState(.newOrUpdated)).select(o.amount)
        #expect(try await crm.execute(created).count == 3)
        let clean = DynamicQuery.from(c).join(o, on: o.customerID == c.id)
            .where(!c.objectState(.pending) && o.objectState(.created) && o.amount < 100).select(c.lastName)
            .orderBy(c.lastName)
        #expect(try await crm.execute(clean).map { try $0.value(0, as: String.self) } == ["Jones", "Smith"])
        let unknown = DynamicQuery.from("Customer", as: "c").where(.state("isGone", of: "c")).select("c.City")
        await #expect(throws: SelectionError.self) { _ = try await crm.execute(unknown) }
    }

    @Test("combine queries, and queries within queries, by key paths and by names")
    func nested() async throws {
        let service = try await CrmService()
        let crm = try await database(service)
        let great = DynamicQuery.from(o).where(o.customerID == c.id && o.amount >= 1000).select(o.id)
        let without = DynamicQuery.from(c).where(!great.exists).select(c.city)
        let cities = DynamicQuery.from(c).where(c.lastName.startsWith("S")).select(c.city).union(without)
            .orderBy("City")
        #expect(try await crm.execute(cities).map { try $0.value("City", as: String.self) } == ["Cork", "Dublin"])
        let most = DynamicQuery.from(o).select(o.amount.maximum.named("most")).value(as: ODataDecimal.self)
        let best = DynamicQuery.from(o).join(c, on: c.id == o.customerID).where(o.amount == most).select(c.lastName)
        #expect(try await crm.execute(best).map { try $0.value(0, as: String.self) } == ["Smith"])
        let byName = DynamicQuery.from("Customer", as: "c")
            .where(.any([.attribute("c.LastName", .like, "S%th"), .not(.attribute("c.City", .notNull))]))
        #expect(try await crm.execute(byName).map { try $0.value("LastName", as: String.self) } == ["Smith"])
        let related = DynamicQuery.from(o).where(o.customer.city == "Cork").select(o.amount)
        #expect(try await crm.execute(related).count == 1)
    }

    @Test("read rows one by one, and refuse unknown names before they run")
    func rows() async throws {
        let service = try await CrmService()
        let crm = try await database(service)
        var amounts: [ODataDecimal] = []
        for try await row in try crm.rows(of: DynamicQuery.from(o).select(o.amount).orderBy(o.amount)) {
            amounts.append(try row.value(0, as: ODataDecimal.self))
        }
        #expect(amounts == [12.50, 12.50, 1000])
        #expect(throws: SelectionError.self) { _ = try crm.rows(of: .from("Customer", as: "c").select("c.Nam")) }
        await #expect(throws: SelectionError.self) { _ = try await crm.execute(.from("Custom", as: "c")) }
        let large = DynamicQuery.from("Customer", as: "c").where(.attribute("c.Photo", .isNull))
        await #expect {
            _ = try await crm.execute(large)
        } throws: { ($0 as? SelectionError)?.kind == .largeAttributeInPredicate("c.Photo") }
    }

    @Test("fail like other reads for a set that the store does not hold")
    func unheld() async throws {
        let service = try await CrmService()
        let store = try await OfflineStore.create(
            at: service.path("part"), protection: .unencrypted, serviceRoot: "", model: CrmMetadata.model,
            queries: [try DefiningQuery("customers", "Customers")])
        #expect(try await store.queries.select(.from("Customers", as: "c").select("c.City")).isEmpty)
        let orders = try ODataURL(parsing: "SalesOrders")
        let expected = await #expect(throws: ODataError.self) { try await store.execute(ODataRequest(.read, orders)) }
        for selection in [
            DynamicQuery.from(o).select(o.amount),
            DynamicQuery.from(c).where(DynamicQuery.from(o).select(o.id).exists).select(c.city),
        ] {
            let error = await #expect(throws: ODataError.self) { try await store.queries.select(selection) }
            #expect(error?.code == expected?.code && error?.status == expected?.status)
        }
        try store.close()
    }
}
