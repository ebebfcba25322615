import Testing

@testable import ODataModel

@Suite("SAP attributes and equivalent annotations")
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
    private var shape: TypeShape { get throws { try model.requiredShape(ofSet: "Ts") } }

    init() throws { model = try CSDLReader.read(Array(Self.metadata.utf8)) }

    private func property(_ name: String) throws -> Property { try #require(try shape.property(name)) }

    @Test("properties have their attributes for any prefix")
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

    @Test("sets show their capabilities, with the defaults of V2")
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

    @Test("attributes are available unchanged")
    func raw() throws {
        let name = try property("Name")
        #expect(name.rawAttribute("m:FC_TargetPath") == "SyndicationTitle")
        #expect(name.rawAttribute("gp:use-in-search") == "true")
        #expect(try property("ID").rawAttribute("{urn:z}own") == "1")
        #expect(
            try property("ID").rawAttributes.contains(RawAttribute(namespace: "urn:z", name: "own", value: "1")))
        #expect(try property("Amount").rawAttribute("{}FixedLength") == "true")
    }

    @Test(
        "attribute names follow XML, even where Unicode allows more letters",
        arguments: [
            ("a\u{2E9}b", true), ("\u{2E9}", true), ("\u{10330}-.7\u{B7}\u{301}\u{2040}", true), ("_", true),
            ("a\u{AA}", false), ("\u{B5}", false), ("-a", false), ("7", false), ("a b", false), ("", false),
        ])
    func names(_ name: String, _ isXML: Bool) throws {
        let annotation = Annotation(term: "{urn:z}\(name)", value: .constant(kind: "String", text: "1"))
        #expect((ForeignAttribute(annotation) != nil) == isXML)
        guard isXML else { return }
        let text = """
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="S">\
            <ComplexType Name="T" xmlns:z="urn:z" z:\(name)="1" \(name)="2"/></Schema>
            """
        let model = try CSDLReader.read(Array(text.utf8))
        #expect(try CSDLReader.read(CSDLWriter.xml(model)).schemas == model.schemas)
        #expect(String(decoding: CSDLWriter.xml(model), as: UTF8.self).contains(" \(name)=\"2\""))
    }

    @Test("documentation becomes the description")
    func documentation() throws {
        let type = try #require(model.structuredType(QualifiedName("S", "T")))
        #expect(type.summary == "A thing")
        #expect(type.longDescription == "A thing at length")
        #expect(type.contentVersion == "2")
    }

    @Test("the properties of lists and detail pages are in order")
    func visiblePaths() {
        let type = QualifiedName("S", "T")
        #expect(model.visibleInListPaths(of: type) == ["Name", "Amount", "Address/City"])
        #expect(
            model.visibleInDetailPaths(of: type) == ["ID", "Amount", "Currency", "Name", "Address/City", "Parent"])
        #expect(model.property("Address/City", of: type)?.isVisibleInList == true)
    }

    @Test("in JSON, attributes become the equivalent annotations")
    func json() throws {
        let document = CSDLWriter.document(model, as: .json)
        let again = try CSDLReader.read(document.bytes)
        let set = try #require(again.entitySet("Ts"))
        #expect(!set.isCreatable && set.isSearchable && set.requiresFilter)
        #expect(try #require(again.shape(ofSet: "Ts")?.property("ID")).label == "Number")
        #expect(document.omissions.contains { $0.contains("m:FC_TargetPath") })
    }

    @Test("text values are safe in HTML")
    func html() {
        #expect(
            ODataValue.string("<a href='x'>\"&\"</a>").htmlText
                == "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;&lt;/a&gt;")
        let combining = ODataValue.string("\"\u{301}<\u{338}")
        #expect(combining.htmlText == "&quot;\u{301}&lt;\u{338}")
        #expect(ODataValue.null.htmlText?.isEmpty == true)
        #expect(ODataValue.collection([]).htmlText == nil)
    }

    @Test("a set without an entity type has its own error")
    func missing() {
        #expect(throws: ModelError.noEntityType(set: "Nothing")) { try model.requiredShape(ofSet: "Nothing") }
    }

    @Test("each element leads to its related elements")
    func nodes() throws {
        let node = try #require(model.node(at: "S.T/Amount"))
        #expect(node.parent?.path == "S.T")
        #expect(node.parent?.parent?.path == "S")
        #expect(node.parent?.parent?.parent == nil)
        #expect(model.node(at: "S.C/Ts")?.annotations.count == 4)
        #expect(model.node(at: "S.T")?.children.count == 6)
        #expect(model.node(at: "S.Nothing") == nil)
    }

    @Test("further capabilities of services, sets, links and calls are read")
    func service() throws {
        let text = """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx" xmlns:sap="http://www.sap.com/Protocols/SAPData">
            <edmx:DataServices><Schema Namespace="S" sap:schema-version="7" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
            <EntityType Name="T"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.String" Nullable="false"/>
            <Property Name="Amount" Type="Edm.Decimal" sap:precision="Places" sap:variable-scale="true" sap:filterable="false" sap:updatable-path="May"/>
            <Property Name="Places" Type="Edm.Byte" sap:sortable="false" sap:required-in-filter="true" sap:parameter="mandatory"/>
            <Property Name="May" Type="Edm.Boolean" sap:is-annotation="true" sap:preserve-flag-for="Amount"/>
            <Property Name="Code" Type="Edm.String" sap:validation-regexp="^[A-Z]+$" sap:is-extension-field="true" sap:text-for="ID" sap:filter-for="S.T"/>
            <NavigationProperty Name="Parent" Relationship="S.TT" FromRole="a" ToRole="b" sap:creatable-path="May" sap:filterable="false" sap:hierarchy-parent-navigation-for="ID"/>
            </EntityType><Association Name="TT"><End Role="a" Type="S.T" Multiplicity="*"/><End Role="b" Type="S.T" Multiplicity="0..1"/></Association>
            <EntityContainer Name="C" sap:supported-formats="atom json xlsx" sap:use-batch="true" sap:message-scope-supported="true">
            <EntitySet Name="Ts" EntityType="S.T" sap:updatable-path="May" sap:deletable="true" sap:deletable-path="May" sap:maxpagesize="100" sap:delta-link-validity="3600" sap:semantics="timeseries"/>
            <AssociationSet Name="TTs" Association="S.TT" sap:creatable="false"><End Role="a" EntitySet="Ts"/><End Role="b" EntitySet="Ts"/></AssociationSet>
            <FunctionImport Name="Plan" sap:planning-function="true" sap:action-for="S.T" sap:applicable-path="May"/></EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
        let model = try CSDLReader.read(Array(text.utf8))
        #expect(model.schemas[0].schemaVersion == "7")
        let container = model.container
        #expect(container.supportedFormats.prefix(2) == ["application/atom+xml", "application/json"])
        #expect(container.supportedFormats.count == 3 && container.requiresBatch && container.supportsMessageScope)
        let set = try #require(model.entitySet("Ts"))
        #expect(
            set.isUpdatable && set.updatablePath == "May" && set.maxPageSize == 100 && set.deltaLinkValidity == 3600)
        #expect(!set.isDeletable, "stated twice, nothing holds")
        let shape = try #require(model.shape(ofSet: "Ts"))
        let amount = try #require(shape.property("Amount"))
        #expect(amount.scalePath == "Places" && amount.hasVariableScale && amount.updatablePath == "May")
        let code = try #require(shape.property("Code"))
        #expect(
            code.validationPattern == "^[A-Z]+$" && code.isExtensionField && code.textFor == "ID"
                && code.filterFor == "S.T")
        #expect(code.annotation("Org.OData.Validation.V1.Pattern") != nil)
        #expect(shape.property("May")?.isAnnotation == true && shape.property("May")?.preserveFlagFor == "Amount")
        #expect(shape.property("Places")?.parameterKind == "mandatory")
        let parent = try #require(shape.navigationProperty("Parent"))
        #expect(parent.isCreatable && parent.creatablePath == "May" && !parent.isFilterable)
        #expect(parent.hierarchyRoles.map(\.role) == ["parent-navigation"])
        #expect(!container.associationSets[0].isCreatable && container.associationSets[0].isDeletable)
        let plan = try #require(model.operationImports("Plan").first)
        #expect(plan.isPlanningFunction && plan.actionFor == "S.T" && plan.applicablePath == "May")
        #expect(!model.isFilterable("Amount", in: "Ts") && model.isFilterable("Code", in: "S.C/Ts"))
        #expect(!model.isSortable("Places", in: "Ts") && model.isSortable("Amount", in: "Ts"))
        #expect(model.isRequiredInFilter("Places", in: "Ts") && !model.isRequiredInFilter("Amount", in: "Ts"))
        #expect(model.targetSets(of: "Ts") == ["Parent": "Ts"])
    }

    @Test("V4 capabilities of properties are stated on the set and read in the same way")
    func restrictions() throws {
        let content = """
            <EntityType Name="T"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.String" Nullable="false"/>
            <Property Name="A" Type="Edm.String"/></EntityType><EntityContainer Name="C"><EntitySet Name="Ts" EntityType="S.T">
            <Annotation Term="Org.OData.Capabilities.V1.FilterRestrictions"><Record><PropertyValue Property="NonFilterableProperties">
            <Collection><PropertyPath>A</PropertyPath></Collection></PropertyValue><PropertyValue Property="RequiredProperties">
            <Collection><PropertyPath>ID</PropertyPath></Collection></PropertyValue></Record></Annotation>
            <Annotation Term="Org.OData.Capabilities.V1.SortRestrictions"><Record><PropertyValue Property="Sortable" Bool="false"/></Record></Annotation>
            </EntitySet></EntityContainer>
            """
        let model = try CSDLReader.read(document(content))
        #expect(!model.isFilterable("A", in: "Ts") && model.isFilterable("ID", in: "Ts"))
        #expect(!model.isSortable("A", in: "Ts"))
        #expect(model.isRequiredInFilter("ID", in: "Ts") && !model.isRequiredInFilter("A", in: "Ts"))
    }
}
