import Testing

@testable import ODataModel

@Suite("The metadata writer, OData 2 and 3")
struct CSDLV2WriterTests {
    /// The V4 sample with a key that earlier versions support.
    private static let v4 = CSDLSamples.v4.replacing("<PropertyRef Name=\"Info/Site\" Alias=\"Site\"/>", with: "")

    @Test("a V2 document is written back unchanged", arguments: [CSDLSamples.v2, SAPAttributeTests.metadata])
    func roundTrip(sample: String) throws {
        let model = try CSDLReader.read(Array(sample.utf8))
        let document = CSDLWriter.document(model, as: .xml(.v2))
        #expect(document.omissions.isEmpty)
        let again = try CSDLReader.read(document.bytes)
        #expect(again.schemas == model.schemas, "\(difference(again.schemas, model.schemas))")
        #expect(again.version == .v2)
    }

    @Test("a V2 model survives the conversion to V4 and JSON", arguments: [ODataVersion.v2, .v3])
    func throughV4(version: ODataVersion) throws {
        let model = try CSDLReader.read(Array(CSDLSamples.v2.utf8))
        let v4 = try CSDLReader.read(CSDLWriter.xml(model, version: .v4))
        let again = try CSDLReader.read(CSDLWriter.xml(v4, version: version))
        let differences = again.differences(from: model).filter { !$0.path.isEmpty }
        #expect(differences.isEmpty, "\(differences)")
        let flights = try #require(again.shape(QualifiedName("Flight", "Carrier"))?.navigationProperty("Flights"))
        #expect(flights.partner == "Carrier" && flights.isCollection)
        #expect(again.entitySet("Carriers")?.bindings.first?.target == "Flights")
    }

    @Test("elements that V2 lacks are omitted and reported")
    func omissions() throws {
        let model = try CSDLReader.read(Array(Self.v4.utf8))
        let document = CSDLWriter.document(model, as: .xml(.v2))
        let omitted = document.omissions.joined(separator: "\n")
        for name in ["Me", "Color", "Order/Colors", "Note", "Close"] {
            #expect(omitted.contains(name), "\(name)")
        }
        #expect(omitted.contains("was left out: OData 2.0 cannot express it. Write a newer version."))
        let again = try CSDLReader.read(document.bytes)
        let order = try #require(again.shape(QualifiedName("Shop.Model", "Order")))
        #expect(order.hasStream)
        #expect(order.property("Weight")?.type == .primitive(.decimal))
        #expect(order.property("Colors") == nil)
        #expect(order.navigationProperty("Customer")?.partner == "Orders")
        #expect(order.navigationProperty("Customer")?.constraints.count == 1)
        #expect(again.operationImports("OpenOrders").first?.httpMethod == "GET")
    }

    @Test("in V2, keys in complex properties, complex parameters and entities without a set are omitted")
    func foreignReaders() throws {
        let model = try CSDLReader.read(
            document(
                """
                <ComplexType Name="X"><Property Name="P" Type="Edm.Int32" Nullable="false"/></ComplexType>
                <EntityType Name="Deep"><Key><PropertyRef Name="X/P" Alias="P"/></Key><Property Name="X" Type="S.X" Nullable="false"/></EntityType>
                <EntityType Name="Plain"><Key><PropertyRef Name="ID" Alias="k"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="D" Type="Edm.Decimal" Scale="10"/><Property Name="E" Type="Edm.Decimal" Precision="12" Scale="3"/>
                <NavigationProperty Name="To" Type="S.Deep"/></EntityType>
                <Function Name="Taking"><Parameter Name="x" Type="S.X"/><ReturnType Type="Edm.Int32"/></Function>
                <Function Name="Loose"><ReturnType Type="Collection(S.Plain)"/></Function>
                <Function Name="Bound"><ReturnType Type="Collection(S.Plain)"/></Function>
                <Function Name="Deeply"><ReturnType Type="S.Deep"/></Function>
                <Function Name="Two"><Parameter Name="a" Type="Edm.Int32"/><ReturnType Type="Edm.Int32"/></Function>
                <Function Name="Two"><Parameter Name="b" Type="Edm.Int32"/><ReturnType Type="Edm.Int32"/></Function>
                <EntityContainer Name="C"><EntitySet Name="Deeps" EntityType="S.Deep"/><EntitySet Name="Plains" EntityType="S.Plain">
                <NavigationPropertyBinding Path="To" Target="Deeps"/></EntitySet>
                <FunctionImport Name="Taking" Function="S.Taking"/><FunctionImport Name="Loose" Function="S.Loose"/>
                <FunctionImport Name="Bound" Function="S.Bound" EntitySet="Plains"/><FunctionImport Name="Two" Function="S.Two"/>
                <FunctionImport Name="Deeply" Function="S.Deeply" EntitySet="Deeps"/></EntityContainer>
                """))
        let written = CSDLWriter.document(model, as: .xml(.v2))
        let text = String(decoding: written.bytes, as: UTF8.self)
        let omitted = written.omissions.joined(separator: "\n")
        for name in [
            "type S.Deep with the key X/P", "set Deeps", "S.Plain/To", "x of S.Taking", "result of S.Loose",
            "result of S.Deeply",
            "S.Two(Edm.Int32)",
            "scale of S.Plain/D",
        ] {
            #expect(omitted.contains(name), "\(name) in \(omitted)")
        }
        for absent in [
            "Alias", "X/P", "S.Deep", "Scale=\"10\"", "Name=\"Taking\"", "Name=\"Loose\"", "EntitySet=\"Deeps\"",
        ] {
            #expect(!text.contains(absent), "\(absent)")
        }
        let again = try CSDLReader.parse(written.bytes, options: CSDLReaderOptions(warnsOfDanglingReferences: true))
        #expect(again.warnings.isEmpty, "\(again.warnings)")
        #expect(again.model.container.operationImports.map(\.name) == ["Bound", "Two"])
        #expect(again.model.shape(ofSet: "Plains")?.property("E")?.facets.scale == .fixed(3))
    }

    @Test("additions of V3 are written in V3")
    func v3() throws {
        let model = try CSDLReader.read(Array(Self.v4.utf8))
        let again = try CSDLReader.read(CSDLWriter.xml(model, version: .v3))
        #expect(again.version == .v3)
        #expect(again.enumType(QualifiedName("Shop.Model", "Color"))?.members.count == 2)
        let order = try #require(again.shape(QualifiedName("Shop.Model", "Order")))
        #expect(order.property("Colors")?.type.isCollection == true)
        #expect(order.navigationProperty("Items")?.isContainment == true)
        #expect(again.operations(QualifiedName("Shop.Model", "Close")).first?.isBound == true)
    }

    @Test("dates and times take the types of V2")
    func dates() throws {
        let model = try CSDLReader.read(
            document(
                "<ComplexType Name='T'><Property Name='a' Type='Edm.Date'/><Property Name='b' Type='Edm.TimeOfDay'/></ComplexType>"
            ))
        let shape = try CSDLReader.read(CSDLWriter.xml(model, version: .v2)).shape(QualifiedName("S", "T"))
        #expect(shape?.properties.map(\.type) == [.primitive(.dateTime), .primitive(.time)])
    }

    @Test(
        "CSDL 4.01 11: without type definitions, their facets stand where they are used",
        arguments: [ODataVersion.v2, .v3])
    func definedFacets(version: ODataVersion) throws {
        let model = try CSDLReader.read(
            document(
                """
                <TypeDefinition Name='Money' UnderlyingType='Edm.Decimal' Precision='12' Scale='4'/>
                <TypeDefinition Name='Code' UnderlyingType='Edm.String' MaxLength='10' Unicode='false'/>
                <ComplexType Name='T'>
                <Property Name='a' Type='S.Money'/><Property Name='b' Type='S.Code'/></ComplexType>
                <Action Name='F'><Parameter Name='p' Type='S.Money'/></Action>
                <EntityContainer Name='C'><ActionImport Name='F' Action='S.F'/></EntityContainer>
                """))
        let again = try CSDLReader.read(CSDLWriter.xml(model, version: version))
        let shape = try #require(again.shape(QualifiedName("S", "T")))
        let imported = try #require(again.operationImports("F").first)
        let parameter = try #require(again.operations(imported.operation).first?.parameters.first)
        for facets in [shape.property("a")?.facets, parameter.facets] {
            #expect(facets?.precision == 12 && facets?.scale == .fixed(4))
        }
        #expect(shape.property("b")?.facets.maxLength == 10 && shape.property("b")?.facets.isUnicode == false)
    }
}
