import HTTPTypes
import ODataModel
import ODataService
import ObjectAPI
import Testing

@Suite("A composite graph")
struct CompositeGraphTests {
    @Test("with a new parent and three new parts is sent as one change set")
    func changeSet() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        let ada = try await crm.transaction { changes in
            let ada = try changes.create(Customer(lastName: "Lovelace", region: "West"))
            for amount in 1...3 {
                try changes.create(SalesOrder(amount: ODataDecimal(Int64(amount))), in: \.salesOrders, of: ada)
            }
            return ada
        }
        let order = try #require(try await crm.salesOrders.first())
        try await crm.submitPending(order)
        #expect(try await crm.refresh(ada).objectState.replayPending > 0, "the root is submitted with any member")
        try await crm.synchronize()
        #expect(service.takeChanges().map(\.path) == ["/$batch"])
        let orders = try await service.rows("SalesOrders")
        let key = try #require(try await crm.refresh(ada).id)
        #expect(orders.count == 3)
        #expect(orders.allSatisfy { $0["CustomerID"] == .integer(key) })
        #expect(try await crm.salesOrders.count() == 3)
    }

    @Test("is sent in order, one request at a time, to a service without change sets")
    func withoutChangeSets() async throws {
        let service = try await CrmService()
        let crm = try await service.database { $0.supportsChangeSets = false }
        let ada = try await crm.transaction { changes in
            let ada = try changes.create(Customer(lastName: "Lovelace", region: "West"))
            try changes.create(SalesOrder(amount: 3), in: \.salesOrders, of: ada)
            return ada
        }
        try await crm.submitPending(ada)
        try await crm.synchronize()
        #expect(service.takeChanges().map(\.path) == ["/Customers", "/SalesOrders"])
        let key = try #require(try await crm.refresh(ada).id)
        #expect(try await service.rows("SalesOrders").map { $0["CustomerID"] } == [.integer(key)])
        #expect(try await crm.hasPendingChanges() == false)
    }

    @Test("is saved with its expanded parts")
    func saved() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        var customer = Customer(lastName: "Lovelace", region: "West")
        customer.salesOrders = [SalesOrder(amount: 1), SalesOrder(amount: 2)]
        customer = try await crm.save(customer)
        #expect(customer.salesOrders?.count == 2)
        let first = try #require(customer.salesOrders?.firstIndex { $0.amount == 1 })
        customer.salesOrders?[first].amount = 5
        customer.salesOrders?.append(SalesOrder(amount: 3))
        customer = try await crm.save(customer)
        #expect(customer.salesOrders?.map(\.amount).sorted() == [2, 3, 5])
        customer.salesOrders = []
        customer = try await crm.save(customer)
        #expect(customer.salesOrders?.count == 3, "missing parts are not deleted")
        #expect(try await crm.store.changes.held().count == 4, "each row has one request")
        try await crm.submitAllPending()
        try await crm.synchronize()
        #expect(try await service.rows("SalesOrders").count == 3)
    }

    @Test("with a refused member is refused and sent again as a whole")
    func refused() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        let ada = try await crm.transaction { changes in
            let ada = try changes.create(Customer(lastName: "Lovelace", region: "West"))
            try changes.create(SalesOrder(amount: 1), in: \.salesOrders, of: ada)
            return ada
        }
        var order = try #require(try await crm.salesOrders.first())
        try await crm.submitPending(ada)
        service.refuseAll()
        #expect(try await crm.synchronize().failures.count == 2)
        service.mend()
        #expect(try await crm.refresh(ada).objectState.replayFailure > 0)
        order = try await crm.refresh(order)
        #expect(order.objectState.replayFailure > 0)
        order.amount = 2
        order = try await crm.save(order)
        try await crm.synchronize()
        #expect(try await service.names().count == 2, "an edit does not submit")
        try await crm.submitPending(order)
        _ = service.takeChanges()
        try await crm.synchronize()
        #expect(service.takeChanges().map(\.path) == ["/$batch"])
        #expect(try await service.names().filter { $0 == "Lovelace" }.count == 1)
        #expect(try await service.rows("SalesOrders").map { $0["Amount"] } == [.decimal(2)])
        #expect(try await crm.hasPendingChanges() == false)
    }

    @Test("is cancelled with its parts when the root is")
    func cancelledRoot() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        let created = try await crm.transaction { changes in
            let ada = try changes.create(Customer(lastName: "Lovelace", region: "West"))
            try changes.create(SalesOrder(amount: 3), in: \.salesOrders, of: ada)
            return ada
        }
        #expect(try await crm.cancelPending(created) == nil)
        #expect(try await crm.hasPendingChanges() == false)
        #expect(try await crm.salesOrders.count() == 0)
        await #expect(throws: ObjectError.self) { try await crm.refresh(created) }
    }

    @Test("leaves the changes of other graphs")
    func others() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        var smith = try #require(try await crm.customers.filter(\.lastName == "Smith").first())
        var jones = try #require(try await crm.customers.filter(\.lastName == "Jones").first())
        smith.city = "Galway"
        jones.city = "Sligo"
        smith = try await crm.save(smith)
        jones = try await crm.save(jones)
        try await crm.submitPending(smith)
        try await crm.synchronize()
        #expect(try await crm.refresh(smith).objectState.pendingChange == .none)
        #expect(try await crm.refresh(jones).objectState.pendingChange == .update)
        #expect(try await crm.customers.filter { $0.objectState(.newOrUpdated) }.count() == 1)
        try await crm.submitPending(Customer.self)
        #expect(try await crm.customers.filter { $0.objectState(.submitted) }.count() == 1)
        try await crm.synchronize()
        #expect(try await service.rows("Customers?$filter=City eq 'Sligo'").count == 1)
    }

    @Test("is submitted or cancelled with all others of its type or group")
    func wholeTypes() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        func edit() async throws {
            for var customer in try await crm.customers.all() {
                customer.city = "Galway"
                try await crm.save(customer)
            }
            try await crm.create(SalesOrder(amount: 1))
        }
        try await edit()
        try await crm.cancelPending(Customer.self)
        #expect(try await crm.customers.filter { $0.objectState(.newOrUpdated) }.count() == 0)
        #expect(try await crm.customers.filter(\.city == "Galway").count() == 0)
        #expect(try await crm.salesOrders.count() == 1, "another type keeps its changes")
        try await crm.cancelAllPending()
        #expect(try await crm.hasPendingChanges() == false)
        try await edit()
        try await crm.submitPending(in: "moon")
        #expect(try await crm.store.changes.held().count == 3)
        try await crm.submitPending(in: .sales)
        #expect(try await crm.store.changes.held().isEmpty)
        try await crm.synchronize()
        #expect(try await service.rows("Customers?$filter=City eq 'Galway'").count == 2)
        #expect(try await service.rows("SalesOrders").count == 1)
    }

    @Test("cannot be cancelled while it is being sent, but a later edit can")
    func sending() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        var smith = try #require(try await crm.customers.filter(\.lastName == "Smith").first())
        smith.city = "Galway"
        smith = try await crm.save(smith)
        try await crm.submitPending(smith)
        service.loseAnswers()
        await #expect(throws: (any Error).self) { try await crm.synchronize() }
        let sent = smith
        await #expect(throws: ObjectError.alreadySubmitted(object: sent.odataEntity.control.id ?? "")) {
            try await crm.cancelPending(sent)
        }
        smith = try await crm.refresh(smith)
        smith.city = "Sligo"
        smith = try await crm.save(smith)
        smith = try #require(try await crm.cancelPending(smith))
        #expect(smith.city == "Galway")
        service.mend()
        try await crm.synchronize()
        #expect(try await crm.hasPendingChanges() == false)
    }
}
