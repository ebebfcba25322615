import ODataModel
import ODataService
import ObjectAPI
import OfflineOData
import Testing

@Suite("The change log")
struct ChangeLogTests {
    @Test("is off unless it is switched on, and counts from the next download")
    func enabling() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        #expect(try await !crm.changeLog.isEnabled())
        try await service.addCustomer("Gray", city: "Dublin")
        try await crm.synchronize()
        #expect(try await crm.changeLog.entries().isEmpty)
        try await crm.changeLog.setEnabled(true)
        try await service.addCustomer("Blue", city: "Dublin")
        try await crm.synchronize()
        let entries = try await crm.changeLog.entries()
        let blue = try #require(try await crm.customers.filter(\.lastName == "Blue").first())
        #expect(entries.map(\.operation) == [.upsert])
        #expect(entries.map(\.entityType) == [Customer.objectType.number])
        #expect(entries.map(\.surrogateKey) == [blue.objectState.surrogateKey])
        #expect(entries.map(\.object) == ["Customers(\(try #require(blue.id)))"])
        try await crm.changeLog.setEnabled(false)
        try await service.addCustomer("Red", city: "Dublin")
        try await crm.synchronize()
        #expect(try await crm.changeLog.entries().count == 1)
        try crm.close()
    }

    @Test("has an update or a deletion of each changed row, and names the type")
    func operations() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        try await crm.changeLog.setEnabled(true)
        let data = DataService(service.service)
        var smith = try #require(try await service.rows("Customers?$filter=LastName eq 'Smith'").first)
        let jones = try #require(try await service.rows("Customers?$filter=LastName eq 'Jones'").first)
        smith["City"] = "Rome"
        _ = try await data.update(smith, in: "Customers")
        try await data.delete(jones, in: "Customers")
        try await crm.synchronize()
        let entries = try await crm.changeLog.entries(of: Customer.objectType)
        #expect(entries.map(\.operation).sorted { $0.rawValue < $1.rawValue } == [.delete, .upsert])
        #expect(try await crm.changeLog.entries(of: SalesOrder.objectType).isEmpty)
        #expect(entries.first { $0.operation == .delete }?.object.hasPrefix("Customers(") == true)
        try crm.close()
    }

    @Test("has an entry of the root for a changed part, once for a download")
    func roots() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        try await crm.changeLog.setEnabled(true)
        let smith = try #require(try await service.rows("Customers?$filter=LastName eq 'Smith'").first)
        let shape = try service.service.model.requiredShape(ofSet: "SalesOrders")
        for amount: Int64 in [1, 2] {
            _ = try await DataService(service.service).create(
                ODataEntity(
                    shape: shape, ["CustomerID": smith["ID"] ?? .null, "Amount": .decimal(ODataDecimal(amount))]),
                in: "SalesOrders")
        }
        try await crm.synchronize()
        let entries = try await crm.changeLog.entries()
        let customer = try #require(try await crm.customers.filter(\.lastName == "Smith").first())
        #expect(entries.count { $0.typeName == SalesOrder.typeName } == 2)
        let roots = entries.filter { $0.typeName == Customer.typeName }
        #expect(roots.count == 1)
        #expect(roots.first?.surrogateKey == customer.objectState.surrogateKey)
        for entry in entries {
            #expect(entry.rootEntityType == Customer.objectType.number)
            #expect(entry.rootSurrogateKey == customer.objectState.surrogateKey)
        }
        try crm.close()
    }

    @Test("keeps the entries of a download that runs while an app purges the entries that it has read")
    func purging() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        try await crm.changeLog.setEnabled(true)
        var seen: Set<Int64> = []
        for round in 1...4 {
            for number in 1...5 { try await service.addCustomer("C\(round)-\(number)", city: "Cork") }
            async let report = crm.synchronize()
            for _ in 1...3 {
                let entries = try await crm.changeLog.entries()
                #expect(seen.isDisjoint(with: entries.map(\.id)))
                seen.formUnion(entries.map(\.id))
                if let last = entries.last { try await crm.changeLog.purge(through: last.id) }
            }
            _ = try await report
        }
        seen.formUnion(try await crm.changeLog.entries().map(\.id))
        #expect(seen.count == 20)
        #expect(seen.sorted() == Array(1...20))
        try crm.close()
    }

    @Test("gives no number twice, and pages by the last number")
    func numbers() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        try await crm.changeLog.setEnabled(true)
        for name in ["A", "B", "C"] { try await service.addCustomer(name, city: "Cork") }
        try await crm.synchronize()
        let first = try await crm.changeLog.entries(limit: 2)
        #expect(first.map(\.id) == [1, 2])
        #expect(try await crm.changeLog.entries(after: 2).map(\.id) == [3])
        #expect(try await crm.changeLog.purge(through: 3) == 3)
        try await service.addCustomer("D", city: "Cork")
        try await crm.synchronize()
        #expect(try await crm.changeLog.entries().map(\.id) == [4])
        try crm.close()
    }
}
