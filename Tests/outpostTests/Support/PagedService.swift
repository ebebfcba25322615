import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Synchronization

/// A service of one set whose rows come in pages, each after a while.
final class PagedService: Sendable {
    private let pages: Int
    private let rows: Int
    private let delay: Duration
    /// The count that the service states.
    private let count: Int64
    /// The number of pages that were sent.
    private let sent = Mutex(0)

    init(pages: Int, rows: Int, delay: Duration = .zero, count: Int64? = nil) {
        self.pages = pages
        self.rows = rows
        self.delay = delay
        self.count = count ?? Int64(pages * rows)
    }

    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="Shop.Thing"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    /// Serves the set during an activity.
    func serving(_ body: (String) async throws -> Void) async throws {
        let server = try await ODataServer { request, _ in await self.answer(request) }.start()
        do {
            try await body(server.url)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// Waits until a page has been sent.
    func waitForPage(_ number: Int) async throws {
        for _ in 0..<3000 where sent.withLock({ $0 }) < number { try await Task.sleep(for: .milliseconds(10)) }
    }

    private func answer(_ request: HTTPRequest) async -> (HTTPResponse, ByteStream) {
        let path = (request.path ?? "").removingPercentEncoding ?? ""
        if path.contains("$metadata") { return Self.response("application/xml", Self.metadata) }
        if path.contains("/$count") { return Self.response("text/plain", "\(count)") }
        try? await Task.sleep(for: delay)
        let page = path.firstMatch(of: /page=(\d+)/).flatMap { Int($0.1) } ?? 0
        let values = (page * rows..<(page + 1) * rows).map { "{\"ID\":\($0),\"Name\":\"row \($0)\"}" }
        let next = page + 1 < pages ? ",\"@odata.nextLink\":\"Things?page=\(page + 1)\"" : ""
        sent.withLock { $0 += 1 }
        return Self.response(
            "application/json",
            "{\"@odata.context\":\"$metadata#Things\",\"value\":[\(values.joined(separator: ","))]\(next)}")
    }

    private static func response(_ type: String, _ text: String) -> (HTTPResponse, ByteStream) {
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = type
        return (response, ByteStream(Array(text.utf8)))
    }
}
