import ODataModel
import ODataService
import ObjectAPI
import Testing

/// The table of the replay attributes (16c), in both endings.
@Suite("The state of an object")
struct ReplayTableTests {
    private typealias Numbers = ObjectState.Numbers

    private func customer(_ crm: CrmDatabase) async throws -> Customer {
        try #require(try await crm.customers.filter(\.lastName == "Smith").first())
    }

    @Test("follows an update until the service accepts it")
    func acceptedUpdate() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        var object = try await customer(crm)
        #expect(object.objectState.numbers == Numbers(0, 0, 0, .none))
        #expect(!object.objectState.isNew && !object.objectState.isDirty && !object.objectState.isPending)
        #expect(object.objectState.surrogateKey != nil)
        object.city = "Galway"
        #expect(object.objectState.isDirty)
        object = try await crm.save(object)
        let edited = object.objectState.replayCounter
        #expect(edited > 0)
        #expect(object.objectState.numbers == Numbers(edited, 0, 0, .update))
        #expect(object.objectState.isUpdated && object.objectState.isPending && !object.objectState.isDirty)
        try await crm.submitPending(object)
        object = try await crm.refresh(object)
        #expect(object.objectState.numbers == Numbers(edited, edited, 0, .update))
        try await crm.synchronize()
        object = try await crm.refresh(object)
        #expect(object.objectState.numbers == Numbers(edited, 0, 0, .none), "the counter stays")
        #expect(!object.objectState.isUpdated && !object.objectState.isPending)
        #expect(try await service.rows("Customers?$filter=City eq 'Galway'").count == 1)
    }

    @Test("follows an update that the service refuses, until it is cancelled or repaired", arguments: [true, false])
    func refusedUpdate(isCancelled: Bool) async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        var object = try await customer(crm)
        object.city = "Galway"
        object = try await crm.save(object)
        let edited = object.objectState.replayCounter
        try await crm.submitPending(object)
        service.refuseAll()
        let report = try await crm.synchronize()
        #expect(report.failures.map(\.backEndCode) == ["Rejected"])
        #expect(report.failures.first?.recovery == .repair)
        object = try await crm.refresh(object)
        #expect(object.objectState.numbers == Numbers(edited, 0, edited, .update))
        service.mend()
        if isCancelled {
            object = try #require(try await crm.cancelPending(object))
            #expect(object.objectState.numbers == Numbers(edited, 0, 0, .none))
            #expect(object.city == "Dublin")
            return
        }
        object.city = "Sligo"
        object = try await crm.save(object)
        let again = object.objectState.replayCounter
        #expect(again > edited)
        #expect(object.objectState.numbers == Numbers(again, 0, edited, .update), "held, and still marked as refused")
        try await crm.synchronize()
        #expect(try await crm.refresh(object).objectState.replayCounter == again, "nothing was submitted")
        try await crm.submitPending(object)
        #expect(try await crm.refresh(object).objectState.numbers == Numbers(again, again, 0, .update))
        try await crm.synchronize()
        #expect(try await crm.refresh(object).objectState.numbers == Numbers(again, 0, 0, .none))
        #expect(try await service.rows("Customers?$filter=City eq 'Sligo'").count == 1)
    }

    @Test("of a created object is C until the service has given it a key")
    func creation() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        let draft = Customer(lastName: "Lovelace", region: "West")
        #expect(draft.objectState.isNew && draft.objectState.surrogateKey == nil)
        var object = try await crm.create(draft)
        let edited = object.objectState.replayCounter
        #expect(object.objectState.numbers == Numbers(edited, 0, 0, .create))
        #expect(object.objectState.isCreated && !object.objectState.isNew)
        let row = object.objectState.surrogateKey
        #expect((object.id ?? 0) < 0, "a temporary key")
        try await crm.submitPending(object)
        try await crm.synchronize()
        object = try await crm.refresh(object)
        #expect(object.objectState.numbers == Numbers(edited, 0, 0, .none))
        #expect((object.id ?? 0) > 0)
        #expect(object.objectState.surrogateKey == row, "the surrogate key stays")
        #expect(try await service.names().filter { $0 == "Lovelace" }.count == 1)
    }

    @Test("of a deleted object is D until the service decides")
    func deletion() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        let object = try await customer(crm)
        var deleted = try await crm.delete(object)
        #expect(deleted.objectState.isDeleted && deleted.objectState.pendingChange == .delete)
        #expect(try await crm.customers.all().count == 1)
        let back = try #require(try await crm.cancelPending(deleted))
        #expect(back.objectState.pendingChange == .none && back.lastName == "Smith")
        deleted = try await crm.delete(back)
        try await crm.submitPending(deleted)
        service.refuseAll()
        #expect(try await crm.synchronize().failures.count == 1)
        service.mend()
        try await crm.submitPending(deleted)
        try await crm.synchronize()
        #expect(try await service.names() == ["Jones"])
        #expect(try await crm.hasPendingChanges() == false)
    }

    @Test("of a deleted, never submitted object leaves nothing")
    func deletedCreation() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        let object = try await crm.create(Customer(lastName: "Lovelace", region: "West"))
        try await crm.delete(object)
        #expect(try await crm.hasPendingChanges() == false)
        #expect(try await crm.customers.count() == 2)
    }

    @Test("of a parent is P while one of its parts has a change")
    func parent() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        let object = try await customer(crm)
        let order = try await crm.create(SalesOrder(amount: 12.50), in: \.salesOrders, of: object)
        #expect(order.objectState.pendingChange == .create)
        #expect(order.customerID == object.id)
        var parent = try await crm.refresh(object)
        #expect(parent.objectState.numbers == Numbers(0, 0, 0, .parent))
        #expect(parent.objectState.isPending && !parent.objectState.isUpdated)
        try await crm.submitPending(order)
        try await crm.synchronize()
        parent = try await crm.refresh(object)
        #expect(parent.objectState.pendingChange == .none)
        #expect(try await service.rows("SalesOrders").count == 1)
    }

    @Test("of an operation waits, is sent and can be cancelled", arguments: [true, false])
    func operation(isCancelled: Bool) async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        let object = try await customer(crm)
        let rename = try await crm.save(Customer.ChangeLastName(of: object, oldName: "Smith", newName: "Byron"))
        try await crm.synchronize()
        #expect(service.takeChanges().isEmpty, "it is held")
        if isCancelled { try await crm.cancelPending(rename) } else { try await crm.submitPending(rename) }
        try await crm.synchronize()
        #expect(try await service.names().contains("Byron") != isCancelled)
        #expect(try await crm.hasPendingChanges() == false)
    }

    @Test("survives closing and opening the database at each step")
    func reopening() async throws {
        let service = try await CrmService()
        var crm = try await service.synchronized()
        func reopen() async throws {
            try crm.close()
            crm = try await service.database()
        }
        var object = try await customer(crm)
        object.city = "Galway"
        object = try await crm.save(object)
        let edited = object.objectState.replayCounter
        try await reopen()
        #expect(try await crm.refresh(object).objectState.numbers == Numbers(edited, 0, 0, .update))
        try await crm.submitPending(object)
        try await reopen()
        #expect(try await crm.refresh(object).objectState.numbers == Numbers(edited, edited, 0, .update))
        service.loseAnswers()
        await #expect(throws: (any Error).self) { try await crm.synchronize() }
        try await reopen()
        #expect(try await crm.refresh(object).objectState.numbers == Numbers(edited, edited, 0, .update))
        object = try await crm.refresh(object)
        object.city = "Sligo"
        object = try await crm.save(object)
        let later = object.objectState.replayCounter
        #expect(object.objectState.numbers == Numbers(later, edited, 0, .update))
        service.mend()
        try await reopen()
        try await crm.synchronize()
        object = try await crm.refresh(object)
        #expect(object.objectState.numbers == Numbers(later, 0, 0, .update), "the newer edit is not lost")
        #expect(object.city == "Sligo")
        #expect(try await service.rows("Customers?$filter=City eq 'Galway'").count == 1)
    }
}
