import EncryptedSQLite
import FaultInjection
import Foundation
import HTTPTypes
import ODataHTTP
import OfflineOData

/// A run of one service and several clients in virtual time, determined by a seed. It contains random edits,
/// faults of wires and disks, crashes, wrong clocks and new metadata.
///
/// Only one client runs at a time, from one message to the next, and the next client is chosen at random. The
/// same seed therefore gives the same run and the same hash of its trace (rule 33).
///
/// ```swift
/// let outcome = try await Simulation(seed: 17).run()
/// print(outcome.violations)  // violated promises
/// ```
public struct Simulation: Sendable, CustomStringConvertible {
    /// The results of a run.
    public struct Outcome: Sendable {
        /// The violated promises.
        public let violations: [String]
        /// The events of the run.
        public let trace: Trace
        /// The number of changes.
        public let changes: Int
        /// The number of changes in transactions.
        public let changesTogether: Int
        /// The number of faulty messages.
        public let faults: Int
        /// The number of disk faults.
        public let diskFaults: Int
        /// The number of client crashes.
        public let crashes: Int
        /// The number of changes whose outcome was unknown.
        public let doubts: Int
        /// The number of times that a client adopted new metadata.
        public let migrations: Int
        /// The marks of changes that careless clients lost.
        public let lost: [String]
        /// The number of times that a store was restored to an earlier state, alone or with the whole machine.
        public let restores: Int
        /// The number of times that a copy of a store tried to send its queue.
        public let copies: Int
    }

    /// The seed that determines the run.
    public let seed: UInt64
    /// The capabilities of the service.
    public let ability: ServiceAbility
    /// The number of clients.
    public let clients: Int
    /// Whether changes of one entity are folded before they are sent.
    public let folds: Bool
    /// Whether the defining queries have filters and share rows.
    public let hasFilters: Bool
    /// Whether disks fail too, not only wires and processes.
    public let hasDiskFaults: Bool
    /// Whether stores are copied and restored to earlier states, alone or with the whole machine.
    public let hasCopies: Bool
    /// Whether clients find created entities by a unique value if the service does not recognise repeated
    /// requests.
    public let correlates: Bool
    private let keepsLines: Bool
    private let isCareful: Bool
    /// The seed of all random events in the run.
    private let runSeed: UInt64

    /// Creates a run.
    ///
    /// An even seed gives a service that recognises repeated requests. All other properties are drawn
    /// independently, so that all combinations occur.
    ///
    /// - Parameters:
    ///   - seed: The seed. With an odd seed, the service does not recognise repeated requests.
    ///   - keepsLines: Whether the trace keeps its text.
    ///   - isHonest: Whether a service that does not recognise repeated requests says so.
    ///   - isCareful: Whether the clients keep every change; otherwise each one silently loses a change.
    ///   - heedsETags: Whether a service with ETags checks them.
    ///   - keepsChangeSetsWhole: Whether a service undoes the executed part of a change set that it refuses.
    public init(
        seed: UInt64, keepsLines: Bool = false, isHonest: Bool = true, isCareful: Bool = true, heedsETags: Bool = true,
        keepsChangeSetsWhole: Bool = true
    ) {
        self.seed = seed
        self.keepsLines = keepsLines
        self.isCareful = isCareful
        var numbers = SeededNumbers(seed: seed)
        var ability = ServiceAbility()
        ability.isRepeatable = seed % 2 == 0
        ability.isHonest = isHonest
        ability.heedsETags = heedsETags
        ability.keepsChangeSetsWhole = keepsChangeSetsWhole
        clients = Self.happensOnce(in: 50, &numbers) ? 50 : Int.random(in: 2...5, using: &numbers)
        ability.hasDeltaLinks = !Self.happensOnce(in: 3, &numbers)
        ability.hasETags = !Self.happensOnce(in: 8, &numbers)
        folds = Self.happensOnce(in: 5, &numbers)
        hasFilters = Self.happensOnce(in: 4, &numbers)
        hasDiskFaults = Self.happensOnce(in: 3, &numbers)
        runSeed = numbers.next()
        correlates = Self.happensOnce(in: 2, &numbers) && !ability.isRepeatable
        ability.hasChangeSets = !Self.happensOnce(in: 4, &numbers)
        ability.hasBatches = ability.hasChangeSets || Self.happensOnce(in: 2, &numbers)
        ability.speaksV2 = Self.happensOnce(in: 4, &numbers)
        ability.isStripped = Self.happensOnce(in: 3, &numbers) && !ability.isRepeatable
        self.ability = ability
        hasCopies = Self.happensOnce(in: 3, &numbers)
    }

    /// The drawn properties, as one line.
    public var description: String {
        let drawn = [
            folds ? "folding" : nil, hasFilters ? "filters" : nil, hasDiskFaults ? "failing disks" : nil,
            correlates ? "correlating" : nil, hasCopies ? "copies" : nil,
        ].compactMap(\.self)
        return "\(clients) clients, a service \(ability)\(drawn.map { ", \($0)" }.joined())"
    }

    /// Draws an event with a probability of one in `many`.
    private static func happensOnce(in many: Int, _ numbers: inout SeededNumbers) -> Bool {
        Int.random(in: 0..<many, using: &numbers) == 0
    }

    /// Executes the run to its end.
    ///
    /// - Throws: Errors of the simulation itself; errors of the engine are part of the outcome.
    public func run() async throws -> Outcome {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        // Nothing is actually synced, so the files can be in a memory file system.
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        let directory = (isThere ? memory : FileManager.default.temporaryDirectory).appendingPathComponent(
            "outpost-simulation-\(UUID().uuidString)"
        ).path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var run = try await Run(self, directory: directory, trace: Trace(keepsLines: keepsLines))
        return try await run.outcome()
    }

    /// Returns the defining queries of the clients. The two task queries overlap and together cover all tasks.
    fileprivate func queries() throws -> [DefiningQuery] {
        let tasks =
            hasFilters
            ? [("cheap", "Tasks?$filter=Amount lt 60"), ("dear", "Tasks?$filter=Amount gt 40")] : [("Tasks", "Tasks")]
        return try ([("Places", "Places")] + tasks + [("Steps", "Steps")]).map { try DefiningQuery($0.0, $0.1) }
    }

    /// The state of a run.
    private struct Run {
        private let plan: Simulation
        private let trace: Trace
        private let time = VirtualTime()
        private let ledger = Ledger()
        private let service: SimulatedService
        private var numbers: SeededNumbers
        private var seats: [Seat] = []
        private var late: [Message] = []
        private var edits = 0
        private var faults = 0
        private var crashes = 0
        private var restores = 0
        private var copies = 0

        init(_ plan: Simulation, directory: String, trace: Trace) async throws {
            self.plan = plan
            self.trace = trace
            numbers = SeededNumbers(seed: plan.runSeed)
            service = try await SimulatedService(path: directory + "/service.db", ability: plan.ability, time: time)
            for number in 0..<plan.clients {
                let client = try SimulatedClient(
                    number: number, directory: directory, seed: numbers.next(), queries: plan.queries(),
                    folds: plan.folds, isCareful: plan.isCareful, correlates: plan.correlates, service: service,
                    time: time, ledger: ledger)
                seats.append(Seat(client))
            }
        }

        mutating func outcome() async throws -> Outcome {
            trace.add(plan.description)
            for index in seats.indices {
                try await drive(index) { client, halts in
                    try await client.install(halts)
                    return "installed"
                }
                // Some clients begin with a complete download, some with a first download that fails.
                if Bool.random(using: &numbers) {
                    try await drive(index) { client, _ in await client.perform(.download) }
                }
            }
            for _ in 0..<(30 + 30 * min(plan.clients, 20)) { try await step() }
            try await heal()
            var violations: [String] = []
            var lost: [String] = []
            var (migrations, diskFaults) = (0, 0)
            for seat in seats {
                await seat.client.compare()
                violations += await seat.client.violations
                lost += await seat.client.lost
                migrations += await seat.client.migrations
                diskFaults += await seat.client.diskFaults.count
                await seat.client.close()
            }
            violations += ledger.violations(
                of: try await service.history(), hasVersions: plan.ability.hasETags,
                isGuarded: plan.ability.hasETags || plan.ability.isRepeatable,
                recognisesRepeats: plan.ability.isRepeatable, hasChangeSets: plan.ability.hasChangeSets, now: time.now)
            try await service.close()
            return Outcome(
                violations: violations, trace: trace, changes: ledger.count, changesTogether: ledger.countTogether,
                faults: faults, diskFaults: diskFaults, crashes: crashes, doubts: ledger.doubts, migrations: migrations,
                lost: lost, restores: restores, copies: copies)
        }

        // MARK: Steps

        private mutating func step() async throws {
            time.pass(Double.random(in: 0...30, using: &numbers))
            if plan.hasCopies, Int.random(in: 0..<12, using: &numbers) == 0 { return try await copyOrPutBack() }
            switch Int.random(in: 0..<100, using: &numbers) {
            case 0..<6: try await editElsewhere()
            case 6:
                // Sometimes the time is so long that the service forgets deletions and requests.
                let days: Double = Int.random(in: 0..<4, using: &numbers) == 0 ? 60 : 3
                time.pass(Double.random(in: 0...(days * 86_400), using: &numbers))
            case 7: await seats.randomElement(using: &numbers)?.client.setClock()
            case 8:
                let property = try await service.extend()
                trace.add("the service gets \(property)")
            case 9: try await service.restart()
            case 10 where !late.isEmpty:
                let message = late.remove(at: Int.random(in: 0..<late.count, using: &numbers))
                let answer = try await service.answer(message)
                trace.add("late \(message.text) \(answer.response.status.code)")
            default:
                let index = Int.random(in: 0..<seats.count, using: &numbers)
                if seats[index].message != nil, Int.random(in: 0..<8, using: &numbers) == 0 {
                    // Rule 7: editing continues while a message is being sent.
                    let edits: [Action] = [
                        .createTask, .createStep, .update, .update, .delete, .together, .undo, .settleArchive,
                    ]
                    let edit = edits.randomElement(using: &numbers) ?? .update
                    trace.add("\(index) meanwhile \(edit) \(await seats[index].client.perform(edit))")
                } else if let message = seats[index].message {
                    try await treat(message, of: index)
                } else {
                    try await act(index)
                }
            }
        }

        /// Copies a store, or restores it to an earlier state, during any action of its client.
        private mutating func copyOrPutBack() async throws {
            let index = Int.random(in: 0..<seats.count, using: &numbers)
            let client = seats[index].client
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0, 1: trace.add("\(index) is backed up \(await client.backUp())")
            case 2 where seats[index].work == nil:
                copies += 1
                // The client does not learn from the responses to the copy.
                let wasConfirmed = seats[index].isConfirmed
                try await drive(index) { client, halts in await client.sendFromCopy(halts) }
                seats[index].isConfirmed = wasConfirmed
            case 3, 4:
                guard await client.hasBackup else { return }
                restores += 1
                try await crash(
                    index, .everything, puttingBack: PutBack.allCases.randomElement(using: &numbers) ?? .otherFile)
            default: break
            }
        }

        private mutating func act(_ index: Int) async throws {
            let actions: [Action] = [
                .sync, .sync, .sync, .download, .createPlace, .createTask, .createTask, .createStep, .createStep,
                .update, .update, .update, .update, .update, .delete, .delete, .together, .together, .together, .undo,
                .settleArchive, .refreshMetadata, .reopen,
            ]
            let action = actions.randomElement(using: &numbers) ?? .sync
            trace.add("\(index) begins \(action)")
            if plan.hasDiskFaults, Int.random(in: 0..<8, using: &numbers) == 0 {
                await seats[index].client.breakDisk()
            }
            try await start(index) { client, _ in await client.perform(action) }
        }

        private mutating func treat(_ message: Message, of index: Int) async throws {
            guard Int.random(in: 0..<5, using: &numbers) == 0 else { return try await deliver(message, of: index) }
            faults += 1
            let host = "service"
            switch Int.random(in: 0..<9, using: &numbers) {
            case 0: try await fail(index, message, "unsent", .cannotConnect(host: host, reason: "no way"))
            case 1:
                noteUnanswered(index)
                try await fail(index, message, "lost", .connectionLost(host: host, reason: "cut before"))
            case 2:
                noteUnanswered(index)
                _ = try await service.answer(message)
                try await fail(index, message, "unanswered", .timedOut(host: host))
            case 3 where mayActTwice(message):
                _ = try await service.answer(message)
                try await deliver(message, of: index, "doubled")
            case 4:
                noteUnanswered(index)
                var answer = try await service.answer(message)
                answer.isCut = true
                try await give(answer, to: index, message, "cut")
            case 5 where mayActTwice(message):
                // The message reaches the service long after its client has given it up.
                late.append(message)
                noteUnanswered(index)
                try await fail(index, message, "late", .timedOut(host: host))
            case 6:
                try await close(index, message)
            case 7: try await crash(index, .everything)
            default:
                _ = try await service.answer(message)
                try await crash(index, Bool.random(using: &numbers) ? .nothing : .sectors(seed: numbers.next()))
            }
        }

        /// Lets an intermediary answer instead of the service. With some statuses, the service may still have
        /// executed the request. With 401, 429 or a `Retry-After` field, the request was not forwarded.
        private mutating func close(_ index: Int, _ message: Message) async throws {
            let status = [401, 408, 429, 502, 503, 503, 504].randomElement(using: &numbers) ?? 503
            var response = HTTPResponse(status: .init(code: status))
            if [429, 503].contains(status), Bool.random(using: &numbers) { response.headerFields[.retryAfter] = "1" }
            if [408, 502, 504].contains(status) || status == 503 && response.headerFields[.retryAfter] == nil {
                noteUnanswered(index)
                if Bool.random(using: &numbers) { _ = try await service.answer(message) }
            }
            try await give(Answer(response: response, body: []), to: index, message, "gate")
        }

        /// Records that responses to the messages of the client's current action may be missing or not stored.
        private func noteUnanswered(_ index: Int) {
            let isConfirmed = seats[index].isConfirmed
            for mark in seats[index].sent {
                ledger.note(mark, of: index) {
                    $0.wasUnanswered = true
                    if !isConfirmed { $0.wasUnconfirmed = true }
                }
            }
        }

        /// Returns whether the disk of a client has failed since the current action began, or since the last
        /// call.
        private mutating func hasMetDiskFaults(_ index: Int) async -> Bool {
            let all = await seats[index].client.diskFaults
            let faults = all.dropFirst(seats[index].diskFaults)
            guard !faults.isEmpty else { return false }
            seats[index].diskFaults = all.count
            seats[index].isConfirmed = false
            trace.add("\(index) met \(faults.map { "\($0)" }.joined(separator: ", "))")
            return true
        }

        /// Returns whether the service can recognise a message that arrives twice; otherwise the message may
        /// act twice.
        private func mayActTwice(_ message: Message) -> Bool {
            message.parts.requests.allSatisfy { request in
                switch request.method {
                case "POST": plan.ability.isRepeatable
                case "PATCH", "PUT", "MERGE": plan.ability.isRepeatable || plan.ability.hasETags
                default: true
                }
            }
        }

        private mutating func editElsewhere() async throws {
            edits += 1
            let mark = "other-\(edits)"
            let any = Int.random(in: 1...24, using: &numbers)
            // Half of the time, the edited row is one that every client changes: the first task or the second
            // place.
            let number = Bool.random(using: &numbers) ? 1 : any
            let isTaken: Bool
            switch Int.random(in: 0..<5, using: &numbers) {
            case 0:
                isTaken = try await service.change(
                    "INSERT INTO Tasks(PlaceId, Title, Amount, Mark, Born) VALUES (?, 'Theirs', ?, ?, ?)",
                    ["P\(any % 8 + 1)", any * 4, mark, mark])
            case 1: isTaken = try await service.deleteTask(any)
            case 2:
                isTaken = try await service.change(
                    "UPDATE Places SET Name = ?, Mark = ? WHERE Id = ?", [mark, mark, "P\(number % 8 + 1)"])
            default:
                isTaken = try await service.change(
                    "UPDATE Tasks SET Amount = ?, Mark = ? WHERE Id = ?", [(any * 7) % 100, mark, number])
            }
            trace.add("others edit \(mark) \(isTaken)")
        }

        // MARK: One client

        /// Starts an action of a client and runs it to its first message or its end.
        private mutating func start(
            _ index: Int,
            _ body: @escaping @Sendable (SimulatedClient, AsyncStream<Halt>.Continuation) async throws -> String
        ) async throws {
            let (client, halts) = (seats[index].client, seats[index].halts)
            seats[index].sent = []
            seats[index].diskFaults = await client.diskFaults.count
            seats[index].work = Task {
                let result: Result<String, any Error>
                do { result = .success(try await body(client, halts)) } catch { result = .failure(error) }
                halts.yield(.done)
                return try result.get()
            }
            try await arrive(index)
        }

        /// Waits until a client reaches its next message or the end of its action.
        private mutating func arrive(_ index: Int) async throws {
            let halt = await seats[index].next()
            // By this time the client has stored the information in the response, unless the disk has failed.
            if seats[index].isConfirming { seats[index].isConfirmed = true }
            seats[index].isConfirming = false
            switch halt {
            case .message(let message):
                seats[index].message = message
                seats[index].sent.formUnion(try await service.marks(of: message))
            case .done, nil:
                seats[index].message = nil
                let text = try await seats[index].work?.value ?? ""
                seats[index].work = nil
                seats[index].lastResult = text
                trace.add("\(index) ends \(text)")
                if await hasMetDiskFaults(index) { noteUnanswered(index) }
                if await seats[index].client.mendDisk() { try await crash(index, .sectors(seed: numbers.next())) }
            }
        }

        private mutating func deliver(_ message: Message, of index: Int, _ how: String = "through") async throws {
            try await give(try await service.answer(message), to: index, message, how)
        }

        private mutating func give(_ answer: Answer, to index: Int, _ message: Message, _ how: String) async throws {
            trace.add("\(index) \(message.text) \(how) \(answer.response.status.code)")
            seats[index].isConfirming = !answer.isCut && message.parts.isConfirmed(by: answer.response, answer.body)
            message.resume(.success(answer))
            try await arrive(index)
        }

        private mutating func fail(
            _ index: Int, _ message: Message, _ how: String, _ error: TransportError
        ) async throws {
            trace.add("\(index) \(message.text) \(how)")
            message.resume(.failure(error))
            try await arrive(index)
        }

        private mutating func crash(
            _ index: Int, _ remains: Remains, puttingBack how: PutBack? = nil
        ) async throws {
            crashes += 1
            trace.add("\(index) crashes \(remains)\(seats[index].message.map { " during \($0.text)" } ?? "")")
            _ = await hasMetDiskFaults(index)
            noteUnanswered(index)
            let client = seats[index].client
            seats[index].isConfirming = false
            try await client.die(remains)
            // Pending operations of the former life end.
            seats[index].message?.resume(.failure(TransportError.connectionLost(host: "service", reason: "crash")))
            seats[index].message = nil
            _ = try? await seats[index].work?.value
            seats[index].work = nil
            seats[index].renew()
            if let how {
                trace.add("\(index) is put back \(how)")
                try await client.putBack(how)
            }
            try await drive(index) { client, halts in
                try await client.live(halts)
                return "lives"
            }
        }

        /// Runs an action to its end without faults.
        private mutating func drive(
            _ index: Int,
            _ body: @escaping @Sendable (SimulatedClient, AsyncStream<Halt>.Continuation) async throws -> String
        ) async throws {
            try await start(index, body)
            while let message = seats[index].message { try await deliver(message, of: index) }
        }

        // MARK: The end

        /// Repairs all faults: late messages arrive, actions are completed, every queue is emptied, and every
        /// client receives all changes.
        private mutating func heal() async throws {
            for message in late { _ = try await service.answer(message) }
            late = []
            for index in seats.indices {
                while let message = seats[index].message { try await deliver(message, of: index) }
            }
            // Some clients adopt new metadata with all pending changes; the others continue with the known
            // metadata.
            for index in seats.indices where Bool.random(using: &numbers) {
                try await drive(index) { client, _ in
                    await client.takeUpMetadata()
                    return "has the metadata"
                }
            }
            for _ in 0..<6 {
                var isSettled = true
                for index in seats.indices {
                    try await drive(index) { client, _ in await client.settle() ? "settled" : "goes on" }
                    if seats[index].lastResult != "settled" { isSettled = false }
                }
                if isSettled { break }
            }
            for _ in 0..<2 {
                for index in seats.indices {
                    try await drive(index) { client, _ in await client.perform(.sync) }
                }
            }
        }
    }

    /// A client and its current state in the run.
    private struct Seat {
        let client: SimulatedClient
        private(set) var halts: AsyncStream<Halt>.Continuation
        private var stream: AsyncStream<Halt>.Iterator
        var message: Message?
        /// The marks of the changes that the client has sent in its current action.
        var sent: Set<String> = []
        /// The number of disk faults at the beginning of the current action.
        var diskFaults = 0
        /// Whether a response has told the client that the service recognises repeated requests.
        var isConfirmed = false
        /// Whether the last response contains that information.
        var isConfirming = false
        var work: Task<String, any Error>?
        var lastResult = ""

        init(_ client: SimulatedClient) {
            self.client = client
            let (stream, halts) = AsyncStream.makeStream(of: Halt.self)
            self.halts = halts
            self.stream = stream.makeAsyncIterator()
        }

        mutating func next() async -> Halt? { await stream.next() }

        /// Discards messages of a former life.
        mutating func renew() {
            let (stream, halts) = AsyncStream.makeStream(of: Halt.self)
            self.halts = halts
            self.stream = stream.makeAsyncIterator()
        }
    }
}
