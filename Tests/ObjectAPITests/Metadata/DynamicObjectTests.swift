import ODataModel
import ODataService
import ObjectAPI
import Testing

/// Objects and operations by name, for code without generated types.
@Suite("An object by name")
struct DynamicObjectTests {
    @Test("is found, changed, submitted and sent")
    func life() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        let customers = try crm.objects(named: "Customer")
        #expect(try await customers.count() == 2)
        #expect(try await customers.query("findByCity", ["city": "Cork"]).all().map { try $0["LastName"] } == ["Jones"])
        var smith = try #require(try await customers.filter("LastName eq 'Smith'").first())
        try smith.set("City", to: "Galway")
        #expect(smith.objectState.isDirty)
        smith = try await crm.save(smith)
        #expect(smith.objectState.pendingChange == .update)
        try await crm.submitPending(smith)
        #expect(try await crm.synchronize().accepted == 1)
        #expect(try await service.rows("Customers?$filter=City eq 'Galway'").count == 1)
        smith = try await crm.refresh(smith)
        #expect(try smith["City"] == "Galway" && smith.objectState.pendingChange == .none)
        let id = try smith["ID"]
        #expect(try await customers.load(key: ["ID": id])["LastName"] == "Smith")
        #expect(try await customers.orderBy("LastName", descending: true).page(skip: 1, take: 5).count == 1)
        let deleted = try await crm.delete(smith)
        #expect(deleted.objectState.isDeleted)
        #expect(try await crm.cancelPending(deleted)?["City"] == "Galway")
    }

    @Test("is created with relations that are visible in expands")
    func creation() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        var ada = try crm.objects(named: "Crm.Customer").new()
        try ada.set("LastName", to: "Lovelace")
        try ada.set("Region", to: "West")
        ada = try await crm.save(ada)
        #expect(ada.objectState.pendingChange == .create)
        try await crm.create(
            SalesOrder(amount: 3), in: \.salesOrders,
            of: try #require(
                try await crm.customers.filter(\.lastName == "Lovelace").first()))
        let found = try await crm.objects(named: "Customer").expand("SalesOrders").filter("LastName eq 'Lovelace'")
            .first()
        #expect(try found?.related("SalesOrders")?.map { try $0["Amount"] } == [.decimal(3)])
        #expect(try ada.related("SalesOrders") == nil)
    }

    @Test("has errors for names, types and abstract types")
    func errors() async throws {
        let service = try await DepotService()
        let depot = try await service.synchronized()
        #expect(throws: ObjectError.noSuchEntity(name: "Ship")) { try depot.objects(named: "Ship") }
        #expect(throws: ObjectError.abstractEntity(name: "Depot.Tool")) { try depot.objects(named: "Tool").new() }
        var parcel = try depot.objects(named: "Parcel").new()
        #expect(throws: ObjectError.noSuchAttribute(name: "Color", of: "Depot.Parcel")) { try parcel["Color"] }
        #expect(throws: ObjectError.noSuchAttribute(name: "Color", of: "Depot.Parcel")) {
            try parcel.set("Color", to: "red")
        }
        #expect(throws: ObjectError.attributeMissing(type: Parcel.typeName, attribute: "Title")) { try parcel["Title"] }
        #expect(throws: ObjectError.invalidType(name: "Title", expected: "Edm.String")) {
            try parcel.set("Title", to: 3)
        }
        #expect(throws: ObjectError.invalidType(name: "Title", expected: "Edm.String")) {
            try parcel.set("Title", to: .null)
        }
        #expect(throws: ObjectError.invalidType(name: "Label", expected: "Edm.Stream")) {
            try parcel.set("Label", to: "x")
        }
        #expect(throws: ObjectError.noSuchAttribute(name: "Wheels", of: "Depot.Parcel")) {
            try parcel.related("Wheels")
        }
        #expect(throws: ObjectError.noSuchAttribute(name: "Color", of: "Depot.Parcel")) {
            try depot.objects(named: "Parcel").orderBy("Color")
        }
        #expect(throws: ObjectError.noSuchOperation(name: "findAll", of: "Depot.Parcel")) {
            try depot.objects(named: "Parcel").query("findAll")
        }
        let draft = parcel
        #expect(throws: ObjectError.noSuchAttribute(name: "Color", of: "Depot.Parcel")) {
            try depot.large("Color", of: draft)
        }
        #expect(throws: ObjectError.invalidType(name: "Title", expected: "Edm.Stream")) {
            try depot.large("Title", of: draft)
        }
        await #expect(throws: ObjectError.missingArgument(name: "ID", of: "Depot.Parcel")) { () async throws in
            _ = try await depot.objects(named: "Parcel").find(key: [:])
        }
        await #expect(throws: ObjectError.objectNotFound(type: Parcel.typeName, object: "Parcels(4711)")) {
            () async throws in
            _ = try await depot.objects(named: "Parcel").load(key: ["ID": 4711])
        }
        await #expect(throws: ObjectError.notSaved(type: Parcel.typeName)) { () async throws in
            _ = try await depot.delete(draft)
        }
        await #expect(throws: ObjectError.missingArgument(name: "promoCode", of: "Depot.RegisterParcel")) {
            () async throws in
            _ = try await depot.save(draft)
        }
    }

    @Test("of a derived type belongs to the set of its base type")
    func derived() async throws {
        let service = try await DepotService()
        let depot = try await service.synchronized()
        var crane = try depot.objects(named: "Crane").new()
        try crane.set("Load", to: 12)
        crane = try await depot.save(crane)
        #expect(try await depot.objects(named: "Crane").all().map { try $0["Load"] } == [12])
        #expect(try await depot.objects(named: "Tool").count() == 1)
    }

    @Test("has large attributes")
    func large() async throws {
        let service = try await DepotService()
        try await service.add("Parcels", ["Title": "Books"])
        let depot = try await service.synchronized()
        let parcel = try #require(try await depot.objects(named: "Parcel").first())
        try await depot.large("Label", of: parcel).write { try await $0.write([1, 2]) }
        let generated = try #require(try await depot.parcels.first())
        #expect(try await depot.large("Label", of: DynamicObject(generated)).openForReading().read(upTo: 5) == [1, 2])
    }

    // MARK: Operations

    @Test("has its operations called by name")
    func invocation() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        let smith = try #require(try await crm.objects(named: "Customer").filter("LastName eq 'Smith'").first())
        let call = try await crm.invoke("ChangeLastName", on: smith, ["OldName": "Smith", "NewName": "Byron"])
        guard case .pending(let operation) = call else { throw ObjectError.noSuchOperation(name: "", of: "") }
        try await crm.submitPending(operation)
        #expect(try await crm.synchronize().accepted == 1)
        #expect(try await service.names().contains("Byron"))
        guard case .object(let deleted) = try await crm.invoke("delete", on: crm.refresh(smith)) else { return }
        #expect(deleted.objectState.isDeleted)
    }

    @Test("has its operations with roles called by name")
    func roles() async throws {
        let service = try await DepotService()
        let depot = try await service.synchronized()
        var draft = try depot.objects(named: "Parcel").new()
        try draft.set("Title", to: "Books")
        guard case .object(let parcel) = try await depot.invoke("RegisterParcel", on: draft, ["promoCode": "SPRING"])
        else { throw ObjectError.noSuchOperation(name: "RegisterParcel", of: "") }
        try await depot.submitPending(parcel)
        guard case .pending(let stock) = try await depot.invoke("TakeStock", ["count": 2]) else { return }
        try await depot.submitPending(stock)
        #expect(try await depot.synchronize().accepted == 2)
        #expect(service.remarks.sorted() == ["SPRING", "stock 2"])
        var moved = try await depot.refresh(parcel)
        try moved.set("Shelf", to: "B2")
        try await depot.invoke("Depot.MoveParcel", on: moved)
        try await depot.submitPending(moved)
        #expect(try await depot.synchronize().accepted == 1)
        #expect(try await service.rows("Parcels").map { $0["Shelf"] } == ["B2"])
    }

    @Test("has errors for unknown operations and invalid arguments")
    func invocationErrors() async throws {
        let service = try await CrmService()
        let crm = try await service.synchronized()
        let smith = try #require(try await crm.objects(named: "Customer").first())
        await #expect(throws: ObjectError.noSuchOperation(name: "Fly", of: "Crm.Customer")) {
            try await crm.invoke("Fly", on: smith)
        }
        await #expect(throws: ObjectError.noSuchOperation(name: "Fly", of: "Crm")) { try await crm.invoke("Fly") }
        let name = "Crm.ChangeLastName"
        await #expect(throws: ObjectError.missingArgument(name: "NewName", of: name)) {
            try await crm.invoke("ChangeLastName", on: smith, ["OldName": "Smith"])
        }
        await #expect(throws: ObjectError.noSuchParameter(name: "Name", of: name)) {
            try await crm.invoke("ChangeLastName", on: smith, ["Name": "Smith"])
        }
        await #expect(throws: ObjectError.invalidType(name: "OldName", expected: "Edm.String")) {
            try await crm.invoke("ChangeLastName", on: smith, ["OldName": 3, "NewName": "Byron"])
        }
        await #expect(throws: ObjectError.noSuchParameter(name: "City", of: "Crm.Customer/update")) {
            try await crm.invoke("update", on: smith, ["City": "Cork"])
        }
        #expect(try await crm.hasPendingChanges() == false)
    }
}
