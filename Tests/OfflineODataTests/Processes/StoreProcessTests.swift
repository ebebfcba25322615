import Foundation
import ODataQuery
import ODataSQL
import OfflineOData
import Secrets
import Testing

/// The executable `StoreProbe`, which is built beside the tests.
private struct Probe {
    let process = Process()
    private let output = Pipe()

    init(_ site: SharedStore, _ arguments: String...) throws {
        process.executableURL = Executables.url("StoreProbe")
        process.arguments = [site.store.directory, site.keyFile ?? "-"] + arguments
        process.standardOutput = output
        try process.run()
    }

    /// Returns the output since the last call, at least one byte; empty after the end.
    func read() -> String { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }

    /// Returns the remaining output until the process ends.
    func finish() throws -> String {
        let rest = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: rest, as: UTF8.self)
    }

    func kill() throws -> String {
        Foundation.kill(process.processIdentifier, SIGKILL)
        return try finish()
    }
}

/// A downloaded store that several processes use.
private struct SharedStore {
    let store: OfflineStore
    let protection: StoreProtection
    /// The file from which other processes read the key; `nil` for an unencrypted store.
    let keyFile: String?

    init(_ shop: Shop, isEncrypted: Bool) async throws {
        if isEncrypted {
            let file = shop.directory.appendingPathComponent("key")
            try Data(KeyFile.content(for: .generate()).reveal()).write(to: file)
            keyFile = file.path
            protection = .encrypted(try KeySource(keyFile: file.path, allowsExposed: true))
        } else {
            keyFile = nil
            protection = .unencrypted
        }
        store = try await OfflineStore.create(
            at: shop.directory.appendingPathComponent("shared").path, protection: protection,
            serviceRoot: Shop.serviceRoot, remote: shop.client())
        try await store.download()
    }
}

@Suite("A store of several processes (rule 10)", .serialized)
struct StoreProcessTests {
    @Test(
        "Processes that edit while another synchronises and observes lose nothing", Patience.limit,
        arguments: [false, true])
    func edits(isEncrypted: Bool) async throws {
        let shop = try await Shop()
        let shared = try await SharedStore(shop, isEncrypted: isEncrypted)
        let store = shared.store
        let query = try ODataURL(parsing: "Customers?$filter=startswith(CustomerID,'P')&$orderby=CustomerID")
        var results = store.observe.results(of: query).makeAsyncIterator()
        #expect(try await results.next()?.isEmpty == true)
        let probes = try ["PA", "PB"].map { try Probe(shared, "edit", $0, "15") }
        var seen = 0
        while seen < 30 {
            seen = try await results.next()?.count ?? .max
            try await store.update("Products(5)", ["Stock": .integer(Int64(seen))])
            try await store.sync()
        }
        for probe in probes {
            #expect(try probe.finish().split(separator: "\n").count == 15)
            #expect(probe.process.terminationStatus == 0)
        }
        try await store.sync()
        #expect(try await shop.count("SELECT COUNT(*) FROM Customers WHERE CustomerID LIKE 'P%'") == 30)
        try await shop.expectEqual(store)
    }

    @Test(
        "Of several processes that create one store, one succeeds and nobody removes it",
        Patience.limit,
        arguments: [false, true])
    func creating(hasPassphrase: Bool) async throws {
        let shop = try await Shop()
        let path = shop.directory.appendingPathComponent("contested").path
        let client = try shop.client()
        let protection: StoreProtection =
            hasPassphrase ? .encrypted(.passphrase(Secret("correct horse"))) : .unencrypted
        let made = try await withThrowingTaskGroup(of: OfflineStore?.self) { group in
            for _ in 1...4 {
                group.addTask {
                    do {
                        return try await OfflineStore.create(
                            at: path, protection: protection, serviceRoot: Shop.serviceRoot, remote: client)
                    } catch OfflineError.storeExists, OfflineError.busy {
                        return nil
                    }
                }
            }
            var made: [OfflineStore] = []
            for try await store in group { if let store { made.append(store) } }
            return made
        }
        #expect(made.count == 1)
        let store = try #require(made.first)
        try await store.download()
        try await store.update("Products(1)", ["Stock": 4711])
        try store.close()
        let again = try await OfflineStore.open(at: path, protection: protection)
        #expect(try await again.observe.status().pending.count == 1)
    }

    @Test(
        "A process that reopens a store, or may not create it, uses the same store as the others",
        Patience.limit, arguments: [false, true])
    func openedTwice(isEncrypted: Bool) async throws {
        let shop = try await Shop()
        let shared = try await SharedStore(shop, isEncrypted: isEncrypted)
        let (store, directory) = (shared.store, shared.store.directory)
        let second = try await OfflineStore.open(at: directory, protection: shared.protection)
        try second.close()
        await #expect(throws: OfflineError.self) {
            _ = try await OfflineStore.create(
                at: directory, protection: shared.protection, serviceRoot: Shop.serviceRoot, remote: shop.client())
        }
        // This process has the store open, so the other process must not delete the log at its end.
        #expect(try Probe(shared, "edit", "X", "1").finish() == "1\n")
        try await store.update("Products(5)", ["Stock": 4711])
        #expect(FileManager.default.fileExists(atPath: directory + "/store.db-wal"))
        #expect(try Probe(shared, "edit", "Y", "1").finish() == "1\n")
        #expect(try await store.observe.status().pending.count == 3)
        let copy = shop.directory.appendingPathComponent("copy")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        for name in ["store.db", "store.db-wal"] {
            try FileManager.default.copyItem(atPath: directory + "/" + name, toPath: copy.path + "/" + name)
        }
        let fresh = try await OfflineStore.open(at: copy.path, protection: shared.protection)
        #expect(try await fresh.rows("Products(5)").first?["Stock"] == 4711)
        #expect(try await fresh.observe.status().pending.count == 3)
    }

    @Test("A store that another process has open is not repaired from its pages", Patience.limit)
    func salvaging() async throws {
        let shop = try await Shop()
        let shared = try await SharedStore(shop, isEncrypted: true)
        try shared.store.close()
        let probe = try Probe(shared, "edit", "S", "100000")
        _ = probe.read()
        await #expect(throws: StoreError.locked) {
            _ = try await OfflineStore.salvage(at: shared.store.directory, protection: shared.protection)
        }
        let committed = try probe.kill().split(separator: "\n").count
        let report = try await OfflineStore.salvage(
            at: shared.store.directory, protection: shared.protection)
        #expect(report.savedChanges >= committed)
        #expect(report.losses == [:])
    }

    @Test("A store that another process has open is not removed", Patience.limit, arguments: [false, true])
    func removing(isEncrypted: Bool) async throws {
        let shop = try await Shop()
        let shared = try await SharedStore(shop, isEncrypted: isEncrypted)
        let directory = shared.store.directory
        try shared.store.close()
        let probe = try Probe(shared, "edit", "R", "100000")
        _ = probe.read()
        #expect {
            try OfflineStore.remove(at: directory)
        } throws: { error in
            guard case OfflineError.stillOpen(directory) = error else { return false }
            return true
        }
        _ = try probe.kill()
        #expect(OfflineStore.exists(at: directory))
        try OfflineStore.remove(at: directory)
        #expect(!OfflineStore.exists(at: directory))
    }

    @Test(
        "A process that is killed during edits leaves every confirmed edit", Patience.limit,
        arguments: [false, true])
    func killed(isEncrypted: Bool) async throws {
        let shop = try await Shop()
        let shared = try await SharedStore(shop, isEncrypted: isEncrypted)
        let store = shared.store
        var committed = 0
        for round in 1...3 {
            let probe = try Probe(shared, "edit", "K\(round)", "10000")
            var text = ""
            while text.split(separator: "\n").count < 5 * round { text += probe.read() }
            text += try probe.kill()
            // The last line may be incomplete.
            committed += text.split(separator: "\n").count - (text.last == "\n" ? 0 : 1)
            let pending = try await store.observe.status().pending.count
            #expect(pending >= committed && pending <= committed + round, "an edit is whole or not there")
        }
        try store.close()
        #expect(try await OfflineStore.verify(at: store.directory, protection: shared.protection).isWhole)
    }

    @Test(
        "A second synchronising process is told the first one, and may continue when that one was killed",
        Patience.limit,
        arguments: [false, true])
    func synchronising(isEncrypted: Bool) async throws {
        let shop = try await Shop()
        let shared = try await SharedStore(shop, isEncrypted: isEncrypted)
        let store = shared.store
        let probe = try Probe(shared, "sync")
        #expect(probe.read().hasPrefix("syncing"))
        await #expect {
            try await store.sync()
        } throws: { error in
            guard case OfflineError.busy(let process) = error else { return false }
            return process == probe.process.processIdentifier
        }
        // Reading and editing still work.
        try await store.update("Products(5)", ["Stock": 77])
        #expect(try await store.rows("Products(5)").first?["Stock"] == 77)
        _ = try probe.kill()
        try await store.sync()
        try await shop.expectEqual(store)
    }
}
