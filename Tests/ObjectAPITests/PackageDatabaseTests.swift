import Foundation
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ObjectAPI
import OfflineOData
import Secrets
import Testing

@Suite("A package database")
struct PackageDatabaseTests {
    @Test("is created, used and deleted without a network")
    func offline() async throws {
        let service = try await CrmService()
        let path = service.path("offline")
        #expect(!CrmDatabase.exists(at: path))
        var crm = try await CrmDatabase.open(at: path, DatabaseProfile(protection: .unencrypted))
        #expect(CrmDatabase.exists(at: path))
        var ada = Customer(lastName: "Lovelace", region: "West")
        ada.city = "London"
        ada = try await crm.create(ada)
        #expect(try await crm.customers.findByCity(city: "London").all().map(\.lastName) == ["Lovelace"])
        let id = try #require(ada.id)
        #expect(try await crm.customers.find(id)?.lastName == "Lovelace")
        #expect(try await crm.customers.find(4711) == nil)
        await #expect(throws: ObjectError.self) { try await crm.customers.load(4711) }
        await #expect(throws: OfflineError.self) { try await crm.synchronize() }
        try crm.close()
        crm = try await CrmDatabase.open(at: path, DatabaseProfile(protection: .unencrypted))
        #expect(try await crm.refresh(ada).objectState.pendingChange == .create)
        #expect(try await crm.store.observe.status().held.count == 1)
        #expect {
            try CrmDatabase.delete(at: path)
        } throws: { error in
            guard case OfflineError.stillOpen(path) = error else { return false }
            return "\(error)".contains("Close the store")
        }
        #expect(try await crm.refresh(ada).objectState.pendingChange == .create)
        try crm.close()
        try CrmDatabase.delete(at: path)
        #expect(!CrmDatabase.exists(at: path))
    }

    @Test("finds objects by queries and key paths")
    func finding() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        #expect(try await crm.customers.findByCity(city: "Dublin").page(skip: 0, take: 50).count == 1)
        #expect(try await crm.customers.orderBy(\.lastName).all().map(\.lastName) == ["Jones", "Smith"])
        #expect(try await crm.customers.filter { $0.salesOrders.any { $0.amount > 100 } }.all().isEmpty)
        var read: [String] = []
        for try await customer in try crm.customers.rows() { read.append(customer.lastName) }
        #expect(read.sorted() == ["Jones", "Smith"])
    }

    @Test("finds the parts of an object, some of them, and the object of a part")
    func relations() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        let smith = try #require(try await crm.customers.filter(\.lastName == "Smith").first())
        let jones = try #require(try await crm.customers.filter(\.lastName == "Jones").first())
        for amount: Int64 in [5, 50, 500] {
            try await crm.create(SalesOrder(amount: ODataDecimal(amount)), in: \.salesOrders, of: smith)
        }
        try await crm.create(SalesOrder(amount: 1), in: \.salesOrders, of: jones)
        let id = try #require(smith.id)
        let parts = try await crm.salesOrders.filter { $0.customerID == id }.all()
        #expect(parts.map(\.amount).sorted() == [5, 50, 500])
        let large = try await crm.salesOrders.filter { $0.customer.lastName == "Smith" && $0.amount > 10 }.all()
        #expect(large.map(\.amount).sorted() == [50, 500])
        let owner = try await crm.customers.filter { $0.salesOrders.any { $0.amount == 500 } }.all()
        #expect(owner.map(\.lastName) == ["Smith"])
    }

    @Test("is encrypted by a key that can be replaced, and opens with no other")
    func encryption() async throws {
        let service = try await CrmService()
        let path = service.path("encrypted")
        let (first, second) = (KeySource.key(.generate()), KeySource.key(.generate()))
        let crm = try await CrmDatabase.open(at: path, DatabaseProfile(protection: .encrypted(first)))
        try await crm.create(Customer(lastName: "Lovelace", region: "West"))
        try crm.close()
        await #expect(throws: StoreError.self) {
            try await CrmDatabase.open(at: path, DatabaseProfile(protection: .encrypted(second)))
        }
        try CrmDatabase.rekey(at: path, from: first, to: second)
        await #expect(throws: StoreError.self) {
            try await CrmDatabase.open(at: path, DatabaseProfile(protection: .encrypted(first)))
        }
        let again = try await CrmDatabase.open(at: path, DatabaseProfile(protection: .encrypted(second)))
        #expect(try await again.customers.all().map(\.lastName) == ["Lovelace"])
    }

    @Test("rolls a transaction back when its closure throws")
    func rollback() async throws {
        struct Enough: Error {}
        let service = try await CrmService()
        let crm = try await service.synchronized()
        await #expect(throws: Enough.self) {
            try await crm.transaction { changes in
                try changes.create(Customer(lastName: "Lovelace", region: "West"))
                throw Enough()
            }
        }
        #expect(try await crm.customers.count() == 2)
        #expect(try await crm.hasPendingChanges() == false)
    }

    @Test("folds the edits of an object into one request until it is submitted")
    func folding() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        var smith = try #require(try await crm.customers.filter(\.lastName == "Smith").first())
        for city in ["A", "B", "C"] {
            smith.city = city
            smith = try await crm.save(smith)
        }
        #expect(try await crm.store.changes.held().count == 1)
        let unchanged = smith.objectState.replayCounter
        smith = try await crm.save(smith)
        #expect(smith.objectState.replayCounter == unchanged, "an object without changes is not saved")
        try await crm.delete(smith)
        let held = try await crm.store.changes.held()
        #expect(held.map(\.kind) == [.delete])
        #expect(held.first?.base?["City"] == "Dublin", "the deletion is made of the version of the service")
        #expect(held.first?.etag != nil)
    }

    @Test("refuses a service that does not fit the package")
    func mismatch() async throws {
        let service = try await CrmService()
        let text = String(decoding: CSDLWriter.xml(CrmMetadata.model), as: UTF8.self)
        let model = try CSDLReader.read(
            xml: Array(text.replacing("\"City\" Type=\"Edm.String\"", with: "\"City\" Type=\"Edm.Int32\"").utf8))
        let crm = try await CrmDatabase.open(
            at: service.path("other"), DatabaseProfile(protection: .unencrypted),
            synchronization: SynchronizationProfile { _ in Silent(model: model) })
        await #expect(
            throws: ObjectError.packageMismatch(
                place: "Crm.Customer/City", reason: "It is Edm.Int32 at the service, not Edm.String.")
        ) {
            try await crm.synchronize()
        }
    }

    /// A service of which only the model is known.
    private struct Silent: ODataProvider {
        let model: EntityDataModel
        var traits: ProviderTraits { .standard }

        func execute(_ request: ODataRequest) async throws -> ODataResponse { ODataResponse(status: 204) }
    }
}
