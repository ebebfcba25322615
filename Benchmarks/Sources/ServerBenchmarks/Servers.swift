import Foundation
import GRDB
import Hummingbird
import NIOCore
import ODataDatabases
import ODataHTTP
import ODataServer

/// The measured servers.
enum ServerKind: String, CaseIterable {
    case outpost
    case handwritten
    case constant
    /// Outpost without a limit of its pages.
    case streaming

    /// Serves until the standard input ends, and writes the port into a file when it listens.
    func serve(database: String, announcement: String) async throws {
        Thread.detachNewThread {
            while readLine() != nil {}
            exit(0)
        }
        switch self {
        case .outpost:
            let served = try await ServedDatabase.open(path: database)
            let running = try await Self.server(of: served).start()
            try "\(running.port)".write(toFile: announcement, atomically: true, encoding: .utf8)
            await running.waitUntilStopped()
        case .streaming:
            var options = ServedDatabase.Options()
            options.maxPageSize = nil
            let served = try await ServedDatabase.open(path: database, options: options)
            let running = try await Self.server(of: served).start()
            try "\(running.port)".write(toFile: announcement, atomically: true, encoding: .utf8)
            await running.waitUntilStopped()
        case .handwritten:
            let pages = try HandwrittenPages(path: database)
            try await Self.run(announcement) { request, _ in try await pages.respond(to: request) }
        case .constant:
            let page = try await HandwrittenPages(path: database).page(after: 1)
            try await Self.run(announcement) { _, _ in HandwrittenPages.response(page) }
        }
    }

    /// The server of `outpost serve`: V4, V2 below it, and the health of the server.
    private static func server(of served: ServedDatabase) throws -> ODataServer {
        var configuration = ODataServer.Configuration()
        configuration.health = HealthEndpoint()
        // One client asks as much as it can.
        configuration.addressLimits = .none
        return ODataServer(configuration: configuration, handler: try ODataEndpoints(provider: served).handle)
    }

    static func run(
        _ announcement: String,
        _ respond: @escaping @Sendable (Request, BasicRequestContext) async throws -> Response
    ) async throws {
        let application = Application(
            responder: CallbackResponder(callback: respond),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                try? "\(port)".write(toFile: announcement, atomically: true, encoding: .utf8)
            })
        try await application.runService()
    }
}

/// The one query and the one change, written by hand on GRDB, as without OData.
final class HandwrittenPages: Sendable {
    private static let query = """
        SELECT \(ItemDatabase.columns.joined(separator: ", ")) FROM Items WHERE ID > ? ORDER BY ID LIMIT 50
        """

    private let pool: DatabasePool

    init(path: String) throws { pool = try DatabasePool(path: path) }

    func respond(to request: Request) async throws -> Response {
        if request.method == .patch {
            let body = try await request.body.collect(upTo: 65_536)
            let id = request.uri.path.dropFirst("/Items(".count).prefix { $0 != ")" }
            let patch = try JSONDecoder().decode([String: Int].self, from: Data(buffer: body))
            try await pool.write { database in
                try database.cachedStatement(sql: "UPDATE Items SET Quantity = ? WHERE ID = ?")
                    .execute(arguments: [patch["Quantity"], Int(id)])
            }
            return Response(status: .noContent)
        }
        let query = request.uri.query ?? ""
        let digits = query.firstRange(of: "gt%20").map { query[$0.upperBound...].prefix { $0.isNumber } } ?? ""
        return Self.response(try await page(after: Int64(digits) ?? 0))
    }

    static func response(_ page: [UInt8]) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json;metadata=minimal"],
            body: .init(byteBuffer: ByteBuffer(bytes: page)))
    }

    func page(after id: Int64) async throws -> [UInt8] {
        try await pool.read { database in
            let statement = try database.cachedStatement(sql: Self.query)
            var json = JSONBytes()
            json.raw("{\"@context\":\"http://localhost/$metadata#Items\",\"value\":[")
            var isFirst = true
            let rows = try Row.fetchCursor(statement, arguments: [id])
            while let row = try rows.next() {
                json.raw(isFirst ? "{\"ID\":" : ",{\"ID\":")
                isFirst = false
                json.number(row[0] as Int64)
                json.raw(",\"Name\":")
                json.string(row[1])
                json.raw(",\"Category\":")
                json.string(row[2])
                json.raw(",\"Price\":")
                json.number(row[3] as Double)
                json.raw(",\"Weight\":")
                json.number(row[4] as Double)
                json.raw(",\"Quantity\":")
                json.number(row[5] as Int64)
                json.raw(",\"Rating\":")
                json.number(row[6] as Int64)
                json.raw(",\"Released\":")
                json.string(row[7])
                json.raw(",\"Changed\":")
                json.time(row[8])
                json.raw((row[9] as Int64) != 0 ? ",\"IsActive\":true,\"Code\":" : ",\"IsActive\":false,\"Code\":")
                json.string(row[10])
                json.raw(",\"Note\":")
                if let note = row[11] as String? { json.string(note) } else { json.raw("null") }
                json.raw("}")
            }
            json.raw("]}")
            return json.bytes
        }
    }
}

/// JSON that is written into bytes, without a text between.
private struct JSONBytes {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(16_384) }

    mutating func raw(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func number(_ number: Int64) { bytes.append(contentsOf: String(number).utf8) }

    mutating func number(_ number: Double) { bytes.append(contentsOf: number.description.utf8) }

    /// A string in quotation marks, with JSON's special characters escaped.
    mutating func string(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        if string.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) {
            for byte in string.utf8 { escaped(byte) }
        } else {
            bytes.append(contentsOf: string.utf8)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A time of SQLite, `YYYY-MM-DD hh:mm:ss`, as OData has it.
    mutating func time(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 { bytes.append(byte == UInt8(ascii: " ") ? UInt8(ascii: "T") : byte) }
        raw("Z\"")
    }

    private mutating func escaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): raw("\\\"")
        case UInt8(ascii: "\\"): raw("\\\\")
        case 0..<0x20: bytes.append(contentsOf: String(format: "\\u%04x", byte).utf8)
        default: bytes.append(byte)
        }
    }
}
