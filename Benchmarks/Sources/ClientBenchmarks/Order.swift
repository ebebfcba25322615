import ODataModel

/// An order as a Swift type.
struct Order: EntityRepresentable {
    static let typeName = QualifiedName("Bench", "Order")
    var id: Int64
    var customer: String?
    var employee: Int?
    var placed: ODataDateTimeOffset?
    var required: ODataDate?
    var freight: ODataDecimal?
    var shipName: String?
    var shipAddress: String?
    var shipCity: String?
    var shipCountry: String?
    var paid: Bool?
    var weight: Double?

    init(row: borrowing some PropertyReader) throws {
        id = try row.read("ID")
        customer = try row.read("Customer")
        employee = try row.read("Employee")
        placed = try row.read("Placed")
        required = try row.read("Required")
        freight = try row.read("Freight")
        shipName = try row.read("ShipName")
        shipAddress = try row.read("ShipAddress")
        shipCity = try row.read("ShipCity")
        shipCountry = try row.read("ShipCountry")
        paid = try row.read("Paid")
        weight = try row.read("Weight")
    }

    func write(to row: inout some PropertyWriter) throws { try row.write("ID", id) }
}
