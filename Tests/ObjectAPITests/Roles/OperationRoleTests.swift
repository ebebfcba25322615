import Foundation
import ODataModel
import ODataService
import ObjectAPI
import OfflineOData
import Testing

/// Actions of the service in place of the verbs of its sets.
@Suite("An operation role")
struct OperationRoleTests {
    @Test("creates an object by an action that gets attributes and an argument")
    func creation() async throws {
        let service = try await DepotService()
        let depot = try await service.synchronized()
        var draft = Parcel(title: "Books")
        draft.weight = 2.5
        var parcel = try await depot.create(draft, promoCode: "SPRING")
        #expect(parcel.objectState.pendingChange == .create && parcel.title == "Books")
        let key = parcel.objectState.surrogateKey
        try await depot.submitPending(parcel)
        #expect(try await depot.synchronize().accepted == 1)
        #expect(service.takePaths() == ["create RegisterParcel"])
        #expect(service.remarks == ["SPRING"])
        parcel = try await depot.refresh(parcel)
        #expect((parcel.id ?? 0) > 0 && parcel.objectState.surrogateKey == key)
        #expect(parcel.objectState.pendingChange == .none && parcel.weight == 2.5)
        #expect(try await service.rows("Parcels").map { $0["Title"] } == ["Books"])
    }

    @Test("survives a restart, and an edit before the submission becomes a part of the creation")
    func restart() async throws {
        let service = try await DepotService()
        var depot = try await service.synchronized()
        var parcel = try await depot.create(Parcel(title: "Books"), promoCode: "SPRING")
        try depot.close()
        depot = try await service.database()
        parcel.title = "Maps"
        parcel = try await depot.update(parcel)
        #expect(try await depot.store.changes.held().map(\.kind) == [.create])
        try await depot.submitPending(parcel)
        try await depot.synchronize()
        #expect(service.remarks == ["SPRING"])
        #expect(try await service.rows("Parcels").map { $0["Title"] } == ["Maps"])
    }

    @Test("refused by the service keeps its action and argument until it is repaired")
    func refused() async throws {
        let service = try await DepotService()
        let depot = try await service.synchronized()
        var parcel = try await depot.create(Parcel(title: "Refused"), promoCode: "SPRING")
        try await depot.submitPending(parcel)
        #expect(try await depot.synchronize().failures.map(\.backEndCode) == ["Rejected"])
        parcel = try await depot.refresh(parcel)
        parcel.title = "Books"
        parcel = try await depot.update(parcel)
        try await depot.submitPending(parcel)
        #expect(try await depot.synchronize().accepted == 1)
        #expect(Set(service.takePaths()) == ["create RegisterParcel"])
        #expect(service.remarks == ["SPRING"])
    }

    @Test("changes an object by an action if attributes fill all parameters")
    func update() async throws {
        let service = try await DepotService()
        try await service.add("Parcels", ["Title": "Books", "Shelf": "A1"])
        let depot = try await service.synchronized()
        var parcel = try #require(try await depot.parcels.first())
        parcel.shelf = "B2"
        parcel = try await depot.update(parcel)
        try await depot.submitPending(parcel)
        #expect(try await depot.synchronize().accepted == 1)
        let id = try #require(parcel.id)
        #expect(service.takePaths() == ["create Parcels(\(id))/Depot.MoveParcel"])
        parcel = try await depot.refresh(parcel)
        #expect(parcel.shelf == "B2" && parcel.title == "Books!", "the answer of the action counts")
        parcel.shelf = "C3"
        parcel = try await depot.update(parcel)
        try await depot.submitPending(parcel)
        #expect(try await depot.synchronize().accepted == 1, "the ETag of the answer guards the next call")
        #expect(try await service.rows("Parcels").map { $0["Shelf"] } == ["C3"])
    }

    @Test("deletes an object by an action with its key and an optional argument", arguments: [nil, "torn"])
    func deletion(reason: String?) async throws {
        let service = try await DepotService()
        try await service.add("Parcels", ["Title": "Books"])
        let depot = try await service.synchronized()
        let parcel = try #require(try await depot.parcels.first())
        let deleted = try await depot.delete(parcel, reason: reason)
        #expect(deleted.objectState.isDeleted)
        try await depot.submitPending(deleted)
        #expect(try await depot.synchronize().accepted == 1)
        #expect(try await service.rows("Parcels").isEmpty)
        #expect(service.remarks == [reason ?? "no reason"])
        #expect(try await depot.hasPendingChanges() == false)
    }

    @Test("that creates without a response leaves the object to the next download")
    func unnamed() async throws {
        let service = try await DepotService()
        let depot = try await service.synchronized()
        let truck = try await depot.create(Truck(plate: "ab 12"))
        try await depot.submitPending(truck)
        let report = try await depot.synchronize()
        #expect(report.accepted == 1 && report.failures.isEmpty)
        #expect(service.takePaths() == ["create Trucks/Depot.AddTruck"])
        #expect(try await depot.trucks.all().map(\.plate) == ["AB 12"])
        await #expect(throws: ObjectError.self) { try await depot.refresh(truck) }
    }

    @Test("of which there are two has a verb for each, and they are not folded")
    func twoUpdates() async throws {
        let service = try await DepotService()
        try await service.add("Trucks", ["Plate": "AB 12"])
        let depot = try await service.synchronized()
        var truck = try #require(try await depot.trucks.first())
        truck.color = "red"
        truck = try await depot.paintTruck(truck)
        truck.color = "blue"
        truck = try await depot.paintTruck(truck)
        #expect(try await depot.store.changes.held().count == 1, "the same action without arguments is folded")
        truck = try await depot.retireTruck(truck, remark: "old")
        truck = try await depot.retireTruck(truck, remark: "very old")
        #expect(try await depot.store.changes.held().count == 3)
        try await depot.submitPending(truck)
        #expect(try await depot.synchronize().accepted == 3)
        #expect(service.remarks == ["old", "very old"])
        #expect(try await service.rows("Trucks").map { $0["Color"] } == ["rust"])
        #expect(try await depot.refresh(truck).color == "rust")
    }

    @Test("is not called twice after a lost response")
    func lostAnswer() async throws {
        let service = try await DepotService()
        let depot = try await service.synchronized()
        let parcel = try await depot.create(Parcel(title: "Books"), promoCode: "SPRING")
        try await depot.submitPending(parcel)
        service.loseAnswers(true)
        await #expect(throws: (any Error).self) { try await depot.synchronize() }
        service.loseAnswers(false)
        _ = try? await depot.synchronize()
        #expect(try await service.rows("Parcels").count == 1)
        #expect(service.remarks == ["SPRING"])
    }

    @Test("with an argument that is missing, unknown or of another type is refused before anything changes")
    func arguments() async throws {
        let service = try await DepotService()
        let depot = try await service.synchronized()
        let draft = Parcel(title: "Books")
        let name = QualifiedName("Depot", "RegisterParcel")
        await #expect(throws: ObjectError.missingArgument(name: "promoCode", of: "Depot.RegisterParcel")) {
            () async throws in
            _ = try await depot.create(draft, by: name)
        }
        let colored = Self.arguments { $0.set("color", "red") }
        await #expect(throws: ObjectError.noSuchParameter(name: "color", of: "Depot.RegisterParcel")) {
            () async throws in
            _ = try await depot.create(draft, by: name, colored)
        }
        let numbered = Self.arguments { $0.set("promoCode", 3) }
        await #expect(throws: ObjectError.invalidType(name: "promoCode", expected: "Edm.String")) {
            () async throws in
            _ = try await depot.create(draft, by: name, numbered)
        }
        await #expect(throws: ObjectError.noSuchOperation(name: "Depot.TakeStock", of: "Depot.Parcel")) {
            () async throws in
            _ = try await depot.create(draft, by: QualifiedName("Depot", "TakeStock"))
        }
        #expect(try await depot.hasPendingChanges() == false)
    }

    private static func arguments(_ change: (inout OperationParameters) -> Void) -> OperationParameters {
        var arguments = OperationParameters()
        arguments.set("promoCode", "SPRING")
        change(&arguments)
        return arguments
    }

    @Test("of an action of the package alone is called by the generated operation")
    func unbound() async throws {
        let service = try await DepotService()
        let depot = try await service.synchronized()
        try await depot.submitPending(try await depot.save(Depot.TakeStock(count: 7)))
        #expect(try await depot.synchronize().accepted == 1)
        #expect(service.remarks == ["stock 7"])
    }
}
