// Downloads, refreshes and uploads, beside a bare prepared statement that inserts the same rows: SyncBenchmarks [--quick].
// Processor time of this process; the service's pages are rendered before, by another one, and its answers to changes are
// in what uploads take. With --quick a tenth of the rows and changes.
import Foundation
import ODataClient
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Secrets

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--render", arguments.count == 3 {
    try Service.render(Int(arguments[1]) ?? 0, into: arguments[2])
    exit(0)
}
let isQuick = arguments.contains("--quick")
let rows = isQuick ? 100_000 : 1_000_000
let smallRows = 10_000
let changes = isQuick ? 1_000 : 10_000

let folder = NSTemporaryDirectory() + "sync-bench-\(getpid())"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)

func store(_ service: Service, _ root: String, named name: String) async throws -> OfflineODataProvider {
    let root = "http://bench.test/\(root)/"
    var options = OfflineODataProvider.Options()
    options.downloadPageSize = Service.pageSize
    return try await OfflineODataProvider.create(
        at: folder + "/" + name, protection: .encrypted(.key(EncryptionKey.generate())), serviceRoot: root,
        remote: ODataClient(serviceRoot: root, transport: service), options: options)
}

func measured(_ body: () async throws -> Void) async throws -> (processor: Double, clock: Double) {
    let start = (processorTime(), seconds(CLOCK_MONOTONIC))
    try await body()
    return (processorTime() - start.0, seconds(CLOCK_MONOTONIC) - start.1)
}

func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
    guard condition else {
        FileHandle.standardError.write(Data("SyncBenchmarks: \(what())\n".utf8))
        exit(1)
    }
}

/// The first download, and what it takes.
func firstDownload(_ service: Service) async throws -> OfflineODataProvider {
    let bare = try BareTable(path: folder + "/bare.db").insert(rows, atOnce: Service.pageSize)
    try? FileManager.default.removeItem(atPath: folder + "/bare.db")
    let store = try await store(service, "tracked", named: "tracked")
    let log = FileWatch(folder + "/tracked/store.db-wal")
    let before = Memory.resident(peak: false)
    Memory.forgetPeak()
    let download = try await measured {
        let report = try await store.download()
        expect(report.inserted == rows, "\(report.inserted) rows")
    }
    let memory = Double(Memory.resident(peak: true) - before) / 1_048_576
    let longest = Double(log.stop()) / 1_048_576
    let ratio = download.processor / bare
    print(
        String(
            format:
                "%d rows inserted bare in %.2f s of processor, downloaded in %.2f s (%.0f rows/s; %.0f by the clock)",
            rows, bare, download.processor, Double(rows) / download.processor, Double(rows) / download.clock))
    print(
        String(format: "first download against a bare prepared statement: %.2f times, limit 1.5: ", ratio)
            + verdict(ratio, atMost: 1.5))
    print(
        String(format: "peak memory of the first download: %.0f MiB more, caches of 32 MiB and limit 16 more: ", memory)
            + verdict(memory, atMost: 48))
    print(
        String(format: "longest write-ahead log: %.1f MiB, limit 64: ", longest) + verdict(longest, atMost: 64))
    return store
}

/// The delta of 100 changes: the least of some.
func delta(_ store: OfflineODataProvider) async throws -> Double {
    var best = Double.infinity
    for _ in 0..<9 {
        let taken = try await measured {
            let report = try await store.download()
            expect(report.updated == Service.changedRows, "\(report.updated) rows")
        }
        best = min(best, taken.processor)
    }
    return best
}

func refresh(_ service: Service) async throws {
    let store = try await store(service, "plain", named: "plain")
    try await store.download()
    let log = FileWatch(folder + "/plain/store.db-wal")
    let before = Memory.resident(peak: false)
    Memory.forgetPeak()
    let taken = try await measured {
        let report = try await store.download()
        expect(report.received == rows && report.updated == 0, "\(report)")
    }
    print(
        String(
            format:
                "full refresh of %d unchanged rows: %.2f s of processor (%.0f rows/s), log %.1f MiB, %.0f MiB more memory",
            rows, taken.processor, Double(rows) / taken.processor, Double(log.stop()) / 1_048_576,
            Double(Memory.resident(peak: true) - before) / 1_048_576))
    try store.close()
}

func upload(_ store: OfflineODataProvider, atOnce: Int) async throws {
    guard let shape = store.model.shape(ofSet: "Orders") else { return }
    for first in stride(from: 0, to: changes, by: 100) {
        let change: @Sendable (LocalTransaction) throws -> Void = { transaction in
            for id in first..<first + 100 {
                try transaction.update("Orders(\(id))", ["Employee": .integer(Int64(id % 7 + 100))])
            }
        }
        if atOnce > 1 {
            try await store.transaction(change)
        } else {
            for id in first..<first + 100 {
                _ = try await store.execute(
                    ODataRequest(
                        .update, ODataURL(parsing: "Orders(\(id))"),
                        body: .entity(Entity(shape: shape, ["Employee": .integer(Int64(id % 7 + 200))]))))
            }
        }
    }
    let taken = try await measured {
        let report = try await store.upload()
        expect(report.accepted.count == changes, "\(report.accepted.count) changes, \(report.failed.count) refused")
    }
    print(
        String(
            format: "upload of %d changes %@: %.2f s of processor, %.0f changes/s by the clock", changes,
            atOnce > 1 ? "in change sets of 100" : "one by one", taken.processor, Double(changes) / taken.clock))
}

func observation(_ store: OfflineODataProvider) async throws {
    guard let shape = store.model.shape(ofSet: "Orders") else { return }
    var iterator = store.observe(try ODataURL(parsing: "Orders(7)")).makeAsyncIterator()
    _ = try await iterator.next()
    var times: [Double] = []
    for number in 0..<100 {
        let start = seconds(CLOCK_MONOTONIC)
        _ = try await store.execute(
            ODataRequest(
                .update, ODataURL(parsing: "Orders(7)"),
                body: .entity(Entity(shape: shape, ["Employee": .integer(Int64(1000 + number))]))))
        _ = try await iterator.next()
        times.append((seconds(CLOCK_MONOTONIC) - start) * 1000)
    }
    times.sort()
    print(
        String(
            format: "an edit to the element that shows it: median %.1f ms, 95th of 100 %.1f ms", times[50], times[95]))
}

do {
    let service = try Service(rows: rows, folder: folder + "/large")
    let large = try await firstDownload(service)
    let largeDelta = try await delta(large)
    let few = try Service(rows: smallRows, folder: folder + "/few")
    let smallStore = try await store(few, "tracked", named: "small")
    try await smallStore.download()
    let smallDelta = try await delta(smallStore)
    let ratio = largeDelta / smallDelta
    print(
        "delta of \(Service.changedRows) changes, \(rows) rows against \(smallRows): "
            + String(format: "%.1f ms, %.2f times, limit 1.3: ", largeDelta * 1000, ratio) + verdict(ratio, atMost: 1.3)
    )
    try await refresh(service)
    try await upload(smallStore, atOnce: 1)
    try await upload(smallStore, atOnce: 100)
    try await observation(smallStore)
    try smallStore.close()
    try large.close()
    try? FileManager.default.removeItem(atPath: folder)
} catch {
    FileHandle.standardError.write(Data("SyncBenchmarks: \(error)\n".utf8))
    exit(1)
}
