import Foundation
import GRDB

/// The same twelve properties as the generated type, as in an app without OData: in the types of Foundation, each
/// in the column that is read fastest.
struct Record: FetchableRecord {
    var orderID: Int64
    var customerID: String
    var employeeID: Int32?
    var requiredDate: Date?
    var placed: Date?
    var freight: Decimal?
    var shipName: String?
    var shipCity: String?
    var weight: Double?
    var lines: Int32?
    var isUrgent: Bool
    var tag: UUID?

    /// With the row ids and the index of the key that the store has: rows are read in the order of the key on
    /// both sides.
    static let table = """
        CREATE TABLE orders(row_id INTEGER PRIMARY KEY, a INTEGER NOT NULL, b TEXT NOT NULL, c INTEGER, d INTEGER, e REAL, f INTEGER,
            g TEXT, h TEXT, i REAL, j INTEGER, k INTEGER NOT NULL, l BLOB) STRICT;
        CREATE UNIQUE INDEX orders_key ON orders(a);
        """
    static let insert = """
        INSERT INTO orders(a, b, c, d, e, f, g, h, i, j, k, l) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    static let select = "SELECT a, b, c, d, e, f, g, h, i, j, k, l FROM orders ORDER BY a"

    init(row: Row) {
        orderID = row[0]
        customerID = row[1]
        employeeID = row[2]
        requiredDate = (row[3] as Int64?).map { Date(timeIntervalSince1970: Double($0) * 86_400) }
        placed = (row[4] as Double?).map { Date(timeIntervalSince1970: $0) }
        freight = (row[5] as Int64?).map {
            Decimal(sign: $0 < 0 ? .minus : .plus, exponent: -2, significand: Decimal($0.magnitude))
        }
        shipName = row[6]
        shipCity = row[7]
        weight = row[8]
        lines = row[9]
        isUrgent = row[10]
        tag = row[11]
    }
}

/// Something small of each value, so that each is read and nothing else is worked at.
enum Use {
    static func all(_ order: Order) -> Int {
        var sum = Int(truncatingIfNeeded: order.orderID ?? 0)
        sum &+= order.customerID?.utf8.count ?? 0
        sum &+= Int(order.employeeID ?? 0)
        sum &+= Int(truncatingIfNeeded: order.requiredDate?.daysSinceEpoch ?? 0)
        sum &+= Int(truncatingIfNeeded: order.placed?.seconds ?? 0)
        sum &+= order.freight.map { $0.isNegative ? 1 : 2 } ?? 0
        sum &+= order.shipName?.utf8.count ?? 0
        sum &+= order.shipCity?.utf8.count ?? 0
        sum &+= Int(order.weight ?? 0)
        sum &+= Int(order.lines ?? 0)
        sum &+= order.isUrgent == true ? 1 : 0
        sum &+= order.tag == nil ? 0 : 1
        return sum
    }

    static func all(_ record: Record) -> Int {
        var sum = Int(truncatingIfNeeded: record.orderID)
        sum &+= record.customerID.utf8.count
        sum &+= Int(record.employeeID ?? 0)
        sum &+= Int((record.requiredDate?.timeIntervalSince1970 ?? 0) / 86_400)
        sum &+= Int(record.placed?.timeIntervalSince1970 ?? 0)
        sum &+= record.freight.map { $0.isSignMinus ? 1 : 2 } ?? 0
        sum &+= record.shipName?.utf8.count ?? 0
        sum &+= record.shipCity?.utf8.count ?? 0
        sum &+= Int(record.weight ?? 0)
        sum &+= Int(record.lines ?? 0)
        sum &+= record.isUrgent ? 1 : 0
        sum &+= record.tag == nil ? 0 : 1
        return sum
    }
}
