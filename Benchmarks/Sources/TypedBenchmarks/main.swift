// 10,000 typed entities read from a local store and all of their properties used, beside GRDB's FetchableRecord
// reading the same values by column index; with --quick a thousand.
import Foundation
import GRDB
import Measuring
import ODataModel
import ODataService
import ODataStore

let count = CommandLine.arguments.contains("--quick") ? 1_000 : 10_000
let rounds = 20
let cities = ["Bern", "Oslo", "Graz", "Lyon", "Cork"]

var options = StoreService.Options()
options.maxPageSize = count
let store = try await StoreService.open(ServiceDefinition(model: BenchMetadata.model), at: .memory, options: options)
let bench = BenchService(store)
let queue = try DatabaseQueue()
try queue.write { try $0.execute(sql: Record.table) }
for index in 1...count {
    let tag = ODataGuid(high: UInt64(index) << 32 | 0x4000, low: 0x8000_0000_0000_0000 | UInt64(index))
    let order = Order {
        $0.orderID = Int64(index)
        $0.customerID = "C\(index % 500)"
        $0.employeeID = index % 7 == 0 ? nil : Int32(index % 50)
        $0.requiredDate = ODataDate(daysSinceEpoch: Int64(20_000 + index % 900))
        $0.placed = ODataDateTimeOffset(seconds: Int64(1_700_000_000 + index * 60))
        $0.freight = ODataDecimal(isNegative: false, magnitude: UInt128(index * 7 % 100_000), scale: 2)
        $0.shipName = "Ship number \(index % 977) of the street"
        $0.shipCity = cities[index % cities.count]
        $0.weight = Double(index) / 8
        $0.lines = Int32(index % 12)
        $0.isUrgent = index % 2 == 0
        $0.tag = tag
    }
    try await bench.orders.create(order)
    try queue.write { database in
        try database.execute(
            sql: Record.insert,
            arguments: [
                order.orderID, order.customerID, order.employeeID, order.requiredDate?.daysSinceEpoch,
                order.placed.map { Double($0.seconds) }, index * 7 % 100_000, order.shipName, order.shipCity,
                order.weight,
                order.lines, order.isUrgent, UUID(uuidString: tag.description),
            ])
    }
}

// The part for a profiler: the typed side alone, long enough that the filling of the store does not count.
if CommandLine.arguments.contains("--profile") {
    for _ in 0..<1000 { _ = try await bench.orders.all().reduce(0) { $0 &+ Use.all($1) } }
    exit(0)
}

/// On this thread: waiting for another one would count.
func records(_ queue: DatabaseQueue) throws -> [Record] {
    try queue.read { try Record.fetchAll($0, sql: Record.select) }
}

var typed: [Double] = []
var reading: [Double] = []
var handWritten: [Double] = []
for _ in 0..<rounds {
    var begin = processorTime()
    let orders = try await bench.orders.all()
    reading.append(processorTime() - begin)
    let sum = orders.reduce(0) { $0 &+ Use.all($1) }
    typed.append(processorTime() - begin)
    begin = processorTime()
    let rows = try records(queue)
    let other = rows.reduce(0) { $0 &+ Use.all($1) }
    handWritten.append(processorTime() - begin)
    require(orders.count == count && rows.count == count, "rows are missing")
    require(sum == other, "the values differ")
}
print(
    String(
        format: "%d typed entities read and their properties used: %.1f ms processor time, %.1f of it for reading",
        count,
        median(typed) * 1000, median(reading) * 1000))
print(
    String(
        format: "%d records of GRDB by column index, read and used: %.1f ms", count, median(handWritten) * 1000))
Figure("typed entities against FetchableRecord, all twelve values used", median(typed) / median(handWritten))
    .print(atMost: 1.2)
