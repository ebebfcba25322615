import Testing

@testable import ODataModel

@Suite("An unreadable element does not affect the rest of the document")
struct CSDLToleranceTests {
    private static let key =
        "<Key><PropertyRef Name='ID'/></Key><Property Name='ID' Type='Edm.Int32' Nullable='false'/>"
    private static let rest = """
        <EntityType Name='Item'>\(key)</EntityType>
        <EntityContainer Name='C'><EntitySet Name='Items' EntityType='S.Item'/></EntityContainer>
        """

    static func v2(_ content: String, entityType: String = "", container: String = "") -> [UInt8] {
        Array(
            """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices>
            <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
            <EntityType Name='Item'>\(key)\(entityType)</EntityType>\(content)
            <EntityContainer Name='C'><EntitySet Name='Items' EntityType='S.Item'/>\(container)</EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """.utf8)
    }

    @Test(
        "an unreadable element is omitted with a warning at its place",
        arguments: [
            ("<ComplexType Name='T'><Property Name='X'/></ComplexType>", "Property X was left out"),
            ("<ComplexType Name='T'><Property Type='Edm.String'/></ComplexType>", "Property was left out"),
            ("<ComplexType/>", "ComplexType was left out"),
            ("<ComplexType Name='T'><NavigationProperty Name='N'/></ComplexType>", "NavigationProperty N was left out"),
            (
                "<ComplexType Name='T'><NavigationProperty Name='N' Type='S.Item'><ReferentialConstraint Property='a'/></NavigationProperty></ComplexType>",
                "ReferentialConstraint was left out"
            ),
            (
                "<ComplexType Name='T'><NavigationProperty Name='N' Type='S.Item'><OnDelete Action='Perhaps'/></NavigationProperty></ComplexType>",
                "OnDelete was left out"
            ),
            ("<EnumType Name='E'><Member Name='A' Value='x'/><Member Name='B'/></EnumType>", "Member A was left out"),
            ("<EnumType Name='E' UnderlyingType='Edm.String'/>", "is no integer type"),
            ("<TypeDefinition Name='D'/>", "TypeDefinition D was left out"),
            ("<TypeDefinition Name='D' UnderlyingType='S.Item'/>", "TypeDefinition D was left out"),
            ("<Term Name='T'/>", "Term T was left out"),
            (
                "<Function Name='F'><Parameter Name='p'/><ReturnType Type='Edm.Int32'/></Function>",
                "Function F was left out"
            ),
            ("<Function Name='F'><ReturnType/></Function>", "Function F was left out"),
            ("<Action/>", "Action was left out"),
            ("<Annotations><Annotation Term='S.A'/></Annotations>", "Annotations was left out"),
            ("<Annotations Target='S.Item'><Annotation/></Annotations>", "Annotation was left out"),
            ("<ComplexType Name='T'><Annotation String='x'/></ComplexType>", "Annotation was left out"),
        ])
    func leftOut(content: String, warning: String) throws {
        let result = try CSDLReader.parse(document("\n" + content + "\n" + Self.rest))
        #expect(result.warnings.count == 1, "\(result.warnings)")
        #expect(result.warnings.first?.message.contains(warning) == true, "\(result.warnings)")
        #expect(result.warnings.first?.line == 4)
        #expect(result.model.shape(ofSet: "Items")?.keyOrdinals == [0])
    }

    @Test("an element that the options refuse ends the reading")
    func strict() {
        let content = "<ComplexType Name='T'><Property Name='P' Type='Edm.Decimal' Scale='x'/></ComplexType>"
        #expect(throws: CSDLError.self) {
            try CSDLReader.parse(document(content), options: CSDLReaderOptions(facets: .strict))
        }
    }

    @Test("a key with an unreadable property is omitted as a whole")
    func unreadableKey() throws {
        let result = try CSDLReader.parse(
            document(
                "<EntityType Name='T'><Key><PropertyRef Name='a'/><PropertyRef Name='b'/></Key><Property Name='a' Type='Edm.Int32'/><Property Name='b'/></EntityType>"
                    + Self.rest))
        #expect(result.model.shape(QualifiedName("S", "T"))?.key.isEmpty == true)
        #expect(result.warnings.map(\.message).contains("The key of S.T was left out: b cannot be read."))
    }

    @Test(
        "an identical repeated declaration counts once",
        arguments: [
            "<ComplexType Name='T'><Property Name='a' Type='Edm.String'/></ComplexType>", "<EnumType Name='E'/>",
            "<TypeDefinition Name='D' UnderlyingType='Edm.Int32'/>", "<Term Name='T' Type='Edm.String'/>",
            "<Function Name='F'><ReturnType Type='Edm.Int32'/></Function>", "<Action Name='A'/>",
        ])
    func repeated(content: String) throws {
        let result = try CSDLReader.parse(document(content + content + Self.rest))
        let alone = try CSDLReader.parse(document(content + Self.rest))
        #expect(result.model.schemas == alone.model.schemas)
        #expect(result.warnings.count == 1 && result.warnings.first?.message.contains("twice") == true)
    }

    @Test("the order of attributes does not distinguish declarations")
    func equality() throws {
        func read(_ second: String) throws -> CSDLReader.Result {
            try CSDLReader.parse(
                document(
                    "<ComplexType Name='T'><Property Name='a' Type='Edm.String'/></ComplexType>" + second + Self.rest))
        }
        #expect(
            try read("<ComplexType Name='T'><Property Type='Edm.String' Name='a'/></ComplexType>").warnings.count == 1)
        #expect(throws: CSDLError.self) {
            try read("<ComplexType Name='T'><Property Type='Edm.Int32' Name='a'/></ComplexType>")
        }
    }

    @Test("of two declarations with one name, the first one counts")
    func repeatedWithin() throws {
        let result = try CSDLReader.parse(
            document(
                """
                <EntityType Name='T'><Key><PropertyRef Name='a'/><PropertyRef Name='a'/></Key><Property Name='a' Type='Edm.String'/>
                <Property Name='a' Type='Edm.Int32'/></EntityType><EnumType Name='E'><Member Name='A'/><Member Name='A' Value='7'/></EnumType>
                <Function Name='F'><ReturnType Type='Edm.Int32'/></Function><EntityType Name='Item'>\(Self.key)</EntityType>
                <EntityContainer Name='C'><EntitySet Name='Items' EntityType='S.Item'/><FunctionImport Name='F' Function='S.F'/>
                <FunctionImport Name='F' Function='S.F'/></EntityContainer>
                """))
        let shape = try #require(result.model.shape(QualifiedName("S", "T")))
        #expect(shape.properties.map(\.type) == [.primitive(.string)] && shape.key.count == 1)
        #expect(result.model.enumType(QualifiedName("S", "E"))?.members.map(\.value) == [0])
        #expect(result.model.operationImports("F").count == 1)
        #expect(result.warnings.count == 4, "\(result.warnings)")
    }

    @Test("a name without a namespace belongs to its schema, or to the only schema")
    func shortNames() throws {
        let bytes = Array(
            """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
            <Schema Namespace="M" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Base">\(Self.key)</EntityType>
            <EntityType Name="Item" BaseType="Base"><Property Name="A" Type="Address"/><Property Name="B" Type="Collection(Address)"/>
            <NavigationProperty Name="Next" Type="Collection(Item)"/></EntityType><ComplexType Name="Address"/>
            </Schema><Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><Function Name="F"><ReturnType Type="Edm.Int32"/></Function>
            <EntityContainer Name="C"><EntitySet Name="Items" EntityType="Item"/><Singleton Name="Me" Type="Item"/>
            <FunctionImport Name="F" Function="F"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """.utf8)
        let result = try CSDLReader.parse(bytes)
        let shape = try #require(result.model.shape(ofSet: "Items"))
        #expect(shape.name == QualifiedName("M", "Item") && shape.baseType == QualifiedName("M", "Base"))
        #expect(shape.property("A")?.type == .complex(QualifiedName("M", "Address")))
        #expect(shape.property("B")?.type == .collection(.complex(QualifiedName("M", "Address"))))
        #expect(shape.navigationProperty("Next")?.target == QualifiedName("M", "Item"))
        #expect(result.model.singleton("Me") != nil)
        #expect(result.model.operationImports("F").first?.operation == QualifiedName("S", "F"))
        #expect(result.warnings.count == 7 && result.warnings.allSatisfy { $0.message.contains("has no namespace") })
    }

    @Test("an association with one end is omitted with its dependent elements")
    func association() throws {
        let result = try CSDLReader.parse(
            Self.v2(
                "<Association Name='A'><End Role='a' Type='S.Item' Multiplicity='1'/></Association>",
                entityType: "<NavigationProperty Name='To' Relationship='S.A' FromRole='a' ToRole='b'/>"))
        #expect(result.model.entitySet("Items") != nil)
        #expect(result.model.shape(ofSet: "Items")?.navigationProperties.isEmpty == true)
        #expect(
            result.warnings.map(\.message) == [
                "To was left out with the association S.A.",
                "The association S.A was left out: it has 1 end instead of 2.",
            ])
    }

    @Test("names without a namespace are also resolved in V2 associations")
    func shortAssociation() throws {
        let result = try CSDLReader.parse(
            Self.v2(
                "<Association Name='A'><End Role='a' Type='Item' Multiplicity='1'/><End Role='b' Type='Item' Multiplicity='*'/></Association>",
                entityType:
                    "<NavigationProperty Name='To' Relationship='A' FromRole='a' ToRole='b'/><NavigationProperty Name='Back' Relationship='A' FromRole='b' ToRole='a'/>"
            ))
        #expect(result.model.shape(ofSet: "Items")?.navigationProperty("To")?.partner == "Back")
    }

    @Test("a term that is declared twice counts once")
    func equalTerms() throws {
        let terms = [
            "<Annotation Term='A.B'><String>x</String></Annotation>", "<Annotation Term='A.B' String='x'/>",
            "<Annotation Term='A.B' String='y'/>",
        ].map { "<Term Name='T' Type='Edm.String'>\($0)</Term>" }
        let result = try CSDLReader.parse(document(terms.joined()))
        #expect(result.model.schemas[0].terms.count == 2)
        #expect(result.warnings.map(\.description).filter { $0.contains("Term T is declared twice") }.count == 1)
        let written = CSDLWriter.document(result.model, as: .xml(result.model.version))
        #expect(try CSDLReader.read(xml: written.bytes).schemas == result.model.schemas)
    }

    @Test("a circle of base types always gives the same error")
    func circle() throws {
        let bytes = document("<EntityType Name='A' BaseType='S.B'/>\n<EntityType Name='B' BaseType='S.A'/>")
        let messages = Set((0..<20).map { _ in csdlError(bytes)?.description ?? "" })
        #expect(messages.count == 1)
        #expect(
            messages.first?.contains("line 3") == true && messages.first?.contains("S.A derives from itself;") == true)
        #expect(messages.first?.contains(".;") == false)
    }
}
