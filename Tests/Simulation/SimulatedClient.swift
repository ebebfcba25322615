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

/// The actions of a client.
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

/// A client of a run: an app with an encrypted store on its own disk, and its user.
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
    /// The number of the file that contains the store on its disk.
    var fileNumber = 1
    /// The state to which the store can be restored.
    var backup: Backup?
    /// The number of copies of the store.
    var copies = 0
    /// Whether the store was restored and not inspected since.
    var wasPutBack = false
    /// The time of the state to which the whole machine was restored.
    var unknownSince: Double?
    var numbers: SeededNumbers
    private var life = 0
    private(set) var marks = 0
    /// The number of transactions so far.
    var transactions = 0

    private(set) var store: OfflineStore?
    private var wire: SimulatedWire?
    private(set) var disk: FaultDisk?
    /// The disk of the previous life, until its operations end.
    private var formerDisk: FaultDisk?
    private var formerDiskFaults: [Fault] = []
    /// The violated promises.
    var violations: [String] = []
    /// The marks of changes that were lost on purpose.
    private(set) var lost: [String] = []
    /// The number of times that the client adopted new metadata.
    private(set) var migrations = 0
    /// The requests in the queue at the last inspection, by number.
    private var known: [Int64: Sighting] = [:]

    /// Forgets the queue of a store that does not exist any longer.
    func forgetQueue() { (known, changeSets) = ([:], [:]) }

    /// The change set names of the requests at the last inspection, by number.
    private(set) var changeSets: [Int64: String] = [:]

    /// A request as seen in the queue.
    private struct Sighting {
        let mark: String
        let row: QueuedRow
        let wasRefused: Bool
    }

    /// - Parameters:
    ///   - isCareful: Whether the client keeps every change; otherwise it loses one.
    ///   - correlates: Whether the client finds created entities at the service by their birth marks.
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

    /// Creates the store with a working disk and wire.
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

    /// - Parameter file: The number of the file that contains the store; the client's own by default.
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

    /// Ends the process, possibly with a power failure. All its operations end without a result.
    func die(_ remains: Remains) throws {
        let former = folder
        wire?.die()
        life += 1
        try disk?.restart(into: folder, with: remains)
        formerDiskFaults += disk?.fired ?? []
        // Operations of the former process do not reach its disk any longer.
        disk?.break(.crash(at: 0))
        formerDisk = disk
        disk = nil
        try? EncryptedDatabase.lock(at: former + "/store.db")
    }

    /// Starts the client after ``die(_:)``.
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

    /// Creates a client without retries, because retries would wait in real time.
    ///
    /// - Parameter model: The model of the client; `nil` reads it from the service.
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

    /// The batch format, which alternates between clients.
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

    /// Repairs the disk. A store that was opened on a full disk is closed and reopened when needed.
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

    /// The faults of the client's disks in all its lives.
    var diskFaults: [Fault] { formerDiskFaults + (disk?.fired ?? []) }

    /// Sets the clock wrong by up to two days, during any operation.
    func setClock() { clock.set(wrongBy: Double.random(in: -172_800...172_800, using: &numbers)) }

    func close() {
        try? store?.close()
        try? EncryptedDatabase.lock(at: folder + "/store.db")
    }

    // MARK: Work

    /// Performs an action. An error has the same effect as for a user.
    ///
    /// - Returns: The result, for the trace.
    func perform(_ action: Action) async -> String {
        guard await isOpen(), let store else { return "no store" }
        // Inspect the queue first: a further edit may repair changes that were refused since the last
        // inspection.
        _ = try? await queued(store)
        let result = await result(of: action, store)
        // A user immediately sees new entries in the error archive.
        if let store = self.store { _ = try? await queued(store) }
        return result
    }

    private func result(of action: Action, _ store: OfflineStore) async -> String {
        let mayFail = disk?.isBroken ?? false
        do {
            switch action {
            case .sync:
                // A user may synchronise before deciding about held changes.
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

    /// Reopens the store after a failed attempt, like a user who has freed space.
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

    /// Adopts the current metadata of the service with a new connection, like an app.
    private func refreshMetadata(_ store: OfflineStore) async throws {
        let (wire, format) = (wire, batchFormat)
        let refresh = try await store.maintenance.refreshMetadata { _, model in
            try wire.map { try Self.client($0, speaking: model, format) }
        }
        self.store = refresh.store
        guard !refresh.differences.isEmpty else { return }
        migrations += 1
        // Metadata only grows, so every change can be kept.
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

    /// Returns the values that an update sets.
    func newValues(of row: ODataEntity, in set: String, _ mark: String) -> [String: ODataValue] {
        var properties: [String: ODataValue] = ["Mark": .string(mark)]
        switch set {
        case "Places": properties["Name"] = .string("Name \(mark)")
        case "Tasks" where Bool.random(using: &numbers):
            let amount = Int64.random(in: 0..<100, using: &numbers)
            // An equal value would not be a change, and could not conflict with changes of others.
            properties["Amount"] = .integer(row["Amount"] == .integer(amount) ? (amount + 1) % 100 : amount)
        default: properties["Title"] = .string("Title \(mark)")
        }
        // Set one of the properties that the service added, if the adopted metadata contains any, loaded or
        // not.
        let extras = row.shape.properties.map(\.name).filter(SimulatedService.isExtra)
        if let extra = extras.randomElement(using: &numbers) { properties[extra] = .string("\(extra) \(mark)") }
        return properties
    }

    /// Loses a confirmed change silently, like a faulty engine.
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

    /// Returns the store, sometimes with the preference for responses without the entity.
    private func maker(_ store: OfflineStore) -> any ODataProvider {
        wantsNoContent() ? store.changes.provider(with: ChangeOptions(prefersNoContent: true)) : store
    }

    func wantsNoContent() -> Bool { Int.random(in: 0..<4, using: &numbers) == 0 }

    /// Changes an existing row and records whether the change was confirmed.
    private func change(
        _ mark: String, of row: ODataEntity, setting properties: [String: ODataValue] = [:], _ what: String,
        _ body: () async throws -> Void
    ) async throws {
        try await change(
            mark, born: text(row["Born"]), base: text(row["Mark"]), setting: properties, what, body)
    }

    /// Makes a change and records whether it was confirmed.
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

    /// Makes changes that succeed or fail together, and records whether they were confirmed.
    func make(_ changes: [Ledger.Change], _ body: () async throws -> Void) async throws {
        func note(_ edit: (inout Ledger.Change) -> Void) {
            for change in changes { ledger.note(change.mark, of: number, edit) }
        }
        for change in changes { ledger.begin(change) }
        do {
            try await body()
            note { $0.isAcknowledged = true }
        } catch let error as ODataError where error.status < 500 {
            // The store refused the change, so it must never act. Another client may delete the same row,
            // though.
            note { if !$0.isDeletion { $0.isRefused = true } }
            throw error
        } catch {
            // The store failed, possibly after the change had been stored.
            note { $0.isUncertain = true }
            throw error
        }
    }

    /// - Parameter prefersContested: Whether to pick, half of the time, one of the few rows that every client
    ///   changes.
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
            // A part of a change set is not undone unless the whole set may be.
            let takesOthers = changeSets[request.id] != nil && Bool.random(using: &numbers)
            try await store.changes.undo([try ODataURL(parsing: request.entityText)], withAllOthers: takesOthers)
        }
    }

    // MARK: The queue

    /// Returns pending and archived requests. A request that is still present does not count as withdrawn.
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
            // A later edit joins the preceding request, or replaces a refused one.
            let isTakenUp = seen[id].map { $0.mark != before.mark } ?? refused.contains(before.row)
            if isTakenUp { ledger.note(before.mark, of: number) { $0.isTakenUp = true } }
        }
        known = seen
        return requests
    }

    /// Records that changes are being undone. Changes that are still in the queue at the next inspection are
    /// not.
    func giveUp(_ requests: [QueuedRequest]) {
        for request in requests { ledger.note(Self.mark(of: request), of: number) { $0.isGivenUp = true } }
    }

    /// Settles the error archive. If the outcome of a request is unknown, the service is checked first.
    private func settleArchive(_ store: OfflineStore, isFinal: Bool) async throws {
        for id in try await store.observe.status().failed.map(\.id) {
            // Settling another entry may have removed this one or changed its state.
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
                // Refused changes of one change set are sent again together.
                for request in together where request.failure?.isConflict == true {
                    // The change is applied to the newest local version, which the user sees too.
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

    /// Returns whether a request with an unknown outcome has acted according to the service, and the key of its
    /// row.
    private func act(
        of request: QueuedRequest, among together: [QueuedRequest]
    ) async throws -> (hasActed: Bool, key: String?) {
        let (count, key) = try await service.act(Self.mark(of: request))
        // Others may have deleted the row, so another change of the set with an unknown outcome is better
        // evidence.
        let other = together.first { $0.kind != .delete && $0.state == .inDoubt }
        guard request.kind == .delete, let other else { return (count > 0, key) }
        return (try await service.act(Self.mark(of: other)).count > 0, key)
    }

    /// The property by which created entities can be found, by entity set, if the service assigns the keys.
    static let correlations = ["Tasks": "Born", "Steps": "Born"]

    /// Returns upload options that leave every conflict to the error archive.
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

    /// Adopts the current metadata after all faults are repaired.
    func takeUpMetadata() async {
        guard await isOpen(), let store else { return }
        do {
            try await refreshMetadata(store)
        } catch {
            violations.append("client \(number) cannot take up the metadata: \(error)")
        }
    }

    /// Sends and settles all changes after all faults are repaired, in one round.
    ///
    /// - Returns: Whether nothing remains to be sent or decided.
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

    /// Compares all rows with the service, with every property that the client knows.
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
