import ODataModel

func usesODataModel() async throws {
    let shape = TypeShape(
        dynamic: QualifiedName("Example", "Order"),
        properties: [Property(name: "Freight", type: .primitive(.decimal))])
    var order = ODataEntity(shape: shape)
    order["Freight"] = .decimal(ODataDecimal(12))
    print(order["Freight"] ?? .null)
}
