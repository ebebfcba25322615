import Foundation
import Testing

@testable import ODataModel

@Suite("Entities of unusual types")
struct EntityTests {
    private func model() throws -> EntityDataModel {
        try CSDLReader.read(
            xml: Array(
                """
                <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
                <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
                <ComplexType Name="PostAddress" BaseType="N.Address"><Property Name="Zip" Type="Edm.String"/></ComplexType>
                <EntityType Name="Base"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="A" Type="N.Address"/><Property Name="Last" Type="Edm.String"/>
                <NavigationProperty Name="Next" Type="N.Base"/></EntityType>
                <EntityType Name="Derived" BaseType="N.Base"><Property Name="Own" Type="Edm.String"/>
                <Property Name="A" Type="N.PostAddress" Nullable="false"/>
                <NavigationProperty Name="Next" Type="N.Derived"/></EntityType>
                <EntityType Name="Kept"><Key><PropertyRef Name="A/City" Alias="city"/></Key>
                <Property Name="A" Type="N.Address" Nullable="false"/></EntityType>
                <EntityType Name="Open" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Any" Type="Edm.Untyped"/>
                <Property Name="Anys" Type="Collection(Edm.Untyped)"/></EntityType>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
    }

    @Test("CSDL 7 and 8: a redeclared property keeps the position of the inherited one")
    func constrained() throws {
        let model = try model()
        let base = try #require(model.shape(QualifiedName("N", "Base")))
        let derived = try #require(model.shape(QualifiedName("N", "Derived")))
        #expect(derived.properties.map(\.name) == ["ID", "A", "Last", "Own"])
        #expect(derived.ordinal(of: "A") == base.ordinal(of: "A"))
        #expect(derived.property("A")?.type == .complex(QualifiedName("N", "PostAddress")))
        #expect(derived.property("A")?.isNullable == false)
        #expect(derived.navigationProperties.map(\.target) == [QualifiedName("N", "Derived")])
        #expect(base.property("A")?.type == .complex(QualifiedName("N", "Address")))
    }

    @Test("CSDL 6.5: a key may contain a property of a complex property")
    func keyWithin() throws {
        let model = try model()
        let shape = try #require(model.shape(QualifiedName("N", "Kept")))
        let address = try #require(model.shape(QualifiedName("N", "Address")))
        var entity = ODataEntity(shape: shape)
        #expect(entity.key == nil)
        entity["A"] = .complex(ODataEntity(shape: address, ["City": "Oslo"]))
        #expect(entity.key == EntityKey([EntityKey.Part(name: "city", value: "Oslo")]))
        entity["A"] = .complex(ODataEntity(shape: address, ["City": .null]))
        #expect(entity.key == nil)
    }

    @Test("Keys are compared byte by byte: canonically equivalent texts are two keys")
    func keysByBytes() throws {
        let (one, two) = (EntityKey("Path", "Caf\u{E9}"), EntityKey("Path", "Cafe\u{301}"))
        #expect(one != two)
        #expect(Set([one, two, one]).count == 2)
        let prices = try ["1.5", "1.50"].map { EntityKey("Price", .decimal(try #require(ODataDecimal($0)))) }
        #expect(prices[0] == prices[1])
        #expect(Set(prices).count == 1)
    }

    @Test("Values without a type in the model are read back unchanged")
    func untyped() throws {
        let model = try model()
        let shape = try #require(model.shape(QualifiedName("N", "Open")))
        let object = ODataValue.complex(
            ODataEntity(shape: .untyped, ["a": .integer(1), "b": .collection(["x", .null])]))
        let decimal = ODataValue.decimal(try #require(ODataDecimal("12.50")))
        let mixed = ODataValue.collection([
            .integer(1), decimal, .null, "text", .boolean(true), .double(.infinity), object,
            .collection([.integer(2), decimal]),
            .collection([]),
        ])
        let values: [ODataValue] = [object, decimal, mixed, .collection([decimal]), .double(1), "text", .null]
        let decoder = JSONDecoder()
        decoder.userInfo[.entityDataModel] = model
        for value in values {
            var entity = ODataEntity(shape: shape, ["ID": .integer(1), "dynamic": value, "Any": value])
            if case .collection = value { entity["Anys"] = value }
            let again = try decoder.decode(ODataEntity.self, from: JSONEncoder().encode(entity))
            #expect(
                again["dynamic"]?.isIdentical(to: value) == true, "\(value) came back as \(again["dynamic"] ?? .null)")
            #expect(again["Any"]?.isIdentical(to: value) == true, "\(value) came back as \(again["Any"] ?? .null)")
            if case .collection = value { #expect(again["Anys"]?.isIdentical(to: value) == true) }
        }
    }
}
