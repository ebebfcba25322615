import EncryptedSQLite
import FaultInjection
import Foundation
import ODataModel
import ODataSQL
import ODataService
import OfflineOData
import Secrets
import Testing

/// A scenario in which a store is created, downloaded, edited and synchronized twice, on a disk and a wire with
/// faults.
private struct SyncScenario {
    let shop: Shop
    let key: EncryptionKey
    let directory: String
    let disk: FaultDisk
    /// The acknowledged edits, each of which must reach the service.
    private(set) var acknowledged: [Edit] = []
    /// The edits that failed or were interrupted, each of which may reach the service.
    private(set) var doubtful: [Edit] = []
    private var store: OfflineStore?
    private var goesOn = false
    private(set) var failure: (any Error)?
    /// The number of messages on the wire.
    private(set) var messages = 0

    /// A change that can be recognised at the service.
    struct Edit: Sendable {
        var name: String
        var apply: @Sendable (OfflineStore) async throws -> Void
        /// The SQL that counts the effects of the change; 1 is correct.
        var count: String
        /// The effects at the service as its triggers record them, each of which must occur once. Counting rows
        /// would not reveal a value that was written twice.
        var acts: [String]
    }

    /// The SQL of the triggers that record effects. The prefix of the table's name keeps it from being served.
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

    /// An update that wins over a concurrent change at the service.
    private static let contested = update(5, "Mine")

    /// Returns an edit of two changes in one transaction.
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

    /// The amount of data and edits.
    enum Size {
        /// All tables of the shop, and two rounds of edits.
        case whole
        /// Customers, orders and employees, and one round with an edit of each kind, for many runs.
        case small

        var rounds: [[Edit]] {
            switch self {
            case .whole: SyncScenario.rounds
            case .small: [SyncScenario.oneOfEach]
            }
        }

        /// The SQL that reduces the shop.
        var tables: String {
            switch self {
            case .whole: SyncScenario.fewRows + SyncScenario.triggers
            case .small: SyncScenario.fewRows + SyncScenario.fewTables + SyncScenario.triggers
            }
        }
    }

    /// The SQL that reduces the rows, because there are many runs and faults do not depend on the amount of
    /// data.
    private static let fewRows = """
        DELETE FROM "Order Lines" WHERE OrderID > 1003; DELETE FROM Orders WHERE OrderID > 1006;
        DELETE FROM Products WHERE ProductID > 3 AND ProductID NOT IN (SELECT ProductID FROM "Order Lines");
        DELETE FROM Customers WHERE CustomerID > 'C0006' AND CustomerID NOT IN (SELECT CustomerID FROM Orders);

        """

    /// The SQL that drops the products, their categories and the order lines, which the small scenario does not
    /// use.
    private static let fewTables = #"DROP TABLE "Order Lines"; DROP TABLE Products; DROP TABLE Categories;"#

    /// The number of attempts after faults of the wire, each of which happens once.
    private static let tries = 10

    /// Runs until the first error that is not one of the wire, or to the end. After a failed synchronization,
    /// the run continues in the same store, as an app would: later acknowledged edits must not depend on lost
    /// ones. The store stays open until ``close()``.
    ///
    /// - Parameter wire: the faults of messages, by their numbers.
    static func run(
        _ fault: Fault?, _ size: Size = .whole, wire: [Int: Wire.Fault] = [:]
    ) async throws -> SyncScenario {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        let shop = try await Shop(with: size.tables)
        // The simulated disk makes nothing durable, so the files can be in memory.
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
            // Other users change the same entity.
            try await shop.sql("UPDATE Customers SET City = 'Theirs \(number)' WHERE CustomerID = 'C0005'")
            try await overWire { try await store.sync(options: Self.options) }
        }
    }

    /// Local changes win conflicts.
    private static let options = UploadOptions(conflictPolicy: .clientWins)

    /// Closes the store and ignores errors.
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

    /// Opens the store in a directory.
    func open(at directory: String) async throws -> OfflineStore {
        let client = try shop.client()
        return try await OfflineStore.open(
            at: directory, protection: .encrypted(.key(key)), options: storeOptions, connect: { _, _ in client })
    }

    /// The identity of the files is constant, because a restarted machine has the same files.
    private var storeOptions: OfflineStore.Options {
        var options = OfflineStore.Options()
        options.runtime.incarnations = IncarnationNotes(folder: shop.directory.appendingPathComponent("notes").path) {
            _ in
            StoreFileIdentity(volume: "disk", file: 1)
        }
        return options
    }

    /// Continues with the store in a directory and expects every change once on both sides.
    ///
    /// - Parameter wire: the faults of messages in the first synchronization, by their numbers.
    func finish(at directory: String, wire: [Int: Wire.Fault] = [:], _ what: Comment) async throws {
        let store: OfflineStore
        do {
            store = try await open(at: directory)
        } catch {
            // Before its creation, no store exists and one can be created in the same place. Afterwards, the store
            // must open.
            let wasMade = !acknowledged.isEmpty || !doubtful.isEmpty
            #expect(!wasMade, "\(error) \(what)")
            try await OfflineStore.create(
                at: directory, protection: .encrypted(.key(key)), serviceRoot: Shop.serviceRoot, remote: shop.client()
            ).close()
            return
        }
        if !wire.isEmpty {
            await shop.wire.cut { number, _ in wire[number] }
            // The first synchronization may fail; the next one completes it.
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
            // Changes of one transaction take effect together.
            let acts = try await acts(of: edit)
            #expect(Set(acts).count == 1 && acts.allSatisfy { $0 <= 1 }, "\(edit.name) acted \(acts) times \(what)")
        }
        try store.close()
        #expect(try await OfflineStore.verify(at: directory, protection: .encrypted(.key(key))).isWhole, what)
    }

    /// Returns the number of times that each effect of a change occurred.
    private func acts(of edit: Edit) async throws -> [Int] {
        var counts: [Int] = []
        for act in edit.acts {
            counts.append(try await shop.count("SELECT COUNT(*) FROM outpost_acts WHERE what = '\(act)'"))
        }
        return counts
    }

    /// Returns whether the service applied the contested change after the change of the other user.
    func isContested() async throws -> Bool {
        try await shop.count(
            """
            SELECT COUNT(*) FROM outpost_acts AS mine, outpost_acts AS theirs
            WHERE mine.what = 'update C0005 to Mine' AND theirs.what LIKE 'update C0005 to Theirs %'
                AND mine.rowid > theirs.rowid
            """) > 0
    }

    /// Expects that a store is intact or its damage is reported, after faulty flushes and a power failure.
    /// Changes may be lost (rule 4).
    ///
    /// An intact store has the state of an earlier time and must work. A log is read up to the first incomplete
    /// frame. A database that was being checkpointed has all pages, none of them, or pages with missing
    /// sectors, which are reported as damage.
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
                // Such a disk has rolled the store back, and the store detects the rollback.
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

@Suite("On a failing disk and network, a store loses and doubles no change")
struct SyncFaultTests {
    /// `OUTPOST_FAULTS`: the number of seeded runs with one fault each, or `all` for every fault at every
    /// operation and message. `.ci/run` uses 300.
    private static let wanted = ProcessInfo.processInfo.environment["OUTPOST_FAULTS"] ?? "24"

    /// A fault of the disk at one operation.
    enum DiskFault: CaseIterable, Sendable {
        case crash
        case shortWrite
        case failedSync
        /// From this operation on, flushes have no effect; the power fails some operations later.
        case lyingSync
        case diskFull

        func fault(at number: Int) -> Fault {
            switch self {
            case .crash: .crash(at: number)
            case .shortWrite: .shortWrite(at: number)
            case .failedSync: .failedSync(at: number)
            // The number determines the distance to the power failure, which happens at the end at the latest.
            case .lyingSync: .lyingSync(from: number, crashAt: number + 1 + number * 7 % 61)
            case .diskFull: .diskFull(from: number)
            }
        }
    }

    /// Returns the possible states after a power failure: all of them if every fault is requested, otherwise
    /// one that depends on the seed.
    private static func remains(_ seed: UInt64) -> [Remains] {
        let all = [Remains.nothing, .everything, .sectors(seed: seed)]
        return wanted == "all" ? all : [all[Int(seed % 3)]]
    }

    /// Runs the scenario and checks each possible state afterwards.
    ///
    /// - Returns: the number of disk faults that happened.
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

    /// Runs the scenario and checks one state afterwards.
    ///
    /// - Parameters:
    ///   - wire: the faults of messages until the disk fails, by their numbers.
    ///   - later: the faults of messages in the first synchronization after the power failure.
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
        // A message that was never sent has met no fault.
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
            // The run has continued until the power failure. Data that the failed flush should have saved may be
            // lost.
            try scenario.disk.restart(into: after, with: remains)
            scenario.close()
            try await scenario.finish(at: after, wire: later, what)
        case _ where scenario.disk.isOver:
            try scenario.disk.restart(into: after, with: remains)
            try await scenario.finish(at: after, wire: later, what)
        default:
            // The disk was full or a flush failed. The store is opened again and continues.
            scenario.close()
            try await scenario.finish(at: scenario.directory, what)
        }
        return fired
    }

    /// Checks a fault at an operation, and that the fault happened.
    private func check(
        _ fault: DiskFault, at number: Int, of operations: Int, _ size: SyncScenario.Size = .whole,
        later: [Int: Wire.Fault] = [:], seed: UInt64
    ) async throws {
        let fired = try await check(fault.fault(at: number), size, later: later, seed: seed)
        // In the second half, there may be no more writes or flushes, and no file need grow.
        guard number <= operations / 2, fault != .diskFull else { return }
        #expect(fired == Self.remains(seed).count, "\(fault) at \(number) of \(operations)")
    }

    @Test("Without faults, the scenario has every change once")
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

    /// The number of parts of a test, which run in parallel.
    private static let parts: UInt64 = 4

    @Test(
        "Random faults of disk and network lose and duplicate nothing",
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
            // Each run has one fault, so that no fault hides another. Only the work after a crash may meet another
            // one.
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
        "A power failure, short write, failed or false sync or full disk at each operation loses nothing",
        .enabled(if: SyncFaultTests.wanted == "all", "make faults"), arguments: DiskFault.allCases, 0..<parts)
    func everyOperation(disk: DiskFault, part: UInt64) async throws {
        let whole = try await SyncScenario.run(nil)
        whole.remove()
        for number in stride(from: Int(part) + 1, through: whole.disk.operations, by: Int(Self.parts)) {
            try await check(disk, at: number, of: whole.disk.operations, seed: UInt64(number))
        }
    }

    @Test(
        "Each message that is lost, cut, doubled or delayed changes nothing twice",
        .enabled(if: SyncFaultTests.wanted == "all", "make faults"), arguments: Wire.Fault.allCases)
    func everyMessage(fault: Wire.Fault) async throws {
        let whole = try await SyncScenario.run(nil)
        whole.remove()
        for number in 1...whole.messages {
            try await check(nil, wire: [number: fault], seed: UInt64(number))
        }
    }
}
