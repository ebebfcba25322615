import Foundation
import GRDB
import GRDBSQLite
import HTTPTypes
import Measuring
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import SampleOrders

// Queries beside the same SQL written by hand (see the table in the design):
//
//     QueryBenchmarks [--quick] [--only compile|find|page|groups|join] [--profile [--hand]]
//
// With --profile the store's side runs alone, for a profiler that counts instructions; with --hand the other side.

let quick = CommandLine.arguments.contains("--quick")
let isProfiled = CommandLine.arguments.contains("--profile")
let isHandProfiled = CommandLine.arguments.contains("--hand")
let only = CommandLine.arguments.firstIndex(of: "--only").map { CommandLine.arguments[$0 + 1] }
func isWanted(_ part: String) -> Bool { only == nil || only == part }

let rows = quick ? 100_000 : 1_000_000
let orders = try Orders(rows: only == "compile" || only == "find" ? 1_000 : rows)
var options = StoreProvider.Options()
options.maxPageSize = .max
let provider = StoreProvider(database: orders.queue, mapping: orders.layout.mapping, options: options)

/// The answer of the store, as bytes.
func answer(_ url: ODataURL) async throws -> [UInt8] {
    let format = ResponseFormat(metadata: .none, version: .v401)
    let response = try await provider.execute(ODataRequest(.read, url, format: format))
    guard case .encoded(let stream, _) = response.body else { return [] }
    return try await stream.collect(limit: 1 << 28)
}

/// The result of GRDB for SQL written by hand, as the same bytes, and awaited as in a server.
func byHand(
    _ sql: String, _ arguments: StatementArguments, _ write: @escaping @Sendable (Row, inout [UInt8]) -> Void
) async throws -> [UInt8] {
    try await orders.queue.read { database in
        var bytes: [UInt8] = Array("{\"value\":[".utf8)
        let cursor = try Row.fetchCursor(try database.cachedStatement(sql: sql), arguments: arguments)
        var isFirst = true
        while let row = try cursor.next() {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            write(row, &bytes)
        }
        bytes.append(contentsOf: "]}".utf8)
        return bytes
    }
}

/// A decimal of two places from its hundredfold.
func decimal(_ hundredths: Int64) -> String {
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    if rest == 0 { return "\(whole)" }
    return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
}

/// - Parameter times: how often one round asks: often enough for the time to be told.
func compare(
    _ title: String, limit: Double, times: Int = 1, _ text: String, _ sql: String,
    _ arguments: StatementArguments = [], _ write: @escaping @Sendable (Row, inout [UInt8]) -> Void
) async throws {
    let url = try ODataURL(parsing: text)
    if isProfiled {
        for _ in 0..<3 * times { _ = isHandProfiled ? try await byHand(sql, arguments, write) : try await answer(url) }
        return
    }
    let expected = try await byHand(sql, arguments, write)
    let found = try await answer(url)
    guard expected == found else {
        print("\(title): different answers, so that nothing was measured")
        print(String(decoding: expected.prefix(300), as: UTF8.self))
        print(String(decoding: found.prefix(300), as: UTF8.self))
        exit(2)
    }
    let (store, hand) = try await best(rounds: quick ? 3 : 7) {
        for _ in 0..<times { _ = try await answer(url) }
    } _: {
        for _ in 0..<times { _ = try await byHand(sql, arguments, write) }
    }
    let each = 1e6 / Double(times)
    print("\(title): \(Int(store * each)) µs beside \(Int(hand * each)) µs")
    Figure(title, store / hand).print(atMost: limit)
}

let typicalQuery =
    "Orders?$filter=Freight gt 500.5 and startswith(ShipCity,'B') and Shipped eq true&$orderby=Placed desc"
    + "&$select=OrderID,ShipCity,Freight,Placed&$top=50&$count=true"
if isWanted("compile") || isWanted("find") {
    // The time to find a statement is printed beside the time to prepare it.
    let prepared = isProfiled && only == "find" ? 0 : try compiling()
    if isWanted("find") || !isProfiled { try await finding(beside: prepared) }
}

if isWanted("page") {
    try await compare(
        "a filtered, ordered page of \(rows) rows", limit: 1.2, times: 200,
        "Orders?$filter=Freight gt 500 and startswith(ShipCity,'B')&$orderby=Placed desc&$top=50"
            + "&$select=OrderID,ShipCity,Freight,Placed",
        """
        SELECT "OrderID", "ShipCity", "Freight", "Placed" FROM "Orders"
        WHERE "Freight" > ? AND "ShipCity" >= ? AND "ShipCity" < ? ORDER BY "Placed" DESC, "OrderID" LIMIT 50
        """, [50_000, "B", "C"]
    ) { row, bytes in
        let (id, city, freight, placed): (Int64, String, Int64, Int64) = (row[0], row[1], row[2], row[3])
        let text = "{\"OrderID\":\(id),\"ShipCity\":\"\(city)\",\"Freight\":\(decimal(freight)),\"Placed\":\(placed)}"
        bytes.append(contentsOf: text.utf8)
    }
}

if isWanted("groups") {
    for (title, name) in [("few", "ShipCity"), ("5,000", "CustomerID")] {
        try await compare(
            "groupby of \(rows) rows into \(title) groups", limit: 1.2,
            "Orders?$apply=groupby((\(name)),aggregate(Freight with sum as Total,$count as N))/orderby(\(name))",
            """
            SELECT "\(name)", SUM("Freight"), COUNT(*) FROM "Orders" GROUP BY "\(name)" ORDER BY "\(name)"
            """
        ) { row, bytes in
            let (key, total, count): (String, Int64, Int64) = (row[0], row[1], row[2])
            bytes.append(contentsOf: "{\"\(name)\":\"\(key)\",\"Total\":\(decimal(total)),\"N\":\(count)}".utf8)
        }
    }
}

if isWanted("join") { try await joining() }

/// A dynamic query that joins each order with its customer and adds up the freight by city, beside the same SQL.
func joining() async throws {
    let totals = Selection.from("Orders", as: "o")
        .join("Customers", as: "c", on: .attribute("o.CustomerID", .equal, .attribute("c.CustomerID")))
        .groupBy("c.City").select(
            Selection.Column(.attribute("c.City")), Selection.Column(.sum("o.Freight"), as: "Total")
        )
        .orderBy(.operand(.attribute("c.City")))
    @Sendable func asked() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for row in try await provider.select(totals).rows {
            let (city, total) = (try row.value("City", as: String.self), try row.value("Total", as: ODataDecimal.self))
            bytes.append(contentsOf: "\(city): \(total)\n".utf8)
        }
        return bytes
    }
    @Sendable func written() async throws -> [UInt8] {
        try await orders.queue.read { database in
            var bytes: [UInt8] = []
            let sql = """
                SELECT c."City", SUM(o."Freight") FROM "Orders" AS o JOIN "Customers" AS c
                ON o."CustomerID" = c."CustomerID" GROUP BY c."City" ORDER BY c."City"
                """
            let cursor = try Row.fetchCursor(try database.cachedStatement(sql: sql))
            while let row = try cursor.next() {
                let (city, total): (String, Int64) = (row[0], row[1])
                bytes.append(contentsOf: "\(city): \(decimal(total))\n".utf8)
            }
            return bytes
        }
    }
    if isProfiled {
        for _ in 0..<3 { _ = isHandProfiled ? try await written() : try await asked() }
        return
    }
    let title = "a dynamic query that joins \(rows) rows and groups them"
    let (expected, found) = (try await written(), try await asked())
    guard expected == found else {
        print("\(title): different answers, so that nothing was measured")
        print(String(decoding: expected.prefix(300), as: UTF8.self))
        print(String(decoding: found.prefix(300), as: UTF8.self))
        exit(2)
    }
    let (store, hand) = try await best(rounds: quick ? 3 : 7) {
        _ = try await asked()
    } _: {
        _ = try await written()
    }
    print("\(title): \(Int(store * 1e6)) µs beside \(Int(hand * 1e6)) µs")
    Figure(title, store / hand).print(atMost: 1.2)
}

/// Parsing, binding and compiling beside the preparation of the SQL that comes out.
///
/// - Returns: the seconds that the preparation takes.
func compiling() throws -> Double {
    let text = typicalQuery
    let binder = Binder(model: orders.model)
    let compiler = SQLCompiler(
        mapping: orders.layout.mapping, options: .init(now: ODataDateTimeOffset(seconds: 1_700_000_000)))
    func compiled() throws -> CompiledQuery {
        let bound = try binder.bind(ODataURL(parsing: text))
        guard let query = bound.query else { throw ODataError.notFound(text) }
        return try compiler.compile(query, at: bound.resource.steps)
    }
    let sql = try compiled().sql
    let count = quick ? 200 : 1_000
    if isProfiled, !isHandProfiled {
        for _ in 0..<20 * count { _ = try compiled() }
        return 0
    }
    func prepare(_ connection: OpaquePointer?) {
        for _ in 0..<count {
            var statement: OpaquePointer?
            sqlite3_prepare_v3(connection, sql, -1, 0, &statement, nil)
            sqlite3_finalize(statement)
        }
    }
    if isProfiled {
        for _ in 0..<20 { try orders.queue.read { prepare($0.sqliteConnection) } }
        return 0
    }
    var (compile, prepared) = (Double.infinity, Double.infinity)
    for _ in 0..<(quick ? 5 : 15) {
        var start = processorTime()
        for _ in 0..<count { _ = try compiled() }
        compile = min(compile, processorTime() - start)
        start = processorTime()
        try orders.queue.read { prepare($0.sqliteConnection) }
        prepared = min(prepared, processorTime() - start)
    }
    let each = 1e6 / Double(count)
    print("sqlite3_prepare_v3 \(prepared * each) µs, compiling \(compile * each) µs")
    Figure("parse, bind and compile against sqlite3_prepare_v3", compile / prepared).print(atMost: 1)
    return prepared / Double(count)
}

/// A query that was asked before, from the text of its URL to its statement.
func found(_ text: String, _ count: Int, by decoder: RequestDecoder, _ provider: StoreProvider) throws {
    for _ in 0..<count { _ = try provider.statement(for: decoder.url(text)) }
}

/// The work of a server until it has the statement of a request, repeated, on a thread of its own, since handing
/// over each one from the program's first thread would take longer.
nonisolated func answerable(
    _ message: HTTPRequest, _ count: Int, by decoder: RequestDecoder, _ provider: StoreProvider
) async throws {
    for _ in 0..<count {
        let request = try await decoder.decode(message, body: ByteStream([])).request
        _ = try provider.statement(for: request.url)
    }
}

/// Finding a compiled statement: for the same URL, parsed before and from its text, for an HTTP request, and for
/// a URL with other literals.
func finding(beside prepared: Double) async throws {
    let (text, count) = (typicalQuery, quick ? 200 : 1_000)
    let provider = StoreProvider(database: orders.queue, mapping: orders.layout.mapping)
    let url = try ODataURL(parsing: text)
    // More than are kept, so that each is another one when it comes again.
    let others = try (0..<512).map { number in
        try ODataURL(parsing: text.replacing("500.5", with: "\(number).25").replacing("'B'", with: "'C\(number)'"))
    }
    let expected = try provider.statement(for: url).sql
    guard try others.allSatisfy({ try provider.statement(for: $0).sql == expected }) else {
        print("another literal, another statement, so that nothing was measured")
        exit(2)
    }
    // As it comes to a server.
    let decoder = RequestDecoder(serviceRoot: try ServiceRoot("http://localhost/"), model: orders.model)
    let encoded = text.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? text
    var fields = HTTPFields()
    for (name, value) in SampleFields.all {
        if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
    }
    let message = HTTPRequest(
        method: .get, scheme: "http", authority: "localhost", path: "/" + encoded, headerFields: fields)
    guard try await decoder.decode(message, body: ByteStream([])).request.url == url, try decoder.url(encoded) == url
    else {
        print("another URL, so that nothing was measured")
        exit(2)
    }
    if isProfiled { return try await answerable(message, 200 * count, by: decoder, provider) }
    let rounds = quick ? 5 : 15
    let (same, other) = try await best(rounds: rounds) {
        for _ in 0..<count { _ = try provider.statement(for: url) }
    } _: {
        for number in 0..<count { _ = try provider.statement(for: others[number % others.count]) }
    }
    let (written, whole) = try await best(rounds: rounds) {
        try found(encoded, count, by: decoder, provider)
    } _: {
        try await answerable(message, count, by: decoder, provider)
    }
    let each = 1e6 / Double(count)
    print(
        String(
            format: "a cached query in %.2f µs from its text, in %.2f µs where that was parsed before, in %.2f µs for "
                + "other literals", written * each, same * each, other * each))
    print(
        String(
            format: "a request of HTTP with %d header fields until its statement is found: %.2f µs, %.3g times "
                + "sqlite3_prepare_v3", fields.count, whole * each, whole / Double(count) / prepared))
    Figure("a cached query against sqlite3_prepare_v3", written / Double(count) / prepared).print(atMost: 0.1)
}
