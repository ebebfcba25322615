import Foundation
import ODataModel
import ODataService
import OfflineOData
import Testing

extension NamedFailureTests {
    @Test(
        "Clock skew: a device's wrong clock affects neither the order of changes nor conflicts",
        arguments: [-20_000, -400, -3, 3, 400])
    func clockSkew(days: Int) async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.runtime.environment.now = { EngineEnvironment.system.now().advanced(by: .seconds(days * 86_400)) }
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await store.update("Customers('C0003')", ["City": "Mine"])
        // The change at the service is the later one. The version decides, not a clock.
        try await shop.sql("UPDATE Customers SET City = 'Theirs' WHERE CustomerID = 'C0002'")
        let report = try await store.sync()
        #expect(report.upload.accepted.map(\.entityText) == ["Orders(-1)", "Customers('C0003')"])
        #expect(report.upload.failed.map(\.entityText) == ["Customers('C0002')"])
        #expect(report.upload.failed.first?.failure?.isConflict == true)
        try await shop.sql("UPDATE Customers SET City = 'Later' WHERE CustomerID = 'C0004'")
        #expect(try await store.download().updated == 1)
        try await store.changes.discard()
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test(
        "Clock skew: a clock that jumps before a repeat creates no second entity", arguments: [-30, 30])
    func clockJump(days: Int) async throws {
        let shop = try await Shop()
        let hasJumped = LockedFlag()
        var options = OfflineStore.Options()
        options.runtime.environment.now = {
            EngineEnvironment.system.now().advanced(by: .seconds(hasJumped.isSet ? days * 86_400 : 0))
        }
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        await shop.wire.cut { _, request in request.method == .post ? .answerLost : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        hasJumped.set()
        #expect(try await store.sync().upload.accepted.count == 1)
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
        try await shop.expectEqual(store)
    }

    @Test(
        "Clock skew: a change set older than the service remembers is sent once more without its time"
    )
    func slowChangeSet() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.runtime.environment.now = { EngineEnvironment.system.now().advanced(by: .seconds(-400 * 86_400)) }
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.changes.transaction { changes in
            try changes.create(
                "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
            try changes.update("Products(1)", ["Stock": 5])
        }
        let report = try await store.sync()
        #expect(report.upload.failed.map(\.description) == [])
        #expect(report.upload.accepted.count == 2)
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
        try await shop.expectEqual(store)
    }

    @Test("Clock skew: a lost response that the service no longer remembers is an unknown outcome")
    func slowClock() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.runtime.environment.now = { EngineEnvironment.system.now().advanced(by: .seconds(-400 * 86_400)) }
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.create(
            "Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000))])
        // The service refuses the first change as too old; the response to the second one is lost.
        await shop.wire.cut { number, request in
            request.method == .post && number > 1 ? .answerLost : nil
        }
        _ = try? await store.upload()
        await shop.wire.mend()
        _ = try? await store.upload()
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
        #expect(try await store.observe.status().failed.map(\.state) == [.inDoubt])
        #expect(try await store.observe.status().pending.isEmpty)
    }
}
