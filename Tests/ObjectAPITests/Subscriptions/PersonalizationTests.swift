import Foundation
import ODataModel
import ODataService
import ObjectAPI
import OfflineOData
import Testing

@Suite("Personalization keys")
struct PersonalizationTests {
    @Test("of the device have their default at once, are kept, and choose the rows")
    func client() async throws {
        let service = try await DeskService()
        var desk = try await service.database()
        var keys = try await desk.personalization()
        #expect(keys.area == "North")
        #expect(keys.owner == nil)
        try await desk.synchronize()
        #expect(try await desk.tickets.count() == 2)
        keys.area = "South"
        try await desk.save(keys)
        try await desk.synchronize()
        #expect(try await desk.tickets.all().map(\.title) == ["Roof"])
        try desk.close()
        desk = try await service.database()
        keys = try await desk.personalization()
        #expect(keys.area == "South")
        keys.area = nil
        try await desk.save(keys)
        #expect(try await desk.personalization().area == "North")
        try await desk.synchronize()
        #expect(try await desk.tickets.count() == 2)
        try desk.close()
    }

    @Test("of the service reach another device of the user")
    func server() async throws {
        let service = try await DeskService()
        let (first, second) = (try await service.database("first"), try await service.database("second"))
        try await second.synchronize()
        #expect(try await second.personalization().owner == nil)
        var keys = try await first.personalization()
        keys.owner = "ada"
        try await first.save(keys)
        try await first.synchronize()
        #expect(try await first.notes.all().map(\.text) == ["of Ada"])
        #expect(try await service.rows("PersonalizationValues").map { $0["Value"] } == ["ada"])
        try await second.synchronize([.system])
        #expect(try await second.personalization().owner == "ada")
        keys = try await second.personalization()
        keys.owner = "bob"
        try await second.save(keys)
        try await second.synchronize()
        try await first.synchronize([.system])
        #expect(try await first.personalization().owner == "bob")
        #expect(try await service.rows("PersonalizationValues").map { $0["Value"] } == ["bob"])
        try first.close()
        try second.close()
    }

    @Test("of the session choose rows, and are in no file")
    func session() async throws {
        let service = try await DeskService()
        var desk = try await service.database()
        var keys = try await desk.personalization()
        keys.token = DeskService.token
        try await desk.save(keys)
        #expect(try await desk.personalization().token == DeskService.token)
        try await desk.subscriptions.add(NoteSubscription(owner: "ada"))
        // The rows themselves have the value in this service; a query without rows shows what is kept of the key.
        for row in try await service.rows("Passes") {
            try await DataService(service.service).delete(row, in: "Passes")
        }
        try await desk.synchronize()
        try desk.close()
        let folder = URL(fileURLWithPath: service.path("desk"))
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var seen = 0
        while let file = files?.nextObject() as? URL {
            guard let data = try? Data(contentsOf: file) else { continue }
            seen += 1
            #expect(data.range(of: Data(DeskService.token.utf8)) == nil, "\(file.lastPathComponent)")
        }
        #expect(seen > 0)
        desk = try await service.database()
        #expect(try await desk.personalization().token == nil)
        try desk.close()
    }

    @Test("refuse a value of another type")
    func types() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        struct Wrong: PersonalizationKeys {
            typealias Package = Desk
            var values: PersonalizationValues
        }
        var values = PersonalizationValues()
        values["Area"] = 7 as Int64?
        await #expect(throws: ObjectError.invalidType(name: "Area", expected: "Edm.String")) {
            try await desk.save(Wrong(values: values))
        }
        try desk.close()
    }
}
