import EncryptedSQLite
import FaultInjection
import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Secrets

/// What a client is asked to do.
enum Action: Sendable {
    case sync
    case download
    case createPlace
    case createTask
    case createStep
    case update
    case delete
    /// Several edits in one transaction.
    case together
    case undo
    case settleArchive
    case refreshMetadata
    case reopen
}

/// One client of a run: an app with an encrypted store on a disk of its own, and the person in front of it.
actor SimulatedClient {
    let number: Int
    let directory: String
    let key = EncryptionKey.generate()
    let service: SimulatedService
    let time: VirtualTime
    private let clock: ClientClock
    let ledger: Ledger
    let folds: Bool
    private let isCareful: Bool
    let correlates: Bool
    private let queries: [DefiningQuery]
    /// The number of the file that the store is in, on its disk.
    var fileNumber = 1
    /// The state of the store that it may be put back to.
    var backup: Backup?
    /// How many copies of the store there were.
    var copies = 0
    /// Whether the store was put back and not looked at since.
    var wasPutBack = false
    /// The time of the state to which the whole machine was put back then.
    var unknownSince: Double?
    var numbers: SeededNumbers
    private var life = 0
    private(set) var marks = 0
    /// How many transactions it has begun.
    var transactions = 0

    private(set) var store: OfflineStore?
    private var wire: SimulatedWire?
    private(set) var disk: FaultDisk?
    /// The disk of the former life, while what that has begun ends.
    private var formerDisk: FaultDisk?
    private var formerDiskFaults: [Fault] = []
    /// What was promised and is not so.
    var violations: [String] = []
    /// The marks of changes that were lost on purpose.
    private(set) var lost: [String] = []
    /// How often it took up metadata that were new to it.
    private(set) var migrations = 0
    /// What was in the queue when it was last looked at, by number.
    private var known: [Int64: Sighting] = [:]

    /// Forgets what was in the queue of a store that is there no more.
    func forgetQueue() { (known, changeSets) = ([:], [:]) }

    /// The names of the change sets of what was in the queue then, by number.
    private(set) var changeSets: [Int64: String] = [:]

    /// A request as it was seen in the queue.
    private struct Sighting {
        let mark: String
        let row: QueuedRow
        let wasRefused: Bool
    }

    /// - Parameters:
    ///   - isCareful: Whether it keeps every change; else it loses one.
    ///   - correlates: Whether what it made is looked for at the service by the mark that it was born with.
    init(
        number: Int, directory: String, seed: UInt64, queries: [DefiningQuery], folds: Bool, isCareful: Bool,
        correlates: Bool, service: SimulatedService, time: VirtualTime, ledger: Ledger
    ) {
        self.number = number
        self.directory = directory
        self.service = service
        self.time = time
        clock = ClientClock(time)
        self.ledger = ledger
        self.folds = folds
        self.isCareful = isCareful
        self.correlates = correlates
        self.queries = queries
        numbers = SeededNumbers(seed: seed)
    }

    var folder: String { "\(directory)/\(number)-\(life)" }

    // MARK: Lives

    /// Makes the store, on a disk and a wire that work.
    func install(_ halts: AsyncStream<Halt>.Continuation) async throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        disk = try FaultDisk(folder: folder)
        let wire = SimulatedWire(halts)
        self.wire = wire
        store = try await OfflineStore.create(
            at: folder, protection: .encrypted(.key(key)), serviceRoot: SimulatedService.root,
            remote: client(wire), queries: queries,
            options: options())
    }

    /// - Parameter file: the number of the file that the store is in; the client's own by default.
    func options(file: Int? = nil) -> OfflineStore.Options {
        let guids = GuidSource(seed: numbers.next())
        let (time, clock) = (time, clock)
        var options = OfflineStore.Options()
        options.runtime.environment = EngineEnvironment(
            now: { clock.instant }, newGuid: { guids.next() },
            sleep: { time.pass($0 / .seconds(1)) })
        let identity = StoreFileIdentity(volume: "disk-\(number)", file: UInt64(file ?? fileNumber))
        options.runtime.incarnations = IncarnationNotes(folder: notesFolder) { _ in identity }
        options.sync.downloadPageSize = 5
        options.sync.parallelQueries = 1
        options.runtime.database.readerCount = 1
        options.runtime.database.writerCacheBytes = 1 << 20
        options.runtime.database.readerCacheBytes = 1 << 20
        return options
    }

    /// The process ends where it is, and with it perhaps the power. What it was doing ends in nothing.
    func die(_ remains: Remains) throws {
        let former = folder
        wire?.die()
        life += 1
        try disk?.restart(into: folder, with: remains)
        formerDiskFaults += disk?.fired ?? []
        // Whatever the former process still tries does not reach its disk.
        disk?.break(.crash(at: 0))
        formerDisk = disk
        disk = nil
        try? EncryptedDatabase.lock(at: former + "/store.db")
    }

    /// Starts after ``die(_:)``.
    func live(_ halts: AsyncStream<Halt>.Continuation) async throws {
        try? store?.close()
        let former = "\(directory)/\(number)-\(life - 1)"
        try? FileManager.default.removeItem(atPath: former)
        formerDisk = nil
        disk = try FaultDisk(folder: folder)
        wire = SimulatedWire(halts)
        try await open()
        if let store {
            try await notePutBack(store)
            _ = try await queued(store)
        }
    }

    private func open() async throws {
        let (wire, format) = (wire, batchFormat)
        store = try await OfflineStore.open(
            at: folder, protection: .encrypted(.key(key)), options: options(),
            connect: { _, _ in try wire.map { try Self.client($0, speaking: nil, format) } })
    }

    /// A client without retries of its own: those would wait in the time of the machine.
    ///
    /// - Parameter model: The model that it speaks; read from the service unless it is given.
    private func client(_ wire: SimulatedWire, speaking model: EntityDataModel? = nil) throws -> ODataClient {
        try Self.client(wire, speaking: model, batchFormat)
    }

    static func client(
        _ wire: SimulatedWire, speaking model: EntityDataModel?, _ format: BatchFormat
    ) throws -> ODataClient {
        let root = SimulatedService.root
        return try ODataClient(
            serviceRoot: root,
            transport: HTTPSession(wire, serviceRoot: root, configuration: .init(retry: .none)), model: model,
            configuration: .init(batchFormat: format))
    }

    /// How it writes batches: every second client in either way.
    var batchFormat: BatchFormat { number % 2 == 0 ? .multipart : .json }

    func breakDisk() {
        guard let disk else { return }
        let number = disk.operations + Int.random(in: 1...60, using: &numbers)
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0: disk.break(.shortWrite(at: number))
        case 1: disk.break(.failedSync(at: number))
        case 2: disk.break(.diskFull(from: number))
        default: disk.break(.crash(at: number))
        }
    }

    /// Lets the disk work again. A store that was opened while there was no room is closed, to be opened again when it is needed.
    ///
    /// - Returns: Whether the power has failed meanwhile.
    func mendDisk() -> Bool {
        disk?.mend()
        if let open = store, open.isReadOnly {
            try? open.close()
            store = nil
        }
        return disk?.isOver ?? false
    }

    /// The faults of its disks that have happened, in all its lives.
    var diskFaults: [Fault] { formerDiskFaults + (disk?.fired ?? []) }

    /// Puts the clock wrong by up to two days, whatever the client is doing.
    func setClock() { clock.set(wrongBy: Double.random(in: -172_800...172_800, using: &numbers)) }

    func close() {
        try? store?.close()
        try? EncryptedDatabase.lock(at: folder + "/store.db")
    }

    // MARK: Work

    /// Does something; what fails, fails as it does for a person.
    ///
    /// - Returns: What came of it, for the trace.
    func perform(_ action: Action) async -> String {
        guard await isOpen(), let store else { return "no store" }
        // What has gone there since the last look is known before it can be mended by another edit.
        _ = try? await queued(store)
        let result = await result(of: action, store)
        // A person sees at once what went to the error archive.
        if let store = self.store { _ = try? await queued(store) }
        return result
    }

    private func result(of action: Action, _ store: OfflineStore) async -> String {
        let mayFail = disk?.isBroken ?? false
        do {
            switch action {
            case .sync:
                // A person may try before deciding about changes that are held.
                var options = uploadOptions()
                if Bool.random(using: &numbers) { options.fromCopy = try await decideAboutHeld(store) }
                try await store.sync(options: options)
            case .download: try await store.download()
            case .createPlace:
                let id = "N\(number)-\(marks)"
                try await create("Places", ["Id": .string(id), "Name": "New"], store)
            case .createTask:
                guard let place = try await pick("Places", store) else { return "no place" }
                let isWrong = Int.random(in: 0..<12, using: &numbers) == 0
                let amount = Int64.random(in: 0..<100, using: &numbers)
                try await create(
                    "Tasks", ["PlaceId": place["Id"] ?? .null, "Amount": .integer(isWrong ? -1 : amount)],
                    in: place, store)
            case .createStep:
                guard let task = try await pick("Tasks", store) else { return "no task" }
                try await create("Steps", ["TaskId": task["Id"] ?? .null, "Title": "New"], in: task, store)
            case .update: try await update(store)
            case .delete: try await delete(store)
            case .together: try await changeTogether(store)
            case .undo: try await undo(store)
            case .settleArchive: try await settleArchive(store, isFinal: false)
            case .refreshMetadata: try await refreshMetadata(store)
            case .reopen:
                try store.close()
                self.store = nil
                try await open()
            }
            return "done"
        } catch {
            if self.store == nil, !mayFail { noteClosed(error) }
            return "\(type(of: error))"
        }
    }

    /// Opens the store again where that failed before, as a person does who has made room.
    private func isOpen() async -> Bool {
        guard store == nil else { return true }
        let mayFail = disk?.isBroken ?? false
        do {
            try await open()
            return true
        } catch {
            if !mayFail { noteClosed(error) }
            return false
        }
    }

    private func noteClosed(_ error: any Error) {
        violations.append("client \(number) cannot open: \(error)")
    }

    /// Takes up the metadata that the service has now, as an app does: with a connection that speaks them.
    private func refreshMetadata(_ store: OfflineStore) async throws {
        let (wire, format) = (wire, batchFormat)
        let refresh = try await store.maintenance.refreshMetadata { _, model in
            try wire.map { try Self.client($0, speaking: model, format) }
        }
        self.store = refresh.store
        guard !refresh.differences.isEmpty else { return }
        migrations += 1
        // Nothing was taken away, so that everything has its place.
        if refresh.isRebuilt { violations.append("client \(number) had to rebuild for \(refresh.differences)") }
        for request in refresh.refused { violations.append("client \(number) has no place any more for \(request)") }
    }

    func newMark() -> String {
        marks += 1
        return "c\(number)-\(marks)"
    }

    private func create(
        _ set: String, _ properties: [String: ODataValue], in parent: ODataEntity? = nil, _ store: OfflineStore
    ) async throws {
        let mark = newMark()
        var properties = properties
        properties["Mark"] = .string(mark)
        properties["Born"] = .string(mark)
        let made = properties
        let other = parent.map { text($0["Born"]) }
        let provider = maker(store)
        try await change(mark, born: mark, parent: other, setting: made, "create in \(set)") {
            guard let shape = store.model.shape(ofSet: set) else { return }
            _ = try await provider.execute(
                ODataRequest(.create, try ODataURL(parsing: set), body: .entity(ODataEntity(shape: shape, made))))
        }
        if set == "Places" { ledger.note(mark, of: number) { $0.hasClientKey = true } }
        if Self.correlations[set] != nil, correlates { ledger.note(mark, of: number) { $0.isFindable = true } }
        let rows = try await store.entities("\(set)?$filter=Mark eq '\(mark)'")
        if rows.count != 1 { violations.append("client \(number) sees \(rows.count) of what it created as \(mark)") }
    }

    private func update(_ store: OfflineStore) async throws {
        let set = ["Places", "Tasks", "Steps"].randomElement(using: &numbers) ?? "Tasks"
        guard let row = try await pick(set, store, prefersContested: true) else { return }
        let mark = newMark()
        let changed = newValues(of: row, in: set, mark)
        let url = Self.url(set, row)
        let provider = maker(store)
        try await change(mark, of: row, setting: changed, "update \(url)") {
            _ = try await provider.execute(
                ODataRequest(.update, try ODataURL(parsing: url), body: .entity(ODataEntity(shape: row.shape, changed)))
            )
        }
        let rows = try await store.entities("\(set)?$filter=Mark eq '\(mark)'")
        if rows.count != 1 { violations.append("client \(number) sees \(rows.count) of what it changed as \(mark)") }
        if !isCareful, lost.isEmpty { try await lose(mark, store) }
    }

    /// What an update sets.
    func newValues(of row: ODataEntity, in set: String, _ mark: String) -> [String: ODataValue] {
        var properties: [String: ODataValue] = ["Mark": .string(mark)]
        switch set {
        case "Places": properties["Name"] = .string("Name \(mark)")
        case "Tasks" where Bool.random(using: &numbers):
            let amount = Int64.random(in: 0..<100, using: &numbers)
            // What is there already would be no change, and others' change of it none that this one meets.
            properties["Amount"] = .integer(row["Amount"] == .integer(amount) ? (amount + 1) % 100 : amount)
        default: properties["Title"] = .string("Title \(mark)")
        }
        // What the service got since, as far as its metadata were taken up, and whether it is loaded yet or not.
        let extras = row.shape.properties.map(\.name).filter(SimulatedService.isExtra)
        if let extra = extras.randomElement(using: &numbers) { properties[extra] = .string("\(extra) \(mark)") }
        return properties
    }

    /// Loses a change that is acknowledged, as a broken engine would: nobody is told.
    private func lose(_ mark: String, _ store: OfflineStore) async throws {
        let request = try await store.observe.status().pending.first {
            Self.mark(of: $0) == mark && $0.kind == .update && $0.state == .pending
        }
        guard let request else { return }
        try await store.changes.cancel([request.id])
        lost.append(mark)
    }

    private func delete(_ store: OfflineStore) async throws {
        let set = ["Places", "Tasks", "Steps", "Steps"].randomElement(using: &numbers) ?? "Steps"
        guard let row = try await pick(set, store) else { return }
        let url = Self.url(set, row)
        try await change(Ledger.deletion(of: text(row["Born"])), of: row, "delete \(url)") {
            _ = try await store.execute(ODataRequest(.delete, try ODataURL(parsing: url)))
        }
    }

    /// The store, for a change that now and then is one of those whose answers need not have the entity.
    private func maker(_ store: OfflineStore) -> any ODataProvider {
        wantsNoContent() ? store.changes.provider(with: ChangeOptions(prefersNoContent: true)) : store
    }

    func wantsNoContent() -> Bool { Int.random(in: 0..<4, using: &numbers) == 0 }

    /// Makes a change of a row that is there and notes whether it was acknowledged.
    private func change(
        _ mark: String, of row: ODataEntity, setting properties: [String: ODataValue] = [:], _ what: String,
        _ body: () async throws -> Void
    ) async throws {
        try await change(
            mark, born: text(row["Born"]), base: text(row["Mark"]), setting: properties, what, body)
    }

    /// Makes a change and notes whether it was acknowledged.
    private func change(
        _ mark: String, born: String, parent: String? = nil, base: String? = nil,
        setting properties: [String: ODataValue] = [:], _ what: String, _ body: () async throws -> Void
    ) async throws {
        let values = properties.filter { SimulatedService.isContent($0.key) }.mapValues { text($0) }
        let change = Ledger.Change(
            mark: mark, client: number, text: what, born: born, parent: parent, base: base, values: values,
            mayBeFolded: folds)
        try await make([change], body)
    }

    /// Makes changes that are made together or not at all, and notes whether they were acknowledged.
    func make(_ changes: [Ledger.Change], _ body: () async throws -> Void) async throws {
        func note(_ edit: (inout Ledger.Change) -> Void) {
            for change in changes { ledger.note(change.mark, of: number, edit) }
        }
        for change in changes { ledger.begin(change) }
        do {
            try await body()
            note { $0.isAcknowledged = true }
        } catch let error as ODataError where error.status < 500 {
            // Refused by the store itself: it must never act, unless somebody else does the same.
            note { if !$0.isDeletion { $0.isRefused = true } }
            throw error
        } catch {
            // The store failed, perhaps behind the moment from which on the change is there.
            note { $0.isUncertain = true }
            throw error
        }
    }

    /// - Parameter prefersContested: Whether half of the time it is one of the few rows that everybody changes.
    func pick(
        _ set: String, _ store: OfflineStore, prefersContested: Bool = false
    ) async throws -> ODataEntity? {
        let rows = try await store.entities("\(set)?$orderby=Born,Id")
        if prefersContested, Bool.random(using: &numbers) {
            let contested = rows.filter { SimulatedService.contested.contains(text($0["Born"])) }
            if let row = contested.randomElement(using: &numbers) { return row }
        }
        return rows.randomElement(using: &numbers)
    }

    static func url(_ set: String, _ row: ODataEntity) -> String {
        set == "Places" ? "\(set)('\(text(row["Id"]))')" : "\(set)(\(text(row["Id"])))"
    }

    private func undo(_ store: OfflineStore) async throws {
        let before = try await queued(store)
        guard let request = before.randomElement(using: &numbers) else { return }
        if Int.random(in: 0..<4, using: &numbers) == 0 {
            giveUp(before)
            try await store.changes.undoAll()
        } else {
            giveUp(Self.goingWith([request], of: before, changeSets))
            // Of what was made together, a part is not taken back unless all of it may be.
            let takesOthers = changeSets[request.id] != nil && Bool.random(using: &numbers)
            try await store.changes.undo([try ODataURL(parsing: request.entityText)], withAllOthers: takesOthers)
        }
    }

    // MARK: The queue

    /// What waits and what is archived. Whatever is seen there is not given up, or not any more.
    func queued(_ store: OfflineStore) async throws -> [QueuedRequest] {
        let status = try await store.observe.status()
        let requests = status.pending + status.failed
        changeSets = transactions == 0 || requests.isEmpty ? [:] : try await Self.changeSets(in: store)
        var seen: [Int64: Sighting] = [:]
        for request in requests {
            let mark = Self.mark(of: request)
            let mates = Self.together(with: request, of: status.failed, changeSets)
                .filter { $0.id != request.id && $0.state == request.state }.map(Self.mark)
            seen[request.id] = Sighting(
                mark: mark, row: QueuedRow(of: request), wasRefused: request.state == .refused)
            ledger.note(mark, of: number) {
                $0.isGivenUp = false
                $0.mates.formUnion(mates)
                if request.state == .inDoubt { $0.wasInDoubt = true }
                if request.kind == .create { $0.wasInCreation = true }
                guard request.state == .refused else { return }
                $0.wasArchivedAsRefused = true
                if let conflict = Self.conflict(of: request, born: $0.born) { $0.conflicts.insert(conflict) }
            }
        }
        let refused = Set(known.values.filter(\.wasRefused).map(\.row))
        for (id, before) in known {
            // A later edit joins the request before it, or takes the place of what was refused.
            let isTakenUp = seen[id].map { $0.mark != before.mark } ?? refused.contains(before.row)
            if isTakenUp { ledger.note(before.mark, of: number) { $0.isTakenUp = true } }
        }
        known = seen
        return requests
    }

    /// Notes that changes are taken back now: those that are still in the queue at the next look are not.
    func giveUp(_ requests: [QueuedRequest]) {
        for request in requests { ledger.note(Self.mark(of: request), of: number) { $0.isGivenUp = true } }
    }

    /// Decides about what is in the error archive. Whoever decides about a request in doubt looks at the service first.
    private func settleArchive(_ store: OfflineStore, isFinal: Bool) async throws {
        for id in try await store.observe.status().failed.map(\.id) {
            // One settled before may have taken this one with it, or made its entity one with another.
            let before = try await queued(store)
            guard let request = try await store.observe.status().failed.first(where: { $0.id == id }) else { continue }
            let together = Self.together(with: request, of: before, changeSets)
            if request.state == .inDoubt {
                let (hasActed, key) = try await act(of: request, among: together)
                if !hasActed {
                    try await store.changes.retry([request.id])
                } else if request.kind == .create, let key, let shape = store.model.shape(ofSet: request.entitySet) {
                    let value: ODataValue = request.entitySet == "Places" ? .string(key) : .integer(Int64(key) ?? 0)
                    let entity = ODataEntity(shape: shape, ["Id": value])
                    try await store.changes.accept([request.id], keys: entity.key.map { [request.id: $0] } ?? [:])
                } else {
                    try await store.changes.accept([request.id])
                }
            } else if !isFinal, Bool.random(using: &numbers) {
                // What was refused together is sent again together.
                for request in together where request.failure?.isConflict == true {
                    // It goes on top of the newest version that is known here, which the person sees besides.
                    let newest = try await store.changes.original(of: try ODataURL(parsing: request.entityText))
                    ledger.note(Self.mark(of: request), of: number) {
                        $0.wasForced = true
                        if let newest { $0.shown.insert(text(newest["Mark"])) }
                    }
                }
                try await store.changes.retry([request.id])
            } else {
                giveUp(Self.goingWith(together, of: before, changeSets))
                try await store.changes.discard([request.id])
            }
        }
    }

    /// Whether a request in doubt has acted, as the service tells, and on the row of which key.
    private func act(
        of request: QueuedRequest, among together: [QueuedRequest]
    ) async throws -> (hasActed: Bool, key: String?) {
        let (count, key) = try await service.act(Self.mark(of: request))
        // What it was to delete, others may have deleted: what is still in doubt with it tells better.
        let other = together.first { $0.kind != .delete && $0.state == .inDoubt }
        guard request.kind == .delete, let other else { return (count > 0, key) }
        return (try await service.act(Self.mark(of: other)).count > 0, key)
    }

    /// The property by which what was made can be found again, by the names of the sets where the service gives the keys.
    static let correlations = ["Tasks": "Born", "Steps": "Born"]

    /// How changes are sent by whoever leaves every conflict to the archive.
    func plainOptions() -> UploadOptions {
        var options = UploadOptions()
        if correlates { options.correlationProperties = Self.correlations }
        return options
    }

    private func uploadOptions() -> UploadOptions {
        var options = plainOptions()
        options.foldsRequests = folds
        options.stopOnFirstFailure = Int.random(in: 0..<8, using: &numbers) == 0
        let (ledger, decisions, store, number) = (ledger, Decisions(seed: numbers.next()), store, number)
        options.conflictPolicy = .custom { versions in
            let mark = Self.mark(of: versions)
            if let theirs = versions.theirs {
                ledger.note(mark, of: number) { $0.shown.insert(text(theirs["Mark"])) }
            }
            switch decisions.next() {
            case .fail: return .fail
            case .theirs:
                if let store, let status = try? await store.observe.status() {
                    let changeSets = (try? await Self.changeSets(in: store)) ?? [:]
                    for request in Self.goingFor(versions, mark, of: status.pending + status.failed, changeSets) {
                        ledger.note(Self.mark(of: request), of: number) { $0.isGivenUp = true }
                    }
                }
                return .theirs
            case .mine:
                ledger.note(mark, of: number) { $0.wasForced = true }
                return .mine
            case .merged:
                let (merged, yielded) = Self.merged(versions)
                ledger.note(mark, of: number) {
                    $0.wasForced = true
                    $0.yielded.formUnion(yielded)
                }
                return versions.kind == .update ? .merged(merged) : .mine
            }
        }
        return options
    }

    // MARK: The end

    /// Takes up the metadata when all faults are healed.
    func takeUpMetadata() async {
        guard await isOpen(), let store else { return }
        do {
            try await refreshMetadata(store)
        } catch {
            violations.append("client \(number) cannot take up the metadata: \(error)")
        }
    }

    /// One round of bringing everything to the service when all faults are healed.
    ///
    /// - Returns: Whether nothing is left to be sent or decided.
    func settle() async -> Bool {
        guard await isOpen(), let store else { return false }
        do {
            var options = uploadOptions()
            options.fromCopy = try await decideAboutHeld(store)
            try await store.sync(options: options)
            try await settleArchive(store, isFinal: true)
            try await store.sync(options: plainOptions())
            let status = try await store.observe.status()
            return status.pending.isEmpty && status.failed.isEmpty
        } catch {
            violations.append("client \(number) cannot finish: \(error)")
            return false
        }
    }

    /// Compares with the service, row by row and with every property that the client knows of.
    func compare() async {
        guard let store else { return }
        do {
            for request in try await queued(store) { violations.append("client \(number) is left with \(request)") }
            for set in ["Places", "Tasks", "Steps"] {
                let names = store.model.shape(ofSet: set)?.properties.map(\.name) ?? []
                var theirs: [String: String] = [:]
                for query in queries where query.text.hasPrefix(set) {
                    theirs.merge(try await service.rows(query.text, names)) { $1 }
                }
                let ours = try await texts(of: set, names, at: store)
                for key in Set(theirs.keys).union(ours.keys).sorted() where theirs[key] != ours[key] {
                    violations.append(
                        "\(set)(\(key)) of client \(number) is \(ours[key] ?? "missing"), "
                            + "and at the service \(theirs[key] ?? "missing")")
                }
            }
        } catch {
            violations.append("client \(number) cannot be compared: \(error)")
        }
    }
}
