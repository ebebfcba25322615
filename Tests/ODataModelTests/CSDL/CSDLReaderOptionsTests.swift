import Testing

@testable import ODataModel

@Suite("Options of the metadata reader, and references")
struct CSDLReaderOptionsTests {
    private func parse(_ content: String, _ options: CSDLReaderOptions) throws(CSDLError) -> CSDLReader.Result {
        try CSDLReader.parse(document(content), options: options)
    }

    @Test(
        "invalid facets are ignored, reported or refused by option",
        arguments: ["Scale='5' Precision='2'", "MaxLength='-1'"])
    func facets(facets: String) throws {
        let content = "<ComplexType Name='T'><Property Name='P' Type='Edm.Decimal' \(facets)/></ComplexType>"
        #expect(try parse(content, CSDLReaderOptions(facets: .ignored)).warnings.isEmpty)
        #expect(try parse(content, CSDLReaderOptions(facets: .warned)).warnings.count == 1)
        #expect(throws: CSDLError.self) { try parse(content, CSDLReaderOptions(facets: .strict)) }
    }

    @Test("names that differ only in case are allowed, reported or refused by option")
    func caseConflicts() throws {
        let content =
            "<ComplexType Name='T'><Property Name='a' Type='Edm.String'/><Property Name='A' Type='Edm.String'/></ComplexType>"
        #expect(try parse(content, CSDLReaderOptions()).warnings.isEmpty)
        #expect(try parse(content, CSDLReaderOptions(caseConflicts: .warned)).warnings.count == 1)
        #expect(throws: CSDLError.self) { try parse(content, CSDLReaderOptions(caseConflicts: .refused)) }
    }

    @Test("annotations can be omitted, all or by kind")
    func annotations() throws {
        let content =
            "<ComplexType Name='T' own='1'><Annotation Term='A.B'/></ComplexType><Annotations Target='S.T'><Annotation Term='A.C'/></Annotations>"
        func terms(_ annotations: CSDLReaderOptions.Annotations) throws -> [String] {
            try parse(content, CSDLReaderOptions(annotations: annotations)).model.schemas[0].structuredTypes[0]
                .annotations.map(\.term)
        }
        #expect(try terms(.all) == ["{}own", "A.B", "A.C"])
        #expect(try terms(.attributes) == ["{}own"])
        #expect(try terms(.elements) == ["A.B", "A.C"])
        #expect(try terms(.ignored).isEmpty)
    }

    @Test("undeclared terms are kept, reported or omitted by option")
    func terms() throws {
        let content = """
            <Term Name="Own" Type="Edm.String"/><ComplexType Name="T"><Annotation Term="S.Own"/><Annotation Term="S.Other"/>
            <Annotation Term="Far.Away"/><Annotation Term="Org.OData.Core.V1.Description" String="d"><Annotation Term="S.Nested"/></Annotation>
            </ComplexType><Annotations Target="S.T"><Annotation Term="S.Other"/></Annotations>
            """
        func read(_ terms: CSDLReaderOptions.Terms) throws -> ([Annotation], [String]) {
            let result = try parse(content, CSDLReaderOptions(terms: terms))
            return (result.model.schemas[0].structuredTypes[0].annotations, result.warnings.map(\.message))
        }
        let (kept, silence) = try read(.kept)
        #expect(kept.count == 5 && silence.isEmpty)
        let (warned, warnings) = try read(.warned)
        #expect(warned == kept)
        #expect(warnings.sorted() == ["Far.Away", "S.Nested", "S.Other"].map { "The term \($0) is not declared." })
        let (left, _) = try read(.ignored)
        #expect(left.map(\.term) == ["S.Own", "Org.OData.Core.V1.Description"] && left[1].annotations.isEmpty)
        #expect(try read(.resolved).1 == warnings)
    }

    @Test("vocabularies of used terms are read on request")
    func resolvedTerms() async throws {
        let content = "<ComplexType Name='T'><Annotation Term='Org.OData.Core.V1.Computed'/></ComplexType>"
        let core = Self.edmx(
            "", "<Schema Namespace=\"Org.OData.Core.V1\"><Term Name=\"Computed\" Type=\"Edm.Boolean\"/></Schema>")
        nonisolated(unsafe) var asked: [String] = []
        func read(_ terms: CSDLReaderOptions.Terms) async throws -> CSDLReader.Result {
            try await CSDLReader.parse(document(content), options: CSDLReaderOptions(terms: terms)) { reference in
                asked.append(reference.uri)
                return core
            }
        }
        #expect(try await read(.kept).model.includedSchemas.isEmpty && asked.isEmpty)
        let result = try await read(.resolved)
        #expect(asked == ["https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml"])
        #expect(result.model.includedSchemas.first?.terms.map(\.name.name) == ["Computed"] && result.warnings.isEmpty)
    }

    @Test(
        "CSDL 15.2: invalid identifiers are allowed, reported or refused by option",
        arguments: ["a-b", "1a", "a b", String(repeating: "n", count: 129)])
    func identifiers(name: String) throws {
        func content(_ name: String) -> String {
            "<ComplexType Name='T'><Property Name='\(name)' Type='Edm.String'/></ComplexType><EnumType Name='E'><Member Name='ümläut'/></EnumType>"
        }
        #expect(try parse(content(name), CSDLReaderOptions()).warnings.isEmpty)
        #expect(try parse(content(name), CSDLReaderOptions(names: .warned)).warnings.count == 1)
        let error = #expect(throws: CSDLError.self) { try parse(content(name), CSDLReaderOptions(names: .refused)) }
        #expect(error?.reason == .invalidAttribute("Name", element: "Property", value: name))
        let good = "_" + String(repeating: "ñ", count: 127)
        #expect(try parse(content(good), CSDLReaderOptions(names: .refused)).warnings.isEmpty)
    }

    @Test(
        "CSDL 15.2: invalid namespaces and terms are allowed, reported or refused by option",
        arguments: [
            ("gp:.OData`.Core", "Core", "Core.Description"), ("Org.OData", "a-b", "Org.OData.Description"),
            ("Org.OData", "Core", "gp:x"), ("Org.OData", "Core", "{urn:x}y z"),
        ])
    func qualifiedNames(namespace: String, alias: String, term: String) throws {
        let document = Array(
            """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:Reference Uri="core.xml">
            <edmx:Include Namespace="\(namespace)" Alias="\(alias)"/></edmx:Reference><edmx:DataServices>
            <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <ComplexType Name="T"><Annotation Term="\(term)" String="first"/></ComplexType>
            </Schema></edmx:DataServices></edmx:Edmx>
            """.utf8)
        #expect(throws: CSDLError.self) {
            try CSDLReader.parse(xml: document, options: CSDLReaderOptions(names: .refused))
        }
        #expect(
            try CSDLReader.parse(xml: document, options: CSDLReaderOptions(names: .warned)).warnings.map {
                $0.message.contains("is no simple identifier")
            } == [true])
        let model = try CSDLReader.read(xml: document)
        let again = try CSDLReader.read(xml: CSDLWriter.xml(model, version: .v4))
        #expect(again.schemas == model.schemas, "what is taken as it is can be written")
    }

    @Test(
        "CSDL 15.2: invalid qualifiers and record names are allowed, reported or refused by option",
        arguments: [
            ("<Annotation Term='A.B' Qualifier=''/>", "Qualifier", "Annotation", ""),
            ("<Annotation Term='A.B' Qualifier='a#b'/>", "Qualifier", "Annotation", "a#b"),
            (
                "<Annotation Term='A.B'><Record><PropertyValue Property='rel@' String='x'/></Record></Annotation>",
                "Property", "PropertyValue", "rel@"
            ),
        ])
    func annotationNames(content: String, attribute: String, element: String, value: String) throws {
        let content = "<ComplexType Name='T'>\(content)</ComplexType>"
        #expect(try parse(content, CSDLReaderOptions()).warnings.isEmpty)
        #expect(try parse(content, CSDLReaderOptions(names: .warned)).warnings.count == 1)
        let error = #expect(throws: CSDLError.self) { try parse(content, CSDLReaderOptions(names: .refused)) }
        #expect(error?.reason == .invalidAttribute(attribute, element: element, value: value))
    }

    @Test("unstated facets of decimals and geo values can count as variable")
    func defaults() throws {
        let content = """
            <TypeDefinition Name='D' UnderlyingType='Edm.Decimal' Scale='2'/><ComplexType Name='T'><Property Name='P' Type='Edm.Decimal'/>
            <Property Name='Q' Type='Edm.Decimal' Scale='3'/><Property Name='R' Type='Collection(Edm.GeographyPoint)'/>
            <Property Name='S' Type='Edm.GeographyPoint' SRID='0'/><Property Name='V' Type='S.D'/></ComplexType>
            """
        func facets(_ options: CSDLReaderOptions) throws -> [Facets] {
            let model = try parse(content, options).model
            return model.schemas[0].structuredTypes[0].properties.map { model.facets(of: $0) }
        }
        let plain = try facets(CSDLReaderOptions())
        #expect(plain.map(\.scale) == [nil, .fixed(3), nil, nil, .fixed(2)] && !plain[2].isSRIDVariable)
        let variable = try facets(CSDLReaderOptions(defaultsToVariableScale: true, defaultsToVariableSRID: true))
        #expect(variable.map(\.scale) == [.variable, .fixed(3), nil, nil, .fixed(2)])
        #expect(variable[2].isSRIDVariable && variable[3].srid == 0 && !variable[3].isSRIDVariable)
    }

    @Test("elements of another version than the first schema are read or omitted by option")
    func mixedVersions() throws {
        let text = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices>
            <Schema Namespace="Old" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><ComplexType Name="T"><Property Name="P" Type="Edm.String">
            <Annotation Term="A.B" xmlns="http://docs.oasis-open.org/odata/ns/edm"/></Property></ComplexType></Schema>
            <Schema Namespace="New" xmlns="http://docs.oasis-open.org/odata/ns/edm"><ComplexType Name="T"/></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        let all = try CSDLReader.parse(Array(text.utf8)).model
        #expect(all.schemas.map(\.namespace) == ["Old", "New"])
        #expect(all.schemas[0].structuredTypes[0].properties[0].annotations.count == 1)
        let one = try CSDLReader.parse(Array(text.utf8), options: CSDLReaderOptions(readsMixedVersions: false)).model
        #expect(one.schemas.map(\.namespace) == ["Old"] && one.version == .v2)
        #expect(one.schemas[0].structuredTypes[0].properties[0].annotations.isEmpty)
    }

    @Test("elements for servers only are read or omitted by option, with any alias")
    func serverOnly() throws {
        let bytes = Self.edmx(
            """
            <edmx:Reference Uri="sql.xml"><edmx:Include Namespace="com.sap.cloud.server.odata.sql.v1" Alias="SQL"/></edmx:Reference>
            """,
            """
            <Schema Namespace="S"><EntityType Name="A"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/>
            <Property Name="Hidden" Type="Edm.String"><Annotation Term="SQL.ServerOnly"/></Property>
            <Property Name="Shown" Type="Edm.String"><Annotation Term="SQL.ServerOnly" Bool="false"/></Property></EntityType>
            <EntityType Name="B"><Annotation Term="com.sap.cloud.server.odata.sql.v1.ServerOnly"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="As" EntityType="S.A"/>
            <EntitySet Name="Bs" EntityType="S.A"><Annotation Term="SQL.ServerOnly" Bool="true"/></EntitySet></EntityContainer></Schema>
            """)
        let all = try CSDLReader.parse(bytes).model
        #expect(all.container.entitySets.count == 2 && all.schemas[0].structuredTypes.count == 2)
        let some = try CSDLReader.parse(bytes, options: CSDLReaderOptions(excludesServerOnlyElements: true)).model
        #expect(some.container.entitySets.map(\.name) == ["As"])
        #expect(some.schemas[0].structuredTypes.map(\.name.name) == ["A"])
        #expect(some.shape(ofSet: "As")?.properties.map(\.name) == ["ID", "Shown"])
    }

    @Test("references are distinguished by their targets")
    func origins() async throws {
        let uris = [
            "types.xml", "/root/types.xml", "https://HOST/svc/$metadata", "https://host:444/x",
            "https://other/types.xml",
            "http://docs.oasis-open.org/odata/odata/v4.0/os/vocabularies/Org.OData.Core.V1.xml",
        ]
        let bytes = Self.edmx(
            uris.map { "<edmx:Reference Uri=\"\($0)\"><edmx:Include Namespace=\"N\"/></edmx:Reference>" }.joined(),
            "<Schema Namespace=\"M\"/>")
        func asked(_ references: CSDLReaderOptions.References, _ url: String?) async throws -> [String] {
            nonisolated(unsafe) var result: [String] = []
            let options = CSDLReaderOptions(references: references, documentURL: url)
            _ = try await CSDLReader.parse(bytes, options: options) { reference in
                result.append(reference.uri)
                return nil
            }
            return result
        }
        #expect(try await asked(.sameOrigin, "https://host/a/$metadata") == Array(uris[..<3]))
        #expect(try await asked(.otherOrigin, "https://host/a/$metadata") == Array(uris[3...4]))
        #expect(try await asked(.sameOrigin, nil) == Array(uris[..<2]))
        #expect(try await asked(.standard, nil) == [uris[5]])
        #expect(try await asked(.custom, nil) == Array(uris[..<5]))
        #expect(try await asked(.all, nil) == uris)
        #expect(try await asked(.ignored, nil).isEmpty)
    }

    @Test("a model with its includes is written as one document")
    func resolvedModel() async throws {
        let model = try await CSDLReader.parse(Self.main) { Self.documents[$0.uri] }.model
        let resolved = try model.resolved()
        #expect(resolved.schemas.map(\.namespace) == ["Other", "Main"] && resolved.includedSchemas.isEmpty)
        #expect(!resolved.references.contains { $0.uri == "types.xml" })
        let again = try CSDLReader.parse(CSDLWriter.xml(resolved, version: .v4))
        #expect(again.model.shape(ofSet: "Ts")?.properties.map(\.name) == ["ID", "P"])
        #expect(again.model.schemas == resolved.schemas)
    }

    @Test("the original text is kept on request")
    func originalText() throws {
        let bytes = document("")
        #expect(try CSDLReader.parse(bytes).model.originalText == nil)
        #expect(try CSDLReader.parse(bytes, options: .init(keepsOriginalText: true)).model.originalText == bytes)
    }

    static func edmx(_ references: String, _ schemas: String) -> [UInt8] {
        Array(
            """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">\(references)<edmx:DataServices>
            \(schemas)</edmx:DataServices></edmx:Edmx>
            """.replacing("<Schema", with: "<Schema xmlns=\"http://docs.oasis-open.org/odata/ns/edm\"").utf8)
    }

    static let main = edmx(
        """
        <edmx:Reference Uri="types.xml"><edmx:Include Namespace="Other" Alias="o"/></edmx:Reference>
        <edmx:Reference Uri="notes.json"><edmx:IncludeAnnotations TermNamespace="Org.Notes" TargetNamespace="Main"/></edmx:Reference>
        <edmx:Reference Uri="core.xml"><edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/></edmx:Reference>
        <edmx:Reference Uri="gone.xml"><edmx:Include Namespace="Gone"/></edmx:Reference>
        """,
        """
        <Schema Namespace="Main" Alias="self"><EntityType Name="T" BaseType="o.Base"><Property Name="P" Type="o.C"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Ts" EntityType="self.T"/></EntityContainer></Schema>
        """)
    static let documents = [
        "types.xml": edmx(
            "",
            """
            <Schema Namespace="Other" Alias="self"><EntityType Name="Base"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType><ComplexType Name="C"><Property Name="x" Type="self.D"/></ComplexType>
            <TypeDefinition Name="D" UnderlyingType="Edm.String"/></Schema><Schema Namespace="Unused"><ComplexType Name="C"/></Schema>
            """),
        "notes.json": Array(
            """
            {"$Version":"4.0","N":{"$Annotations":{"Main.T":{"@Org.Notes.A":"yes","@Org.Others.B":"no"},"Far.T":{"@Org.Notes.A":"no"}}}}
            """.utf8),
    ]

    @Test("referenced documents are read through the loader with their own aliases")
    func loader() async throws {
        nonisolated(unsafe) var asked: [String] = []
        let result = try await CSDLReader.parse(Self.main) { reference in
            asked.append(reference.uri)
            return Self.documents[reference.uri]
        }
        #expect(asked == ["types.xml", "notes.json", "gone.xml"])
        let shape = try #require(result.model.shape(ofSet: "Ts"))
        #expect(shape.properties.map(\.name) == ["ID", "P"])
        #expect(shape.property("P")?.type == .complex(QualifiedName("Other", "C")))
        #expect(shape.annotations.map(\.term) == ["Org.Notes.A"])
        #expect(result.model.schemas.map(\.namespace) == ["Main"])
        #expect(result.model.includedSchemas.map(\.namespace) == ["Other"])
        let complex = try #require(result.model.shape(QualifiedName("Other", "C")))
        #expect(complex.property("x")?.type == .typeDefinition(QualifiedName("Other", "D"), .string))
        #expect(result.warnings.contains { $0.message.contains("gone.xml") })
    }

    @Test("an error in a referenced document names that document")
    func errorPlace() async throws {
        await #expect {
            try await CSDLReader.parse(Self.main) { _ in Array("<edmx:Edmx".utf8) }
        } throws: { error in
            (error as? CSDLError)?.source == "types.xml" && "\(error)".contains("types.xml")
        }
    }

    @Test("without a loader, declarations of other documents stay unknown")
    func ignored() throws {
        let model = try CSDLReader.read(Self.main)
        let type = try #require(model.structuredType(QualifiedName("Main", "T")))
        #expect(type.undeclaredBaseType == QualifiedName("Other", "Base"))
        #expect(type.properties.first?.type == .untyped("Other.C"))
        let again = try CSDLReader.read(CSDLWriter.xml(model, version: .v4))
        #expect(again.schemas == model.schemas && again.references == model.references)
    }

    @Test("documents that refer to each other are read once")
    func circle() async throws {
        let reference = "<edmx:Reference Uri=\"a\"><edmx:Include Namespace=\"A\"/></edmx:Reference>"
        let bytes = Self.edmx(reference, "<Schema Namespace=\"A\"/>")
        let main = Self.edmx(reference, "<Schema Namespace=\"M\"/>")
        nonisolated(unsafe) var count = 0
        let result = try await CSDLReader.parse(main) { _ in
            count += 1
            return bytes
        }
        #expect(count == 1 && result.model.includedSchemas.count == 1)
    }
}
