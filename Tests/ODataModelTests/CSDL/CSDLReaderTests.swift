import Testing

@testable import ODataModel

/// Returns the error that reading a document causes; `nil` if reading succeeds.
func csdlError(_ bytes: [UInt8]) -> CSDLError? {
    do throws(CSDLError) {
        _ = try CSDLReader.parse(xml: bytes)
        return nil
    } catch {
        return error
    }
}

/// Returns a document with the content of one schema.
func document(_ content: String) -> [UInt8] {
    Array(
        """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        \(content)
        </Schema></edmx:DataServices></edmx:Edmx>
        """.utf8)
}

@Suite("The metadata reader, OData 4")
struct CSDLReaderTests {
    private let result: CSDLReader.Result
    private var model: EntityDataModel { result.model }

    init() throws { result = try CSDLReader.parse(xml: Array(CSDLSamples.v4.utf8)) }

    private func name(_ name: String) -> QualifiedName { QualifiedName("Shop.Model", name) }

    @Test("a target is unique, even if other attributes have the same value")
    func sharedValues() throws {
        let attributes = (0..<2000).map { "x:a\($0)='S.E/P'" }.joined(separator: " ")
        let model = try CSDLReader.read(
            xml: document(
                """
                <EntityType Name='E'><Key><PropertyRef Name='P'/></Key><Property Name='P' Type='Edm.Int32' xmlns:x='urn:x' \(attributes)/>
                </EntityType><Annotations Target='S.E/P'><Annotation Term='V.T' String='x'/></Annotations>
                """))
        let property = try #require(model.schemas[0].structuredTypes[0].properties.first)
        #expect(property.annotations.last?.term == "V.T")
    }

    @Test("constants and paths in attributes and in elements are trimmed alike")
    func operandAttributes() throws {
        let model = try CSDLReader.read(
            xml: document(
                """
                <ComplexType Name='T'><Annotation Term='V.T'><Add Date=' 2020-01-01 ' Path=' a ' String=' x '/></Annotation>
                </ComplexType>
                """))
        #expect(
            model.schemas[0].structuredTypes[0].annotations[0].value
                == .dynamic(
                    element: "Add", attributes: [:],
                    operands: [
                        .constant(kind: "Date", text: "2020-01-01"), .path(kind: "Path", text: "a"),
                        .constant(kind: "String", text: " x "),
                    ]))
        #expect(try CSDLReader.read(xml: CSDLWriter.xml(model)).schemas == model.schemas)
    }

    @Test("a path in an attribute and in an element is trimmed alike")
    func attributePaths() throws {
        let kinds = [
            "AnnotationPath", "AnyPropertyPath", "LabeledElementReference", "ModelElementPath",
            "NavigationPropertyPath", "Path", "PropertyPath",
        ]
        for kind in kinds {
            let model = try CSDLReader.read(
                xml: document(
                    """
                    <ComplexType Name='T'><Annotation Term='V.T' \(kind)=' a'/>
                    <Annotation Term='V.T' Qualifier='q'><\(kind)> a\n</\(kind)></Annotation></ComplexType>
                    """))
            let annotations = model.schemas[0].structuredTypes[0].annotations
            #expect(annotations.map(\.value) == [.path(kind: kind, text: "a"), .path(kind: kind, text: "a")])
            #expect(try CSDLReader.read(xml: CSDLWriter.xml(model)).schemas == model.schemas)
        }
    }

    @Test("an ambiguous alias causes a warning")
    func ambiguousAliases() throws {
        let text = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
            <edmx:Reference Uri="http://h/a"><edmx:Include Namespace="A" Alias="X"/></edmx:Reference>
            <edmx:Reference Uri="http://h/b"><edmx:Include Namespace="B" Alias="X"/></edmx:Reference>
            <edmx:Reference Uri="http://h/c"><edmx:Include Namespace="C" Alias="S"/></edmx:Reference>
            <edmx:Reference Uri="http://h/d"><edmx:Include Namespace="D" Alias="D"/></edmx:Reference>
            <edmx:Reference Uri="http://h/e"><edmx:Include Namespace="D" Alias="D"/></edmx:Reference>
            <edmx:DataServices><Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <Annotation Term="X.T" Bool="true"/><Annotation Term="A.T" Bool="false"/>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
        let result = try CSDLReader.parse(xml: Array(text.utf8), options: CSDLReaderOptions(references: .ignored))
        #expect(result.warnings.map(\.line) == [2, 4])
        #expect(result.warnings.map(\.message).allSatisfy { $0.hasPrefix("The alias ") })
        #expect(result.model.schemas[0].annotations.map(\.term) == ["B.T", "A.T"])
        // Names outside the alias's namespace are written without the alias.
        #expect(try CSDLReader.read(CSDLWriter.json(result.model)).schemas == result.model.schemas)
    }

    @Test("CSDL 6: entity types with keys, facets and resolved aliases")
    func types() throws {
        #expect(model.version == .v401)
        let order = try #require(model.shape(name("Order")))
        #expect(order.hasStream)
        #expect(order.key.map(\.name) == ["Number", "Site"])
        #expect(order.key.map(\.path) == ["Number", "Info/Site"])
        #expect(order.property("Freight")?.facets == Facets(precision: 10, scale: .variable))
        #expect(order.property("Freight")?.defaultValue == "0")
        #expect(order.property("Info")?.type == .complex(name("Info")))
        #expect(order.property("Colors")?.type == .collection(.enumeration(name("Color"))))
        #expect(order.property("Weight")?.type == .typeDefinition(name("Weight"), .decimal))
        #expect(order.property("Elsewhere")?.type == .untyped("Other.Thing"))
        #expect(model.shape(name("Customer"))?.property("ID")?.facets.isUnicode == false)
        #expect(model.isType(name("BigOrder"), name("Order")))
    }

    @Test("CSDL 8: navigation properties")
    func navigation() throws {
        let order = try #require(model.shape(name("Order")))
        let customer = try #require(order.navigationProperty("Customer"))
        #expect(customer.target == name("Customer"))
        #expect(!customer.isNullable && !customer.isCollection)
        #expect(customer.partner == "Orders")
        #expect(customer.constraints == [ReferentialConstraint(property: "CustomerID", referencedProperty: "ID")])
        let items = try #require(order.navigationProperty("Items"))
        #expect(items.isContainment && items.isCollection)
        #expect(items.onDelete == .cascade)
    }

    @Test("CSDL 10: members without a value are numbered")
    func enumerations() {
        #expect(model.enumType(name("Size"))?.members.map(\.value) == [0, 1, 7, 8])
        #expect(model.enumType(name("Color"))?.underlyingType == .int16)
    }

    @Test("CSDL 12 and 13: operations, sets, bindings and imports")
    func container() {
        #expect(model.operations(name("Total")).count == 2)
        #expect(model.operations(name("Total"))[0].returnFacets.scale == .fixed(2))
        #expect(model.operations(name("Close")).first?.entitySetPath == "it/Items")
        #expect(model.targetSet(of: "Orders", path: "Customer", target: name("Customer"))?.name == "Customers")
        #expect(
            model.entitySet("Orders")?.bindings.last
                == NavigationPropertyBinding(
                    path: "Shop.Model.BigOrder/Customer", target: "Shop.Model.Container/Customers"))
        #expect(model.entitySet("Customers")?.isInServiceDocument == false)
        #expect(model.singleton("Me")?.type == name("Customer"))
        #expect(model.operationImports("OpenOrders").first?.operation == name("Open"))
    }

    @Test("CSDL 14: annotations inline and with external targeting, aliases resolved")
    func annotations() throws {
        let order = try #require(model.shape(name("Order")))
        #expect(
            order.property("Weight")?.annotations.annotation("Org.OData.Core.V1.Description")?.value?.string
                == "in <kg>\n& net")
        let note = try #require(order.property("Freight")?.annotations.first)
        #expect(note.qualifier == "Q")
        #expect(note.annotations.first?.value?.string == "nested")
        guard case .record(let type, let properties) = note.value else {
            Issue.record("no record")
            return
        }
        #expect(type == "Shop.Model.Info")
        #expect(
            properties.map(\.name) == [
                "@Org.OData.Core.V1.IsLanguageDependent", "Site", "Site@Shop.Model.Note#z", "Paths", "Shade", "Text",
                "When",
            ])
        #expect(
            properties[3].value == .collection([.path(kind: "AnnotationPath", text: "Customer/@Shop.Model.Note#A")]))
        #expect(
            properties[4].value == .constant(kind: "EnumMember", text: "Shop.Model.Color/Red Shop.Model.Color/Green"))
        #expect(
            properties[5].value
                == .dynamic(
                    element: "Apply", attributes: ["Function": "odata.concat"],
                    operands: [
                        .constant(kind: "String", text: " a "), .path(kind: "Path", text: "Shop.Model.BigOrder/Number"),
                    ]))
        let totals = model.operations(name("Total"))
        #expect(totals[0].returnAnnotations.isEmpty)
        #expect(totals[1].returnAnnotations.count == 1)
        #expect(totals.allSatisfy { $0.annotations.first?.value?.string == "all" })
        #expect(model.enumType(name("Color"))?.members.first?.annotations.count == 1)
        #expect(model.entitySet("Orders")?.annotations.count == 1)
        #expect(model.schemas[0].externalAnnotations.map(\.target) == ["Far.Away/Thing"])
    }

    @Test("undeclared names cause warnings with their place")
    func warnings() {
        #expect(result.warnings.map(\.message).contains("The document does not declare the type Other.Thing."))
        #expect(result.warnings.allSatisfy { $0.line > 1 })
        #expect(result.references.first?.includes.first?.alias == "Core")
    }

    @Test(
        "a document that is no metadata has its own error",
        arguments: [
            ("", .empty), ("  \n", .empty), ("<html><body>Sign in</body></html>", .html),
            ("<!DOCTYPE html><html><br></html>", .html),
            ("{\"value\":[]}", .json), ("<feed/>", .notCSDL(root: "feed")),
            ("<!DOCTYPE x [<!ENTITY a \"b\">]><x>&a;</x>", .documentType),
            ("<edmx:Edmx xmlns:edmx=\"x\"/>", .notCSDL(root: "Edmx")), ("<html><p>no end<br></html>", .html),
        ] as [(String, CSDLError.Reason)])
    func notMetadata(text: String, reason: CSDLError.Reason) {
        #expect(csdlError(Array(text.utf8))?.reason == reason)
    }

    @Test(
        "an error names the line, the column and the expected content",
        arguments: [
            ("<EntityType Name='T'/>\n<ComplexType Name='T'/>", .duplicateName("S.T"), 4),
            ("<EntityType Name='A' BaseType='S.B'/><EntityType Name='B' BaseType='S.A'/>", nil, 3),
        ] as [(String, CSDLError.Reason?, Int)])
    func errors(content: String, reason: CSDLError.Reason?, line: Int) throws {
        let error = try #require(csdlError(document(content)))
        if let reason { #expect(error.reason == reason) }
        #expect(error.line == line)
        #expect(error.column > 1)
        #expect(!error.expected.isEmpty)
    }

    @Test("a truncated metadata document gives a typed error")
    func prefixes() {
        for sample in [CSDLSamples.v4, CSDLSamples.v2] {
            let bytes = Array(sample.utf8)
            for count in 0..<bytes.count {
                let error = csdlError(Array(bytes[..<count]))
                #expect(error != nil, "prefix of \(count)")
                if count > 200 { #expect(error?.reason == .truncated, "prefix of \(count)") }
            }
        }
    }

    @Test("elements nested one level too deep are refused")
    func depth() {
        func nested(_ levels: Int) -> [UInt8] {
            document(String(repeating: "<x>", count: levels) + String(repeating: "</x>", count: levels))
        }
        #expect(csdlError(nested(CSDLReader.maxDepth - 3)) == nil)
        #expect(csdlError(nested(CSDLReader.maxDepth - 2))?.reason == .tooDeep)
    }

    @Test("a document one byte too large is refused")
    func size() {
        #expect(csdlError([UInt8](repeating: 0x20, count: CSDLReader.maxBytes))?.reason == .empty)
        #expect(
            csdlError([UInt8](repeating: 0x20, count: CSDLReader.maxBytes + 1))?.reason
                == .tooLarge(limit: CSDLReader.maxBytes))
    }

    @Test("one element too many is refused")
    func count() {
        let most = document(String(repeating: "<x/>", count: CSDLReader.maxElements - 3))
        #expect(csdlError(most) == nil)
        let tooMany = document(String(repeating: "<x/>", count: CSDLReader.maxElements - 2))
        #expect(csdlError(tooMany)?.reason == .tooManyElements)
    }

    @Test("a set with a type of another document is omitted with a warning")
    func foreignSet() throws {
        let bytes = document("<EntityContainer Name='C'><EntitySet Name='A' EntityType='X.Y'/></EntityContainer>")
        let result = try CSDLReader.parse(xml: bytes)
        #expect(result.model.container.entitySets.isEmpty)
        #expect(result.warnings.count == 1)
    }
}

@Suite("The metadata reader, hostile and sloppy documents")
struct CSDLHostileTests {
    @Test("a collection of collections counts as an undeclared type")
    func nestedCollections() throws {
        let name = String(repeating: "Collection(", count: 50_000) + "S.T" + String(repeating: ")", count: 50_000)
        let result = try CSDLReader.parse(
            document("<ComplexType Name='T'><Property Name='P' Type='\(name)'/></ComplexType>"))
        #expect(result.warnings.count == 1)
        guard case .collection(.untyped) = result.model.typeReference(name) else {
            Issue.record("not untyped")
            return
        }
    }

    @Test("entities are not expanded, whether declared or not")
    func entities() {
        let laughs = (1..<10).map { "<!ENTITY a\($0) '&a\($0 - 1);&a\($0 - 1);'>" }.joined()
        let text = "<!DOCTYPE x [<!ENTITY a0 'ha'>\(laughs)]><edmx:Edmx xmlns:edmx='x'>&a9;</edmx:Edmx>"
        #expect(csdlError(Array(text.utf8))?.reason == .documentType)
        guard case .malformed? = csdlError(document("<Annotation Term='&a;'/>"))?.reason else {
            Issue.record("an undeclared entity was read")
            return
        }
    }

    @Test(
        "undeclared prefixes, repeated attributes and names with two colons are refused with their place",
        arguments: [
            ("<Term x:Name='T' Type='Edm.String'/>", "prefix x"), ("<x:Term/>", "prefix x"),
            ("<Term xmlns:x='u' xmlns:y='u' x:a='' y:a=''/>", "'u'"),
            ("<Term xmlns:x='u' x:y:a=''/>", "'y:a'"), ("<Term xmlns:x='u' x:y:a='' xmlns:z='a b'/>", "'y:a'"),
            ("<Term :a=''/>", "':a'"), ("<x:Term: xmlns:x='u'/>", "'Term:'"),
        ])
    func prefixes(content: String, named: String) {
        let error = csdlError(document("\n" + content))
        #expect(error?.line == 4)
        guard case .malformed(let message)? = error?.reason else {
            Issue.record("it was read")
            return
        }
        #expect(message.contains(named))
    }

    @Test("a namespace that is no URI is accepted")
    func oddNamespace() throws {
        let model = try CSDLReader.read(
            document("<Term xmlns:x='http://a b/' Name='T' Type='Edm.String' x:label='L'/>"))
        #expect(model.schemas.first?.terms.first?.rawAttribute("{http://a b/}label") == "L")
    }

    @Test("a long chain of base types needs no recursion")
    func longInheritance() throws {
        let count = 20_000
        let types = (1...count).map { "<ComplexType Name='T\($0)' BaseType='S.T\($0 - 1)'/>" }.joined()
        let model = try CSDLReader.read(
            document("<ComplexType Name='T0'><Property Name='P' Type='Edm.Int32'/></ComplexType>" + types))
        #expect(model.shape(QualifiedName("S", "T\(count)"))?.property("P") != nil)
    }

    @Test(
        "known mistakes of real services are accepted with warnings",
        arguments: [
            (
                "<ComplexType Name='T'><Property Name='P' Type='Edm.String' MaxLength='many'/></ComplexType>",
                "MaxLength"
            ),
            ("<ComplexType Name='T'><Property Name='P' Type='Edm.String' Nullable='yes'/></ComplexType>", "Nullable"),
            ("<ComplexType Name='T' BaseType='X.Y'/>", "base type"),
            ("<ComplexType Name='T'><Property Name='P' Type='X.Y'/></ComplexType>", "X.Y"),
            (
                "<ComplexType Name='T'><Property Name='P' Type='Edm.Int32'/><Property Name='P' Type='Edm.Int32'/></ComplexType>",
                "twice"
            ),
            ("<Strange/>", "Strange"),
            ("<Annotations Target='X.Y'><Annotation Term='A.B'/></Annotations>", "X.Y"),
            (
                "<Association Name='A'><End Type='S.T' Role='a' Multiplicity='0..n'/><End Type='S.T' Role='b' Multiplicity='1'/></Association>",
                "Multiplicity"
            ),
        ])
    func sloppy(content: String, word: String) throws {
        let result = try CSDLReader.parse(document(content))
        #expect(result.warnings.count == 1)
        #expect(result.warnings.first?.message.contains(word) == true)
        #expect((result.warnings.first?.line ?? 0) > 1)
    }
}

@Suite("The metadata reader, OData 2 and 3")
struct CSDLReaderV2Tests {
    private let model: EntityDataModel

    init() throws { model = try CSDLReader.read(xml: Array(CSDLSamples.v2.utf8)) }

    private let carrier = QualifiedName("Flight", "Carrier")
    private let flight = QualifiedName("Flight", "Flight")

    @Test("associations become navigation properties with multiplicity, partner and constraint")
    func associations() throws {
        #expect(model.version == .v2)
        let flights = try #require(model.shape(carrier)?.navigationProperty("Flights"))
        #expect(flights.isCollection)
        #expect(flights.partner == "Carrier")
        #expect(flights.constraints.isEmpty)
        #expect(flights.onDelete == .cascade)
        let back = try #require(model.shape(flight)?.navigationProperty("Carrier"))
        #expect(!back.isCollection && back.isNullable)
        #expect(back.constraints == [ReferentialConstraint(property: "CarrierId", referencedProperty: "Id")])
    }

    @Test("association sets become bindings")
    func bindings() {
        #expect(
            model.entitySet("Carriers")?.bindings == [NavigationPropertyBinding(path: "Flights", target: "Flights")])
        #expect(
            model.entitySet("Flights")?.bindings == [NavigationPropertyBinding(path: "Carrier", target: "Carriers")])
    }

    @Test("function imports become operations, sap attributes annotations")
    func rest() throws {
        #expect(model.operationImports("Nearby").first?.kind == .function)
        #expect(model.operationImports("Cancel").first?.kind == .action)
        #expect(model.operations(QualifiedName("Flight", "Nearby")).first?.parameters.first?.name == "km")
        let shape = try #require(model.shape(carrier))
        #expect(shape.hasStream)
        #expect(shape.property("Id")?.annotations.annotation("sap:label")?.value?.string == "Airline")
        #expect(model.entitySet("Carriers")?.annotations.annotation("sap:creatable")?.value?.string == "false")
        #expect(shape.property("Version")?.isConcurrencyToken == true)
        #expect(shape.property("Since")?.type == .primitive(.dateTime))
    }
}

@Suite("The metadata writer")
struct CSDLWriterTests {
    @Test("a written document reads back as equal schemas", arguments: [CSDLSamples.v4, CSDLSamples.v2])
    func roundTrip(sample: String) throws {
        let model = try CSDLReader.read(xml: Array(sample.utf8))
        let written = CSDLWriter.xml(model, version: model.version)
        #expect(try CSDLReader.read(xml: written).schemas == model.schemas)
    }

    /// Returns a model with annotations on its only type.
    private func model(_ annotations: [Annotation]) throws -> EntityDataModel {
        let name = QualifiedName("S", "T")
        return try EntityDataModel(schemas: [
            ODataSchema(
                namespace: "S",
                structuredTypes: [StructuredType(name: name, kind: .complex, annotations: annotations)])
        ])
    }

    @Test(
        "a part of an annotation that no attribute can express becomes an element",
        arguments: [
            Annotation(term: "{}xmlns", value: .constant(kind: "String", text: "u")),
            Annotation(term: "{}Name", value: .constant(kind: "String", text: "u")),
            Annotation(term: "m:HasStream", value: .constant(kind: "String", text: "u")),
            Annotation(term: "{http://www.w3.org/2000/xmlns/}a", value: .constant(kind: "String", text: "u")),
            Annotation(term: "{\u{FFFE}}a", value: .constant(kind: "String", text: "u")),
            Annotation(
                term: "{http://www.sap.com/Protocols/SAPData}a", value: .constant(kind: "String", text: "u")),
            Annotation(term: "sap:a", value: .constant(kind: "Bool", text: "true")),
            Annotation(term: "sap:a", value: nil),
            Annotation(term: "sap:a", qualifier: "q", value: .constant(kind: "String", text: "u")),
            Annotation(
                term: "sap:a", value: .constant(kind: "String", text: "u"), annotations: [Annotation(term: "V.T")]),
        ])
    func unlikeAttributes(annotation: Annotation) throws {
        let first = Annotation(term: "sap:b", value: .constant(kind: "String", text: "b"))
        let written = CSDLWriter.document(try model([first, annotation]), as: .xml(.v401))
        var expected = annotation
        if expected.term.hasPrefix("{\u{FFFE}") {
            expected.term = "{}a"
            #expect(written.omissions.count == 1)
        }
        #expect(try CSDLReader.read(xml: written.bytes).schemas == model([first, expected]).schemas)
    }

    @Test("`xml:lang` stays unchanged, and needs no declaration")
    func xmlNamespace() throws {
        let model = try CSDLReader.read(document("<Term Name='T' Type='Edm.String' xml:lang='en'/>"))
        #expect(model.schemas.first?.terms.first?.rawAttribute("xml:lang") == "en")
        let written = CSDLWriter.xml(model)
        #expect(String(decoding: written, as: UTF8.self).contains("xml:lang=\"en\""))
        #expect(try CSDLReader.read(xml: written).schemas == model.schemas)
    }

    @Test("attributes of references and schemas keep their prefixes")
    func prefixesOfReferences() throws {
        let text = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
            <edmx:Reference Uri="u" xmlns:a="urn:a" a:x="1"><edmx:Include Namespace="V"/></edmx:Reference>
            <edmx:DataServices><Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <ComplexType Name="T" xmlns:b="urn:b" b:y="2"/></Schema></edmx:DataServices></edmx:Edmx>
            """
        let model = try CSDLReader.read(xml: Array(text.utf8))
        let again = try CSDLReader.read(xml: CSDLWriter.xml(model))
        #expect(again.schemas == model.schemas)
        #expect(again.references == model.references)
        #expect(model.references.first?.annotations.first?.term == "{urn:a}x")
    }

    @Test(
        "characters that XML cannot contain are omitted and reported", arguments: ["\u{1}", "\u{FFFE}", "\u{FFFF}"])
    func unsayable(character: String) throws {
        func annotation(_ text: String) -> Annotation {
            Annotation(term: "V.T", value: .constant(kind: "String", text: text))
        }
        let written = CSDLWriter.document(try model([annotation("a\(character)\u{FFFD}b")]), as: .xml(.v401))
        #expect(written.omissions.count == 1)
        #expect(try CSDLReader.read(xml: written.bytes).schemas == model([annotation("a\u{FFFD}b")]).schemas)
        let whole = CSDLWriter.document(try model([annotation("\u{10FFFF}\u{FFFD}\u{7F}")]), as: .xml(.v401))
        #expect(whole.omissions.isEmpty)
    }

    @Test("the output has one indented element for each declaration")
    func golden() throws {
        let model = try EntityDataModel(schemas: [
            ODataSchema(
                namespace: "S", alias: "A",
                structuredTypes: [
                    StructuredType(
                        name: QualifiedName("S", "T"), kind: .entity, key: [.init(path: "ID")],
                        properties: [
                            Property(
                                name: "ID", type: .primitive(.int32), isNullable: false,
                                annotations: [
                                    Annotation(
                                        term: "sap:label", value: .constant(kind: "String", text: "a \"b\" & c")),
                                    Annotation(term: "V.Text", value: .constant(kind: "String", text: "line\nbreak")),
                                ])
                        ])
                ],
                container: EntityContainer(
                    name: QualifiedName("S", "C"), entitySets: [EntitySet(name: "Ts", type: QualifiedName("S", "T"))]))
        ])
        let text = String(decoding: CSDLWriter.xml(model, version: .v4), as: UTF8.self)
        #expect(
            text == """
                <?xml version="1.0" encoding="utf-8"?>
                <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" xmlns="http://docs.oasis-open.org/odata/ns/edm" xmlns:sap="http://www.sap.com/Protocols/SAPData" Version="4.0">
                  <edmx:DataServices>
                    <Schema Namespace="S" Alias="A">
                      <EntityType Name="T">
                        <Key>
                          <PropertyRef Name="ID"/>
                        </Key>
                        <Property Name="ID" Type="Edm.Int32" Nullable="false" sap:label="a &quot;b&quot; &amp; c">
                          <Annotation Term="V.Text" String="line&#10;break"/>
                        </Property>
                      </EntityType>
                      <EntityContainer Name="C">
                        <EntitySet Name="Ts" EntityType="S.T"/>
                      </EntityContainer>
                    </Schema>
                  </edmx:DataServices>
                </edmx:Edmx>

                """)
    }
}
