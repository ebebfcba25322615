import Testing

@testable import ODataModel

@Suite("Options of the metadata reader, and references")
struct CSDLReaderOptionsTests {
    private func parse(_ content: String, _ options: CSDLReaderOptions) throws(CSDLError) -> CSDLReader.Result {
        try CSDLReader.parse(document(content), options: options)
    }

    @Test(
        "facets that cannot be are ignored, warned of or refused",
        arguments: ["Scale='5' Precision='2'", "MaxLength='-1'"])
    func facets(facets: String) throws {
        let content = "<ComplexType Name='T'><Property Name='P' Type='Edm.Decimal' \(facets)/></ComplexType>"
        #expect(try parse(content, CSDLReaderOptions(facets: .ignored)).warnings.isEmpty)
        #expect(try parse(content, CSDLReaderOptions(facets: .warned)).warnings.count == 1)
        #expect(throws: CSDLError.self) { try parse(content, CSDLReaderOptions(facets: .strict)) }
    }

    @Test("names that differ in case alone are allowed, warned of or refused")
    func caseConflicts() throws {
        let content =
            "<ComplexType Name='T'><Property Name='a' Type='Edm.String'/><Property Name='A' Type='Edm.String'/></ComplexType>"
        #expect(try parse(content, CSDLReaderOptions()).warnings.isEmpty)
        #expect(try parse(content, CSDLReaderOptions(caseConflicts: .warned)).warnings.count == 1)
        #expect(throws: CSDLError.self) { try parse(content, CSDLReaderOptions(caseConflicts: .refused)) }
    }

    @Test("annotations can be left out, all or by kind")
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

    @Test("the original text is kept where that is asked for")
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

    @Test("documents referred to are read through the loader, each with its own aliases")
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

    @Test("an error in a document referred to names that document")
    func errorPlace() async throws {
        await #expect {
            try await CSDLReader.parse(Self.main) { _ in Array("<edmx:Edmx".utf8) }
        } throws: { error in
            (error as? CSDLError)?.source == "types.xml" && "\(error)".contains("types.xml")
        }
    }

    @Test("without a loader, what another document declares stays unknown")
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
