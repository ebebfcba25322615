import ODataModel
import Testing

@Suite("Annotations in a separate document")
struct AnnotationDocumentTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <Property Name="Text" Type="Edm.String"><Annotation Term="Org.OData.Core.V1.Description" String="Inside"/></Property>
          <NavigationProperty Name="Parts" Type="Collection(Shop.Item)"/></EntityType>
        <Action Name="Close"/>
        <EntityContainer Name="Container"><EntitySet Name="Items" EntityType="Shop.Item"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private static let v2 = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices
         m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="Shop" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
          <NavigationProperty Name="Parts" Relationship="Shop.Parts" FromRole="Whole" ToRole="Part"/></EntityType>
        <Association Name="Parts"><End Role="Whole" Type="Shop.Item" Multiplicity="0..1"/>
          <End Role="Part" Type="Shop.Item" Multiplicity="*"/></Association>
        <EntityContainer Name="Container" m:IsDefaultEntityContainer="true"><EntitySet Name="Items" EntityType="Shop.Item"/>
          <AssociationSet Name="Parts" Association="Shop.Parts"><End Role="Whole" EntitySet="Items"/>
          <End Role="Part" EntitySet="Items"/></AssociationSet></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private static func document(_ content: String) -> String {
        """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
        <edmx:Reference Uri="metadata.xml"><edmx:Include Namespace="Shop" Alias="Self"/></edmx:Reference>
        <edmx:Reference Uri="objects.xml"><edmx:Include Namespace="Outpost.Objects.V1" Alias="Objects"/></edmx:Reference>
        <edmx:DataServices><Schema Namespace="Mine" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        \(content)
        </Schema></edmx:DataServices></edmx:Edmx>
        """
    }

    private static let annotations = document(
        """
        <Annotations Target="Self.Container"><Annotation Term="Objects.NamePrefix" String="My"/></Annotations>
        <Annotations Target="Self.Container/Items"><Annotation Term="Objects.SynchronizationGroup" String="stock"/></Annotations>
        <Annotations Target="Shop.Item"><Annotation Term="Objects.EntityTypeNumber" Int="7"/></Annotations>
        <Annotations Target="Self.Item/Text"><Annotation Term="Org.OData.Core.V1.Description" String="Outside"/>
        <Annotation Term="Objects.LargeAttribute"/></Annotations>
        <Annotations Target="Self.Item/Parts"><Annotation Term="Objects.Composite"/></Annotations>
        """)

    private static let json = """
        {"$Version": "4.01", "$Reference": {"metadata.xml": {"$Include": [{"$Namespace": "Shop", "$Alias": "Self"}]}},
        "Mine": {"$Annotations": {
        "Self.Container": {"@Outpost.Objects.V1.NamePrefix": "My"},
        "Self.Container/Items": {"@Outpost.Objects.V1.SynchronizationGroup": "stock"},
        "Shop.Item": {"@Outpost.Objects.V1.EntityTypeNumber": 7},
        "Self.Item/Text": {"@Org.OData.Core.V1.Description": "Outside", "@Outpost.Objects.V1.LargeAttribute": true},
        "Self.Item/Parts": {"@Outpost.Objects.V1.Composite": true}}}}
        """

    private static func read(_ metadata: String, _ documents: String...) throws(CSDLError) -> CSDLReader.Result {
        var options = CSDLReaderOptions()
        options.annotationDocuments = documents.enumerated().map {
            CSDLReaderOptions.AnnotationDocument(Array($1.utf8), source: "mine-\($0).xml")
        }
        return try CSDLReader.parse(Array(metadata.utf8), options: options)
    }

    @Test("are applied to their targets, in XML and JSON, for OData 2.0 and 4.0")
    func added() throws {
        for metadata in [Self.metadata, Self.v2] {
            for annotations in [Self.annotations, Self.json] {
                let result = try Self.read(metadata, annotations)
                #expect(result.warnings == [])
                let package = PackageModel(result.model)
                #expect(package.namePrefix == "My")
                #expect(package.sets["Items"]?.group == "stock")
                #expect(package.numbers == [QualifiedName("Shop", "Item"): 7])
                let type = try #require(result.model.structuredType(QualifiedName("Shop", "Item")))
                #expect(type.properties.map(\.isLargeAttribute) == [false, true])
                #expect(type.navigationProperties.map(\.isComposite) == [true])
                // The document itself, with the annotations, says the same.
                let again = PackageModel(
                    try CSDLReader.read(CSDLWriter.xml(result.model, version: result.model.version)))
                #expect(again.namePrefix == "My" && again.numbers == package.numbers)
                #expect(again.sets["Items"]?.group == "stock")
            }
        }
    }

    @Test("are combined with referenced documents, and read in chunks")
    func otherReaders() async throws {
        var options = CSDLReaderOptions()
        options.annotationDocuments = [.init(Array(Self.annotations.utf8), source: "mine.xml")]
        let bytes = Array(Self.metadata.utf8)
        let loaded = try await CSDLReader.parse(bytes, options: options) { _ in nil }
        let chunks = AsyncStream<[UInt8]> { continuation in
            for start in stride(from: 0, to: bytes.count, by: 100) {
                continuation.yield(Array(bytes[start..<min(start + 100, bytes.count)]))
            }
            continuation.finish()
        }
        let read = try await CSDLReader.parse(chunks: chunks, options: options)
        for result in [loaded, read] { #expect(PackageModel(result.model).namePrefix == "My") }
    }

    @Test("may be in several documents, and those in the metadata come first")
    func several() throws {
        let second = Self.document(
            "<Annotations Target=\"Self.Close\"><Annotation Term=\"Objects.OperationRole\"><Record>"
                + "<PropertyValue Property=\"Role\" String=\"Delete\"/></Record></Annotation></Annotations>")
        let model = try Self.read(Self.metadata, Self.annotations, second).model
        #expect(PackageModel(model).namePrefix == "My")
        let action = try #require(model.operations(QualifiedName("Shop", "Close")).first)
        #expect(PackageModel.role(of: action).kind == .delete)
        let text = model.structuredType(QualifiedName("Shop", "Item"))?.properties[1]
        #expect(text?.annotation("Org.OData.Core.V1.Description")?.value == .constant(kind: "String", text: "Inside"))
    }

    @Test(
        "with an unknown target cause a warning with their place",
        arguments: [
            (
                "<Annotations Target=\"Shop.Itm\"><Annotation Term=\"Objects.DynamicQueries\"/></Annotations>",
                "Shop.Itm"
            ),
            ("<Annotations Target=\"Shop.Item/Txt\"><Annotation Term=\"Objects.Composite\"/></Annotations>", "Txt"),
            (
                "<Annotations Target=\"Self.Container/Itms\"><Annotation Term=\"Objects.LogRecords\"/></Annotations>",
                "Itms"
            ),
            ("<Annotations Target=\"Shop.Item\"><Annotation Term=\"Objects.DynamcQueries\"/></Annotations>", "DynamcQ"),
            ("<EntityType Name=\"Other\"/>", "EntityType Other was left out"),
            ("<Annotations><Annotation Term=\"Objects.Composite\"/></Annotations>", "Target"),
        ])
    func faults(content: String, named: String) throws {
        let warnings = try Self.read(Self.metadata, Self.document(content)).warnings
        #expect(warnings.count == 1)
        let warning = try #require(warnings.first)
        #expect(warning.message.contains(named), "\(warning)")
        #expect(warning.source == "mine-0.xml" && warning.line == 5)
    }

    @Test("that cannot be read cause an error with their source")
    func unreadable() throws {
        for text in ["<Edmx", "{", "", "<html/>"] {
            let error = #expect(throws: CSDLError.self) { try Self.read(Self.metadata, text) }
            #expect(error?.source == "mine-0.xml", "\(text)")
        }
    }
}

@Suite("The vocabulary of object packages")
struct ObjectsVocabularyTests {
    private static let options: CSDLReaderOptions = {
        var options = CSDLReaderOptions(
            terms: .warned, names: .refused, caseConflicts: .refused, facets: .strict, warnsOfDanglingReferences: true)
        options.references = .ignored
        return options
    }()

    @Test("is a valid document that declares and describes each of its terms")
    func document() throws {
        let result = try CSDLReader.parse(Array(ObjectsVocabulary.document.utf8), options: Self.options)
        #expect(result.warnings == [])
        let schema = try #require(result.model.schemas.first)
        #expect(schema.namespace == ObjectsVocabulary.namespace)
        #expect(Set(schema.terms.map(\.name.name)) == ObjectsVocabulary.terms)
        for term in schema.terms {
            #expect(term.annotation("Org.OData.Core.V1.Description") != nil, "\(term.name)")
            #expect(!term.appliesTo.isEmpty, "\(term.name)")
            guard case .complex(let name?) = term.type.element else { continue }
            #expect(result.model.structuredType(name) != nil, "\(name)")
        }
    }

    @Test("is known without its document, and references to it are not loaded")
    func known() async throws {
        func metadata(_ term: String) -> [UInt8] {
            let text = """
                <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
                <edmx:Reference Uri="https://example.org/Outpost.Objects.V1.xml">
                <edmx:Include Namespace="Outpost.Objects.V1" Alias="Objects"/></edmx:Reference>
                <edmx:DataServices><Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                <ComplexType Name="T"><Annotation Term="Objects.\(term)"/></ComplexType>
                </Schema></edmx:DataServices></edmx:Edmx>
                """
            return Array(text.utf8)
        }
        var options = Self.options
        options.references = .all
        let known = try await CSDLReader.parse(metadata("DynamicQueries"), options: options) { reference in
            Issue.record("\(reference.uri) was loaded.")
            return nil
        }
        #expect(known.warnings == [])
        let unknown = try await CSDLReader.parse(metadata("DynamicQuerys"), options: options) { _ in nil }
        #expect(unknown.warnings.map(\.message) == ["The term Outpost.Objects.V1.DynamicQuerys is not declared."])
    }
}
