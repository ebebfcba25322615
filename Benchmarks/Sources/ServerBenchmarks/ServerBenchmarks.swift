import Foundation

/// Pages over HTTP: `outpost serve` beside a server written by hand for the one query, and beside one that sends
/// constant bytes. Each server is a process of its own, so that its processor time can be told from the load's.
///
///     ServerBenchmarks [rows] [seconds for each figure]
@main
struct ServerBenchmarks {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 4, let kind = ServerKind(rawValue: arguments[1]) {
            return try await kind.serve(database: arguments[2], announcement: arguments[3])
        }
        let rows = arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
        let seconds = arguments.dropFirst(2).first.flatMap { Double($0) } ?? 8
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("server-bench-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("items.db").path
        try ItemDatabase.make(at: file, rows: rows)

        var pages: [ServerKind: Figure] = [:]
        var mixed: [ServerKind: Figure] = [:]
        for kind in ServerKind.allCases {
            let copy = folder.appendingPathComponent("\(kind.rawValue).db").path
            try FileManager.default.copyItem(atPath: file, toPath: copy)
            let server = try RunningProcess(kind, database: copy, folder: folder)
            defer { server.stop() }
            let reads = Load(port: server.port, rows: rows, connections: 16, writesPerHundred: 0)
            _ = reads.run(seconds: 1, server)
            pages[kind] = reads.run(seconds: seconds, server)
            guard kind != .constant else { continue }
            mixed[kind] = Load(port: server.port, rows: rows, connections: 64, writesPerHundred: 10)
                .run(seconds: seconds, server)
        }
        print("A page of 50 of \(rows) rows of 12 properties, requests per second of processor time (per second):")
        for kind in ServerKind.allCases { if let figure = pages[kind] { print("  \(kind.rawValue): \(figure)") } }
        report("page of 50 over HTTP, outpost to hand-written", pages, limit: 0.85)
        print("64 connections, 90 pages to 10 changes:")
        for kind in ServerKind.allCases { if let figure = mixed[kind] { print("  \(kind.rawValue): \(figure)") } }
        report("pages and changes over 64 connections, outpost to hand-written", mixed, limit: 0.85)
    }

    private static func report(_ title: String, _ figures: [ServerKind: Figure], limit: Double) {
        guard let outpost = figures[.outpost], let other = figures[.handwritten] else { return }
        let ratio = outpost.perProcessorSecond / other.perProcessorSecond
        let failures = outpost.failures + other.failures
        let verdict = failures > 0 ? "missed: \(failures) requests failed" : ratio >= limit ? "holds" : "missed"
        print(String(format: "%@: %.2f, limit %.2f or more: %@", title, ratio, limit, verdict))
    }
}

/// How many requests were answered.
struct Figure: CustomStringConvertible {
    var requests: Int
    var failures: Int
    var seconds: Double
    /// The server's user and system time.
    var processorSeconds: Double

    var perProcessorSecond: Double { Double(requests) / max(processorSeconds, 0.001) }

    var description: String {
        String(format: "%.0f (%.0f)", perProcessorSecond, Double(requests) / seconds)
            + (failures > 0 ? ", \(failures) failed" : "")
    }
}
