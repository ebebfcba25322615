import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataService
import OfflineOData
import Testing

/// A store that was copied, restored or rolled back creates nothing twice (rules 2 and 10).
@Suite("A copied, restored or rolled-back store")
struct CopiedStoreTests {
    /// The protocol version, and whether a proxy removes the header fields of repeatable requests.
    enum Way: CaseIterable { case v4, v2, stripped }

    /// A service, a folder for notes, and stores that use the notes.
    private final class Scene: Sendable {
        let shop: Shop
        let way: Way
        let notes: String
        static let v2Root = "http://shop.test/v2/"

        init(_ way: Way = .v4) async throws {
            shop = try await Shop()
            self.way = way
            notes = shop.directory.appendingPathComponent("notes").path
        }

        func path(_ name: String) -> String { shop.directory.appendingPathComponent(name).path }

        func client() throws -> any ODataProvider {
            switch way {
            case .v4: return try shop.client()
            case .stripped: return Proxy(base: try shop.client())
            case .v2:
                let handler = try ODataV2Handler(provider: shop.database, serviceRoot: "/v2/")
                return try ODataClient(
                    serviceRoot: Self.v2Root,
                    transport: HTTPSession(
                        LoopbackTransport { await handler.handle($0, $1) }, serviceRoot: Self.v2Root,
                        configuration: .init(retry: .none)))
            }
        }

        private func options(_ notes: String?) -> OfflineStore.Options {
            var options = OfflineStore.Options()
            options.runtime.incarnations = IncarnationNotes(folder: notes ?? self.notes)
            return options
        }

        func clone(_ name: String = "a") async throws -> OfflineStore {
            let store = try await OfflineStore.create(
                at: path(name), protection: .unencrypted, serviceRoot: way == .v2 ? Self.v2Root : Shop.serviceRoot,
                remote: client(), options: options(nil))
            try await store.download()
            return store
        }

        func open(_ name: String, notes: String? = nil) async throws -> OfflineStore {
            let client = try client()
            return try await OfflineStore.open(
                at: path(name), protection: .unencrypted, options: options(notes), connect: { _, _ in client })
        }

        func copy(_ name: String, to other: String) throws {
            try FileManager.default.copyItem(atPath: path(name), toPath: path(other))
        }

        /// Returns a product. The service accepts several with one name, so a second creation would be visible.
        static func product(_ name: ODataValue) -> [String: ODataValue] {
            ["Name": name, "CategoryID": 1, "Price": .decimal(ODataDecimal(1)), "Stock": 1]
        }

        func products(_ name: String) async throws -> Int {
            try await shop.count("SELECT COUNT(*) FROM Products WHERE Name = '\(name)'")
        }
    }

    /// A proxy that removes the header fields of repeatable requests.
    private struct Proxy: ODataProvider {
        let base: any ODataProvider
        var model: EntityDataModel { get async throws { try await base.model } }

        var traits: ProviderTraits { .standard }

        func execute(_ request: ODataRequest) async throws -> ODataResponse {
            var request = request
            request.repeatability = nil
            request.isUnidentified = true
            if case .batch(var items) = request.body {
                for index in items.indices {
                    items[index].request.repeatability = nil
                    items[index].request.isUnidentified = true
                }
                request.body = .batch(items)
            }
            return try await base.execute(request)
        }
    }

    private func hold(of error: (any Error)?) -> QueueHold? {
        if case .queueHeld(let hold)? = error as? OfflineError { hold } else { nil }
    }

    @Test("A copy with changes that the original has sent is held and creates nothing twice", arguments: Way.allCases)
    func copied(way: Way) async throws {
        let scene = try await Scene(way)
        var store = try await scene.clone()
        try await store.create("Products", Scene.product("Once"))
        try store.close()
        try scene.copy("a", to: "b")
        store = try await scene.open("a")
        #expect(try await store.changes.hold() == nil)
        #expect(try await store.upload().accepted.count == 1)
        try store.close()
        let copy = try await scene.open("b")
        let status = try await copy.observe.status()
        #expect(status.hold == QueueHold(reason: .otherFile, count: 1) && status.pending.count == 1)
        let refusal = await #expect(throws: OfflineError.self) { try await copy.upload() }
        #expect(hold(of: refusal)?.reason == .otherFile)
        await #expect(throws: OfflineError.self) { try await copy.sync() }
        #expect(try await copy.observe.status().pending.map(\.state) == [.pending])
        #expect(try await scene.products("Once") == 1)
        // Reading, downloading and editing still work.
        try await copy.download()
        try await copy.update("Products(1)", ["Stock": 7])
        #expect(try await copy.changes.hold()?.count == 2)
        try copy.close()
    }

    @Test("Changes that a copy sends on request get the first response if the service recognises repeats")
    func repeatedByCopy() async throws {
        let scene = try await Scene()
        let store = try await scene.clone()
        try await store.create("Products", Scene.product("Once"))
        try store.close()
        try scene.copy("a", to: "b")
        let original = try await scene.open("a")
        #expect(try await original.upload().accepted.count == 1)
        // The copy states a different time of first transmission.
        try await Task.sleep(for: .seconds(1.1))
        let copy = try await scene.open("b")
        var options = UploadOptions()
        options.fromCopy = true
        let report = try await copy.upload(options: options)
        #expect(report.accepted.count == 1 && report.failed.isEmpty)
        #expect(try await scene.products("Once") == 1)
        #expect(try await copy.rows("Products?$filter=Name eq 'Once'").count == 1)
        // From then on, the copy and the original are separate stores.
        for store in [copy, original] {
            try await store.create("Products", Scene.product("Later"))
            #expect(try await store.changes.hold() == nil)
            #expect(try await store.upload().accepted.count == 1)
            try store.close()
        }
        #expect(try await scene.products("Later") == 2)
    }

    @Test("After the service confirmed repeatable requests, a copy is not held and acts once")
    func confirmed() async throws {
        let scene = try await Scene()
        let store = try await scene.clone()
        try await store.create("Products", Scene.product("First"))
        #expect(try await store.upload().accepted.count == 1)
        try await store.changes.transaction { changes in
            try changes.create("Products", Scene.product("Once"))
            try changes.update("Products(1)", ["Stock": 5])
        }
        try await store.create("Products", Scene.product("Once more"))
        try store.close()
        try scene.copy("a", to: "b")
        for name in ["a", "b"] {
            let store = try await scene.open(name)
            #expect(try await store.changes.hold() == nil)
            let report = try await store.upload()
            #expect(report.failed.map(\.description) == [])
            #expect(report.accepted.count == 3)
            try await store.create("Products", Scene.product("Own"))
            #expect(try await store.upload().accepted.count == 1)
            try store.close()
        }
        #expect(try await scene.products("Once") == 1)
        #expect(try await scene.products("Once more") == 1)
        #expect(try await scene.products("Own") == 2)
    }

    @Test("If a proxy removes the fields of repeatable requests, a copy sends at most one change")
    func confirmationLost() async throws {
        let scene = try await Scene()
        let store = try await scene.clone()
        try await store.create("Products", Scene.product("First"))
        #expect(try await store.upload().accepted.count == 1)
        for number in 0..<3 { try await store.create("Products", Scene.product(.string("Change \(number)"))) }
        try store.close()
        try scene.copy("a", to: "b")
        let original = try await scene.open("a")
        #expect(try await original.upload().accepted.count == 3)
        let proxy = Proxy(base: try scene.client())
        var options = OfflineStore.Options()
        options.runtime.incarnations = IncarnationNotes(folder: scene.notes)
        let copy = try await OfflineStore.open(
            at: scene.path("b"), protection: .unencrypted, options: options, connect: { _, _ in proxy })
        let refusal = await #expect(throws: OfflineError.self) { try await copy.upload() }
        #expect(hold(of: refusal) == QueueHold(reason: .otherFile, count: 2))
        #expect(try await scene.shop.count("SELECT COUNT(*) FROM Products WHERE Name LIKE 'Change%'") <= 4)
    }

    @Test("A store that is moved or renamed on its volume is not held")
    func moved() async throws {
        let scene = try await Scene(.stripped)
        let store = try await scene.clone()
        try await store.create("Products", Scene.product("Moved"))
        try store.close()
        try FileManager.default.moveItem(atPath: scene.path("a"), toPath: scene.path("elsewhere"))
        let moved = try await scene.open("elsewhere")
        #expect(try await moved.changes.hold() == nil)
        #expect(try await moved.upload().accepted.count == 1)
    }

    @Test(
        "A store that is restored to an earlier state is held, in place or in another file",
        arguments: [true, false])
    func putBack(inPlace: Bool) async throws {
        let scene = try await Scene(.stripped)
        let store = try await scene.clone()
        try await store.create("Products", Scene.product("Once"))
        try store.close()
        let file = URL(fileURLWithPath: scene.path("a/store.db"))
        let backup = try Data(contentsOf: file)
        let again = try await scene.open("a")
        #expect(try await again.upload().accepted.count == 1)
        try again.close()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        if inPlace {
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: backup)
            try handle.close()
        } else {
            try backup.write(to: file, options: .atomic)
        }
        let restored = try await scene.open("a")
        let refusal = await #expect(throws: OfflineError.self) { try await restored.upload() }
        #expect(hold(of: refusal)?.reason == (inPlace ? .rolledBack : .otherFile))
        #expect(try await scene.products("Once") == 1)
        // After an undo, the store works as any other.
        try await restored.changes.undoAll()
        #expect(try await restored.changes.hold() == nil)
        try await restored.create("Products", Scene.product("Later"))
        try restored.close()
        let later = try await scene.open("a")
        #expect(try await later.changes.hold() == nil, "it was a store of its own when the change was made")
    }

    @Test(
        "A restored store that sends its queue becomes independent, and its backup is held"
    )
    func putBackTwice() async throws {
        let scene = try await Scene(.stripped)
        let store = try await scene.clone()
        try await store.create("Products", Scene.product("Twice"))
        try store.close()
        let file = URL(fileURLWithPath: scene.path("a/store.db"))
        let backup = try Data(contentsOf: file)
        var options = UploadOptions()
        for expected in [1, 2] {
            let store = try await scene.open("a")
            #expect(try await store.upload(options: options).accepted.count == 1)
            #expect(try await scene.products("Twice") == expected)
            try store.close()
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: backup)
            try handle.close()
            options.fromCopy = true
        }
        let third = try await scene.open("a")
        await #expect(throws: OfflineError.self) { try await third.upload() }
        #expect(try await scene.products("Twice") == 2)
    }

    @Test("A store that is copied to another device is held")
    func otherDevice() async throws {
        let scene = try await Scene(.stripped)
        let store = try await scene.clone()
        try await store.create("Products", Scene.product("Once"))
        try store.close()
        let other = try await scene.open("a", notes: scene.path("other-notes"))
        #expect(try await other.changes.hold()?.reason == .unknown)
        await #expect(throws: OfflineError.self) { try await other.upload() }
    }

    @Test("A copy without changes is independent as soon as it is opened")
    func emptyCopy() async throws {
        let scene = try await Scene(.stripped)
        try await scene.clone().close()
        try scene.copy("a", to: "b")
        for name in ["b", "a"] {
            let store = try await scene.open(name)
            try await store.create("Products", Scene.product("Own"))
            #expect(try await store.changes.hold() == nil)
            #expect(try await store.upload().accepted.count == 1)
            try store.close()
        }
        #expect(try await scene.products("Own") == 2)
    }

    @Test("A process that ends between counting and recording an upload leaves a usable store")
    func endedBetween() async throws {
        let scene = try await Scene(.stripped)
        let store = try await scene.clone()
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: scene.notes).first)
        let note = URL(fileURLWithPath: scene.notes).appendingPathComponent(name)
        let before = try Data(contentsOf: note)
        try await store.create("Products", Scene.product("First"))
        #expect(try await store.upload().accepted.count == 1)
        #expect(try Data(contentsOf: note) != before)
        try before.write(to: note)
        try await store.create("Products", Scene.product("Second"))
        #expect(try await store.upload().accepted.count == 1)
        try store.close()
        try FileManager.default.removeItem(at: note)
        let unknown = try await scene.open("a")
        try await unknown.create("Products", Scene.product("Third"))
        #expect(try await unknown.upload().accepted.count == 1, "its queue was empty")
    }

    @Test("A change gets its request id when it is made")
    func identification() async throws {
        let scene = try await Scene()
        let store = try await scene.clone()
        try await store.create("Products", Scene.product("Named"))
        let id = try #require(try await store.observe.status().pending.first?.requestID)
        #expect(try await store.observe.status().pending.first?.firstSent == nil)
        await scene.shop.wire.cut { _, _ in nil }
        #expect(try await store.upload().accepted.count == 1)
        let field = try #require(HTTPField.Name("Repeatability-Request-ID"))
        #expect(await scene.shop.wire.requests.compactMap { $0.headerFields[field] } == [id])
    }

    @Test("An app stores texts with a store and connects by them")
    func keptTexts() async throws {
        let scene = try await Scene()
        let store = try await scene.clone()
        try await store.setKeptText("tenant", to: "blue")
        try await store.setKeptText("other", to: "gone")
        try await store.setKeptText("other", to: nil)
        #expect(try await store.keptTexts() == ["tenant": "blue"])
        try store.close()
        let again = try await OfflineStore.open(
            at: scene.path("a"), protection: .unencrypted,
            connecting: { basis in
                #expect(basis.texts == ["tenant": "blue"] && basis.serviceRoot == Shop.serviceRoot)
                return nil
            })
        try again.close()
    }
}
