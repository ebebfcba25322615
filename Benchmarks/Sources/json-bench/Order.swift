import ODataModel

/// One row of the benchmark: every value as exact as OData has it.
struct Order: EntityRepresentable, Equatable {
    static let typeName = QualifiedName("Bench", "Order")

    var orderID: Int64
    var customerID: String
    var employeeID: Int64?
    var orderDate: ODataDateTimeOffset
    var requiredDate: ODataDate?
    var shippedDate: ODataDateTimeOffset?
    var freight: ODataDecimal
    var discount: Double?
    var shipName: String
    var shipAddress: String
    var comment: String?
    var isPaid: Bool
    var tag: ODataGuid

    init(row: borrowing some PropertyReader) throws {
        orderID = try row.read("OrderID")
        customerID = try row.read("CustomerID")
        employeeID = try row.read("EmployeeID")
        orderDate = try row.read("OrderDate")
        requiredDate = try row.read("RequiredDate")
        shippedDate = try row.read("ShippedDate")
        freight = try row.read("Freight")
        discount = try row.read("Discount")
        shipName = try row.read("ShipName")
        shipAddress = try row.read("ShipAddress")
        comment = try row.read("Comment")
        isPaid = try row.read("IsPaid")
        tag = try row.read("Tag")
    }

    func write(to row: inout some PropertyWriter) throws {
        try row.write("OrderID", orderID)
        try row.write("CustomerID", customerID)
        try row.write("EmployeeID", employeeID)
        try row.write("OrderDate", orderDate)
        try row.write("RequiredDate", requiredDate)
        try row.write("ShippedDate", shippedDate)
        try row.write("Freight", freight)
        try row.write("Discount", discount)
        try row.write("ShipName", shipName)
        try row.write("ShipAddress", shipAddress)
        try row.write("Comment", comment)
        try row.write("IsPaid", isPaid)
        try row.write("Tag", tag)
    }

    /// The model that the rows are of.
    static func model() throws -> EntityDataModel {
        func property(_ name: String, _ type: PrimitiveType, _ isNullable: Bool = false) -> Property {
            Property(name: name, type: .primitive(type), isNullable: isNullable)
        }
        let order = StructuredType(
            name: typeName, kind: .entity, key: [.init(path: "OrderID")],
            properties: [
                property("OrderID", .int32), property("CustomerID", .string), property("EmployeeID", .int32, true),
                property("OrderDate", .dateTimeOffset), property("RequiredDate", .date, true),
                property("ShippedDate", .dateTimeOffset, true), property("Freight", .decimal),
                property("Discount", .double, true), property("ShipName", .string), property("ShipAddress", .string),
                property("Comment", .string, true), property("IsPaid", .boolean), property("Tag", .guid),
            ])
        var schema = ODataSchema(namespace: "Bench")
        schema.structuredTypes = [order]
        var container = EntityContainer(name: QualifiedName("Bench", "Container"))
        container.entitySets = [EntitySet(name: "Orders", type: typeName)]
        schema.container = container
        return try EntityDataModel(schemas: [schema])
    }
}
