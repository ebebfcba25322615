import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Synchronization
import Testing

@Suite("A download from a service without an end", Patience.limit)
struct EndlessDownloadTests {
    /// The way in which a service of two sets returns one of them without end.
    enum Way: Equatable {
        case pages, emptyPages, onePage, blanks
    }

    /// A service with one set that can be made endless, and another set with two rows.
    private final class EndlessService: HTTPTransport {
        private let way: Way
        private let count: String?
        private let isEndless = Mutex(true)
        private let asked = Mutex(0)

        /// - Parameter count: the stated number of rows; `nil` if the service does not count.
        init(_ way: Way, count: String?) {
            self.way = way
            self.count = count
        }

        var requests: Int { asked.withLock { $0 } }
        func setEndless(_ endless: Bool) { isEndless.withLock { $0 = endless } }

        private static let metadata = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
            <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false"/><Property Name="Text" Type="Edm.String"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Things" EntityType="T.Thing"/>
            <EntitySet Name="Others" EntityType="T.Thing"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """

        private static func rows(_ range: Range<Int>) -> String {
            range.map { "{\"ID\":\($0),\"Text\":\"row \($0)\"}" }.joined(separator: ",")
        }

        private static func page(_ set: String, _ rows: String, next: String? = nil) -> String {
            let link = next.map { ",\"@odata.nextLink\":\"\($0)\"" } ?? ""
            return "{\"@odata.context\":\"$metadata#\(set)\",\"value\":[\(rows)]\(link)}"
        }

        func send(
            _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
        ) async throws -> (HTTPResponse, ByteStream) {
            let path = (request.path ?? "/").dropFirst().removingPercentEncoding ?? ""
            var response = HTTPResponse(status: .ok)
            func answer(_ text: String, _ type: String = "application/json") -> (HTTPResponse, ByteStream) {
                response.headerFields[.contentType] = type
                return (response, ByteStream(Array(text.utf8)))
            }
            if path == "$metadata" { return answer(Self.metadata, "application/xml") }
            if path.contains("$count") {
                guard let count else { return (HTTPResponse(status: .notFound), ByteStream([])) }
                return answer(count, "text/plain")
            }
            guard path.hasPrefix("Things"), isEndless.withLock({ $0 }) else {
                return answer(Self.page(path.hasPrefix("Things") ? "Things" : "Others", Self.rows(1..<3)))
            }
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            response.headerFields[.contentType] = "application/json"
            switch way {
            case .pages:
                let rows = Self.rows(number * 1000..<number * 1000 + 1000)
                return answer(Self.page("Things", rows, next: "Things?p=\(number)"))
            case .emptyPages: return answer(Self.page("Things", "", next: "Things?p=\(number)"))
            case .onePage, .blanks:
                let way = way
                let next = Mutex(0)
                let stream = ByteStream {
                    let start = next.withLock { next in
                        defer { next += 1000 }
                        return next
                    }
                    let begin = start == 0 ? "{\"@odata.context\":\"$metadata#Things\",\"value\":[" : ""
                    let text = way == .blanks ? String(repeating: " ", count: 65_536) : Self.rows(start..<start + 1000)
                    return Array((begin + (way == .onePage && start > 0 ? "," : "") + text).utf8)
                }
                return (response, stream)
            }
        }
    }

    /// Downloads from a service into a new store and returns the error of the endless query.
    private func failure(
        of service: EndlessService, _ limits: DownloadLimits = DownloadLimits(),
        _ queries: [DefiningQuery] = [], _ then: (OfflineStore) async throws -> Void = { _ in }
    ) async throws -> ODataError? {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var options = OfflineStore.Options()
        options.sync.downloadLimits = limits
        let root = "http://endless.test/"
        let store = try await OfflineStore.create(
            at: folder.path, protection: .unencrypted, serviceRoot: root,
            remote: try ODataClient(serviceRoot: root, transport: service), queries: queries, options: options)
        defer { try? store.close() }
        let error = await #expect(throws: OfflineError.self) { try await store.download() }
        guard case .queriesRefused(let refusals, let brought) = error else {
            Issue.record("\(String(describing: error))")
            return nil
        }
        #expect(refusals.map(\.name) == ["Things"])
        #expect(brought.queries.map(\.name) == ["Others"])
        #expect(try await store.rows("Others").count == 2)
        try await then(store)
        return refusals.first?.error
    }

    @Test("if it counts one row and sends page after page", arguments: ["1", "0"])
    func pages(count: String) async throws {
        let service = EndlessService(.pages, count: count)
        let error = try await failure(of: service)
        #expect(error?.code == "EndlessAnswer" && error?.message.contains("counts \(count)") == true)
        #expect(service.requests <= DownloadLimits.uncountedRows / 1000 + 2)
    }

    @Test("if one page never ends")
    func onePage() async throws {
        let error = try await failure(of: EndlessService(.onePage, count: "1"))
        #expect(error?.code == "EndlessAnswer")
    }

    @Test("if it does not count, at the given limit")
    func limit() async throws {
        var limits = DownloadLimits()
        limits.rows = 2000
        let service = EndlessService(.pages, count: nil)
        #expect(try await failure(of: service, limits)?.message.contains("limit is 2000") == true)
        #expect(service.requests == 3)
    }

    @Test("if pages are empty, and if blanks never end")
    func empty() async throws {
        var limits = DownloadLimits()
        limits.emptyPages = 20
        limits.bytesWithoutRow = 1 << 20
        let service = EndlessService(.emptyPages, count: "1")
        #expect(try await failure(of: service, limits)?.message.contains("pages without rows") == true)
        #expect(service.requests == 21)
        let blanks = try await failure(of: EndlessService(.blanks, count: "1"), limits)
        #expect(blanks?.message.contains("without a row") == true)
    }

    @Test("keeps the stored rows for the next download")
    func stays() async throws {
        for way in [Way.pages, .emptyPages] {
            let service = EndlessService(way, count: "2")
            var limits = DownloadLimits()
            limits.rows = 3000
            limits.emptyPages = 20
            _ = try await failure(of: service, limits) { store in
                service.setEndless(false)
                try await store.download()
                #expect(try await store.rows("Things").count >= 2)
                service.setEndless(true)
                await #expect(throws: OfflineError.self) { try await store.download() }
                #expect(try await store.rows("Things").count >= 2)
            }
        }
    }
}
