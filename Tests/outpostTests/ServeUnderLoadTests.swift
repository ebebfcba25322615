import ForeignPrograms
import Foundation
import Testing

/// `outpost serve` with much to give, and with clients that mean no good: others are answered, and memory stays flat.
///
/// Sizes are those of a test; `scripts/bench.sh` measures the full ones.
@Suite(.enabled(if: ServerMemory.canBeMeasured, "the memory of a process cannot be measured here"))
struct ServeUnderLoadTests {
    private static let rows = 40_000
    private static let megabyte = 1 << 20

    /// A database of wide rows, 20 MB as JSON.
    private static func items(_ site: Site) throws {
        try SQLite.execute(
            """
            CREATE TABLE Items (ID INTEGER PRIMARY KEY, Name TEXT NOT NULL, Note TEXT);
            CREATE TABLE Documents (Path TEXT PRIMARY KEY NOT NULL, Title TEXT);
            INSERT INTO Documents VALUES ('a/b', 'nested'), ('..', 'above');
            WITH RECURSIVE Numbers(N) AS (SELECT 1 UNION ALL SELECT N + 1 FROM Numbers WHERE N < \(rows))
            INSERT INTO Items SELECT N, 'Item number ' || N, hex(zeroblob(220)) FROM Numbers;
            """, in: site.database)
    }

    private static func serve(_ arguments: String...) async throws -> Site {
        let site = try Site()
        try items(site)
        try await site.serve(path: site.database, arguments)
        // Warms up compiled queries and caches.
        for root in ["", "v2/"] { _ = try await Command.curl(site.url + root + "Items?$top=200") }
        return site
    }

    private static func isAlive(_ site: Site) async throws -> Bool {
        try await Command.curl("--max-time", "10", site.url + "Items(7)/Name/$value") == "Item number 7"
    }

    @Test func `a whole collection streams as JSON in memory that does not grow with it`() async throws {
        let site = try await Self.serve("--page-size", "0")
        let memory = try ServerMemory(site)
        let file = site.path("items.json")
        let outcome = try await Command.curl("--output", file, "--write-out", "%{http_code}", site.url + "Items")
        #expect(outcome == "200")
        let grown = try memory.peak() - memory.before
        #expect(grown < 16 * Self.megabyte, "\(grown >> 20) MB")
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(data.count > 19_000_000)
        let page = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect((page["value"] as? [Any])?.count == Self.rows && page["@nextLink"] == nil)
    }

    @Test func `Atom comes in pages however large the service's own are, and so do clients of V2 read all`()
        async throws
    {
        let site = try await Self.serve("--page-size", "0")
        let memory = try ServerMemory(site)
        var url = site.url + "v2/Items?$select=ID"
        var entries = 0
        for _ in 0..<6 {
            let feed = try await Command.curl("--header", "Accept: application/atom+xml", url)
            entries += feed.matches(of: /<entry/).count
            url = String(try #require(feed.firstMatch(of: /rel="next" href="([^"]+)"/)).1)
                .replacing("&amp;", with: "&")
        }
        #expect(entries == 6000)
        let grown = try memory.peak() - memory.before
        #expect(grown < 24 * Self.megabyte, "\(grown >> 20) MB")
    }

    @Test func `slow readers hold nobody up, writers neither, and cost little`() async throws {
        let site = try await Self.serve("--page-size", "0")
        let memory = try ServerMemory(site)
        // One program that reads all at once, each slowly, until its time is over.
        let slow = ["--parallel", "--parallel-immediate", "--parallel-max", "30", "--limit-rate", "20k"]
        let transfers = (0..<30).flatMap { _ in ["--output", "/dev/null", site.url + "Items"] }
        let arguments = slow + ["--max-time", "15", "--write-out", "%{exitcode} "] + transfers
        async let readers = Command.curl(arguments)
        try await Task.sleep(for: .seconds(1))
        for number in 1...10 {
            #expect(try await Self.isAlive(site))
            let changed = try await Command.curl(
                "--max-time", "10", "--request", "PATCH", "--header", "Content-Type: application/json", "--data",
                #"{"Name":"Changed"}"#, "--write-out", "%{http_code}", site.url + "Items(\(number * 1000))")
            #expect(changed == "204")
        }
        let grown = try memory.peak() - memory.before
        #expect(grown < 64 * Self.megabyte, "\(grown >> 20) MB")
        // 28: the time was over before the collection was.
        #expect(try await readers == String(repeating: "28 ", count: 30))
    }

    @Test func `silent connections hold nobody up, and their memory returns`() async throws {
        let site = try Site()
        try Self.items(site)
        let script = Site.root.appendingPathComponent("scripts/silent-connections.py").path
        let outcome = try await Command.run(
            "python3", script, "--count", "1500", Tool.executable.path, "serve", site.database)
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test func `a body of 10 GB to an entity set is refused at the limit, announced or not`() async throws {
        let site = try await Self.serve()
        let memory = try ServerMemory(site)
        let file = site.path("large")
        #expect(try await Command.run("truncate", "--size", "10G", file).status == 0)
        let post = ["--request", "POST", "--header", "Content-Type: application/json", "--write-out", "|%{http_code}"]
        // Told in advance, it is refused before it is sent, or at its first bytes.
        for fields in [[], ["--header", "Expect:"]] {
            let refused = try await Command.curl(post + fields + ["--upload-file", file, site.url + "Items"])
            #expect(refused.hasSuffix("|413"), "\(refused.prefix(300))")
            #expect(refused.hasPrefix(#"{"error":{"code":"PayloadTooLarge""#))
        }
        #expect(try memory.peak() - memory.before < 24 * Self.megabyte)
        let chunked = try await Command.curl(
            post + [
                "--header", "Transfer-Encoding: chunked", "--upload-file", file, site.url + "Items",
            ])
        #expect(chunked.hasSuffix("|413"), "\(chunked.prefix(300))")
        let grown = try memory.peak() - memory.before
        #expect(grown < 256 * Self.megabyte, "\(grown >> 20) MB")
        #expect(try await Self.isAlive(site))
        let held = try memory.current() - memory.before
        #expect(held < 64 * Self.megabyte, "\(held >> 20) MB")
    }

    @Test(arguments: ["", "v2/"])
    func `a batch of 100,000 requests is refused in words`(_ root: String) async throws {
        let site = try await Self.serve()
        let memory = try ServerMemory(site)
        let part = "--b\r\nContent-Type: application/http\r\n\r\nGET Items(1) HTTP/1.1\r\n\r\n\r\n"
        var bodies = [("multipart/mixed;boundary=b", String(repeating: part, count: 100_000) + "--b--\r\n")]
        if root.isEmpty {
            let requests = (0..<100_000).map { #"{"id":"\#($0)","method":"GET","url":"Items(1)"}"# }
            bodies.append(("application/json", #"{"requests":["# + requests.joined(separator: ",") + "]}"))
        }
        for (type, body) in bodies {
            let file = site.path("batch")
            try body.write(toFile: file, atomically: true, encoding: .utf8)
            let refused = try await Command.curl(
                "--header", "Content-Type: \(type)", "--header", "Accept: application/json", "--data-binary",
                "@\(file)", "--write-out", "|%{http_code}", site.url + root + "$batch")
            #expect(refused.hasSuffix("|400"), "\(refused.prefix(300))")
            #expect(refused.contains("more than 1000 parts"), "\(refused.prefix(300))")
        }
        let grown = try memory.peak() - memory.before
        #expect(grown < 64 * Self.megabyte, "\(grown >> 20) MB")
        #expect(try await Self.isAlive(site))
    }

    @Test func `a batch of many reads of a client of V2 streams in memory that does not grow with it`() async throws {
        let site = try await Self.serve()
        let memory = try ServerMemory(site)
        let part = "--b\r\nContent-Type: application/http\r\n\r\nGET Items HTTP/1.1\r\n\r\n\r\n"
        let (file, answers) = (site.path("batch"), site.path("answers"))
        try (String(repeating: part, count: 100) + "--b--\r\n").write(toFile: file, atomically: true, encoding: .utf8)
        // On a busy machine, 60 MB may take minutes.
        let status = try await Command.curl(
            "--max-time", "900", "--header", "Content-Type: multipart/mixed;boundary=b", "--data-binary", "@\(file)",
            "--output", answers, "--write-out", "%{http_code} %{exitcode}", site.url + "v2/$batch")
        #expect(status == "202 0")
        let size = try #require(try FileManager.default.attributesOfItem(atPath: answers)[.size] as? Int)
        #expect(size > 50 * Self.megabyte, "\(size >> 20) MB")
        let grown = try memory.peak() - memory.before
        #expect(grown < 32 * Self.megabyte, "\(grown >> 20) MB")
    }

    @Test func `paths lead nowhere outside, and encoded slashes are part of keys`() async throws {
        let site = try await Self.serve()
        for path in [
            "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "Items/../../etc/passwd", "..%2F..%2Fetc%2Fpasswd",
            "Items%2F..%2F..%2Fetc%2Fpasswd", "%00", "Items(1)/%2e%2e/x", "/etc/passwd",
        ] {
            let answer = try await Command.curl(
                "--path-as-is", "--write-out", "|%{http_code}", site.url + path)
            #expect(answer.hasSuffix("|404") || answer.hasSuffix("|400"), "\(path): \(answer.prefix(200))")
            #expect(answer.contains(#""error":{"#) && !answer.contains("root:"), "\(path)")
        }
        #expect(try await Command.curl(site.url + "Documents('a%2Fb')/Title/$value") == "nested")
        #expect(try await Command.curl("--path-as-is", site.url + "Documents('..')/Title/$value") == "above")
    }

    @Test func `stopping lets downloads under way come to their end`() async throws {
        let site = try await Self.serve("--page-size", "0")
        let file = site.path("items.json")
        let url = site.url + "Items"
        async let status = Command.curl(
            "--limit-rate", "5M", "--output", file, "--write-out", "%{http_code} %{exitcode}", url)
        while (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int) ?? 0 == 0 {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(site.stop() == 0)
        #expect(try await status == "200 0")
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(data.count > 19_000_000 && data.last == UInt8(ascii: "}"))
    }
}

/// The memory of a served process.
private struct ServerMemory {
    /// Linux tells; a sanitizer takes memory of its own.
    static let canBeMeasured =
        FileManager.default.fileExists(atPath: "/proc/self/clear_refs")
        && ProcessInfo.processInfo.environment["OUTPOST_SANITIZER"] == nil

    private let folder: String
    /// The memory at the beginning, in bytes.
    let before: Int

    init(_ site: Site) throws {
        folder = "/proc/\(site.processIdentifier)"
        // The peak counts from here (proc(5)). Other users than root have no access to the memory of the tool, so
        // for them it counts from the start of the tool.
        try? "5".write(toFile: folder + "/clear_refs", atomically: false, encoding: .utf8)
        before = try Self.bytes("VmRSS:", folder)
    }

    /// The most it has held since the beginning.
    func peak() throws -> Int { try Self.bytes("VmHWM:", folder) }
    /// The present memory.
    func current() throws -> Int { try Self.bytes("VmRSS:", folder) }

    private static func bytes(_ field: String, _ folder: String) throws -> Int {
        let status = try String(contentsOfFile: folder + "/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(field) })
        return try #require(Int(line.split(whereSeparator: { $0 == " " || $0 == "\t" })[1])) * 1024
    }
}
