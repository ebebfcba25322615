import Testing

@testable import ODataModel

@Suite("Several containers before V4")
struct SeveralContainersTests {
    private static func document(_ containers: String, second: String = "") -> [UInt8] {
        Array(
            """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            <edmx:DataServices m:DataServiceVersion="2.0">
            <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
            <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <NavigationProperty Name="Up" Relationship="S.Tree" FromRole="Low" ToRole="High"/></EntityType>
            <Association Name="Tree"><End Role="Low" Type="S.Item" Multiplicity="*"/>
            <End Role="High" Type="S.Item" Multiplicity="0..1"/></Association>
            \(containers)</Schema>\(second)</edmx:DataServices></edmx:Edmx>
            """.utf8)
    }

    private static func container(_ name: String, _ attributes: String = "", _ content: String) -> String {
        #"<EntityContainer Name="\#(name)" \#(attributes)>\#(content)</EntityContainer>"#
    }

    private static func set(_ name: String) -> String { #"<EntitySet Name="\#(name)" EntityType="S.Item"/>"# }

    private static let isDefault = #"m:IsDefaultEntityContainer="true""#
    private static let isOther = #"m:IsDefaultEntityContainer="false""#

    private static let documents: [([UInt8], [String: String])] = [
        (document(container("A", isDefault, set("X")) + container("B", isOther, set("Y"))), ["X": "X", "Y": "B.Y"]),
        (document(container("A", "", set("X")) + container("B", isDefault, set("Y"))), ["X": "A.X", "Y": "Y"]),
        (document(container("A", "", set("X")) + container("B", "", set("Y"))), ["X": "X", "Y": "B.Y"]),
        (document(container("A", isOther, set("X"))), ["X": "X"]),
        (
            document(
                container("B", isDefault, set("X"))
                    + container("C", "", set("X") + set("Z"))), ["X": "X", "C_X": "C.X", "Z": "C.Z"]
        ),
        (
            document(container("C", isOther, set("X")) + container("B", isDefault, set("X"))),
            ["X": "X", "C_X": "C.X"]
        ),
        (
            document(container("A", #"Extends="B" "# + isDefault, set("X")) + container("B", "", set("Y"))),
            ["X": "X", "Y": "Y"]
        ),
        (
            document(
                container("A", isDefault, set("X")),
                second: #"<Schema Namespace="T" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">"#
                    + container("B", "", set("Y")) + "</Schema>"), ["X": "X", "Y": "B.Y"]
        ),
    ]

    @Test(
        "sets outside of the default container are addressed with its name, also after rewriting",
        arguments: documents.indices)
    func names(index: Int) throws {
        let (bytes, expected) = Self.documents[index]
        let model = try CSDLReader.read(bytes)
        let again = try CSDLReader.read(CSDLWriter.xml(model, version: .v2))
        for model in [model, again] {
            let names = model.container.entitySets.map { ($0.name, $0.qualifiedName ?? $0.name) }
            #expect(Dictionary(names) { first, _ in first } == expected)
            for (name, qualified) in names { #expect(model.entitySet(qualified)?.name == name) }
        }
        #expect(again.schemas == model.schemas)
    }

    @Test("associations and function imports stay in their container")
    func content() throws {
        let tree =
            #"<AssociationSet Name="Trees" Association="S.Tree"><End Role="Low" EntitySet="X"/><End Role="High" EntitySet="X"/></AssociationSet>"#
        let call = #"<FunctionImport Name="Find" ReturnType="Collection(S.Item)" EntitySet="X" m:HttpMethod="GET"/>"#
        let model = try CSDLReader.read(
            Self.document(
                Self.container("A", Self.isDefault, Self.set("X") + Self.set("W"))
                    + Self.container("B", "", Self.set("X") + tree + call)))
        let again = try CSDLReader.read(CSDLWriter.xml(model, version: .v2))
        for model in [model, again] {
            #expect(model.entitySet("B_X")?.bindings == [NavigationPropertyBinding(path: "Up", target: "B_X")])
            #expect(model.entitySet("X")?.bindings == [])
            let find = try #require(model.operationImports("Find").first)
            #expect(find.qualifiedName == "B.Find" && find.entitySet == "B_X")
            #expect(model.operationImports("B.Find").count == 1)
        }
    }

    @Test("a document of V4 has one container, and its sets have their own names")
    func newer() throws {
        let bytes = Self.document(
            Self.container("A", Self.isDefault, Self.set("X")) + Self.container("B", Self.isOther, Self.set("Y")))
        let newer = try CSDLReader.read(CSDLWriter.xml(try CSDLReader.read(bytes), version: .v401))
        #expect(newer.container.entitySets.map(\.name) == ["X", "Y"])
        #expect(newer.container.entitySets.allSatisfy { $0.qualifiedName == nil })
    }
}
