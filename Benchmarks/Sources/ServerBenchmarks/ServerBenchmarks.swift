import Foundation
import Measuring

/// Pages over HTTP: `outpost serve` beside a server written by hand for the one query, and beside one that sends
/// constant bytes. Each server is a process of its own, so that its processor time can be told from the load's.
///
///     ServerBenchmarks [--quick]
///
/// If `OUTPOST_SERVER` has the path of the mobile server, ``Syncs`` are measured instead.
@main
struct ServerBenchmarks {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 4, let kind = ServerKind(rawValue: arguments[1]) {
            return try await kind.serve(database: arguments[2], announcement: arguments[3])
        }
        if arguments.count == 4, let kind = SyncServerKind(rawValue: arguments[1]) {
            return try await kind.serve(database: arguments[2], announcement: arguments[3])
        }
        let isQuick = arguments.contains("--quick")
        let rows = isQuick ? 100_000 : 1_000_000
        let seconds = isQuick ? 4.0 : 10.0
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("server-bench-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        if let program = ProcessInfo.processInfo.environment["OUTPOST_SERVER"] {
            return try Syncs(program: program, folder: folder, isQuick: isQuick).measure()
        }
        let file = folder.appendingPathComponent("items.db").path
        try ItemDatabase.make(at: file, rows: rows)

        var servers: [ServerKind: RunningProcess] = [:]
        defer { for server in servers.values { server.stop() } }
        for kind in ServerKind.allCases {
            let copy = folder.appendingPathComponent("\(kind.rawValue).db").path
            try FileManager.default.copyItem(atPath: file, toPath: copy)
            servers[kind] = try RunningProcess(kind.rawValue, database: copy, folder: folder)
        }
        try requireSameRows(servers)
        let kinds: [ServerKind] = [.outpost, .handwritten, .constant]
        let pages = measure(kinds, servers, seconds: seconds) {
            Load(port: $0, rows: rows, connections: 16, writesPerHundred: 0)
        }
        print("A page of 50 of \(rows) rows of 12 properties, 16 connections, \(rounds) rounds in turns;")
        print("requests per second of the server's processor time (per second):")
        for kind in kinds { if let figure = pages[kind] { print("  \(kind.rawValue): \(figure)") } }
        report("page of 50 over HTTP, outpost to hand-written", pages, limit: 0.85)
        let mixed = measure([.outpost, .handwritten], servers, seconds: seconds) {
            Load(port: $0, rows: rows, connections: 64, writesPerHundred: 10)
        }
        print("64 connections, 90 pages to 10 changes:")
        for kind in kinds { if let figure = mixed[kind] { print("  \(kind.rawValue): \(figure)") } }
        report("pages and changes over 64 connections, outpost to hand-written", mixed, limit: 0.85)
        if let server = servers[.streaming] { stream(server, rows: rows) }
    }

    private static let rounds = 5

    /// Measures servers in turns, so that other work on the machine affects all alike.
    private static func measure(
        _ kinds: [ServerKind], _ servers: [ServerKind: RunningProcess], seconds: Double, _ load: (Int) -> Load
    ) -> [ServerKind: Throughput] {
        var figures: [ServerKind: Throughput] = [:]
        for round in 0...rounds {
            for kind in kinds {
                guard let server = servers[kind] else { continue }
                // The first round warms up.
                let figure = load(server.port).run(seconds: round == 0 ? 1 : seconds / Double(rounds), server)
                if round > 0 { figures[kind] = (figures[kind] ?? Throughput()) + figure }
            }
        }
        return figures
    }

    /// Both servers must do the same work: the values of a page are the same, in either format.
    private static func requireSameRows(_ servers: [ServerKind: RunningProcess]) throws {
        var pages: [Data] = []
        for kind in [ServerKind.outpost, .handwritten] {
            guard let server = servers[kind], let connection = Connection(port: server.port),
                let answer = connection.page(after: 4711), let start = answer.firstIndex(of: UInt8(ascii: "{")),
                let end = answer.lastIndex(of: UInt8(ascii: "}"))
            else { throw CocoaError(.fileReadUnknown) }
            connection.close()
            let page = try JSONSerialization.jsonObject(with: Data(answer[start...end])) as? [String: Any]
            let rows = page?["value"] as? [[String: Any]] ?? []
            // Outpost gives each row its ETag besides.
            let values = rows.map { $0.filter { !$0.key.hasPrefix("@") } }
            pages.append(try JSONSerialization.data(withJSONObject: values, options: [.sortedKeys]))
        }
        guard pages[0].count > 5000, pages[0] == pages[1] else {
            for page in pages { print("The pages differ: \(String(decoding: page.prefix(400), as: UTF8.self))") }
            throw CocoaError(.fileReadCorruptFile)
        }
    }

    /// Reads the whole collection, as JSON in one response and as Atom by the links from page to page.
    private static func stream(_ server: RunningProcess, rows: Int) {
        for path in ["/Items?$top=2000", "/v2/Items?$top=2000"] { _ = drain(path, server) }
        print("All \(rows) rows:")
        for (name, path) in [("JSON", "/Items"), ("Atom", "/v2/Items")] {
            Memory.forgetPeak(of: server.id)
            let before = Memory.resident(peak: false, of: server.id)
            let start = ContinuousClock.now
            var (bytes, next, isWhole): (Int, String?, Bool) = (0, path, false)
            while let path = next {
                guard let answer = drain(path, server) else { break }
                bytes += answer.bytes
                // Behind the end there may be that of the chunks.
                isWhole = ["]}", "</feed>"].contains { answer.end.suffix(20).contains($0) }
                next = answer.end.firstMatch(of: /rel="next" href="http:\/\/[^\/]+([^"]+)"/).map {
                    String($0.1).replacing("&amp;", with: "&")
                }
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let grown = Double(max(0, Memory.resident(peak: true, of: server.id) - before)) / 1_048_576
            print(
                String(
                    format: "  %@: %.0f MB in %.1f s, %.0f rows/s", name, Double(bytes) / 1e6, seconds,
                    Double(rows) / seconds))
            require(isWhole && bytes >= rows * 100, "The answer as \(name) is not whole.")
            Figure("memory while all rows stream as \(name)", grown, unit: "MiB").print(atMost: streamLimit)
        }
    }

    private static func drain(_ path: String, _ server: RunningProcess) -> (bytes: Int, end: String)? {
        let connection = Connection(port: server.port)
        defer { connection?.close() }
        return connection?.drain(path)
    }

    /// MiB that a response of any length may take.
    private static let streamLimit = 16.0

    private static func report(_ title: String, _ figures: [ServerKind: Throughput], limit: Double) {
        guard let outpost = figures[.outpost], let other = figures[.handwritten] else { return }
        let ratio = outpost.perProcessorSecond / other.perProcessorSecond
        require(outpost.failures + other.failures == 0, "Requests failed.")
        let elapsed = (Double(outpost.requests) / outpost.seconds) / (Double(other.requests) / other.seconds)
        print(String(format: "%@: %.2f by the clock", title, elapsed))
        Figure("\(title), requests per second of processor", ratio).print(atLeast: limit)
    }
}

/// How many requests were answered.
struct Throughput: CustomStringConvertible {
    var requests = 0
    var failures = 0
    var seconds = 0.0
    /// The server's user and system time.
    var processorSeconds = 0.0

    static func + (left: Throughput, right: Throughput) -> Throughput {
        Throughput(
            requests: left.requests + right.requests, failures: left.failures + right.failures,
            seconds: left.seconds + right.seconds, processorSeconds: left.processorSeconds + right.processorSeconds)
    }

    var perProcessorSecond: Double { Double(requests) / max(processorSeconds, 0.001) }

    var description: String {
        String(format: "%.0f (%.0f)", perProcessorSecond, Double(requests) / seconds)
            + (failures > 0 ? ", \(failures) failed" : "")
    }
}
