import Foundation
import HTTPTypes
import Measuring
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import SampleOrders

/// The services that are synchronised with. Their pages are rendered into files by another process before anything is
/// measured, and handed over as a wire would, without its cost.
///
/// `/tracked/` gives delta links, each with changes of 100 rows; `/plain/` gives none; both take every change.
struct RenderedService: HTTPTransport {
    static let pageSize = 2_000
    static let changedRows = 100

    let rows: Int
    let folder: String
    private let handler: ODataHandler

    /// - Parameter isRendered: whether another process has rendered the pages before.
    init(rows: Int, folder: String, isRendered: Bool = false) throws {
        self.rows = rows
        self.folder = folder
        handler = ODataHandler(provider: Yes(model: try CSDLReader.read(xml: Array(SampleOrder.metadata.utf8))))
        if !isRendered { _ = try Subprogram.own("--render", String(rows), folder) }
    }

    private var pages: Int { max(1, rows / Self.pageSize) }

    /// Writes the pages, each without the brace at its end.
    static func render(_ rows: Int, into folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let pages = max(1, rows / pageSize)
        for number in 0..<pages {
            let text = SampleOrder.page(number, of: pages, size: pageSize)
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(number).json"))
        }
    }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let path = request.path ?? "/"
        guard request.method == .get else {
            // For the inner service, everything is at the root.
            var request = request
            request.path = path.replacingOccurrences(of: "/tracked/", with: "/")
                .replacingOccurrences(of: "/plain/", with: "/")
            return await handler.handle(request, body ?? ByteStream([]))
        }
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = "application/json"
        if path.hasSuffix("$metadata") {
            response.headerFields[.contentType] = "application/xml"
            return (response, ByteStream(Array(SampleOrder.metadata.utf8)))
        }
        if path.contains("count") {
            response.headerFields[.contentType] = "text/plain"
            return (response, ByteStream(Array("\(rows)".utf8)))
        }
        let number = path.split(separator: "=").last.flatMap { Int($0) } ?? 0
        if path.contains("since=") { return (response, ByteStream(delta(number))) }
        let page = path.contains("page=") ? number : 0
        let isLast = page + 1 >= pages
        let end = isLast && path.contains("/tracked/") ? ",\"@odata.deltaLink\":\"Orders?since=1\"}" : "}"
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(page).json"))
        return (response, ByteStream([UInt8](bytes) + Array(end.utf8)))
    }

    /// Rows all over the store, changed once more.
    private func delta(_ version: Int) -> [UInt8] {
        let step = max(1, rows / Self.changedRows)
        let changes = (0..<Self.changedRows).map { SampleOrder(id: ($0 * step) % rows).json(version: version) }
        return Array(
            """
            {"@odata.context":"$metadata#Orders/$delta","value":[\(changes.joined(separator: ","))],\
            "@odata.deltaLink":"Orders?since=\(version + 1)"}
            """.utf8)
    }
}

/// Takes every change.
private struct Yes: ODataProvider {
    let model: EntityDataModel

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        if case .batch(let items) = request.body {
            return ODataResponse(
                body: .batch(
                    items.map { BatchResult(id: $0.id, result: .success(ODataResponse(status: 204, etag: "W/\"2\""))) })
            )
        }
        return ODataResponse(status: 204, etag: "W/\"2\"")
    }
}
