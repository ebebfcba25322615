import Foundation
import GRDB
import Hummingbird
import Measuring
import NIOCore
import ODataDatabases
import ODataHTTP
import ODataServer

/// Synchronizations through the mobile server: ten shared queries in one batch, beside SQL written by hand behind
/// Hummingbird (B2 of the design of the server).
///
/// Both check that the device is registered, and read the changes of ten queries since a position. The server written
/// by hand knows no tokens, no rights and no OData.
struct Syncs {
    /// The queries of a device.
    static let queryCount = 10
    /// The rows of each query.
    static let rowCount = 2000
    /// The rows of each query that change.
    static let changeCount = 10
    private static let rounds = 5
    private static let connections = 16

    let program: String
    let folder: URL
    let isQuick: Bool

    func measure() throws {
        let backEndFile = path("back.db")
        try SyncTables.makeBackEnd(at: backEndFile)
        let backEnd = try RunningProcess(SyncServerKind.backEnd.rawValue, database: backEndFile, folder: folder)
        defer { backEnd.stop() }
        try configure(backEnd: backEnd.port)
        let outpost = try RunningProcess(
            program: program,
            ["run", "--config", path("server.yaml"), "--data", path("data"), "--json"],
            address: /"deviceAPI"\s*:\s*"http:\/\/127\.0\.0\.1:(\d+)\//,
            log: folder.appendingPathComponent("server.log"))
        defer { outpost.stop() }
        try SyncTables.makeHandwritten(at: path("handwritten.db"))
        let handwritten = try RunningProcess(
            SyncServerKind.sql.rawValue, database: path("handwritten.db"), folder: folder)
        defer { handwritten.stop() }

        try register(0..<1000, outpost)
        let links = try links(outpost)
        let few = try figures(outpost, handwritten, links, devices: 1000)
        report("nothing new", few.still)
        try change(backEndFile, outpost, links)
        let changed = try figures(outpost, handwritten, links, devices: 1000)
        report("\(Self.queryCount * Self.changeCount) changed rows", changed.still)
        let many = isQuick ? 5000 : 100_000
        try register(1000..<many, outpost)
        let more = try figures(outpost, handwritten, links, devices: many, isAlone: true)
        let ratio = changed.still.outpost.perProcessorSecond / more.still.outpost.perProcessorSecond
        Figure("processor time of a synchronization, \(many) registrations to 1000", ratio).print(atMost: 1.1)
    }

    private struct Pair {
        var outpost = Throughput()
        var handwritten = Throughput()
    }

    // MARK: Preparation

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func configure(backEnd port: Int) throws {
        let queries = (0..<Self.queryCount).map { number in
            """
                  T\(number):
                    query: T\(number)
                    visibility: shared
                    tracking: compare
                    refresh_interval: 600min
                    max_stale: 6000min

            """
        }
        try """
        registration:
          device_proof: none
        security:
          guest:
            kind: anonymous
        destinations:
          back:
            url: http://127.0.0.1:\(port)/
            queries:
        \(queries.joined())
        """.write(toFile: path("load.yaml"), atomically: true, encoding: .utf8)
        try """
        server:
          listen: 127.0.0.1:0
          operator_listen: 127.0.0.1:0
          metrics_listen: ''
        limits:
          device_per_minute: 1000000
          registrations_per_hour: 1000000
        """.write(toFile: path("server.yaml"), atomically: true, encoding: .utf8)
        _ = try Subprogram.output(of: program, ["init", path("data")])
        _ = try Subprogram.output(
            of: program, ["app", "import", "load", path("load.yaml"), "--activate", "--data", path("data")])
    }

    private func register(_ devices: Range<Int>, _ server: RunningProcess) throws {
        guard let connection = Connection(port: server.port) else { throw CocoaError(.fileReadUnknown) }
        defer { connection.close() }
        for device in devices {
            let body = "{\"ID\":\"device-\(device)\"}"
            let answer = connection.post(
                "/m/v1/load/Registrations", "Content-Type: application/json", body, expects: 201)
            require(answer != nil, "A registration was refused.")
        }
    }

    /// Reads all queries in full.
    ///
    /// - Returns: the delta links relative to the destination.
    private func links(_ server: RunningProcess) throws -> [String] {
        try (0..<Self.queryCount).map { query in
            var next = "T\(query)"
            while let answer = sync(server, device: 0, [next]) {
                if let link = answer.firstMatch(of: /"@odata\.deltaLink":"[^"]*\/d\/back\/([^"]+)"/) {
                    return String(link.1)
                }
                guard let link = answer.firstMatch(of: /"@odata\.nextLink":"[^"]*\/d\/back\/([^"]+)"/) else { break }
                next = String(link.1)
            }
            throw CocoaError(.fileReadCorruptFile)
        }
    }

    /// Changes rows at the back end, and waits until the feeds have them.
    private func change(_ file: String, _ server: RunningProcess, _ links: [String]) throws {
        try SyncTables.changeBackEnd(at: file)
        try SyncTables.changeHandwritten(at: path("handwritten.db"))
        for feed in 1...Self.queryCount {
            _ = try Subprogram.output(of: program, ["feed", "refresh", "\(feed)", "--data", path("data")])
        }
        for _ in 0..<600 {
            let answer = sync(server, device: 0, links) ?? ""
            if answer.matches(of: /"ID":/).count == Self.queryCount * Self.changeCount { return }
            usleep(100_000)
        }
        require(false, "The changes did not arrive.")
    }

    // MARK: Measuring

    private func sync(_ server: RunningProcess, device: Int, _ urls: [String]) -> String? {
        guard let connection = Connection(port: server.port) else { return nil }
        defer { connection.close() }
        return Self.sync(connection, device: device, Self.batch(urls)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func batch(_ urls: [String]) -> String {
        urls.map { url in
            "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nGET \(url) HTTP/1.1\r\n"
                + "Accept: application/json\r\nPrefer: odata.track-changes\r\n\r\n\r\n"
        }.joined() + "--b--\r\n"
    }

    private static func sync(_ connection: Connection, device: Int, _ batch: String) -> ArraySlice<UInt8>? {
        connection.post(
            "/m/v1/load/d/back/$batch",
            "Content-Type: multipart/mixed; boundary=b\r\nOutpost-Registration: device-\(device)", batch)
    }

    private func figures(
        _ outpost: RunningProcess, _ handwritten: RunningProcess, _ links: [String], devices: Int,
        isAlone: Bool = false
    ) throws -> (still: Pair, devices: Int) {
        let batch = Self.batch(links)
        let seconds = (isQuick ? 4.0 : 15.0) / Double(Self.rounds)
        var pair = Pair()
        for round in 0...Self.rounds {
            // The first round warms up.
            let time = round == 0 ? 1 : seconds
            let one = Load.drive(outpost, connections: Self.connections, seconds: time) { connection, random in
                Self.sync(connection, device: Int(random.next() % UInt64(devices)), batch) != nil
            }
            if round > 0 { pair.outpost = pair.outpost + one }
            guard !isAlone else { continue }
            let other = Load.drive(handwritten, connections: Self.connections, seconds: time) { connection, random in
                let device = Int(random.next() % UInt64(1000))
                return connection.post(
                    "/sync", "Content-Type: application/json",
                    "{\"device\":\"device-\(device)\",\"from\":\(SyncTables.start)}") != nil
            }
            if round > 0 { pair.handwritten = pair.handwritten + other }
        }
        require(pair.outpost.failures + pair.handwritten.failures == 0, "Synchronizations failed.")
        return (pair, devices)
    }

    private func report(_ title: String, _ pair: Pair) {
        print("Synchronizations of \(Self.queryCount) queries, \(title), per second of the server's processor time")
        print("(per second), \(Self.connections) connections:")
        print("  outpost: \(pair.outpost)")
        print("  handwritten: \(pair.handwritten)")
        Figure(
            "synchronizations, \(title), outpost to hand-written SQL",
            pair.outpost.perProcessorSecond / pair.handwritten.perProcessorSecond
        ).print(atLeast: 0.6)
        Figure("synchronizations, \(title), of two cores", pair.outpost.perProcessorSecond * 2, unit: "/s")
            .print(atLeast: 1000)
    }
}

/// The servers beside the mobile server.
enum SyncServerKind: String {
    case backEnd = "sync-back-end"
    case sql = "sync-sql"

    /// Serves until the standard input ends, and writes the port into a file when it listens.
    func serve(database: String, announcement: String) async throws {
        Thread.detachNewThread {
            while readLine() != nil {}
            exit(0)
        }
        switch self {
        case .backEnd:
            var configuration = ODataServer.Configuration()
            configuration.addressLimits = .none
            let running = try await ODataServer(
                configuration: configuration,
                handler: try ODataEndpoints(provider: try await ServedDatabase.open(path: database)).handle
            ).start()
            try "\(running.port)".write(toFile: announcement, atomically: true, encoding: .utf8)
            await running.waitUntilStopped()
        case .sql:
            let syncs = try HandwrittenSyncs(path: database)
            try await ServerKind.run(announcement) { request, _ in try await syncs.respond(to: request) }
        }
    }
}

/// The tables of the back end, and those of the server written by hand.
enum SyncTables {
    /// The position of a device that has everything.
    static let start = Syncs.rowCount

    static func makeBackEnd(at path: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        try database.write { database in
            for table in 0..<Syncs.queryCount {
                try database.execute(
                    sql: """
                        CREATE TABLE T\(table) (ID INTEGER PRIMARY KEY, Name VARCHAR(60) NOT NULL,
                          Amount DOUBLE NOT NULL, Version INTEGER NOT NULL)
                        """)
                for id in 1...Syncs.rowCount {
                    try database.execute(
                        sql: "INSERT INTO T\(table) VALUES (?, ?, ?, 1)",
                        arguments: [id, "Row \(id) of \(table)", Double(id) / 4])
                }
            }
        }
        try database.close()
    }

    static func changeBackEnd(at path: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.write { database in
            for table in 0..<Syncs.queryCount {
                try database.execute(
                    sql: "UPDATE T\(table) SET Version = 2 WHERE ID <= ?", arguments: [Syncs.changeCount])
            }
        }
        try database.close()
    }

    static func makeHandwritten(at path: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE registration (id TEXT PRIMARY KEY);
                    CREATE TABLE member (feed INTEGER, seq INTEGER, body BLOB, PRIMARY KEY (feed, seq)) WITHOUT ROWID;
                    """)
            for device in 0..<1000 {
                try database.execute(sql: "INSERT INTO registration VALUES (?)", arguments: ["device-\(device)"])
            }
            for feed in 0..<Syncs.queryCount {
                for id in 1...Syncs.rowCount { try insert(feed, seq: id, id: id, version: 1, in: database) }
            }
        }
        try database.close()
    }

    static func changeHandwritten(at path: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.write { database in
            for feed in 0..<Syncs.queryCount {
                for id in 1...Syncs.changeCount {
                    try database.execute(sql: "DELETE FROM member WHERE feed = ? AND seq = ?", arguments: [feed, id])
                    try insert(feed, seq: Syncs.rowCount + id, id: id, version: 2, in: database)
                }
            }
        }
        try database.close()
    }

    private static func insert(_ feed: Int, seq: Int, id: Int, version: Int, in database: Database) throws {
        let body =
            "{\"ID\":\(id),\"Name\":\"Row \(id) of \(feed)\",\"Amount\":\(Double(id) / 4),"
            + "\"Version\":\(version)}"
        try database.execute(
            sql: "INSERT INTO member VALUES (?, ?, ?)", arguments: [feed, seq, Data(body.utf8)])
    }
}

/// The changes of ten queries, written by hand on GRDB, as without OData.
final class HandwrittenSyncs: Sendable {
    private struct Position: Decodable {
        var device: String
        var from: Int64
    }

    private let pool: DatabasePool

    init(path: String) throws { pool = try DatabasePool(path: path) }

    func respond(to request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 65_536)
        let position = try JSONDecoder().decode(Position.self, from: Data(buffer: body))
        let bytes: [UInt8]? = try await pool.read { database in
            let known = try database.cachedStatement(sql: "SELECT 1 FROM registration WHERE id = ?")
            guard try Int.fetchOne(known, arguments: [position.device]) != nil else { return nil }
            var bytes = Array("{\"queries\":[".utf8)
            for feed in 0..<Syncs.queryCount {
                bytes += Array((feed == 0 ? "{\"rows\":[" : ",{\"rows\":[").utf8)
                let statement = try database.cachedStatement(
                    sql: "SELECT seq, body FROM member WHERE feed = ? AND seq > ? ORDER BY seq LIMIT 1000")
                let rows = try Row.fetchCursor(statement, arguments: [feed, position.from])
                var last = position.from
                while let row = try rows.next() {
                    if last != position.from { bytes.append(UInt8(ascii: ",")) }
                    last = row[0]
                    bytes += row[1] as Data
                }
                bytes += Array("],\"next\":\(last)}".utf8)
            }
            return bytes + Array("]}".utf8)
        }
        guard let bytes else { return Response(status: .forbidden) }
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
