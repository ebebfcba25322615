import ODataModel
import Testing

@Suite("Values for people and as Swift types")
struct TypedValueTests {
    private static let order: ODataEntity = {
        var order = ODataEntity(
            shape: TypeShape(
                dynamic: QualifiedName("Shop", "Order"),
                properties: [
                    Property(name: "Freight", type: .primitive(.decimal)),
                    Property(name: "ShipCity", type: .primitive(.string)),
                    Property(name: "Pieces", type: .primitive(.int32)),
                    Property(name: "Note", type: .primitive(.string)),
                ]))
        order["Freight"] = .decimal(ODataDecimal("12.5") ?? ODataDecimal(0))
        order["ShipCity"] = "Oslo"
        order["Pieces"] = 3
        return order
    }()

    @Test(
        "A value prints as plain text",
        arguments: [
            (ODataValue.string("Oslo"), "Oslo"), (.integer(3), "3"), (.double(2), "2"), (.boolean(true), "true"),
            (.null, "null"), (.collection([1, "a", .null]), "[1, a, null]"), (.enumeration(2), "2"),
            (.complex(order), "{Freight: 12.5, ShipCity: Oslo, Pieces: 3}"),
        ])
    func plain(value: ODataValue, text: String) {
        #expect("\(value)" == text)
    }

    @Test("A property is read as a Swift type, and numbers also as a wider type")
    func typed() {
        let order = Self.order
        #expect(order[as: Double.self, "Freight"] == 12.5)
        #expect(order[as: ODataDecimal.self, "Freight"] == ODataDecimal("12.5"))
        #expect(order[as: String.self, "ShipCity"] == "Oslo")
        #expect(order[as: Int.self, "Pieces"] == 3)
        #expect(order[as: Double.self, "Pieces"] == 3)
    }

    @Test("A missing property, another type and an unknown name read as nil")
    func missing() {
        let order = Self.order
        #expect(order[as: String.self, "Note"] == nil)
        #expect(order[as: Int.self, "Freight"] == nil)
        #expect(order[as: Bool.self, "ShipCity"] == nil)
        #expect(order[as: String.self, "Nothing"] == nil)
    }

    @Test("Setting a Swift value changes the property, and setting nil makes it null")
    func set() {
        var order = Self.order
        order.markUnchanged()
        order[as: Int.self, "Pieces"] = 4
        order[as: String.self, "ShipCity"] = nil
        #expect(order["Pieces"] == .integer(4))
        #expect(order["ShipCity"] == .null)
        #expect(order.changedProperties == ["Pieces", "ShipCity"])
    }
}
