import Testing

@testable import ODataModel

@Suite("The metadata writer, OData 2 and 3")
struct CSDLV2WriterTests {
    @Test("a V2 document is written as it was", arguments: [CSDLSamples.v2, SAPAttributeTests.metadata])
    func roundTrip(sample: String) throws {
        let model = try CSDLReader.read(Array(sample.utf8))
        let document = CSDLWriter.document(model, as: .xml(.v2))
        #expect(document.omissions.isEmpty)
        let again = try CSDLReader.read(document.bytes)
        #expect(again.schemas == model.schemas, "\(difference(again.schemas, model.schemas))")
        #expect(again.version == .v2)
    }

    @Test("a V2 model survives the way through V4 and JSON", arguments: [ODataVersion.v2, .v3])
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

    @Test("what V2 cannot say is left out and named")
    func omissions() throws {
        let model = try CSDLReader.read(Array(CSDLSamples.v4.utf8))
        let document = CSDLWriter.document(model, as: .xml(.v2))
        let omitted = document.omissions.joined(separator: "\n")
        for name in ["Me", "Color", "Order/Colors", "Note", "Close"] {
            #expect(omitted.contains(name), "\(name)")
        }
        let again = try CSDLReader.read(document.bytes)
        let order = try #require(again.shape(QualifiedName("Shop.Model", "Order")))
        #expect(order.hasStream)
        #expect(order.property("Weight")?.type == .primitive(.decimal))
        #expect(order.property("Colors") == nil)
        #expect(order.navigationProperty("Customer")?.partner == "Orders")
        #expect(order.navigationProperty("Customer")?.constraints.count == 1)
        #expect(again.operationImports("OpenOrders").first?.httpMethod == "GET")
    }

    @Test("what V3 has more is said in V3")
    func v3() throws {
        let model = try CSDLReader.read(Array(CSDLSamples.v4.utf8))
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
