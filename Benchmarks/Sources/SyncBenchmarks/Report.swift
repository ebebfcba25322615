import Foundation
import Measuring
import ODataHTTP
import ODataQuery
import ODataService
import OfflineOData

/// The figures about synchronisation in the design's table, with their baselines.
struct Report {
    let isQuick: Bool
    /// The parts that are wanted, with commas between them; `nil` for all.
    let only: String?
    let folder: String

    private var rows: Int { isQuick ? 100_000 : 1_000_000 }
    private let smallRows = 10_000
    private var rowsOfNine: Int { isQuick ? 2_000 : 20_000 }
    private var changes: Int { isQuick ? 1_000 : 10_000 }

    private func isWanted(_ parts: String...) -> Bool {
        only.map { $0.split(separator: ",").contains { parts.contains(String($0)) } } ?? true
    }

    func run() async throws {
        if isWanted("download", "delta", "refresh") {
            let service = try RenderedService(rows: rows, folder: folder + "/large")
            if isWanted("download", "delta") {
                let store = try await firstDownload(service)
                if isWanted("delta") { try await delta(store) }
                try store.close()
            }
            if isWanted("refresh") { try await refresh(service) }
        }
        if isWanted("upload", "observe") {
            let service = try RenderedService(rows: smallRows, folder: folder + "/few")
            let store = try await Stores.create("changed", in: folder, from: service)
            try await store.download()
            if isWanted("upload") {
                try await upload(store, atOnce: 1)
                try await upload(store, atOnce: 100)
            }
            if isWanted("observe") {
                let times = try await Observing.latencies(store)
                print(
                    String(
                        format: "an edit to the element that shows it: median %.1f ms, 95th of 100 %.1f ms",
                        times[times.count / 2], times[times.count * 95 / 100]))
            }
            try store.close()
        }
        if isWanted("nine") { try await NineStores.report(rows: rowsOfNine, folder: folder) }
        if isWanted("http") { try await TableServer.download(rows, folder: folder) }
    }

    /// The first download and the bare statement, the best of three in turns. Memory is that of the first, since
    /// memory left in an allocator must not count for the next; for the same reason the bare statement runs in a
    /// process of its own.
    ///
    /// - Returns: the store of the last one, open.
    private func firstDownload(_ service: RenderedService) async throws -> OfflineStore {
        var (bare, download) = (Double.infinity, Taken?.none)
        var (memory, longest) = (0.0, 0)
        var store = try await Stores.create("tracked", in: folder, from: service)
        for round in 1...3 {
            if round > 1 {
                try store.close()
                try OfflineStore.remove(at: folder + "/tracked")
                store = try await Stores.create("tracked", in: folder, from: service)
            }
            let output = try Subprogram.own("--bare", String(rows), folder + "/bare.db")
            let inserted = Double(output) ?? 0
            require(inserted > 0, "the bare statement took \(output)")
            try FileManager.default.removeItem(atPath: folder + "/bare.db")
            bare = min(bare, inserted)
            let log = FileWatch(folder + "/tracked/store.db-wal")
            let growth = try await Memory.growth { [store] in
                let taken = try await Taken.by {
                    let report = try await store.download()
                    require(report.inserted == rows, "\(report.inserted) rows")
                }
                download = .least(download, taken)
            }
            if round == 1 { memory = growth }
            longest = max(longest, log.stop())
        }
        report(bare: bare, download: download ?? Taken(), memory: memory, log: longest)
        return store
    }

    private func report(bare: Double, download: Taken, memory: Double, log: Int) {
        print(
            String(
                format: "%d rows inserted bare in %.2f s of processor, downloaded in %.2f s "
                    + "(%.0f rows/s; %.0f by the clock)", rows, bare, download.processor,
                Double(rows) / download.processor, Double(rows) / download.clock))
        Figure("first download against a bare prepared statement", download.processor / bare).print(atMost: 1.5)
        Figure("memory of the first download beyond what was there", memory, unit: "MiB")
            .print(atMost: 48, "caches of 32 MiB and 16 more")
        Figure("longest write-ahead log", Double(log) / 1_048_576, unit: "MiB").print(atMost: 64)
    }

    /// The delta of 100 changes in a large store and in a small one, in turns.
    private func delta(_ large: OfflineStore) async throws {
        let service = try RenderedService(rows: smallRows, folder: folder + "/small")
        let small = try await Stores.create("small", in: folder, from: service)
        try await small.download()
        func refresh(_ store: OfflineStore) async throws {
            let report = try await store.download()
            require(report.updated == RenderedService.changedRows, "\(report.updated) rows")
        }
        try await refresh(large)
        try await refresh(small)
        let (ofLarge, ofSmall) = try await best(rounds: 25) {
            try await refresh(large)
        } _: {
            try await refresh(small)
        }
        print(
            String(
                format: "delta of %d changes: %.1f ms of processor in %d rows, %.1f ms in %d",
                RenderedService.changedRows, ofLarge * 1000, rows, ofSmall * 1000, smallRows))
        Figure("delta of 100 changes, \(rows) rows against \(smallRows)", ofLarge / ofSmall).print(atMost: 1.3)
        try small.close()
    }

    private func refresh(_ service: RenderedService) async throws {
        let store = try await Stores.create("plain", in: folder, from: service, root: "plain/")
        try await store.createOrder(Editing.ownOrder)
        let first = try await Editing.longestWait(Editing.ownOrder, store) {
            let report = try await store.download()
            require(report.inserted == rows, "\(report.inserted) rows")
        }
        let log = FileWatch(folder + "/plain/store.db-wal")
        var taken = Taken()
        let memory = try await Memory.growth {
            taken = try await Taken.by {
                let report = try await store.download()
                require(report.received == rows && report.updated == 0, "\(report)")
            }
        }
        print(
            String(
                format: "full refresh of %d unchanged rows: %.2f s of processor (%.0f rows/s), log %.1f MiB, "
                    + "%.0f MiB more memory", rows, taken.processor, Double(rows) / taken.processor,
                Double(log.stop()) / 1_048_576, memory))
        let again = try await Editing.longestWait(7, store) { try await store.download() }
        Editing.report("a refresh", again)
        Editing.report("a first download", first)
        try store.close()
    }

    private func upload(_ store: OfflineStore, atOnce: Int) async throws {
        let editing = try await Taken.by { try await Uploads.queue(changes, atOnce: atOnce, in: store) }
        let taken = try await Taken.by {
            let report = try await store.upload()
            require(
                report.accepted.count == changes, "\(report.accepted.count) changes, \(report.failed.count) refused")
        }
        let each = 1e6 / Double(changes)
        print(
            String(
                format:
                    "%d changes %@: %.0f µs of processor each to make, %.0f µs to upload, %.0f uploaded/s by the clock",
                changes, atOnce > 1 ? "in change sets of 100" : "one by one", editing.processor * each,
                taken.processor * each, Double(changes) / taken.clock))
    }
}
