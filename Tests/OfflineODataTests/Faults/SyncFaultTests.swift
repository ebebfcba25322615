import EncryptedSQLite
import FaultInjection
import Foundation
import ODataModel
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

/// A store on a disk and a wire that fail, at work: made, downloaded, edited, synced, edited and synced again.
private struct SyncScenario {
    let shop: Shop
    let key: EncryptionKey
    let directory: String
    let disk: FaultDisk
    /// The edits that were acknowledged: each must reach the service.
    private(set) var acknowledged: [Edit] = []
    /// The edits that failed, or were under way when it ended: each may.
    private(set) var doubtful: [Edit] = []
    private var store: OfflineStore?
    private var goesOn = false
    private(set) var failure: (any Error)?
    /// How many messages went over the wire.
    private(set) var messages = 0

    /// A change that can be found again at the service.
    struct Edit: Sendable {
        var name: String
        var apply: @Sendable (OfflineStore) async throws -> Void
        /// Counts what the change made; once is right.
        var count: String
        /// What it does at the service, as the triggers there write it down: each once. What is put twice in one place leaves
        /// nothing else to count.
        var acts: [String]
    }

    /// SQL of the triggers that write down what acts. Nobody serves the table, whose name begins as those of the product's own.
    private static let triggers = """
        CREATE TABLE outpost_acts(what TEXT NOT NULL);
        CREATE TRIGGER outpost_acts_customer AFTER INSERT ON Customers BEGIN
            INSERT INTO outpost_acts VALUES ('create ' || NEW.CustomerID); END;
        CREATE TRIGGER outpost_acts_city AFTER UPDATE ON Customers BEGIN
            INSERT INTO outpost_acts VALUES ('update ' || NEW.CustomerID || ' to ' || COALESCE(NEW.City, '')); END;
        CREATE TRIGGER outpost_acts_order AFTER INSERT ON Orders BEGIN
            INSERT INTO outpost_acts VALUES ('order ' || CAST(NEW.Freight AS INTEGER)); END;

        """

    private static func create(_ key: String) -> Edit {
        Edit(
            name: "create \(key)",
            apply: {
                try await $0.create(
                    "Customers", ["CustomerID": .string(key), "CompanyName": "New", "Country": "Norway"])
            },
            count: "SELECT COUNT(*) FROM Customers WHERE CustomerID = '\(key)'",
            acts: ["create \(key)"])
    }

    private static func order(_ freight: Int) -> Edit {
        Edit(
            name: "order \(freight)",
            apply: {
                try await $0.create(
                    "Orders",
                    [
                        "CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000)),
                        "Freight": .decimal(ODataDecimal(Int64(freight))),
                    ])
            },
            count: "SELECT COUNT(*) FROM Orders WHERE Freight = \(freight)", acts: ["order \(freight)"])
    }

    private static func update(_ number: Int, _ city: String) -> Edit {
        Edit(
            name: "update \(number) \(city)",
            apply: { try await $0.update("Customers('C000\(number)')", ["City": .string(city)]) },
            count: "SELECT COUNT(*) FROM Customers WHERE City = '\(city)'",
            acts: ["update C000\(number) to \(city)"])
    }

    /// An update of what somebody else changes before it is sent, and which wins.
    private static let contested = update(5, "Mine")

    /// Two changes that are made together.
    private static func pair(_ key: String, _ city: String) -> Edit {
        Edit(
            name: "pair \(key) \(city)",
            apply: { store in
                try await store.changes.transaction { changes in
                    try changes.create(
                        "Customers",
                        ["CustomerID": .string(key), "CompanyName": .string(city), "Country": .string("Norway")])
                    try changes.update("Customers('C0004')", ["City": .string(city)])
                }
            },
            count: """
                SELECT COUNT(*) FROM Customers AS a, Customers AS b
                WHERE a.CustomerID = '\(key)' AND a.CompanyName = '\(city)' AND b.City = '\(city)'
                """, acts: ["create \(key)", "update C0004 to \(city)"])
    }

    private static let rounds: [[Edit]] = [
        [create("FAULT1"), update(2, "First"), order(7001)],
        [order(7002), create("FAULT2"), update(3, "Second"), contested, pair("FAULT3", "Third")],
    ]

    private static let oneOfEach = [
        create("FAULT1"), update(2, "First"), order(7001), contested, pair("FAULT3", "Third"),
    ]

    /// How much there is to do.
    enum Size {
        /// Every table of the shop, and two rounds of edits.
        case whole
        /// Customers, their orders and who took them, and one round with an edit of each kind: of that there are many runs.
        case small

        var rounds: [[Edit]] {
            switch self {
            case .whole: SyncScenario.rounds
            case .small: [SyncScenario.oneOfEach]
            }
        }

        /// SQL that makes the shop so small.
        var tables: String {
            switch self {
            case .whole: SyncScenario.fewRows + SyncScenario.triggers
            case .small: SyncScenario.fewRows + SyncScenario.fewTables + SyncScenario.triggers
            }
        }
    }

    /// What fails does not depend on how much there is, and there are many runs.
    private static let fewRows = """
        DELETE FROM "Order Lines" WHERE OrderID > 1003; DELETE FROM Orders WHERE OrderID > 1006;
        DELETE FROM Products WHERE ProductID > 3 AND ProductID NOT IN (SELECT ProductID FROM "Order Lines");
        DELETE FROM Customers WHERE CustomerID > 'C0006' AND CustomerID NOT IN (SELECT CustomerID FROM Orders);

        """

    /// Nobody orders anything here, so that what is ordered need not be there.
    private static let fewTables = #"DROP TABLE "Order Lines"; DROP TABLE Products; DROP TABLE Categories;"#

    /// How often something is tried again when the way to the service failed: each fault of the wire happens once.
    private static let tries = 10

    /// Runs until the first error that is not of the wire, or to the end. After a sync that failed, it goes on in the store as it
    /// is, as an app does that tells its user: what is acknowledged later must not stand on what was lost. That store stays open
    /// until ``close()``.
    ///
    /// - Parameter wire: what happens to which messages, by their numbers.
    static func run(
        _ fault: Fault?, _ size: Size = .whole, wire: [Int: Wire.Fault] = [:]
    ) async throws -> SyncScenario {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        let shop = try await Shop(with: size.tables)
        // Nothing is synced in truth, so that it may lie where no disk is behind it.
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        let directory = (isThere ? memory : FileManager.default.temporaryDirectory)
            .appendingPathComponent("outpost-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var scenario = SyncScenario(
            shop: shop, key: .generate(), directory: directory, disk: try FaultDisk(folder: directory))
        if let fault { scenario.disk.break(fault) }
        if case .failedSync? = fault { scenario.goesOn = true }
        await shop.wire.cut { number, _ in wire[number] }
        do {
            try await scenario.work(size.rounds)
        } catch {
            scenario.failure = error
        }
        if !scenario.goesOn { scenario.close() }
        scenario.messages = await shop.wire.requests.count
        await shop.wire.mend()
        try await shop.wire.deliverLate()
        return scenario
    }

    private mutating func work(_ rounds: [[Edit]]) async throws {
        let store = try await overWire {
            try await OfflineStore.create(
                at: directory, protection: .encrypted(.key(key)), serviceRoot: Shop.serviceRoot, remote: shop.client(),
                options: storeOptions)
        }
        self.store = store
        try await overWire { try await store.download() }
        for (number, edits) in rounds.enumerated() {
            for edit in edits {
                doubtful.append(edit)
                do {
                    try await edit.apply(store)
                } catch {
                    guard goesOn else { throw error }
                    continue
                }
                doubtful.removeLast()
                acknowledged.append(edit)
            }
            // Others work too, on what is edited here as well.
            try await shop.sql("UPDATE Customers SET City = 'Theirs \(number)' WHERE CustomerID = 'C0005'")
            try await overWire { try await store.sync(options: Self.options) }
        }
    }

    /// Whoever has edited here wins.
    private static let options = UploadOptions(conflictPolicy: .clientWins)

    /// Closes the store, as far as that can be.
    mutating func close() {
        try? store?.close()
        store = nil
    }

    @discardableResult
    private func overWire<Value>(_ body: () async throws -> Value) async throws -> Value {
        for _ in 1..<Self.tries {
            do {
                return try await body()
            } catch let error as StoreError where !goesOn || store == nil {
                throw error
            } catch {
                guard !disk.isOver else { throw error }
            }
        }
        return try await body()
    }

    /// Opens the store that is in a directory.
    func open(at directory: String) async throws -> OfflineStore {
        let client = try shop.client()
        return try await OfflineStore.open(
            at: directory, protection: .encrypted(.key(key)), options: storeOptions, connect: { _, _ in client })
    }

    /// The disk of a machine that starts again has the same files, wherever they are here.
    private var storeOptions: OfflineStore.Options {
        var options = OfflineStore.Options()
        options.runtime.incarnations = IncarnationNotes(folder: shop.directory.appendingPathComponent("notes").path) {
            _ in
            StoreFileIdentity(volume: "disk", file: 1)
        }
        return options
    }

    /// The store in a directory goes on, and both sides have every change once.
    ///
    /// - Parameter wire: what happens to which messages of its first synchronisation, by their numbers.
    func finish(at directory: String, wire: [Int: Wire.Fault] = [:], _ what: Comment) async throws {
        let store: OfflineStore
        do {
            store = try await open(at: directory)
        } catch {
            // Before the store was made there is none, and it can be made in the same place; afterwards there is.
            let wasMade = !acknowledged.isEmpty || !doubtful.isEmpty
            #expect(!wasMade, "\(error) \(what)")
            try await OfflineStore.create(
                at: directory, protection: .encrypted(.key(key)), serviceRoot: Shop.serviceRoot, remote: shop.client()
            ).close()
            return
        }
        if !wire.isEmpty {
            await shop.wire.cut { number, _ in wire[number] }
            // Whether it ends well or not: the next one makes up for what failed.
            _ = try? await store.sync(options: Self.options)
            await shop.wire.mend()
            try await shop.wire.deliverLate()
        }
        try await store.sync(options: Self.options)
        try await shop.expectEqual(store)
        for edit in acknowledged {
            let count = try await shop.count(edit.count)
            #expect(count == 1, "\(edit.name) is there \(count) times \(what)")
            let acts = try await acts(of: edit)
            #expect(acts.allSatisfy { $0 == 1 }, "\(edit.name) acted \(acts) times \(what)")
        }
        for edit in doubtful {
            let count = try await shop.count(edit.count)
            #expect(count <= 1, "\(edit.name) is there \(count) times \(what)")
            // What is made together acts together.
            let acts = try await acts(of: edit)
            #expect(Set(acts).count == 1 && acts.allSatisfy { $0 <= 1 }, "\(edit.name) acted \(acts) times \(what)")
        }
        try store.close()
        #expect(try await OfflineStore.verify(at: directory, protection: .encrypted(.key(key))).isWhole, what)
    }

    /// How often the service did each of what a change does.
    private func acts(of edit: Edit) async throws -> [Int] {
        var counts: [Int] = []
        for act in edit.acts {
            counts.append(try await shop.count("SELECT COUNT(*) FROM outpost_acts WHERE what = '\(act)'"))
        }
        return counts
    }

    /// Whether the service did what was contested on top of what somebody else had done.
    func isContested() async throws -> Bool {
        try await shop.count(
            """
            SELECT COUNT(*) FROM outpost_acts AS mine, outpost_acts AS theirs
            WHERE mine.what = 'update C0005 to Mine' AND theirs.what LIKE 'update C0005 to Theirs %'
                AND mine.rowid > theirs.rowid
            """) > 0
    }

    /// After syncs that lied and a power failure, the store in a directory is whole and goes on, or its damage is named; that
    /// nothing is lost is not claimed (rule 4).
    ///
    /// What is found whole is the store of one moment, which must go on. A log is read up to the first frame that lacks
    /// something; a database that pages were moved into has either all of them, or none, or such as lack sectors, and those are
    /// damages.
    func expectWholeOrNamed(at directory: String, _ what: Comment) async {
        do {
            let found = try await OfflineStore.verify(at: directory, protection: .encrypted(.key(key)))
            guard found.isWhole else { return }
        } catch {
            let isTyped = error is StoreError || error is OfflineError
            #expect(isTyped, "\(type(of: error)): \(error) \(what)")
            return
        }
        do {
            let store = try await open(at: directory)
            defer { try? store.close() }
            _ = try await store.observe.status()
            do {
                try await store.sync(options: Self.options)
            } catch OfflineError.queueHeld(let hold) {
                // Such a disk has put the store back to an earlier moment, which the store knows.
                #expect(hold.reason == .rolledBack, what)
                var options = Self.options
                options.fromCopy = true
                try await store.sync(options: options)
            }
            for set in ["Customers", "Orders"] { _ = try await store.rows(set) }
        } catch {
            Issue.record("whole, and yet \(type(of: error)): \(error) \(what)")
        }
    }

    func remove() {
        try? EncryptedDatabase.lock(at: directory + "/store.db")
        try? FileManager.default.removeItem(atPath: directory)
    }
}

@Suite("On a disk and a wire that fail, a store loses no change and doubles none")
struct SyncFaultTests {
    /// `OUTPOST_FAULTS`: how many seeded runs with a fault each, or `all` for every fault at every operation and every
    /// message. `.ci/run` wants 300.
    private static let wanted = ProcessInfo.processInfo.environment["OUTPOST_FAULTS"] ?? "24"

    /// What goes wrong with the disk at one operation.
    enum DiskFault: CaseIterable, Sendable {
        case crash
        case shortWrite
        case failedSync
        /// Syncs lie from there on, and some operations later the power fails.
        case lyingSync
        case diskFull

        func fault(at number: Int) -> Fault {
            switch self {
            case .crash: .crash(at: number)
            case .shortWrite: .shortWrite(at: number)
            case .failedSync: .failedSync(at: number)
            // Soon after it and long after it, as the number has it; at the latest when all is done.
            case .lyingSync: .lyingSync(from: number, crashAt: number + 1 + number * 7 % 61)
            case .diskFull: .diskFull(from: number)
            }
        }
    }

    /// What a run may find after the power has failed: all of it when every fault is wanted, else one, as the seed has it.
    private static func remains(_ seed: UInt64) -> [Remains] {
        let all = [Remains.nothing, .everything, .sectors(seed: seed)]
        return wanted == "all" ? all : [all[Int(seed % 3)]]
    }

    /// Runs and checks, once for everything that may be left.
    ///
    /// - Returns: how many faults of the disk happened.
    @discardableResult
    private func check(
        _ fault: Fault?, _ size: SyncScenario.Size = .whole, wire: [Int: Wire.Fault] = [:],
        later: [Int: Wire.Fault] = [:], seed: UInt64
    ) async throws -> Int {
        guard let fault else { return try await check(nil, size, wire: wire, .everything, seed: seed) }
        var fired = 0
        for remains in Self.remains(seed) {
            fired += try await check(fault, size, wire: wire, later: later, remains, seed: seed)
        }
        return fired
    }

    /// - Parameters:
    ///   - wire: what happens to which messages until the disk fails, by their numbers.
    ///   - later: the same of the messages of the first synchronisation after the power has failed.
    private func check(
        _ fault: Fault?, _ size: SyncScenario.Size, wire: [Int: Wire.Fault] = [:], later: [Int: Wire.Fault] = [:],
        _ remains: Remains, seed: UInt64
    ) async throws -> Int {
        var scenario = try await SyncScenario.run(fault, size, wire: wire)
        defer { scenario.remove() }
        let fired = scenario.disk.fired.count
        let ending = scenario.failure.map { "\($0)" } ?? "itself"
        let what: Comment = "\(String(describing: fault)), \(wire), \(later), \(remains), ended by \(ending)"
        #expect(fault != nil || scenario.failure == nil, what)
        // A message that never came would have met nothing.
        for number in wire.keys { #expect(scenario.messages >= number, what) }
        scenario.disk.mend()
        let after = scenario.directory + "-after"
        defer {
            try? EncryptedDatabase.lock(at: after + "/store.db")
            try? FileManager.default.removeItem(atPath: after)
        }
        switch fault {
        case .lyingSync?:
            try scenario.disk.restart(into: after, with: remains)
            await scenario.expectWholeOrNamed(at: after, what)
        case .failedSync? where remains != .everything:
            // It has gone on, and then the power fails: what the sync was to make durable may be gone for good.
            try scenario.disk.restart(into: after, with: remains)
            scenario.close()
            try await scenario.finish(at: after, wire: later, what)
        case _ where scenario.disk.isOver:
            try scenario.disk.restart(into: after, with: remains)
            try await scenario.finish(at: after, wire: later, what)
        default:
            // The disk was full or a sync failed: the store is opened as it is, and goes on.
            scenario.close()
            try await scenario.finish(at: scenario.directory, what)
        }
        return fired
    }

    /// Checks a fault at one of so many operations of a run without faults, and that it happened.
    private func check(
        _ fault: DiskFault, at number: Int, of operations: Int, _ size: SyncScenario.Size = .whole,
        later: [Int: Wire.Fault] = [:], seed: UInt64
    ) async throws {
        let fired = try await check(fault.fault(at: number), size, later: later, seed: seed)
        // Behind the middle, nothing may be written or synced any more, and nothing need grow at all.
        guard number <= operations / 2, fault != .diskFull else { return }
        #expect(fired == Self.remains(seed).count, "\(fault) at \(number) of \(operations)")
    }

    @Test("Without a fault, the scenario has every change once")
    func control() async throws {
        let whole = try await SyncScenario.run(nil)
        defer { whole.remove() }
        #expect(whole.failure == nil)
        #expect(whole.acknowledged.count == 8)
        #expect(whole.doubtful.isEmpty)
        #expect(try await whole.isContested())
        #expect(whole.disk.fired == [])
        #expect(whole.disk.operations > 100)
        #expect(whole.messages > 30)
        try await whole.finish(at: whole.directory, "no fault")
        let small = try await SyncScenario.run(nil, .small)
        defer { small.remove() }
        #expect(small.failure == nil)
        #expect(small.acknowledged.count == 5)
        #expect(try await small.isContested())
        #expect(small.disk.operations > 30)
        #expect(small.messages > 6)
        try await small.finish(at: small.directory, "no fault")
    }

    /// How many parts a test is in, which run beside each other.
    private static let parts: UInt64 = 4

    @Test(
        "Seeded faults of disk or wire: the power fails, writes are cut short, messages are lost, doubled, late",
        arguments: 0..<parts)
    func seeded(part: UInt64) async throws {
        let whole = try await SyncScenario.run(nil, .small)
        whole.remove()
        let (operations, messages) = (whole.disk.operations, UInt64(whole.messages))
        let runs = max(UInt64(Self.wanted) ?? 300, Self.parts)
        for seed in stride(from: part, to: runs, by: Int(Self.parts)) {
            var numbers = SeededNumbers(seed: seed)
            let number = Int(numbers.next() % UInt64(operations)) + 1
            let message = Int(numbers.next() % messages) + 1
            let wireFault = Wire.Fault.allCases.randomElement(using: &numbers) ?? .answerLost
            // One fault in each run, so that none hides another; but what goes on after a crash may meet the next.
            switch seed % 10 {
            case 0...2: try await check(nil, .small, wire: [message: wireFault], seed: seed)
            case 3...5:
                let later = [message % 6 + 1: wireFault]
                try await check(.crash, at: number, of: operations, .small, later: later, seed: seed)
            case 6: try await check(.shortWrite, at: number, of: operations, .small, seed: seed)
            case 7: try await check(.failedSync, at: number, of: operations, .small, seed: seed)
            case 8: try await check(.lyingSync, at: number, of: operations, .small, seed: seed)
            default: try await check(.diskFull, at: number, of: operations, .small, seed: seed)
            }
        }
    }

    @Test(
        "The power fails, a write is cut short, a sync fails or lies, the disk is full: at every operation",
        .enabled(if: SyncFaultTests.wanted == "all", "make faults"), arguments: DiskFault.allCases, 0..<parts)
    func everyOperation(disk: DiskFault, part: UInt64) async throws {
        let whole = try await SyncScenario.run(nil)
        whole.remove()
        for number in stride(from: Int(part) + 1, through: whole.disk.operations, by: Int(Self.parts)) {
            try await check(disk, at: number, of: whole.disk.operations, seed: UInt64(number))
        }
    }

    @Test(
        "Every message is lost before or after the service acted, cut, doubled, late or delayed",
        .enabled(if: SyncFaultTests.wanted == "all", "make faults"), arguments: Wire.Fault.allCases)
    func everyMessage(fault: Wire.Fault) async throws {
        let whole = try await SyncScenario.run(nil)
        whole.remove()
        for number in 1...whole.messages {
            try await check(nil, wire: [number: fault], seed: UInt64(number))
        }
    }
}
