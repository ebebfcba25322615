import Foundation
import GRDB
import ODataClient
import ODataDatabases
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Secrets
import Synchronization

/// A service and two encrypted stores that work without a pause: edits, synchronisations, refused changes, and
/// observers that start and stop. One store is closed and reopened from time to time. The other stays open from
/// the first round to the last, with an observer for the whole time.
///
/// The number of rows stays the same, so any growth is a leak.
struct Soak {
    private static let tables = """
        CREATE TABLE Customers(ID INTEGER PRIMARY KEY, Name VARCHAR(40) NOT NULL);
        CREATE TABLE Orders(
            ID INTEGER PRIMARY KEY, CustomerID INTEGER NOT NULL REFERENCES Customers(ID),
            Freight INTEGER NOT NULL CHECK (Freight >= 0));
        INSERT INTO Customers WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
            SELECT i, 'Customer ' || i FROM n;
        INSERT INTO Orders WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
            SELECT i, i % 50 + 1, i FROM n;
        """

    private static let root = "http://soak.test/"

    let directory: URL
    private let service: ServedDatabase
    private let client: ODataClient
    private let key = KeySource.key(.generate())
    private var storeDirectory: String { directory.appendingPathComponent("store").path }
    private var residentDirectory: String { directory.appendingPathComponent("resident").path }
    private var servicePath: String { directory.appendingPathComponent("service.db").path }

    /// Creates the service and the stores in a new folder.
    init() async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("soak-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let path = directory.appendingPathComponent("service.db").path
        try await DatabaseQueue(path: path).write { try $0.execute(sql: Self.tables) }
        service = try await ServedDatabase.open(path: path)
        client = try ODataClient(
            serviceRoot: Self.root, transport: LoopbackTransport(ODataHandler(provider: service)))
        for name in [storeDirectory, residentDirectory] {
            let store = try await OfflineStore.create(
                at: name, protection: .encrypted(key), serviceRoot: Self.root, remote: client)
            try await store.download()
            try store.close()
        }
    }

    /// The results of a soak.
    struct Totals {
        var rounds = 0
        var accepted = 0
        var refused = 0
        var observed = 0
        /// The number of results that the permanent observer received.
        var followed = 0
        var problems: [String] = []
        /// Whether the soak was long enough to detect growth.
        var canTell = false

        /// The result as a sentence.
        var verdict: String {
            if !problems.isEmpty { return problems.joined(separator: " ") }
            return canTell ? "all flat, both sides equal" : "too short to tell what grows, both sides equal"
        }
    }

    /// The length of a soak.
    enum Length {
        case seconds(Double)
        /// A number of rounds, regardless of the time, so that a busy machine does not make the soak too short.
        case rounds(Int)

        /// The interval between progress reports.
        var interval: Duration {
            switch self {
            case .seconds(let seconds): .seconds(max(1, seconds / 20))
            case .rounds: .seconds(1)
            }
        }

        /// Returns whether the soak continues.
        func goesOn(after rounds: Int, _ duration: Duration) -> Bool {
            switch self {
            case .seconds(let seconds): duration < .seconds(seconds)
            case .rounds(let wanted): rounds < wanted
            }
        }
    }

    /// Runs the soak and reports its progress.
    ///
    /// - Parameters:
    ///   - length: The length of the soak.
    ///   - report: A function that receives progress lines.
    func run(_ length: Length, report: (String) -> Void) async throws -> Totals {
        let clock = ContinuousClock()
        let start = clock.now
        var totals = Totals()
        var judge = FlatnessJudge()
        var nextReport = start
        func goesOn() -> Bool { length.goesOn(after: totals.rounds, clock.now - start) }
        let resident = try await open(residentDirectory)
        let observer = try Observer(of: Self.followed, in: resident)
        while goesOn(), totals.problems.isEmpty {
            let store = try await open(storeDirectory)
            // These rounds fill a log and the caches; then all connections are closed and reopened.
            var left = 20
            repeat {
                try await round(totals.rounds, store, &totals)
                try await residentRound(totals.rounds, resident, &totals)
                totals.rounds += 1
                left -= 1
            } while left > 0 && goesOn()
            let now = Measurement(storesIn: [storeDirectory, residentDirectory])
            try store.close()
            totals.problems = judge.problems(with: now, after: totals.rounds)
            if clock.now >= nextReport || !goesOn() || !totals.problems.isEmpty {
                report("\(totals.rounds) rounds: \(now.text)")
                nextReport = clock.now + length.interval
            }
        }
        totals.canTell = judge.canTell
        if totals.problems.isEmpty {
            let store = try await open(storeDirectory)
            totals.problems += try await difference(store) + difference(resident)
            try store.close()
        }
        totals.problems += await observer.stop()
        totals.followed = observer.count
        // The observer starts with the initial result, which the service changes in each round.
        if totals.canTell, totals.followed < 2 { totals.problems.append("The observer saw nothing new.") }
        try resident.close()
        return totals
    }

    private func open(_ directory: String) async throws -> OfflineStore {
        try await OfflineStore.open(
            at: directory, protection: .encrypted(key), connect: { [client] _, _ in client })
    }

    /// The query of the permanent observer: it contains orders edited by its own store and orders edited by
    /// others.
    private static let followed = "Orders?$filter=ID gt 890 and ID le 920&$orderby=ID"

    /// Edits orders that no one else changes, in the store that stays open; every fifth time it synchronises.
    private func residentRound(
        _ number: Int, _ store: OfflineStore, _ totals: inout Totals
    ) async throws {
        let order = "Orders(\(601 + number % 300))"
        try await change(.update, order, ["Freight": .integer(Int64(number))], shape("Orders"), store)
        guard number % 5 == 4 else { return }
        let report = try await store.sync()
        totals.accepted += report.upload.accepted.count
        totals.refused += report.upload.failed.count
        if !report.upload.failed.isEmpty { try await store.changes.discard() }
    }

    /// Makes some edits on both sides and synchronises, while an observer is active.
    private func round(
        _ number: Int, _ store: OfflineStore, _ totals: inout Totals
    ) async throws {
        let query = try ODataURL(parsing: "Orders?$filter=CustomerID eq \(number % 50 + 1)&$orderby=ID")
        var results = store.observe.results(of: query).makeAsyncIterator()
        let before = try await results.next()
        let orders = try shape("Orders")
        try await change(.update, "Orders(\(number % 500 + 1))", ["Freight": .integer(Int64(number))], orders, store)
        try await change(
            .create, "Orders", ["CustomerID": .integer(Int64(number % 50 + 1)), "Freight": 1], orders, store)
        if number % 5 == 0 {
            // No service accepts this value: the change is refused, found in the error archive, and withdrawn.
            try await change(.update, "Orders(\(number % 400 + 501))", ["Freight": -1], orders, store)
        }
        try await DatabaseQueue(path: servicePath).write {
            try $0.execute(
                sql: """
                    UPDATE Customers SET Name = 'Round \(number)' WHERE ID = \(number % 50 + 1);
                    UPDATE Orders SET Freight = Freight + 1 WHERE ID BETWEEN 901 AND 950;
                    DELETE FROM Orders WHERE ID > 1000 AND ID < (SELECT MAX(ID) FROM Orders);
                    """)
        }
        let report = try await store.sync()
        totals.accepted += report.upload.accepted.count
        totals.refused += report.upload.failed.count
        if !report.upload.failed.isEmpty { try await store.changes.discard() }
        if before != (try await results.next()) { totals.observed += 1 }
    }

    private func shape(_ set: String) throws -> TypeShape {
        guard let shape = service.model.shape(ofSet: set) else {
            throw ODataError(status: 404, code: "NoSet", message: "The service has no \(set).")
        }
        return shape
    }

    private func change(
        _ method: ODataRequest.Method, _ url: String, _ properties: [String: ODataValue], _ shape: TypeShape,
        _ store: OfflineStore
    ) async throws {
        _ = try await store.execute(
            ODataRequest(method, try ODataURL(parsing: url), body: .entity(ODataEntity(shape: shape, properties))))
    }

    /// Returns the differences after a last synchronisation: both sides must have the same rows, and the queue
    /// must be empty.
    private func difference(_ store: OfflineStore) async throws -> [String] {
        try await store.sync()
        var problems: [String] = []
        let status = try await store.observe.status()
        if !status.pending.isEmpty { problems.append("\(status.pending.count) changes wait.") }
        // Read in parts that each fit in one page of the service.
        for query in ["Customers?$orderby=ID", "Orders?$orderby=ID&$top=600", "Orders?$orderby=ID desc&$top=600"] {
            let request = ODataRequest(.read, try ODataURL(parsing: query))
            guard case .page(let ours) = try await store.execute(request).body,
                case .page(let theirs) = try await service.execute(request).body,
                ours.entities == theirs.entities
            else {
                problems.append("\(query) differs.")
                continue
            }
        }
        return problems
    }
}

/// An observer that counts the results of a query until it is stopped.
private final class Observer: Sendable {
    private struct State {
        var count = 0
        var problems: [String] = []
    }

    private let state = Mutex(State())
    private let task: Mutex<Task<Void, Never>?> = Mutex(nil)

    init(of query: String, in store: OfflineStore) throws {
        let results = store.observe.results(of: try ODataURL(parsing: query))
        let task = Task { [weak self] in
            do {
                for try await _ in results { self?.add() }
            } catch {
                // A stopped observer may end with several kinds of errors.
                if !Task.isCancelled { self?.add("The observer ended: \(error)") }
            }
        }
        self.task.withLock { $0 = task }
    }

    /// The number of results.
    var count: Int { state.withLock { $0.count } }

    private func add() { state.withLock { $0.count += 1 } }

    private func add(_ problem: String) { state.withLock { $0.problems.append(problem) } }

    /// Stops the observer. Afterwards it no longer reads from the store.
    ///
    /// - Returns: The problems, one sentence each.
    func stop() async -> [String] {
        let running = task.withLock { $0 }
        running?.cancel()
        await running?.value
        return state.withLock { $0.problems }
    }
}
