import Foundation
import ODataModel
import ODataQuery
import OfflineOData
import Testing

@Suite("Several users on one device")
struct UserSwitchTests {
    @Test("The first user and an unchanged user change nothing")
    func firstUser() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        #expect(try await store.users.current() == nil)
        #expect(try await !store.users.switch(to: "ada"))
        #expect(try await store.users.current() == "ada")
        #expect(try await !store.users.switch(to: "ada"))
        try await shop.expectEqual(store)
    }

    @Test("Another user finds no rows of the previous one, and a download fills the store")
    func removal() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.users.switch(to: "ada")
        #expect(try await store.users.switch(to: "ben"))
        #expect(try await store.users.current() == "ben")
        for set in store.serviceModel.container.entitySets {
            #expect(try await store.rows(set.name).isEmpty, "\(set.name)")
        }
        let status = try await store.observe.status()
        #expect(status.queries.allSatisfy { !$0.isLoaded && !$0.hasDeltaLink && $0.rows == 0 })
        #expect(try await store.observe.events().count == 1)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("A store without its user has no rows, and the next user is a first one")
    func removedUser() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        #expect(try await !store.users.remove(), "the store has no user yet")
        try await shop.expectEqual(store)
        try await store.users.switch(to: "ada")
        try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(9))])
        await #expect(throws: UserSwitchError.self) { try await store.users.remove() }
        #expect(try await store.users.current() == "ada")
        #expect(try await store.users.remove(pending: .discard))
        #expect(try await store.users.current() == nil)
        #expect(try await store.rows("Orders").isEmpty)
        #expect(try await !store.users.switch(to: "ben"))
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("Removed data are in no file of the store any more")
    func overwritten() async throws {
        let shop = try await Shop()
        try await shop.sql("UPDATE Customers SET CompanyName = 'MARKER-OF-ADA' WHERE CustomerID = 'C0001'")
        let store = try await shop.clone()
        for set in ["Customers", "Products", "Employees"] { try await store.indexes.createSearch(on: set) }
        try await store.users.switch(to: "ada")
        func leaks() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: store.directory).filter { name in
                let data = try Data(contentsOf: URL(fileURLWithPath: store.directory + "/" + name))
                // Search indexes contain lower-case words.
                return ["MARKER-OF-ADA", "marker"].contains { data.range(of: Data($0.utf8)) != nil }
            }
        }
        #expect(try !leaks().isEmpty)
        try await store.users.switch(to: "ben")
        #expect(try leaks() == [])
    }

    @Test("With pending changes and no instruction, the store stays with the previous user")
    func refused() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.users.switch(to: "ada")
        try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(9))])
        let error = await #expect(throws: UserSwitchError.self) { try await store.users.switch(to: "ben") }
        #expect(error?.code == -10_425)
        #expect(error?.previousUser == "ada")
        #expect(try await store.users.current() == "ada")
        #expect(try await store.observe.status().pending.count == 1)
        #expect(try await store.users.switch(to: "ben", pending: .discard))
        #expect(try await store.observe.status().pending.isEmpty)
    }

    @Test("Drafts and other local data are not lost without a request", arguments: [true, false])
    func localEntities(isDraft: Bool) async throws {
        let shop = try await Shop()
        let store = try await shop.store(options: try ClientOnlyTests.options())
        try await store.download()
        try await store.users.switch(to: "ada")
        if isDraft {
            try await store.drafts.make(of: ODataURL(parsing: "Products(1)"))
        } else {
            try await store.create("Filters", ["Name": "mine"])
        }
        for pending in [PendingChanges.refuse, .upload(through: try shop.client())] {
            let error = await #expect(throws: UserSwitchError.self) {
                try await store.users.switch(to: "ben", pending: pending)
            }
            guard case .localEntitiesRemain("ada", 1)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.code == -10_425)
        }
        #expect(try await store.users.current() == "ada")
        #expect(try await store.rows(isDraft ? "ProductDrafts" : "Filters").count == 1)
        #expect(try await store.users.switch(to: "ben", pending: .discard))
        #expect(try await store.rows(isDraft ? "ProductDrafts" : "Filters").isEmpty)
    }

    @Test("Changes are sent as the previous user, and then the store belongs to the new one")
    func forcedUpload() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.users.switch(to: "ada")
        try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(9))])
        let sent = LockedList()
        let asAda = Gateway(
            base: try shop.client(),
            before: { request in
                sent.append(request)
                return nil
            })
        #expect(try await store.users.switch(to: "ben", pending: .upload(through: asAda)))
        #expect(sent.requests.map(\.url.description) == ["Orders(1001)"], "not over the connection of the store")
        #expect(try await shop.count("SELECT Freight = 9 FROM Orders WHERE OrderID = 1001") == 1)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("Changes are sent with the options of the store")
    func forcedUploadOptions() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.service.contentIDLocation = .operation
        options.sync.populatesGeneratedValuesEarly = true
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.users.switch(to: "ada")
        try await store.changes.transaction { changes in
            try changes.update("Products(1)", ["Stock": 4711])
            try changes.update("Products(2)", ["Stock": 4712])
        }
        try await store.changes.provider(with: ChangeOptions(prefersNoContent: true)).update(
            "Products(3)", ["Stock": 4713])
        let sent = LockedList()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                sent.append(request)
                return nil
            })
        #expect(try await store.users.switch(to: "ben", pending: .upload(through: service)))
        let ids = sent.requests.flatMap { request -> [String?] in
            guard case .batch(let items) = request.body else { return [] }
            return items.map { $0.request.headers["Content-ID"] }
        }
        #expect(ids == ["1", "2"])
        #expect(sent.requests.contains { $0.method == .read }, "what came of the one without an answer")
    }

    @Test("Responses are read with the options of the store, for example without offsets")
    func forcedUploadOffsets() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.service.assumedOffset = 0
        let sloppy = SloppyTransport(base: shop.wire)
        let store = try await shop.store(
            [DefiningQuery(entitySet: "Orders")], options: options, through: try shop.client(over: sloppy))
        try await store.download()
        try await store.users.switch(to: "ada")
        try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(9))])
        #expect(try await store.users.switch(to: "ben", pending: .upload(through: shop.client(over: sloppy))))
        #expect(try await shop.count("SELECT Freight = 9 FROM Orders WHERE OrderID = 1001") == 1)
    }

    @Test("-10425: expired changes prevent a change of user")
    func forcedUploadExpired() async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.sync.localChangeExpiry = .seconds(-1)
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.users.switch(to: "ada")
        try await store.update("Products(1)", ["Stock": 4711])
        let error = await #expect(throws: UserSwitchError.self) {
            try await store.users.switch(to: "ben", pending: .upload(through: shop.client()))
        }
        #expect(error?.code == -10_425)
        #expect(try await store.users.current() == "ada")
        #expect(try await store.observe.status().failed.map { $0.failure?.code } == ["Expired"])
        #expect(try await shop.count("SELECT COUNT(*) FROM Products WHERE Stock = 4711") == 0)
    }

    @Test("-10425: a failed forced upload keeps the previous user with rows and changes")
    func forcedUploadFails() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.users.switch(to: "ada")
        try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(9))])
        await shop.wire.cut { _, _ in .lostOnTheWay }
        let error = await #expect(throws: UserSwitchError.self) {
            try await store.users.switch(to: "ben", pending: .upload(through: shop.client()))
        }
        #expect(error?.code == -10_425)
        #expect(error?.previousUser == "ada")
        #expect(try await store.users.current() == "ada")
        #expect(try await store.observe.status().pending.map(\.entityText) == ["Orders(1001)"])
        #expect(try await store.rows("Orders(1001)").first?["Freight"] == .decimal(ODataDecimal(9)))
        for set in store.serviceModel.container.entitySets {
            let theirs = try await shop.database.rows(set.name).count
            #expect(try await store.rows(set.name).count == theirs, "\(set.name)")
        }
        await shop.wire.mend()
        #expect(try await store.upload().accepted.count == 1)
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("-10425: a refused change prevents a change of user")
    func refusedChange() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.users.switch(to: "ada")
        try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(9))])
        try await shop.sql("UPDATE Orders SET Freight = 7 WHERE OrderID = 1001")
        let error = await #expect(throws: UserSwitchError.self) {
            try await store.users.switch(to: "ben", pending: .upload(through: shop.client()))
        }
        guard case .uploadFailed(_, let remaining, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.code == -10_425)
        #expect(remaining == 1)
        #expect(try await store.users.current() == "ada")
        #expect(try await store.observe.status().failed.count == 1)
    }

    @Test("A store for each user has an unreadable name, and one is removed without the other")
    func storePerUser() async throws {
        let shop = try await Shop()
        let stores = UserStores(directory: shop.directory.appendingPathComponent("users").path)
        let (ada, ben) = (stores.directory(ofUser: "ada@example.org"), stores.directory(ofUser: "ben@example.org"))
        #expect(ada != ben)
        #expect(!ada.contains("ada@"))
        for directory in [ada, ben] {
            try await OfflineStore.create(
                at: directory, protection: .unencrypted, serviceRoot: Shop.serviceRoot, remote: shop.client()
            ).close()
        }
        #expect(stores.contains("ada@example.org"))
        try stores.remove("ada@example.org")
        try stores.remove("ada@example.org")
        #expect(!stores.contains("ada@example.org"))
        #expect(!FileManager.default.fileExists(atPath: ada), "nothing says that there was one")
        #expect(stores.contains("ben@example.org"))
    }

    @Test("A store that is being synchronised cannot be removed and stays complete")
    func removalWhileSyncing() async throws {
        let shop = try await Shop()
        let stores = UserStores(directory: shop.directory.appendingPathComponent("users").path)
        let directory = stores.directory(ofUser: "ada@example.org")
        try await OfflineStore.create(
            at: directory, protection: .unencrypted, serviceRoot: Shop.serviceRoot, remote: shop.client()
        ).close()
        let lock = try FileLock(path: directory + "/sync.lock")
        func isBusy(_ remove: () throws -> Void) -> Bool {
            do {
                try remove()
                return false
            } catch {
                if case OfflineError.busy = error { return true }
                return false
            }
        }
        let byUser = isBusy { try stores.remove("ada@example.org") }
        let byDirectory = isBusy { try OfflineStore.remove(at: directory) }
        #expect(byUser && byDirectory)
        let store = try await OfflineStore.open(at: directory, protection: .unencrypted)
        #expect(try await store.queries.all().isEmpty == false)
        try store.close()
        lock.release()
        try stores.remove("ada@example.org")
        #expect(!FileManager.default.fileExists(atPath: directory))
    }
}
