import ODataModel
import ODataService
import Testing

@testable import ODataStore

@Suite("Entity ids")
struct EntityIDTests {
    private let shape = Shape(
        dynamic: QualifiedName("N", "T"),
        properties: [Property(name: "A", type: .primitive(.string)), Property(name: "B", type: .primitive(.int32))])

    @Test("quote and percent-encode key values")
    func canonical() throws {
        let model = try ShopModel.make()
        let key = EntityKey([.init(name: "A", value: "O'Neil/ü"), .init(name: "B", value: -7)])
        #expect(
            EntityID.canonical(set: "Things", key: key, shape: shape, model: model)
                == "Things(A='O%27%27Neil%2F%C3%BC',B=-7)")
    }

    @Test(
        "are read relative, absolute and in V2's form",
        arguments: [
            "Customers(00000000-0000-0001-0000-000000000002)",
            "http://host/service/Customers(00000000-0000-0001-0000-000000000002)",
            "Customers(guid'00000000-0000-0001-0000-000000000002')",
            "/Customers(ID=00000000-0000-0001-0000-000000000002)",
        ])
    func parse(text: String) throws {
        let (set, key) = try EntityID.parse(text, model: try ShopModel.make())
        #expect(set == "Customers")
        #expect(key == EntityKey("ID", .guid(ODataGuid(high: 1, low: 2))))
    }

    @Test(
        "that lead nowhere are refused",
        arguments: ["", "Nothing(1)", "Customers", "Customers(1,2)", "Orders('x')", "Orders(1"])
    func refused(text: String) throws {
        let model = try ShopModel.make()
        #expect(throws: ODataError.self) { try EntityID.parse(text, model: model) }
    }
}
