// 10,000 typed entities read from a local store, beside GRDB's FetchableRecord reading the same columns by index; with --quick
// a thousand.
import Foundation
import GRDB
import Measuring
import ODataModel
import ODataService
import ODataStore

let count = CommandLine.arguments.contains("--quick") ? 1_000 : 10_000
let rounds = 20

/// The same properties as the generated type, read by column index.
struct Record: FetchableRecord {
    var orderID: Int64
    var customerID: String
    var employeeID: Int32?
    var shipName: String?
    var shipAddress: String?
    var shipCity: String?
    var shipCountry: String?
    var weight: Double?
    var volume: Double?
    var lines: Int32?
    var isUrgent: Bool
    var priority: Int16?

    init(row: Row) {
        orderID = row[0]
        customerID = row[1]
        employeeID = row[2]
        shipName = row[3]
        shipAddress = row[4]
        shipCity = row[5]
        shipCountry = row[6]
        weight = row[7]
        volume = row[8]
        lines = row[9]
        isUrgent = row[10]
        priority = row[11]
    }
}

let cities = ["Bern", "Oslo", "Graz", "Lyon", "Cork"]
func text(_ index: Int, _ word: String) -> String { "\(word) number \(index % 977) of the street" }

var options = StoreService.Options()
options.pageSizeLimit = count
let store = try await StoreService.open(ServiceDefinition(model: BenchMetadata.model), at: .memory, options: options)
let bench = BenchService(store)
let queue = try DatabaseQueue()
try queue.write { database in
    try database.execute(
        sql: """
            CREATE TABLE orders(a INTEGER PRIMARY KEY, b TEXT, c INTEGER, d TEXT, e TEXT, f TEXT, g TEXT, h REAL, i REAL,
                j INTEGER, k INTEGER, l INTEGER)
            """)
}
for index in 1...count {
    let order = Order {
        $0.orderID = Int64(index)
        $0.customerID = "C\(index % 500)"
        $0.employeeID = index % 7 == 0 ? nil : Int32(index % 50)
        $0.shipName = text(index, "Ship")
        $0.shipAddress = text(index, "Address")
        $0.shipCity = cities[index % cities.count]
        $0.shipCountry = "Country \(index % 40)"
        $0.weight = Double(index) / 8
        $0.volume = Double(index % 100) / 3
        $0.lines = Int32(index % 12)
        $0.isUrgent = index % 2 == 0
        $0.priority = Int16(index % 4)
    }
    try await bench.orders.create(order)
    try queue.write { database in
        try database.execute(
            sql: "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                order.orderID, order.customerID, order.employeeID, order.shipName, order.shipAddress, order.shipCity,
                order.shipCountry, order.weight, order.volume, order.lines, order.isUrgent, order.priority,
            ])
    }
}

// What a profiler is to see: the typed side alone, long enough that the filling of the store does not count.
if CommandLine.arguments.contains("--profile") {
    for _ in 0..<1000 { _ = try await bench.orders.all() }
    exit(0)
}

var typed: [Double] = []
var used: [Double] = []
var records: [Double] = []
for _ in 0..<rounds {
    var begin = processorTime()
    let orders = try await bench.orders.all()
    typed.append(processorTime() - begin)
    begin = processorTime()
    let sum = orders.reduce(0) { $0 + ($1.orderID ?? 0) + Int64($1.lines ?? 0) + Int64($1.shipCity?.utf8.count ?? 0) }
    used.append(processorTime() - begin)
    begin = processorTime()
    let rows = try queue.read { try Record.fetchAll($0, sql: "SELECT * FROM orders ORDER BY a") }
    records.append(processorTime() - begin)
    guard orders.count == count, rows.count == count, sum > 0 else { fatalError("rows are missing") }
}
print("\(count) typed entities: \(String(format: "%.1f", median(typed) * 1000)) ms processor time")
print("three properties of each used: \(String(format: "%.1f", median(used) * 1000)) ms")
print("\(count) records of GRDB by column index: \(String(format: "%.1f", median(records) * 1000)) ms")
Figure("typed entities against FetchableRecord", median(typed) / median(records)).print(atMost: 1.2)
