import ODataModel

func usesODataModel() async throws {
    let shape = Shape(
        dynamic: QualifiedName("Example", "Order"),
        properties: [Property(name: "Freight", type: .primitive(.decimal))])
    var order = Entity(shape: shape)
    order["Freight"] = .decimal(ODataDecimal(12))
    print(order["Freight"] ?? .null)
}
