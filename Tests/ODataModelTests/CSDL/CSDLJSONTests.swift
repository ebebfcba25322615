import Testing

@testable import ODataModel

@Suite("CSDL in JSON")
struct CSDLJSONTests {
    static let sample = """
        {"$Version":"4.01","$EntityContainer":"S.C","$Reference":{"core.json":{"$Include":[{"$Namespace":"Org.OData.Core.V1","$Alias":"Core"}]}},
        "S":{"$Alias":"self","@Core.Description":"All",
          "T":{"$Kind":"EntityType","$Key":["ID",{"City":"Address/City"}],"$OpenType":true,
            "ID":{"$Type":"Edm.Int32"},"Name":{"$Nullable":true,"$MaxLength":20,"@Core.Description@Core.IsLanguageDependent":true,"@Core.Description":"Its name"},
            "Price":{"$Type":"Edm.Decimal","$Precision":9},"Address":{"$Type":"self.A"},"Tags":{"$Collection":true,"$Nullable":true},
            "Color":{"$Type":"self.E","$DefaultValue":"Red"},
            "Next":{"$Kind":"NavigationProperty","$Type":"self.T","$Nullable":true,"$Partner":"Previous","$ReferentialConstraint":{"ID":"ID","ID@Core.Description":"key"},"$OnDelete":"SetNull","$OnDelete@Core.Description":"gone"},
            "Previous":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"self.T","$ContainsTarget":true}},
          "A":{"$Kind":"ComplexType","City":{}},
          "E":{"$Kind":"EnumType","$IsFlags":true,"Red":1,"Red@Core.Description":"red","Blue":2},
          "D":{"$Kind":"TypeDefinition","$UnderlyingType":"Edm.Decimal","$Scale":2},
          "F":[{"$Kind":"Function","$IsBound":true,"$Parameter":[{"$Name":"it","$Type":"self.T"}],"$ReturnType":{"$Type":"Edm.Decimal"}},{"$Kind":"Function"}],
          "Note":{"$Kind":"Term","$Type":"self.E","$AppliesTo":["Property"]},
          "C":{"$Kind":"EntityContainer","Ts":{"$Collection":true,"$Type":"self.T","$NavigationPropertyBinding":{"Next":"Ts"}},"Me":{"$Type":"self.T","$Nullable":true},"F":{"$Function":"self.F","$EntitySet":"Ts"}},
          "$Annotations":{"self.T/Price":{"@self.Note#q":{"$If":[{"$Eq":[{"$Path":"ID"},null]},{"$Cast":"Red","$Type":"self.E"},[1,2.5,1e3,true]]},
            "@Core.Links":[{"@type":"#Core.Link","rel":"x","rel@Core.Description":"y","href":{"$UrlRef":{"$Function":"odata.concat","$Apply":["a",{"$Path":"Name"}]}}}]}}}}
        """

    private let model: EntityDataModel
    private let type = QualifiedName("S", "T")

    init() throws { model = try CSDLReader.read(Array(Self.sample.utf8)) }

    @Test("types are read with the defaults of JSON")
    func types() throws {
        let shape = try #require(model.shape(type))
        #expect(model.version == .v401 && shape.isOpen)
        #expect(shape.key.map(\.name) == ["ID", "City"])
        #expect(shape.property("ID")?.isNullable == false)
        #expect(shape.property("Name")?.isNullable == true)
        #expect(shape.property("Name")?.facets.maxLength == 20)
        #expect(shape.property("Price")?.facets == Facets(precision: 9, scale: .variable))
        #expect(shape.property("Tags")?.type == .collection(.primitive(.string)))
        #expect(shape.property("Color")?.defaultValue == "Red")
        #expect(model.typeDefinition(QualifiedName("S", "D"))?.facets.scale == .fixed(2))
        #expect(model.enumType(QualifiedName("S", "E"))?.members.first?.annotations.count == 1)
        #expect(model.operations(QualifiedName("S", "F")).count == 2)
    }

    @Test("navigation properties have constraints, an action on delete, and annotations on both")
    func navigation() throws {
        let next = try #require(model.shape(type)?.navigationProperty("Next"))
        #expect(next.isNullable && next.partner == "Previous" && next.onDelete == .setNull)
        #expect(next.constraints.first?.annotations.first?.value?.string == "key")
        #expect(next.onDeleteAnnotations.first?.value?.string == "gone")
        #expect(model.shape(type)?.navigationProperty("Previous")?.isContainment == true)
        #expect(model.singleton("Me")?.isNullable == true)
        #expect(model.targetSet(of: "Ts", path: "Next", target: type)?.name == "Ts")
    }

    @Test("annotations nest, with the same expressions as in XML")
    func annotations() throws {
        let shape = try #require(model.shape(type))
        let description = try #require(shape.property("Name")?.annotations.first)
        #expect(description.value?.string == "Its name")
        #expect(description.annotations.first?.value?.boolean == true)
        let note = try #require(shape.property("Price")?.annotations.first)
        #expect(note.qualifier == "q")
        #expect(
            note.value
                == .dynamic(
                    element: "If", attributes: [:],
                    operands: [
                        .dynamic(
                            element: "Eq", attributes: [:],
                            operands: [
                                .path(kind: "Path", text: "ID"),
                                .dynamic(element: "Null", attributes: [:], operands: []),
                            ]),
                        .constant(kind: "EnumMember", text: "S.E/Red"),
                        .collection([
                            .constant(kind: "Int", text: "1"), .constant(kind: "Decimal", text: "2.5"),
                            .constant(kind: "Float", text: "1e3"), .constant(kind: "Bool", text: "true"),
                        ]),
                    ]))
    }

    @Test("XML and JSON that are converted into each other are equivalent")
    func conversion() throws {
        let xml = CSDLWriter.xml(model)
        #expect(try CSDLReader.read(xml).schemas == model.schemas)
        #expect(try CSDLReader.read(CSDLWriter.json(try CSDLReader.read(xml))).schemas == model.schemas)
        let fromXML = try CSDLReader.read(Array(CSDLSamples.v4.utf8))
        let again = try CSDLReader.read(CSDLWriter.json(fromXML))
        #expect(again.differences(from: fromXML).filter { !$0.detail.contains("annotation") }.isEmpty)
    }

    @Test(
        "an empty qualifier of a term is kept, also within a record",
        arguments: [#""@V.T#":1"#, #""@V.T":{"@V.T#":1,"p":1,"p@V.T#":2,"p@V.T#@V.T##":3}"#])
    func emptyQualifier(members: String) throws {
        let text = #"{"$Version":"4.01","S":{"C":{"$Kind":"ComplexType",\#(members)}}}"#
        let model = try CSDLReader.read(Array(text.utf8))
        #expect(try CSDLReader.read(CSDLWriter.json(model)).schemas == model.schemas)
        #expect(try CSDLReader.read(xml: CSDLWriter.xml(model)).schemas == model.schemas)
    }

    @Test("a set without a name, which XML allows, is written with the name of its container")
    func namelessTarget() throws {
        let text = """
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="S"><EntityType Name="E"/>\
            <EntityContainer Name="C"><EntitySet Name="Es" EntityType="S.E">\
            <NavigationPropertyBinding Path="N" Target="S.C/"/></EntitySet></EntityContainer></Schema>
            """
        let model = try CSDLReader.read(Array(text.utf8))
        #expect(try CSDLReader.read(CSDLWriter.json(model)).schemas == model.schemas)
    }

    /// The contents of the documents for ``comesBack(content:)``.
    private static let contents = [
        #""T":{"$Kind":"ComplexType","@Org.OData.Core.V1.Permissions":"Read Write"}"#,
        #""T":{"$Kind":"ComplexType","@Org.OData.Core.V1.Permissions":"Read\tWrite","@Org.OData.Core.V1.Permissions#q":"a/b"}"#,
        #""T":{"$Kind":"ComplexType","@Org.OData.Core.V1.Permissions":{"$If":[true,"Read","Read,Write"]}}"#,
        #""T":{"$Kind":"ComplexType","@A.B":{"$If":[true,{"$Cast":"x y","$Type":"S.E"},{"$Cast":"","$Type":"S.E"}]}},"E":{"$Kind":"EnumType","x":1}"#,
        #""T":{"$Kind":"ComplexType","@A.B":{"$Eq":[{"$Cast":"x","$Type":"S.E","@C.D":1},{"$Cast":"5","$Type":"S.E"}]}},"E":{"$Kind":"EnumType","x":1}"#,
        #""W":{"$Kind":"Term","$Type":"S.E","$Collection":true},"E":{"$Kind":"EnumType","A":0},"T":{"$Kind":"ComplexType","@S.W":["A, B",""],"@S.W#q":["A\u00a0,B"]}"#,
        #""W":{"$Kind":"Term","$Type":"Edm.PropertyPath","$Collection":true},"T":{"$Kind":"ComplexType","@S.W":["a",{"$Path":"b"},""," c "]}"#,
        #""W":{"$Kind":"Term","$Type":"Edm.Guid","$Collection":true},"T":{"$Kind":"ComplexType","@S.W":["a\n"," b","\u00a0","\u3000c"]}"#,
        #""W":{"$Kind":"Term","$Type":"S.D","$Collection":true},"D":{"$Kind":"TypeDefinition","$UnderlyingType":"Edm.Duration"},"T":{"$Kind":"ComplexType","@S.W":["P1D "]}"#,
        #""T":{"$Kind":"ComplexType","P":{"$Unicode":true},"Q":{"$Collection":true,"$Type":"S.E","$Nullable":true}},"E":{"$Kind":"EntityType"}"#,
        #""F":[{"$Kind":"Function","$Parameter":[{"$Name":"x","$Collection":true,"$Type":"S.E","$Nullable":true}],"$ReturnType":{"$Type":"S.E","$Collection":true,"$Nullable":true}}],"E":{"$Kind":"EntityType"}"#,
        #""C":{"$Kind":"EntityContainer","Es":{"$Collection":true,"$Type":"S.E","$NavigationPropertyBinding":{"N":"S.C/Es","S.E/N":"Es","Z.E/N":"Z.C/Es"}},"Fi":{"$Function":"S.F","$EntitySet":"S.C/Es"}},"E":{"$Kind":"EntityType"}"#,
        #""C":{"$Kind":"EntityContainer","Es":{"$Collection":true,"$Type":"S.E","$NavigationPropertyBinding":{"N":"S.C/","M":"Z.C/S.C/"}},"Fi":{"$Function":"S.F","$EntitySet":"S.C/"}},"E":{"$Kind":"EntityType"}"#,
        #""T":{"$Kind":"ComplexType","@S.W":1,"@Z.W":2,"@S.W@S.W":1,"@S.W@Z.W":2,"@A.B":{"@S.W":1,"@Z.W":2,"x":1,"x@S.W":1,"x@Z.W":2,"x@Z.W@A.B":5}}"#,
        #""T":{"$Kind":"ComplexType","@A.B":{"$Eq":[1,2],"@S.W":1,"@Z.W":2}}"#,
        #""T":{"$Kind":"ComplexType","@A.B":0},"W":{"$Kind":"Term"},"$Annotations":{"S.T":{"@A.B":1},"Z.T":{"@A.B":2,"@A.C":1},"S.W":{"@A.B":1},"Z.W":{"@A.B":2,"@A.C":1}}"#,
        #""@A.B":0,"F":[{"$Kind":"Function","$Parameter":[{"$Name":"x","@A.B":1}],"$ReturnType":{"@A.B":2},"@A.B":3}],"$Annotations":{"S":{"@A.B":1},"S.F":{"@A.B":1},"Z.F":{"@A.C":2},"S.F/x":{"@A.B":1},"S.F/$ReturnType":{"@A.B":1},"S.F(Edm.String)":{"@A.B":1},"Z.F(Edm.String)/x":{"@A.D":1}}"#,
        #""T":{"$Kind":"ComplexType","@V.b":{"$Cast":"x","$Type":"S.E"},"@V.c":[{"$Cast":"x","$Type":"S.E"}],"@V.d":{"$Not":{"$Cast":"x","$Type":"S.E"}},"@V.e":{"p":{"$Cast":"x","$Type":"S.E"}},"@V.f":{"$LabeledElement":{"$Cast":"x","$Type":"S.E"},"$Name":"L"}},"E":{"$Kind":"EnumType","x":1}"#,
        #""T":{"$Kind":"ComplexType","@V.b":{"@S.W":1,"@V.c":2,"@Z.W":3,"@Z.W@V.d":4,"@S.W@V.d":5,"x":1,"x@S.W":1,"x@V.c":2,"x@Z.W":3,"x@Z.W@V.d":4}}"#,
        #""T":{"$Kind":"ComplexType","@V.b":{"$Null":null,"$Function":"S.F"},"@V.c":{"$Cast":1,"$Unicode":"x","$Type":"Edm.String"},"P":{"$Unicode":1},"Q":{"$Unicode":"true"}}"#,
        #""T":{"$Kind":"ComplexType","N":{"$Kind":"NavigationProperty","$Type":"Collection(S.E)"}},"E":{"$Kind":"EntityType"}"#,
        #""T":{"$Kind":"ComplexType","@Org.OData.Core.V1.Permissions":"Z.E","@A.B":{"$Not":{"$Cast":"Z.E","$Type":"S.En"}}},"En":{"$Kind":"EnumType"}"#,
        #""T":{"$Kind":"ComplexType","@V.b":{"$Path":"a/@\#u{FF9E}S.W#q"},"@V.c":{"$Path":"@\#u{FF9E}S.W/n\#u{0D4E}/n\#u{0D4E}@S.W"}}"#,
    ]

    @Test("a model in JSON reads back the same, from JSON and from XML", arguments: contents)
    func comesBack(content: String) throws {
        let model = try CSDLReader.read(Array(#"{"$Version":"4.01","S":{"$Alias":"Z",\#(content)}}"#.utf8))
        #expect(try CSDLReader.read(CSDLWriter.json(model)).schemas == model.schemas)
        #expect(try CSDLReader.read(xml: CSDLWriter.xml(model)).schemas == model.schemas)
    }

    @Test("a repeated include counts once, with all its annotations")
    func includedTwiceInJSON() throws {
        let text =
            #"{"$Version":"4.01","$Reference":{"http://h/a":{"$Include":[{"$Namespace":"A","$Alias":"X","@A.B":1},{"$Namespace":"A"},{"$Namespace":"A","$Alias":"X","@A.B":2,"@A.C":3}]}},"S":{}}"#
        let model = try CSDLReader.parse(Array(text.utf8), options: CSDLReaderOptions(references: .ignored)).model
        let includes = model.references[0].includes
        #expect(includes.map(\.alias) == ["X", nil])
        #expect(includes[0].annotations.map(\.term) == ["A.B", "A.C"])
        #expect(try CSDLReader.read(CSDLWriter.json(model)).references == model.references)
    }

    @Test(
        "an unknown version is read as the newest, and parameters before V4 accept null",
        arguments: [
            ("8.01", ODataVersion.v401), ("4.02", .v401), ("4.0", .v4), ("3.0", .v3), ("2.0", .v2), ("", .v401),
        ])
    func versions(text: String, version: ODataVersion) throws {
        let text =
            #"{"$Version":"\#(text)","S":{"F":[{"$Kind":"Function","$Parameter":[{"$Name":"x","$Nullable":true},{"$Name":"y"}],"$ReturnType":{"$Nullable":true}}]}}"#
        let model = try CSDLReader.read(Array(text.utf8))
        #expect(model.version == version)
        let function = try #require(model.operations(QualifiedName("S", "F")).first)
        #expect(function.parameters.map(\.isNullable) == [true, version < .v4])
        #expect(try CSDLReader.read(CSDLWriter.json(model)).schemas == model.schemas)
    }

    @Test("parameters and results of V3 have the same nullability in JSON and XML")
    func olderParameters() throws {
        let xml = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            <edmx:DataServices m:DataServiceVersion="3.0">
            <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2009/11/edm"><EntityContainer Name="C">
            <FunctionImport Name="F" ReturnType="Collection(Edm.Int32)" m:HttpMethod="GET">
            <Parameter Name="a" Type="Edm.Int32"/><Parameter Name="b" Type="Edm.Int32" Nullable="false"/>
            <Parameter Name="c" Type="Edm.Int32" Nullable="true"/><Parameter Name="d" Type="Collection(Edm.Int32)"/>
            <Parameter Name="e" Type="Collection(Edm.Int32)" Nullable="true"/>
            <Parameter Name="f" Type="Collection(Edm.Int32)" Nullable="false"/></FunctionImport>
            <FunctionImport Name="G" ReturnType="Edm.Int32" m:HttpMethod="POST"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        let model = try CSDLReader.read(Array(xml.utf8))
        let again = try CSDLReader.read(CSDLWriter.json(model))
        #expect(again.schemas.flatMap(\.operations) == model.schemas.flatMap(\.operations))
        let parameters = try #require(again.operations(QualifiedName("S", "F")).first).parameters
        #expect(parameters.map(\.isNullable) == [true, false, true, true, true, false])
        #expect(parameters.map(\.facets.isNullabilityUnstated) == [false, false, false, true, false, false])
    }

    @Test("an unlimited length, which JSON cannot state, is refused as a facet")
    func maxLength() throws {
        let text = Array(#"{"$Version":"4.01","S":{"T":{"$Kind":"ComplexType","P":{"$MaxLength":"max"}}}}"#.utf8)
        #expect(try CSDLReader.parse(text).warnings.count == 1)
        #expect(throws: CSDLError.self) { try CSDLReader.parse(text, options: CSDLReaderOptions(facets: .strict)) }
    }

    @Test("names may begin or end with characters that combine with separators")
    func combiningNames() throws {
        // U+FF9E and U+0D4E are letters (15.2), but form one character with the neighbouring separator.
        let (mark, lead) = ("\u{FF9E}n", "n\u{0D4E}")
        let text = """
            {"$Version":"4.01","$EntityContainer":"S.\(mark).C","S.\(mark)":{"$Alias":"\(mark)A",
            "\(mark)E":{"$Kind":"EnumType","\(mark)M":1,"\(lead)":2},"\(mark)Tag":{"$Kind":"Term","$Type":"\(mark)A.\(mark)E"},
            "\(lead)":{"$Kind":"EntityType","$Key":["\(mark)ID"],"\(mark)ID":{"@\(mark)A.\(mark)Tag#\(mark)":"\(mark)M"},
              "\(lead)@\(mark)A.\(mark)Tag":"\(lead)","\(lead)":{"$Collection":true,"$Type":"\(mark)A.\(mark)T"},
              "@\(mark)A.\(mark)Rec":{"@type":"#\(mark)A.\(mark)T","\(lead)":1,"\(lead)@\(mark)A.\(mark)Tag#\(mark)":"\(mark)M",
                "@\(mark)A.\(mark)Tag":"\(mark)M"}},
            "\(mark)T":{"$Kind":"ComplexType"},
            "C":{"$Kind":"EntityContainer","\(mark)s":{"$Collection":true,"$Type":"\(mark)A.\(lead)"}},
            "$Annotations":{"\(mark)A.\(lead)/\(mark)ID":{"@\(mark)A.\(mark)Tag#q":"\(lead)"}}}}
            """
        let result = try CSDLReader.parse(
            Array(text.utf8), options: CSDLReaderOptions(terms: .warned, names: .refused, facets: .strict))
        let model = result.model
        #expect(result.warnings.map(\.message).filter { !$0.contains("Rec is not declared") } == [])
        let type = try #require(model.shape(QualifiedName("S.\(mark)", lead)))
        #expect(type.property(lead)?.type == .collection(.complex(QualifiedName("S.\(mark)", "\(mark)T"))))
        #expect(
            type.property("\(mark)ID")?.annotations.map(\.value)
                == ["\(mark)M", lead].map { .constant(kind: "EnumMember", text: "S.\(mark).\(mark)E/\($0)") })
        #expect(model.node(at: "S.\(mark).\(lead)/\(mark)ID")?.parent?.path == "S.\(mark).\(lead)")
        #expect(model.typeReference(fragment: "#Collection(\(mark)A.\(mark)T)") == type.property(lead)?.type)
        #expect(try CSDLReader.read(CSDLWriter.json(model)).schemas == model.schemas)
        #expect(try CSDLReader.read(xml: CSDLWriter.xml(model)).schemas == model.schemas)
    }

    @Test("a repeated include in XML counts once, with all its annotations")
    func includedTwice() throws {
        let xml = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:Reference Uri="u">
            <edmx:Include Namespace="V" x="1"/><edmx:Include Namespace="V" x="2"><Annotation Term="V.T"
            xmlns="http://docs.oasis-open.org/odata/ns/edm" String="t"/></edmx:Include></edmx:Reference>
            <edmx:DataServices><Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"/></edmx:DataServices>
            </edmx:Edmx>
            """
        let once = try CSDLReader.read(CSDLWriter.json(try CSDLReader.read(xml: Array(xml.utf8))))
        #expect(once.references.map { $0.includes.map(\.annotations.count) } == [[1]])
        #expect(try CSDLReader.read(CSDLWriter.json(once)).references == once.references)
    }

    @Test("an instant keeps its precision, stated or not, also with a V2 type")
    func timestamps() throws {
        let text = """
            {"$Version":"4.0","S":{"T":{"$Kind":"EntityType","$Key":["ID"],"ID":{"$Type":"Edm.Int32"},
            "A":{"$Type":"Edm.DateTime"},"B":{"$Type":"Edm.DateTime","$Precision":0},
            "C":{"$Type":"Edm.DateTimeOffset"},"D":{"$Type":"Edm.DateTimeOffset","$Precision":3}}}}
            """
        let model = try CSDLReader.read(Array(text.utf8))
        #expect(try CSDLReader.read(CSDLWriter.json(model)).schemas == model.schemas)
        let shape = try #require(model.shape(QualifiedName("S", "T")))
        #expect(["A", "B", "C", "D"].map { shape.property($0)?.facets.precision } == [12, 0, 12, 3])
    }

    @Test(
        "7.2.3: without a precision, seconds have no fraction in XML and any fraction in JSON",
        arguments: ["DateTimeOffset", "Duration", "TimeOfDay"])
    func unstatedPrecision(type: String) throws {
        func precision(_ model: EntityDataModel) -> Int? {
            model.shape(QualifiedName("S", "T"))?.property("P")?.facets.precision
        }
        let ofXML = try CSDLReader.read(
            document("<ComplexType Name='T'><Property Name='P' Type='Edm.\(type)'/></ComplexType>"))
        let again = try CSDLReader.read(CSDLWriter.json(ofXML))
        #expect(precision(again) == 0)
        #expect(again.differences(from: ofXML).isEmpty)
        let text = #"{"$Version":"4.01","S":{"T":{"$Kind":"ComplexType","P":{"$Type":"Edm.\#(type)"}}}}"#
        let ofJSON = try CSDLReader.read(Array(text.utf8))
        #expect(precision(ofJSON) == 12)
        #expect(try CSDLReader.read(CSDLWriter.json(ofJSON)).schemas == ofJSON.schemas)
        #expect(try CSDLReader.read(xml: CSDLWriter.xml(ofJSON)).schemas == ofJSON.schemas)
    }

    @Test("a truncated document gives a typed error")
    func prefixes() {
        let bytes = Array(Self.sample.utf8)
        for count in 0..<bytes.count {
            let prefix = Array(bytes[..<count])
            #expect(throws: CSDLError.self, "prefix of \(count)") { try CSDLReader.read(prefix) }
        }
    }

    @Test(
        "an error names the place",
        arguments: [
            ("{}", .notCSDL(root: "an object without $Version"), 1),
            ("{\"$Version\":\"4.01\",\n\"S\":{\"T\":{}}}", .missingAttribute("$Kind", element: "T"), 2),
            (
                "{\"$Version\":\"4.01\",\n\"S\":{\"T\":{\"$Kind\":\"X\"}}}",
                .invalidAttribute("$Kind", element: "T", value: "X"), 2
            ),
            ("{\"$Version\":\"4.01\",\n\"S\":{},\n\"S\":{}}", .duplicateName("S"), 3),
            ("[1]", .notCSDL(root: "an array or value"), 1),
            ("{\"$Version\":\"4.01\",\n\"S\":1}", .invalidAttribute("S", element: "the document", value: "…"), 2),
            ("{\"$Version\":\"4.01\" x", nil, 1),
            (String(repeating: "[", count: 200), .tooDeep, 1),
        ] as [(String, CSDLError.Reason?, Int)])
    func errors(text: String, reason: CSDLError.Reason?, line: Int) {
        #expect {
            try CSDLReader.read(Array(text.utf8))
        } throws: { error in
            guard let error = error as? CSDLError else { return false }
            return (reason == nil || error.reason == reason) && error.line == line && error.column >= 1
        }
    }

    @Test("a type and a function with the same name are allowed in XML, and JSON reports the omitted one")
    func sharedName() throws {
        let model = try CSDLReader.read(
            document("<ComplexType Name='X'/><Function Name='X'><ReturnType Type='S.X'/></Function>"))
        let output = CSDLWriter.document(model, as: .json)
        #expect(output.omissions.count == 1)
        #expect(try CSDLReader.read(output.bytes).shape(QualifiedName("S", "X")) != nil)
    }

    @Test("A repeated annotation or record property is reported as omitted in JSON")
    func repeatedAnnotations() throws {
        let model = try CSDLReader.read(
            document(
                """
                <ComplexType Name='X'><Annotation Term='S.A' String='1'/><Annotation Term='S.A' String='2'/>
                <Annotation Term='S.A' Qualifier='Q' String='3'/><Annotation Term='S.B'><Record>
                <PropertyValue Property='P' String='1'/><PropertyValue Property='P' String='2'/></Record></Annotation>
                <Annotation Term='S.C' String='1'/><Annotation Term='S.C' String='1'/></ComplexType>
                """))
        let omissions = CSDLWriter.document(model, as: .json).omissions
        #expect(omissions.count == 2)
        #expect(omissions.contains { $0.contains("annotation @S.A was left out") })
        #expect(omissions.contains { $0.contains("property P of a record was left out") })
    }

    @Test("JSON 14.3: the kind of a constant follows from the type of its term")
    func constantKinds() throws {
        let model = try CSDLReader.read(
            Array(
                """
                {"$Version":"4.01","$Reference":{"c.json":{"$Include":[
                  {"$Namespace":"Org.OData.Core.V1","$Alias":"Core"},{"$Namespace":"Org.OData.Capabilities.V1","$Alias":"Cap"}]}},
                 "S":{"$Alias":"self",
                  "Level":{"$Kind":"EnumType","$IsFlags":true,"Low":1,"High":2},
                  "Day":{"$Kind":"TypeDefinition","$UnderlyingType":"Edm.Date"},
                  "Base":{"$Kind":"ComplexType","Id":{"$Type":"Edm.Guid"}},
                  "Info":{"$Kind":"ComplexType","$BaseType":"self.Base","Due":{"$Type":"self.Day"},
                    "Levels":{"$Collection":true,"$Type":"self.Level"},"Note":{}},
                  "Facts":{"$Kind":"Term","$Type":"self.Info"},"Rate":{"$Kind":"Term","$Type":"Edm.Decimal"},
                  "Where":{"$Kind":"Term","$Type":"Edm.NavigationPropertyPath"},
                  "E":{"$Kind":"EntityType","$Key":["Id"],"Id":{"@Core.Permissions":"Read"},
                    "@self.Facts":{"Id":"00000000-0000-0000-0000-000000000001","Due":"2026-11-21","Levels":["Low,High"],"Note":"2026-11-21"},
                    "@self.Rate":3,"@self.Where":{"$If":[true,"A","B"]},"@Own.Unknown":"2026-11-21"},
                  "C":{"$Kind":"EntityContainer","Es":{"$Collection":true,"$Type":"self.E",
                    "@Cap.SortRestrictions":{"NonSortableProperties":["Id"],"Sortable":true}}}}}
                """.utf8))
        let type = try #require(model.structuredType(QualifiedName("S", "E")))
        func value(_ term: String) -> AnnotationExpression? { type.annotations.annotation(term)?.value }
        #expect(
            value("S.Facts")
                == .record(
                    type: nil,
                    properties: [
                        .init(name: "Id", value: .constant(kind: "Guid", text: "00000000-0000-0000-0000-000000000001")),
                        .init(name: "Due", value: .constant(kind: "Date", text: "2026-11-21")),
                        .init(
                            name: "Levels",
                            value: .collection([.constant(kind: "EnumMember", text: "S.Level/Low S.Level/High")])),
                        .init(name: "Note", value: .constant(kind: "String", text: "2026-11-21")),
                    ]))
        #expect(value("S.Rate") == .constant(kind: "Decimal", text: "3"))
        #expect(
            value("S.Where")
                == .dynamic(
                    element: "If", attributes: [:],
                    operands: [
                        .constant(kind: "Bool", text: "true"), .path(kind: "NavigationPropertyPath", text: "A"),
                        .path(kind: "NavigationPropertyPath", text: "B"),
                    ]))
        #expect(value("Own.Unknown") == .constant(kind: "String", text: "2026-11-21"), "nobody declares the term")
        #expect(
            type.properties[0].annotations.annotation("Org.OData.Core.V1.Permissions")?.value
                == .constant(kind: "EnumMember", text: "Org.OData.Core.V1.Permission/Read"))
        #expect(
            model.entitySet("Es")?.annotations.annotation("Org.OData.Capabilities.V1.SortRestrictions")?.value
                == .record(
                    type: nil,
                    properties: [
                        .init(
                            name: "NonSortableProperties", value: .collection([.path(kind: "PropertyPath", text: "Id")])
                        ),
                        .init(name: "Sortable", value: .constant(kind: "Bool", text: "true")),
                    ]))
        let xml = String(decoding: CSDLWriter.xml(model), as: UTF8.self)
        #expect(xml.contains("Permission/Read") && xml.contains("2026-11-21"))
    }

    @Test("an Edm type is recognised without its namespace")
    func typesWithoutNamespace() throws {
        let model = try CSDLReader.read(
            Array(
                """
                {"$Version":"4.01","S":{"Ids":{"$Kind":"Term","$Collection":true,"$Type":"Guid"},
                  "T":{"$Kind":"ComplexType","Price":{"$Type":"Decimal"},"At":{"$Type":"DateTimeOffset"},
                    "@S.Ids":[" 00000000-0000-0000-0000-000000000001"],
                    "@S.As":{"$Cast":"5","$Type":"Int32"}}}}
                """.utf8))
        let type = try #require(model.structuredType(QualifiedName("S", "T")))
        #expect(
            type.annotations.annotation("S.Ids")?.value
                == .collection([.constant(kind: "Guid", text: "00000000-0000-0000-0000-000000000001")]))
        #expect(
            type.annotations.annotation("S.As")?.value
                == .dynamic(
                    element: "Cast", attributes: ["Type": "Edm.Int32"],
                    operands: [.constant(kind: "String", text: "5")]))
        #expect(type.properties.map(\.facets.scale) == [.variable, nil])
        #expect(type.properties.map(\.facets.precision) == [nil, 12])
        #expect(try CSDLReader.read(CSDLWriter.json(model)).schemas == model.schemas)
    }

    @Test("the Unicode facet of a text property is read in every form")
    func unicodeInWords() throws {
        let model = try CSDLReader.read(
            Array(
                """
                {"$Version":"4.01","S":{"T":{"$Kind":"ComplexType","A":{"$Unicode":"True"},"B":{"$Unicode":"1"},
                  "C":{"$Unicode":true},"D":{"$Unicode":"FALSE"},"E":{}}}}
                """.utf8))
        let type = try #require(model.structuredType(QualifiedName("S", "T")))
        #expect(type.properties.map(\.facets.isUnicode) == [nil, nil, nil, false, nil])
        #expect(try CSDLReader.read(CSDLWriter.json(model)).schemas == model.schemas)
    }

    @Test("other XML words for true and false are converted for JSON")
    func booleansInWords() throws {
        let model = try CSDLReader.read(
            document(
                """
                <ComplexType Name='T'><Annotation Term='S.A' Bool='True'/><Annotation Term='S.B' Bool='0'/>
                <Annotation Term='S.C'><Cast Type='Edm.String' Unicode='1'><Path>P</Path></Cast></Annotation></ComplexType>
                """))
        let stated = try #require(model.structuredType(QualifiedName("S", "T")))
        #expect(stated.annotations.map { $0.value?.boolean } == [true, false, nil])
        let type = try #require(CSDLReader.read(CSDLWriter.json(model)).structuredType(QualifiedName("S", "T")))
        #expect(
            type.annotations.map(\.value) == [
                .constant(kind: "Bool", text: "true"), .constant(kind: "Bool", text: "false"),
                .dynamic(
                    element: "Cast", attributes: ["Type": "Edm.String", "Unicode": "true"],
                    operands: [.path(kind: "Path", text: "P")]),
            ])
    }
}
