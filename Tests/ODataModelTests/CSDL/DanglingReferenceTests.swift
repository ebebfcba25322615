import Testing

@testable import ODataModel

@Suite("Warnings of undeclared names and paths in metadata")
struct DanglingReferenceTests {
    private static func warnings(_ bytes: [UInt8]) throws -> [CSDLWarning] {
        try CSDLReader.parse(bytes, options: CSDLReaderOptions(warnsOfDanglingReferences: true)).warnings
    }

    private static let sound = """
        <ComplexType Name="Address"><Property Name="Zip" Type="Edm.String"/><NavigationProperty Name="Land" Type="S.Item"/></ComplexType>
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Home" Type="S.Address"/><Property Name="Up" Type="Edm.Int32"/>
        <NavigationProperty Name="To" Type="S.Item" Partner="From"><ReferentialConstraint Property="Up" ReferencedProperty="ID"/></NavigationProperty>
        <NavigationProperty Name="From" Type="Collection(S.Item)" Partner="To"/>
        <NavigationProperty Name="Parts" Type="Collection(S.Part)" ContainsTarget="true"/></EntityType>
        <EntityType Name="Special" BaseType="S.Item"><NavigationProperty Name="Own" Type="S.Item"/></EntityType>
        <EntityType Name="Part"><Key><PropertyRef Name="N"/></Key><Property Name="N" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Item" Type="S.Item"/></EntityType>
        <EnumType Name="Kind"><Member Name="A"/></EnumType>
        <Function Name="F"><Parameter Name="p" Type="Edm.Int32"/><ReturnType Type="Collection(S.Item)"/></Function>
        <Function Name="B" IsBound="true" EntitySetPath="it/To"><Parameter Name="it" Type="S.Item"/><ReturnType Type="S.Item"/></Function>
        <Action Name="A"/><Term Name="Base" Type="Edm.String"/><Term Name="Derived" Type="Edm.String" BaseTerm="S.Base"/>
        <EntityContainer Name="C"><EntitySet Name="Items" EntityType="S.Item"><NavigationPropertyBinding Path="To" Target="Items"/>
        <NavigationPropertyBinding Path="S.Special/Own" Target="S.C/Items"/><NavigationPropertyBinding Path="Home/Land" Target="Me"/>
        <NavigationPropertyBinding Path="Parts/Item" Target="Items"/></EntitySet>
        <Singleton Name="Me" Type="S.Item"><NavigationPropertyBinding Path="From" Target="Items"/></Singleton>
        <FunctionImport Name="F" Function="S.F" EntitySet="Items"/><ActionImport Name="A" Action="S.A"/></EntityContainer>
        <Annotations Target="S.Item/Home"><Annotation Term="S.Base" String="x"/></Annotations>
        <Annotations Target="S.Item/Home/Zip"><Annotation Term="S.Base" String="x"/></Annotations>
        <Annotations Target="S.Kind/A"><Annotation Term="S.Base" String="x"/></Annotations>
        <Annotations Target="S.C/Items"><Annotation Term="S.Base" String="x"/></Annotations>
        <Annotations Target="S.C/Items/To"><Annotation Term="S.Base" String="x"/></Annotations>
        <Annotations Target="S.C/F"><Annotation Term="S.Base" String="x"/></Annotations>
        <Annotations Target="S.C/Me"><Annotation Term="S.Base" NavigationPropertyPath="To/Parts"/></Annotations>
        <Annotations Target="S.Part/N"><Annotation Term="S.Base" PropertyPath="Item/Home/Zip"/></Annotations>
        <Annotations Target="S.Part"><Annotation Term="S.Base"><Collection><EnumMember>S.Kind/A</EnumMember>
        <Record Type="S.Address"/><AnnotationPath>Item/@S.Base</AnnotationPath><Path>N</Path></Collection></Annotation></Annotations>
        <Annotations Target="S.F/p"><Annotation Term="S.Base" String="x"/></Annotations>
        <Annotations Target="S.F(Edm.Int32)/$ReturnType"><Annotation Term="S.Base" String="x"/></Annotations>
        """

    @Test("a correct document has no warnings, in XML and in JSON")
    func soundDocument() throws {
        #expect(try Self.warnings(document(Self.sound)).isEmpty)
        let model = try CSDLReader.read(document(Self.sound))
        #expect(try Self.warnings(CSDLWriter.json(model)).isEmpty)
    }

    @Test(
        "each kind of reference is checked",
        arguments: [
            ("<PropertyRef Name=\"ID\"/>", "<PropertyRef Name=\"Gone\"/>"),
            ("<PropertyRef Name=\"ID\"/>", "<PropertyRef Name=\"Home/Gone\" Alias=\"g\"/>"),
            ("Partner=\"From\"", "Partner=\"Gone\""), ("Partner=\"From\"", "Partner=\"ID\""),
            ("Property=\"Up\"", "Property=\"Gone\""), ("ReferencedProperty=\"ID\"", "ReferencedProperty=\"Gone\""),
            ("Path=\"To\"", "Path=\"Gone\""), ("Path=\"To\"", "Path=\"ID\""),
            ("Path=\"S.Special/Own\"", "Path=\"Own\""),
            ("Path=\"S.Special/Own\"", "Path=\"S.Gone/Own\""), ("Path=\"Home/Land\"", "Path=\"Home/Zip\""),
            ("Target=\"Items\"/>", "Target=\"Gone\"/>"), ("Target=\"S.C/Items\"", "Target=\"S.D/Items\""),
            ("Path=\"From\"", "Path=\"Gone\""), ("Function=\"S.F\"", "Function=\"S.Gone\""),
            ("Function=\"S.F\"", "Function=\"S.A\""), ("Function=\"S.F\"", "Function=\"S.B\""),
            ("Action=\"S.A\"", "Action=\"S.Gone\""), ("EntitySet=\"Items\"/>", "EntitySet=\"Gone\"/>"),
            ("EntitySetPath=\"it/To\"", "EntitySetPath=\"it/Gone\""),
            ("EntitySetPath=\"it/To\"", "EntitySetPath=\"To\""),
            ("BaseTerm=\"S.Base\"", "BaseTerm=\"S.Gone\""), ("Type=\"S.Address\"/>", "Type=\"S.Gone\"/>"),
            ("BaseType=\"S.Item\"", "BaseType=\"S.Gone\""),
            ("<EntityContainer Name=\"C\">", "<EntityContainer Name=\"C\" Extends=\"S.Gone\">"),
            ("Target=\"S.Item/Home\"", "Target=\"S.Item/Gone\""),
            ("Target=\"S.Item/Home/Zip\"", "Target=\"S.Item/Home/Gone\""),
            ("Target=\"S.Kind/A\"", "Target=\"S.Kind/Gone\""), ("Target=\"S.C/Items\"", "Target=\"S.C/Gone\""),
            ("Target=\"S.C/Items/To\"", "Target=\"S.C/Items/Gone\""), ("Target=\"S.F/p\"", "Target=\"S.F/gone\""),
            ("Target=\"S.F(Edm.Int32)/$ReturnType\"", "Target=\"S.F(Edm.String)/$ReturnType\""),
            ("Target=\"S.Item/Home\"", "Target=\"S.Gone\""),
            ("NavigationPropertyPath=\"To/Parts\"", "NavigationPropertyPath=\"To/Gone\""),
            ("PropertyPath=\"Item/Home/Zip\"", "PropertyPath=\"Item/Home/Gone\""), ("S.Kind/A</", "S.Kind/Gone</"),
            ("S.Kind/A</", "S.Gone/A</"), ("Record Type=\"S.Address\"", "Record Type=\"S.Gone\""),
            ("Item/@S.Base</", "Gone/@S.Base</"), ("<Path>N</Path>", "<Path>Gone</Path>"),
        ])
    func dangling(old: String, new: String) throws {
        #expect(Self.sound.contains(old))
        var text = Self.sound
        text.replaceSubrange(try #require(text.firstRange(of: old)), with: new)
        let bytes = document(text)
        let warnings = try Self.warnings(bytes)
        #expect(!warnings.isEmpty, "\(new)")
        #expect(warnings.allSatisfy { $0.line > 2 })
        #expect(try Self.warnings(bytes) == warnings)
        let places = warnings.map { [$0.line, $0.column] }
        #expect(places == places.sorted { $0.lexicographicallyPrecedes($1) })
    }

    @Test("each use of an undeclared type causes a warning")
    func everyUse() throws {
        let content =
            "<ComplexType Name='T'><Property Name='a' Type='S.X'/><Property Name='b' Type='S.X'/></ComplexType>"
        #expect(try Self.warnings(document(content)).count == 2)
        #expect(try CSDLReader.parse(document(content)).warnings.count == 1)
    }

    @Test("members inherited from a type of another document cause no warning")
    func incomplete() throws {
        let content = """
            <EntityType Name="T" BaseType="Other.Base"><Key><PropertyRef Name="ID"/></Key></EntityType>
            <Annotations Target="S.T/Name"><Annotation Term="S.A"/></Annotations>
            """
        let warnings = try Self.warnings(document(content))
        #expect(warnings.count == 1 && warnings.first?.message.contains("Other.Base") == true, "\(warnings)")
    }

    private static let ends =
        "<Association Name='A'><End Role='a' Type='S.Item' Multiplicity='1'/><End Role='b' Type='S.Item' Multiplicity='*'/><ReferentialConstraint><Principal Role='a'><PropertyRef Name='ID'/></Principal><Dependent Role='b'><PropertyRef Name='ID'/></Dependent></ReferentialConstraint></Association>"
    private static let set =
        "<AssociationSet Name='AS' Association='S.A'><End Role='a' EntitySet='Items'/><End Role='b' EntitySet='Items'/></AssociationSet><FunctionImport Name='F' EntitySet='Items' ReturnType='S.Item'/>"

    @Test(
        "references in V2 associations are checked",
        arguments: [
            (nil, nil), ("Type='S.Item' Multiplicity='*'", "Type='S.Missing' Multiplicity='*'"),
            ("<Principal Role='a'>", "<Principal Role='x'>"),
            ("<PropertyRef Name='ID'/></Dep", "<PropertyRef Name='x'/></Dep"),
            ("Association='S.A'", "Association='S.B'"),
            ("<End Role='b' EntitySet='Items'/>", "<End Role='b' EntitySet='Gone'/>"),
            ("<End Role='b' EntitySet='Items'/>", "<End Role='x' EntitySet='Items'/>"),
            ("EntitySet='Items' ReturnType", "EntitySet='Gone' ReturnType"),
            ("ReturnType='S.Item'", "ReturnType='S.Gone'"),
        ] as [(String?, String?)])
    func associations(old: String?, new: String?) throws {
        func changed(_ text: String) -> String {
            guard let old, let new else { return text }
            return text.replacing(old, with: new)
        }
        let navigation = "<NavigationProperty Name='To' Relationship='S.A' FromRole='a' ToRole='b'/>"
        let bytes = CSDLToleranceTests.v2(
            changed(Self.ends), entityType: navigation, container: changed(Self.set))
        let warnings = try Self.warnings(bytes)
        #expect(warnings.isEmpty == (old == nil), "\(warnings)")
    }

    @Test("an included schema that its document does not contain causes a warning")
    func inclusions() async throws {
        let bytes = Array(
            """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:Reference Uri="other.xml">
            <edmx:Include Namespace="Other"/><edmx:Include Namespace="S"/></edmx:Reference><edmx:DataServices/></edmx:Edmx>
            """.utf8)
        let options = CSDLReaderOptions(references: .all, warnsOfDanglingReferences: true)
        let result = try await CSDLReader.parse(bytes, options: options) { _ in document("<EnumType Name='E'/>") }
        #expect(
            result.warnings.map(\.message) == [
                "The document other.xml has no schema Other, which is included from there."
            ])
    }
}
