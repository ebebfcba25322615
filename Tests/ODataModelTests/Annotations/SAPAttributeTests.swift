import Testing

@testable import ODataModel

@Suite("SAP attributes and the annotations that mean the same")
struct SAPAttributeTests {
    static let metadata = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:x="http://www.sap.com/Protocols/SAPData" xmlns:gp="http://www.sap.com/Protocols/SAPData/GenericPlayer" xmlns:z="urn:z">
        <edmx:DataServices m:DataServiceVersion="2.0"><Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
        <EntityType Name="T" x:content-version="2">
          <Documentation><Summary>A thing</Summary><LongDescription>A thing at length</LongDescription></Documentation>
          <Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.String" Nullable="false" x:label="Number" x:creatable="false" x:updatable="false" z:own="1"/>
          <Property Name="Amount" Type="Edm.Decimal" DefaultValue="1.50" x:unit="Currency" x:aggregation-role="measure" x:updatable="false" x:visible-in-list="true" gp:list-display-order="2" FixedLength="true"/>
          <Property Name="Currency" Type="Edm.String" x:semantics="currency-code" x:sortable="false" x:text="Address/City"/>
          <Property Name="Name" Type="Edm.String" gp:use-in-search="true" x:visible-in-list="true" gp:list-display-order="1" x:quickinfo="Its name" m:FC_TargetPath="SyndicationTitle" m:FC_KeepInContent="false"/>
          <Property Name="Address" Type="S.A"/>
          <Property Name="Parent" Type="Edm.String" x:hierarchy-parent-node-for="ID" x:display-format="UpperCase">
            <Annotation Term="com.sap.vocabularies.Common.v1.Label" String="V4 label" xmlns="http://docs.oasis-open.org/odata/ns/edm"/>
          </Property>
        </EntityType>
        <ComplexType Name="A"><Property Name="City" Type="Edm.String" x:visible-in-list="true"/></ComplexType>
        <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
          <EntitySet Name="Ts" EntityType="S.T" x:creatable="false" x:searchable="true" x:requires-filter="true" x:pageable="false"/>
          <EntitySet Name="Us" EntityType="S.T"/>
        </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private let model: EntityDataModel
    private var shape: Shape { get throws { try model.requiredShape(ofSet: "Ts") } }

    init() throws { model = try CSDLReader.read(Array(Self.metadata.utf8)) }

    private func property(_ name: String) throws -> Property { try #require(try shape.property(name)) }

    @Test("properties say what they are, whatever the prefix")
    func properties() throws {
        let id = try property("ID")
        #expect(id.label == "Number")
        #expect(!id.isCreatable && !id.isUpdatable && id.isFilterable)
        #expect(id.annotation("Org.OData.Core.V1.Computed")?.value?.boolean == true)
        let amount = try property("Amount")
        #expect(amount.unitPath == "Currency")
        #expect(amount.aggregationRole == .measure)
        #expect(amount.annotation("Org.OData.Core.V1.Immutable") != nil)
        #expect(try amount.parsedDefaultValue()?.htmlText == "1.50" || amount.parsedDefaultValue()?.htmlText == "1.5")
        let currency = try property("Currency")
        #expect(currency.semantics == "currency-code" && !currency.isSortable && currency.textPath == "Address/City")
        #expect(currency.annotation("com.sap.vocabularies.Common.v1.IsCurrency") != nil)
        let name = try property("Name")
        #expect(name.isSearchable && name.quickInfo == "Its name")
        #expect(try property("Parent").hierarchyRoles.map(\.role) == ["parent-node"])
        #expect(try property("Parent").label == "V4 label")
    }

    @Test("sets say what can be done with them, with the defaults of V2")
    func sets() throws {
        let set = try #require(model.entitySet("Ts"))
        #expect(!set.isCreatable && set.isUpdatable && set.isSearchable && set.requiresFilter && !set.isPageable)
        let terms = set.vocabularyAnnotations.map(\.term)
        #expect(terms.contains("Org.OData.Capabilities.V1.InsertRestrictions"))
        #expect(terms.contains("Org.OData.Capabilities.V1.FilterRestrictions"))
        let other = try #require(model.entitySet("S.C/Us"))
        #expect(other.isCreatable && !other.isSearchable && !other.requiresFilter)
        #expect(model.entitySet("S.Us")?.name == "Us")
        #expect(model.entitySet("S.C.Us")?.name == "Us")
        #expect(model.entitySet("X.Us") == nil)
    }

    @Test("attributes are there as they stand")
    func raw() throws {
        let name = try property("Name")
        #expect(name.rawAttribute("m:FC_TargetPath") == "SyndicationTitle")
        #expect(name.rawAttribute("gp:use-in-search") == "true")
        #expect(try property("ID").rawAttribute("{urn:z}own") == "1")
        #expect(
            try property("ID").rawAttributes.contains(RawAttribute(namespace: "urn:z", name: "own", value: "1")))
        #expect(try property("Amount").rawAttribute("{}FixedLength") == "true")
    }

    @Test("documentation is description")
    func documentation() throws {
        let type = try #require(model.structuredType(QualifiedName("S", "T")))
        #expect(type.summary == "A thing")
        #expect(type.longDescription == "A thing at length")
        #expect(type.contentVersion == "2")
    }

    @Test("lists and detail pages have their properties in order")
    func visiblePaths() {
        let type = QualifiedName("S", "T")
        #expect(model.visibleInListPaths(of: type) == ["Name", "Amount", "Address/City"])
        #expect(
            model.visibleInDetailPaths(of: type) == ["ID", "Amount", "Currency", "Name", "Address/City", "Parent"])
        #expect(model.property("Address/City", of: type)?.isVisibleInList == true)
    }

    @Test("in JSON, attributes become the annotations they mean")
    func json() throws {
        let document = CSDLWriter.document(model, as: .json)
        let again = try CSDLReader.read(document.bytes)
        let set = try #require(again.entitySet("Ts"))
        #expect(!set.isCreatable && set.isSearchable && set.requiresFilter)
        #expect(try #require(again.shape(ofSet: "Ts")?.property("ID")).label == "Number")
        #expect(document.omissions.contains { $0.contains("m:FC_TargetPath") })
    }

    @Test("text of values is safe in HTML")
    func html() {
        #expect(
            ODataValue.string("<a href='x'>\"&\"</a>").htmlText
                == "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;&lt;/a&gt;")
        #expect(ODataValue.null.htmlText?.isEmpty == true)
        #expect(ODataValue.collection([]).htmlText == nil)
    }

    @Test("a set without an entity type is an error of its own")
    func missing() {
        #expect(throws: ModelError.noEntityType(set: "Nothing")) { try model.requiredShape(ofSet: "Nothing") }
    }

    @Test("from any element, the others can be reached")
    func nodes() throws {
        let node = try #require(model.node(at: "S.T/Amount"))
        #expect(node.parent?.path == "S.T")
        #expect(node.parent?.parent?.path == "S")
        #expect(node.parent?.parent?.parent == nil)
        #expect(model.node(at: "S.C/Ts")?.annotations.count == 4)
        #expect(model.node(at: "S.T")?.children.count == 6)
        #expect(model.node(at: "S.Nothing") == nil)
    }
}
