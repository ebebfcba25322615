import ODataModel

/// An order as a Swift type. Its readers can be specialised, as with a type of an app.
@frozen public struct TypedOrder: EntityRepresentable {
    /// The entity type.
    public static let typeName = QualifiedName("Bench", "Order")
    /// The key.
    public var id: Int64
    // The eleven others.
    @usableFromInline var customer: String?
    @usableFromInline var employee: Int?
    @usableFromInline var placed: ODataDateTimeOffset?
    @usableFromInline var required: ODataDate?
    @usableFromInline var freight: ODataDecimal?
    @usableFromInline var shipName: String?
    @usableFromInline var shipAddress: String?
    @usableFromInline var shipCity: String?
    @usableFromInline var shipCountry: String?
    @usableFromInline var paid: Bool?
    @usableFromInline var weight: Double?

    /// Reads an order.
    @inlinable public init(row: borrowing some PropertyReader) throws {
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

    /// Writes the key alone: orders are only read here.
    @inlinable public func write(to row: inout some PropertyWriter) throws { try row.write("ID", id) }
}
