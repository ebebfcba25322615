import Foundation
import HTTPTypes
import ODataServer
import ODataService
import SampleOrders

/// The service that is measured against: bytes made beforehand, in a process of its own.
enum Service {
    static let pageSize = 5_000

    /// Serves until its standard input ends; prints the port.
    static func run(entities: Int) async throws {
        let count = entities / pageSize
        let pages = (0..<count).map { Array((SampleOrder.page($0, of: count, size: pageSize) + "}").utf8) }
        let single = Array(
            "{\"@odata.context\":\"$metadata#Orders/$entity\",\(SampleOrder(id: 7).json().dropFirst())".utf8)
        let documents = Array(SampleOrder.metadata.utf8)
        var configuration = ODataServer.Configuration()
        configuration.addressLimits = .none
        let server = try await ODataServer(configuration: configuration) { request, _, _ in
            var response = HTTPResponse(status: .ok)
            response.headerFields[.contentType] = "application/json"
            let path = request.path ?? "/"
            if path.hasSuffix("$metadata") {
                response.headerFields[.contentType] = "application/xml"
                return (response, ByteStream(documents))
            }
            if path.hasPrefix("/bench/Orders(") { return (response, ByteStream(single)) }
            let number = path.split(separator: "=").last.flatMap { Int($0) } ?? 0
            return (response, ByteStream(pages[min(number, pages.count - 1)]))
        }.start()
        FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
        while readLine() != nil {}
        await server.stop()
    }
}
