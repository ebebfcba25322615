import Foundation
import Measuring
import ODataQuery
import ODataService
import OfflineOData

/// The time and memory of a store of some size, for the plots of growth (`make growth`).
struct Growth {
    let rows: Int
    let folder: String

    /// The figures as one line of JSON: seconds of the processor, or of the clock if the name says so.
    func json() async throws -> String {
        let service = try RenderedService(rows: rows, folder: folder + "/pages")
        var store = try await Stores.create("store", in: folder, from: service)
        var figures: [(String, Double)] = []
        var download = Taken()
        let memory = try await Memory.growth { download = try await Taken.by { try await store.download() } }
        figures.append(("download", download.processor))
        figures.append(("downloadMiB", memory))
        try await store.download()
        figures.append(("delta", try await least(10) { try await store.download() }))
        let url = try ODataURL(
            parsing: "Orders?$filter=Freight gt 500 and Paid eq true&$orderby=ID desc&$top=50&$select=ID,Freight")
        figures.append(
            (
                "page",
                try await least(20) {
                    let response = try await store.execute(
                        ODataRequest(.read, url, format: ResponseFormat(metadata: .minimal, version: .v401)))
                    guard case .encoded(let stream, _) = response.body else { return }
                    _ = try await stream.collect(limit: 1 << 20)
                }
            ))
        let changes = 500
        try await Uploads.queue(changes, atOnce: 1, in: store)
        figures.append(("uploadEach", try await Taken.by { try await store.upload() }.processor / Double(changes)))
        let times = try await Observing.latencies(store)
        figures.append(("observeClock", times[times.count / 2] / 1000))
        try await store.upload()
        figures.append(
            (
                "open",
                try await least(5) {
                    try store.close()
                    store = try await Stores.open("store", in: folder, from: service)
                }
            ))
        try store.close()
        figures.append(("peakMiB", Double(Memory.resident(peak: true)) / 1_048_576))
        let members = figures.map { "\"\($0)\":\(String(format: "%.6f", $1))" }
        return "{\"rows\":\(rows),\(members.joined(separator: ","))}"
    }

    /// The least processor time of several runs.
    private func least(_ runs: Int, _ work: () async throws -> Void) async throws -> Double {
        var least = Double.infinity
        for _ in 0..<runs { least = min(least, try await Taken.by(work).processor) }
        return least
    }
}
