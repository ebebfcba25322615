import ODataModel
import ODataService
import TestModels
import Testing

@testable import ODataSQL

@Suite("Entity ids")
struct EntityIDTests {
    private let shape = TypeShape(
        dynamic: QualifiedName("N", "T"),
        properties: [Property(name: "A", type: .primitive(.string)), Property(name: "B", type: .primitive(.int32))])

    @Test("quote and percent-encode key values")
    func canonical() throws {
        let model = try LayoutModel.make()
        let key = EntityKey([.init(name: "A", value: "O'Neil/ü"), .init(name: "B", value: -7)])
        #expect(
            EntityID.canonical(set: "Things", key: key, shape: shape, model: model)
                == "Things(A='O%27%27Neil%2F%C3%BC',B=-7)")
    }

    @Test(
        "are read in relative, absolute and V2 form",
        arguments: [
            "Customers(00000000-0000-0001-0000-000000000002)",
            "http://host/service/Customers(00000000-0000-0001-0000-000000000002)",
            "Customers(guid'00000000-0000-0001-0000-000000000002')",
            "/Customers(ID=00000000-0000-0001-0000-000000000002)",
        ])
    func parse(text: String) throws {
        let (set, key) = try EntityID.parse(text, model: try LayoutModel.make())
        #expect(set == "Customers")
        #expect(key == EntityKey("ID", .guid(ODataGuid(high: 1, low: 2))))
    }

    @Test(
        "are read back with any character in the key",
        arguments: ["'\u{301}", "\u{301}a", "\u{301}", "\u{600}", "a'\u{200C}'", "/(),'\u{FE0F}", "''", "#?%27"])
    func combiningMarks(text: String) throws {
        let metadata = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
            <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="T">
            <Key><PropertyRef Name="Code"/></Key><Property Name="Code" Type="Edm.String" Nullable="false"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Things" EntityType="N.T"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        let model = try CSDLReader.read(xml: Array(metadata.utf8))
        let shape = try #require(model.shape(ofSet: "Things"))
        let id = EntityID.canonical(
            set: "Things", key: EntityKey("Code", .string(text)), shape: shape, model: model)
        let (set, key) = try EntityID.parse("http://host/" + id, model: model)
        #expect(set == "Things")
        guard case .string(let back)? = key?.parts.first?.value else {
            Issue.record("\(id) has no key")
            return
        }
        #expect(back.utf8.elementsEqual(text.utf8), "\(id)")
    }

    @Test(
        "without a target are refused",
        arguments: ["", "Nothing(1)", "Customers", "Customers(1,2)", "Orders('x')", "Orders(1"])
    func refused(text: String) throws {
        let model = try LayoutModel.make()
        #expect(throws: ODataError.self) { try EntityID.parse(text, model: model) }
    }
}
