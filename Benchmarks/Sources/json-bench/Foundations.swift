import Foundation
import ODataModel

/// A value that Foundation reads and writes as text and OData's own type makes exact.
struct Exact<Value: LosslessStringConvertible>: Codable {
    var value: Value

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Value(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no \(Value.self)")
        }
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value.description)
    }
}

/// An order as an app writes it for `JSONDecoder` and `JSONEncoder`.
struct CodableOrder: Codable {
    var OrderID: Int64
    var CustomerID: String
    var EmployeeID: Int64?
    var OrderDate: Exact<ODataDateTimeOffset>
    var RequiredDate: Exact<ODataDate>?
    var ShippedDate: Exact<ODataDateTimeOffset>?
    var Freight: Decimal
    var Discount: Double?
    var ShipName: String
    var ShipAddress: String
    var Comment: String?
    var IsPaid: Bool
    var Tag: Exact<ODataGuid>
}

/// The collection around it.
struct CodableCollection: Codable {
    var value: [CodableOrder]
}

/// The same from the dictionaries of `JSONSerialization`.
struct DictionaryOrder {
    var orderID: Int64
    var customerID: String
    var employeeID: Int64?
    var orderDate: ODataDateTimeOffset
    var requiredDate: ODataDate?
    var shippedDate: ODataDateTimeOffset?
    var freight: Decimal
    var discount: Double?
    var shipName: String
    var shipAddress: String
    var comment: String?
    var isPaid: Bool
    var tag: ODataGuid

    init?(_ row: [String: Any]) {
        guard let orderID = row["OrderID"] as? NSNumber, let customerID = row["CustomerID"] as? String,
            let orderDate = (row["OrderDate"] as? String).flatMap({ ODataDateTimeOffset($0) }),
            let freight = row["Freight"] as? NSNumber, let shipName = row["ShipName"] as? String,
            let shipAddress = row["ShipAddress"] as? String, let isPaid = row["IsPaid"] as? Bool,
            let tag = (row["Tag"] as? String).flatMap({ ODataGuid($0) })
        else { return nil }
        self.orderID = orderID.int64Value
        self.customerID = customerID
        employeeID = (row["EmployeeID"] as? NSNumber)?.int64Value
        self.orderDate = orderDate
        requiredDate = (row["RequiredDate"] as? String).flatMap { ODataDate($0) }
        shippedDate = (row["ShippedDate"] as? String).flatMap { ODataDateTimeOffset($0) }
        self.freight = freight.decimalValue
        discount = (row["Discount"] as? NSNumber)?.doubleValue
        self.shipName = shipName
        self.shipAddress = shipAddress
        comment = row["Comment"] as? String
        self.isPaid = isPaid
        self.tag = tag
    }
}
