import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import Synchronization
import Testing

/// A service with one file, which truncates its responses after a number of bytes.
private final class FileService: Sendable {
    let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: $0) }
    let version = Mutex("\"v1\"")
    let cuts: Mutex<[Int]>
    let ranges = Mutex<[String]>([])
    let understandsRanges: Bool
    /// Whether a part of the current version is returned without regard to `If-Range`.
    let ignoresConditions: Bool
    /// The date that identifies a version instead of an ETag, and the number of seconds until the response.
    let modified: (String, later: Int)?

    init(
        cuts: [Int], understandsRanges: Bool = true, ignoresConditions: Bool = false,
        modified: (String, later: Int)? = nil
    ) {
        self.cuts = Mutex(cuts)
        self.understandsRanges = understandsRanges
        self.ignoresConditions = ignoresConditions
        self.modified = modified
    }

    func answer(_ request: HTTPRequest) -> (HTTPResponse, ByteStream) {
        let range = request.headerFields[.range]
        let version = version.withLock { $0 }
        ranges.withLock { $0.append(range ?? "all") }
        var first = 0
        var response = HTTPResponse(status: .ok)
        if let (date, later) = modified {
            response.headerFields[.lastModified] = date
            response.headerFields[.date] = date.replacing(
                ":46:00", with: later < 60 ? ":46:\(later)" : ":47:\(later - 60)")
        } else if !version.isEmpty {
            response.headerFields[.eTag] = version
        }
        let condition = request.headerFields[.ifRange]
        if let range, understandsRanges, ignoresConditions || condition == version || condition == modified?.0,
            let start = Int(range.dropFirst("bytes=".count).prefix { $0 != "-" })
        {
            guard start < bytes.count else { return (HTTPResponse(status: .rangeNotSatisfiable), ByteStream([])) }
            first = start
            response.status = .partialContent
            response.headerFields[.contentRange] = "bytes \(first)-\(bytes.count - 1)/\(bytes.count)"
        }
        let cut = cuts.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        let part = Array(bytes[first...])
        let position = Mutex(0)
        let body = ByteStream(length: Int64(part.count)) {
            let start = position.withLock { position in
                defer { position += 500 }
                return position
            }
            if let cut, start >= cut { throw TransportError.truncated(host: "h", reason: "cut") }
            return start < part.count ? Array(part[start..<min(start + 500, part.count)]) : nil
        }
        return (response, body)
    }
}

@Suite("Resumed downloads (RFC 9110, 14)") struct ResumableDownloadTests {
    private let path = NSTemporaryDirectory() + "outpost-download-\(UUID().uuidString)"
    private let patience = RetryPolicy(random: { 0 }, sleep: { _ in })

    private func clean() {
        for file in [path, path + ".checkpoint"] { try? FileManager.default.removeItem(atPath: file) }
    }

    private var contents: [UInt8] { Array(FileManager.default.contents(atPath: path) ?? Data()) }

    private func download(_ service: FileService, retry: RetryPolicy? = nil) -> ResumableDownload {
        ResumableDownload(
            request(.get, "https://service.test/file"), to: DownloadFile(path),
            over: ScriptedWire { _, request in service.answer(request) }, retry: retry ?? patience)
    }

    @Test("An interrupted download continues at its last byte") func goesOn() async throws {
        defer { clean() }
        let service = FileService(cuts: [1500, 1000, 0, 0])
        try await download(service).run()
        #expect(contents == service.bytes)
        #expect(service.ranges.withLock { $0 } == ["all", "bytes=1500-", "bytes=2500-", "bytes=2500-", "bytes=2500-"])
        #expect(!FileManager.default.fileExists(atPath: path + ".checkpoint"))
    }

    @Test("A later run continues from the stored checkpoint") func later() async throws {
        defer { clean() }
        let service = FileService(cuts: [2000])
        await #expect(throws: TransportError.self) { try await download(service, retry: RetryPolicy.none).run() }
        #expect(contents.count == 2000)
        try await download(service).run()
        #expect(contents == service.bytes)
        #expect(service.ranges.withLock { $0 } == ["all", "bytes=2000-"])
    }

    @Test("Parts of two versions are never combined") func otherVersion() async throws {
        defer { clean() }
        let service = FileService(cuts: [2000])
        await #expect(throws: TransportError.self) { try await download(service, retry: RetryPolicy.none).run() }
        service.version.withLock { $0 = "\"v2\"" }
        try await download(service).run()
        #expect(contents == service.bytes)
    }

    @Test("A service that supports Range but not If-Range does not combine versions either") func unconditional()
        async throws
    {
        defer { clean() }
        let service = FileService(cuts: [2000], ignoresConditions: true)
        await #expect(throws: TransportError.self) { try await download(service, retry: RetryPolicy.none).run() }
        service.version.withLock { $0 = "\"v2\"" }
        try await download(service).run()
        #expect(service.ranges.withLock { $0 } == ["all", "bytes=2000-", "all"])
        #expect(contents == service.bytes)
    }

    @Test("A shorter new version does not complete an old part") func shorter() async throws {
        defer { clean() }
        let service = FileService(cuts: [])
        try await download(service).run()
        // The checkpoint after the last bytes had arrived and the process ended.
        try """
        {"received":5000,"total":5000,"url":"https://service.test/file","validator":"\\"v0\\""}
        """.write(toFile: path + ".checkpoint", atomically: true, encoding: .utf8)
        let wire = ScriptedWire { number, request in
            number == 1 ? answer(416, [.contentRange: "bytes */10"]) : service.answer(request)
        }
        try await ResumableDownload(
            request(.get, "https://service.test/file"), to: DownloadFile(path), over: wire, retry: patience
        ).run()
        #expect(wire.sent.map { $0.request.headerFields[.range] } == ["bytes=5000-", nil])
    }

    @Test(
        "RFC 9110, 8.8.2.2: a date identifies a version if the response is a minute later",
        arguments: [(10, false), (70, true)])
    func date(later: Int, isGoodEnough: Bool) async throws {
        defer { clean() }
        let text = "Sun, 09 Sep 2001 01:46:00 GMT"
        let service = FileService(cuts: [2000], modified: (text, later: later))
        await #expect(throws: TransportError.self) { try await download(service, retry: RetryPolicy.none).run() }
        try await download(service).run()
        #expect(service.ranges.withLock { $0 } == ["all", isGoodEnough ? "bytes=2000-" : "all"])
        #expect(contents == service.bytes)
    }

    @Test("A download that cannot resume starts again", arguments: [("\"v1\"", false), ("W/\"v1\"", true), ("", true)])
    func anew(version: String, understandsRanges: Bool) async throws {
        defer { clean() }
        let service = FileService(cuts: [2000], understandsRanges: understandsRanges)
        service.version.withLock { $0 = version }
        try await download(service).run()
        #expect(contents == service.bytes)
    }

    @Test("A download without progress ends after the attempts and keeps its checkpoint") func givenUp()
        async throws
    {
        defer { clean() }
        let service = FileService(cuts: [500, 0, 0, 0, 0, 0, 0])
        await #expect(throws: TransportError.self) { try await download(service).run() }
        #expect(service.ranges.withLock { $0.count } == 4)
        #expect(contents.count == 500)
        try await download(FileService(cuts: [])).run()
        #expect(contents == service.bytes)
    }

    @Test("Unrequested parts and unexpected statuses are refused") func wrong()
        async throws
    {
        defer { clean() }
        let wire = ScriptedWire { number, _ in
            switch number {
            case 1:
                return (
                    answer(200, [.eTag: "\"1\""]).0,
                    ByteStream(length: 10) {
                        throw TransportError.truncated(host: "h", reason: "")
                    }
                )
            default: return answer(404)
            }
        }
        let missing = ResumableDownload(request(), to: DownloadFile(path), over: wire, retry: patience)
        await #expect(throws: DownloadError.refused(status: 404)) { try await missing.run() }
        let service = FileService(cuts: [500])
        await #expect(throws: TransportError.self) { try await download(service, retry: RetryPolicy.none).run() }
        let liar = ScriptedWire { _, _ in answer(206, [.contentRange: "bytes 0-9/5000"], "0123456789") }
        let other = ResumableDownload(
            request(.get, "https://service.test/file"), to: DownloadFile(path), over: liar, retry: patience)
        await #expect(throws: DownloadError.wrongPart("bytes 0-9/5000")) { try await other.run() }
    }

    @Test("A checkpoint beyond the end of the file is ignored") func damaged() async throws {
        defer { clean() }
        let service = FileService(cuts: [2000])
        await #expect(throws: TransportError.self) { try await download(service, retry: RetryPolicy.none).run() }
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
        try await download(service).run()
        #expect(contents == service.bytes)
        try "no JSON".write(toFile: path + ".checkpoint", atomically: true, encoding: .utf8)
        #expect(try await DownloadFile(path).checkpoint() == nil)
    }
}
