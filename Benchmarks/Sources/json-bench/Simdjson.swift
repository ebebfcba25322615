import CSimdjson
import ODataModel

extension Order {
    /// The order that simdjson found, each value made as exact as the others make it.
    init?(_ row: sj_order) {
        guard case .dateTimeOffset(let orderDate) = Self.value(row.orderDate, .dateTimeOffset),
            let freight = Self.freight(row),
            case .guid(let tag) = Self.value(row.tag, .guid)
        else { return nil }
        orderID = row.orderID
        customerID = Self.string(row.customerID) ?? ""
        employeeID = row.hasEmployeeID ? row.employeeID : nil
        self.orderDate = orderDate
        if case .date(let date) = Self.value(row.requiredDate, .date) { requiredDate = date }
        if case .dateTimeOffset(let date) = Self.value(row.shippedDate, .dateTimeOffset) { shippedDate = date }
        self.freight = freight
        discount = row.hasDiscount ? row.discount : nil
        shipName = Self.string(row.shipName) ?? ""
        shipAddress = Self.string(row.shipAddress) ?? ""
        comment = Self.string(row.comment)
        isPaid = row.isPaid
        self.tag = tag
    }

    private static func freight(_ row: sj_order) -> ODataDecimal? {
        if row.freightText.start == nil {
            return ODataDecimal(
                isNegative: row.freightIsNegative, magnitude: UInt128(row.freightDigits), scale: Int(row.freightScale))
        }
        guard case .decimal(let freight)? = value(row.freightText, .decimal) else { return nil }
        return freight
    }

    private static func bytes(_ text: sj_text) -> UnsafeBufferPointer<UInt8>? {
        guard let start = text.start else { return nil }
        return UnsafeRawBufferPointer(start: start, count: text.count).assumingMemoryBound(to: UInt8.self)
    }

    private static func string(_ text: sj_text) -> String? { bytes(text).map { String(decoding: $0, as: UTF8.self) } }

    private static func value(_ text: sj_text, _ type: PrimitiveType) -> ODataValue? {
        bytes(text).flatMap { ODataValue(lexical: $0, type: type) }
    }
}

/// A parser of simdjson, which its documentation advises to use for one text after the other: it keeps the memory
/// of its index.
final class SimdjsonParser {
    private let parser = sj_new_parser()

    deinit { sj_delete_parser(parser) }

    /// Reads a collection; the bytes must be followed by 64 that can be read.
    func orders(_ bytes: [UInt8], count: Int) throws -> [Order] {
        try bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                let reader = sj_open(parser, start, count, buffer.count)
            else { throw BenchmarkError.unreadable }
            defer { sj_close(reader) }
            var orders: [Order] = []
            var row = sj_order()
            while true {
                switch sj_next(reader, &row) {
                case 1:
                    guard let order = Order(row) else { throw BenchmarkError.unreadable }
                    orders.append(order)
                case 0: return orders
                default: throw BenchmarkError.unreadable
                }
            }
        }
    }
}

/// The generated text could not be read, or two readers differ.
enum BenchmarkError: Error {
    case unreadable
    case different(String)
}
