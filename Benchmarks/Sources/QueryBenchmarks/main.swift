import Foundation
import GRDB
import GRDBSQLite
import ODataModel
import ODataQuery
import ODataService
import ODataStore

// Queries beside the same SQL written by hand (see the table in the design):
//
//     QueryBenchmarks [--quick] [--only compile|page|groups] [--profile]
//
// With --profile the store's side runs alone, for a profiler.

let quick = CommandLine.arguments.contains("--quick")
let isProfiled = CommandLine.arguments.contains("--profile")
let only = CommandLine.arguments.firstIndex(of: "--only").map { CommandLine.arguments[$0 + 1] }
func isWanted(_ part: String) -> Bool { only == nil || only == part }

let rows = quick ? 100_000 : 1_000_000
let orders = try Orders(rows: only == "compile" ? 1_000 : rows)
var options = StoreProvider.Options()
options.pageSizeLimit = .max
let provider = StoreProvider(database: orders.queue, mapping: orders.layout.mapping, options: options)

/// What the store answers, as bytes.
func answer(_ url: ODataURL) async throws -> [UInt8] {
    let format = ResponseFormat(metadata: .none, version: .v401)
    let response = try await provider.execute(ODataRequest(.read, url, format: format))
    guard case .encoded(let stream, _) = response.body else { return [] }
    return try await stream.collect(limit: 1 << 28)
}

/// What GRDB gives for SQL written by hand, as the same bytes.
func byHand(_ sql: String, _ arguments: StatementArguments, _ write: (Row, inout [UInt8]) -> Void) throws -> [UInt8] {
    try orders.queue.read { database in
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

func compare(
    _ title: String, limit: Double, _ text: String, _ sql: String, _ arguments: StatementArguments = [],
    _ write: @escaping (Row, inout [UInt8]) -> Void
) async throws {
    let url = try ODataURL(parsing: text)
    if isProfiled {
        for _ in 0..<3 { _ = try await answer(url) }
        return
    }
    let expected = try byHand(sql, arguments, write)
    let found = try await answer(url)
    guard expected == found else {
        print("\(title): different answers, so that nothing was measured")
        print(String(decoding: expected.prefix(300), as: UTF8.self))
        print(String(decoding: found.prefix(300), as: UTF8.self))
        exit(2)
    }
    let (store, hand) = try await best(rounds: quick ? 3 : 7) {
        _ = try await answer(url)
    } _: {
        _ = try byHand(sql, arguments, write)
    }
    print("\(title): \(Int(store * 1e6)) µs beside \(Int(hand * 1e6)) µs")
    report(title, store / hand, limit: limit)
}

if isWanted("compile") { try compiling() }

if isWanted("page") {
    try await compare(
        "a filtered, ordered page of \(rows) rows", limit: 1.2,
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

/// Parsing, binding and compiling beside the preparation of the SQL that comes out.
func compiling() throws {
    let text =
        "Orders?$filter=Freight gt 500.5 and startswith(ShipCity,'B') and Shipped eq true&$orderby=Placed desc"
        + "&$select=OrderID,ShipCity,Freight,Placed&$top=50&$count=true"
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
    if isProfiled {
        for _ in 0..<20 * count { _ = try compiled() }
        return
    }
    func prepare(_ connection: OpaquePointer?) {
        for _ in 0..<count {
            var statement: OpaquePointer?
            sqlite3_prepare_v3(connection, sql, -1, 0, &statement, nil)
            sqlite3_finalize(statement)
        }
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
    func phase(_ name: String, _ body: () throws -> Void) rethrows {
        var least = Double.infinity
        for _ in 0..<15 {
            let start = processorTime()
            for _ in 0..<count { try body() }
            least = min(least, processorTime() - start)
        }
        print("  \(name) \(least * each) µs")
    }
    let url = try ODataURL(parsing: text)
    let bound = try binder.bind(url)
    try phase("parse") { _ = try ODataURL(parsing: text) }
    try phase("bind") { _ = try binder.bind(url) }
    try phase("compile") { _ = try compiler.compile(bound.query!, at: bound.resource.steps) }
    let done = try compiled()
    phase("sql text") { _ = done.sql }
    phase("hash") { _ = url.hashValue }
    phase("text hash") { _ = text.hashValue }
    phase("shape") { _ = url.shape }
    let other = try ODataURL(parsing: text)
    phase("equal") { _ = url == other }
    print("sqlite3_prepare_v3 \(prepared * each) µs, compiling \(compile * each) µs")
    report("parse, bind and compile against sqlite3_prepare_v3", compile / prepared, limit: 1)
}
