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

        var servers: [ServerKind: RunningProcess] = [:]
        defer { for server in servers.values { server.stop() } }
        for kind in ServerKind.allCases {
            let copy = folder.appendingPathComponent("\(kind.rawValue).db").path
            try FileManager.default.copyItem(atPath: file, toPath: copy)
            servers[kind] = try RunningProcess(kind, database: copy, folder: folder)
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

    /// Measures servers in turns, so that what else the machine does meets all alike.
    private static func measure(
        _ kinds: [ServerKind], _ servers: [ServerKind: RunningProcess], seconds: Double, _ load: (Int) -> Load
    ) -> [ServerKind: Figure] {
        var figures: [ServerKind: Figure] = [:]
        for round in 0...rounds {
            for kind in kinds {
                guard let server = servers[kind] else { continue }
                // The first round warms up.
                let figure = load(server.port).run(seconds: round == 0 ? 1 : seconds / Double(rounds), server)
                if round > 0 { figures[kind] = (figures[kind] ?? Figure()) + figure }
            }
        }
        return figures
    }

    /// Both servers must do the same work: the values of a page are the same, whatever stands around them.
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
            server.beginPeak()
            let before = server.memory().current
            let start = ContinuousClock.now
            var (bytes, next, isWhole): (Int, String?, Bool) = (0, path, false)
            while let path = next {
                guard let answer = drain(path, server) else { break }
                bytes += answer.bytes
                isWhole = ["]}\r\n0\r\n\r\n", "</feed>"].contains { answer.end.hasSuffix($0) }
                next = answer.end.firstMatch(of: /rel="next" href="http:\/\/[^\/]+([^"]+)"/).map {
                    String($0.1).replacing("&amp;", with: "&")
                }
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let grown = Double(max(0, server.memory().peak - before)) / 1_048_576
            print(
                String(
                    format: "  %@: %.0f MB in %.1f s, %.0f rows/s", name, Double(bytes) / 1e6, seconds,
                    Double(rows) / seconds))
            let verdict =
                !isWhole || bytes < rows * 100 ? "missed: not whole" : grown <= streamLimit ? "holds" : "missed"
            print(
                String(
                    format: "memory while all rows stream as %@: %.1f MiB more, limit %.0f: %@", name, grown,
                    streamLimit, verdict))
        }
    }

    private static func drain(_ path: String, _ server: RunningProcess) -> (bytes: Int, end: String)? {
        let connection = Connection(port: server.port)
        defer { connection?.close() }
        return connection?.drain(path)
    }

    /// MiB that a response of any length may take.
    private static let streamLimit = 16.0

    private static func report(_ title: String, _ figures: [ServerKind: Figure], limit: Double) {
        guard let outpost = figures[.outpost], let other = figures[.handwritten] else { return }
        let ratio = outpost.perProcessorSecond / other.perProcessorSecond
        let failures = outpost.failures + other.failures
        let verdict = failures > 0 ? "missed: \(failures) requests failed" : ratio >= limit ? "holds" : "missed"
        let elapsed = (Double(outpost.requests) / outpost.seconds) / (Double(other.requests) / other.seconds)
        print(
            String(
                format: "%@: %.2f by processor time, %.2f by the clock, limit %.2f or more: %@", title, ratio, elapsed,
                limit, verdict))
    }
}

/// How many requests were answered.
struct Figure: CustomStringConvertible {
    var requests = 0
    var failures = 0
    var seconds = 0.0
    /// The server's user and system time.
    var processorSeconds = 0.0

    static func + (left: Figure, right: Figure) -> Figure {
        Figure(
            requests: left.requests + right.requests, failures: left.failures + right.failures,
            seconds: left.seconds + right.seconds, processorSeconds: left.processorSeconds + right.processorSeconds)
    }

    var perProcessorSecond: Double { Double(requests) / max(processorSeconds, 0.001) }

    var description: String {
        String(format: "%.0f (%.0f)", perProcessorSecond, Double(requests) / seconds)
            + (failures > 0 ? ", \(failures) failed" : "")
    }
}
