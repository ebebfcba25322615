import ODataModel
import ODataService
import ODataStore

/// The service of the object package `Crm`: customers with their orders.
enum CrmDefinition {
    /// - Throws: An error if the model and the operation contradict each other.
    static func make() throws -> ServiceDefinition {
        var definition = ServiceDefinition(model: try CSDLReader.read(xml: Array(metadata.utf8)))
        definition.givesETagsToAll = true
        try definition.action(
            "ChangeLastName", on: .entity(QualifiedName("Crm", "Customer")),
            parameters: [.init("OldName", .primitive(.string)), .init("NewName", .primitive(.string))]
        ) { call in
            let (old, new): (String, String) = (try call.argument("OldName"), try call.argument("NewName"))
            let customer = try call.boundEntity()
            guard customer["LastName"] == .string(old) else {
                throw ODataError(
                    status: 409, code: "OtherName", message: "The last name is not \(old).", target: "OldName")
            }
            _ = try call.transaction.update(customer, ["LastName": .string(new)])
            return .none
        }
        return definition
    }

    /// Opens the service in memory with its initial rows.
    static func open() async throws -> StoreService {
        let service = try await StoreService.open(make(), at: .memory)
        try await service.seed(json: Array(rows.utf8))
        return service
    }

    private static let rows = """
        {"Customers": [
            {"FirstName": "Ann", "LastName": "Smith", "City": "Dublin", "Region": "West"},
            {"FirstName": "Bob", "LastName": "Jones", "City": "Cork", "Region": "West"},
            {"FirstName": "Cid", "LastName": "Byrne", "City": "Galway", "Region": "North"}
        ]}
        """

    private static let metadata = """
        <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
        <edmx:Reference Uri="outpost-objects-v1.xml"><edmx:Include Namespace="Outpost.Objects.V1" Alias="Objects"/></edmx:Reference>
        <edmx:DataServices><Schema Namespace="Crm" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Customer">
          <Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>
          <Property Name="FirstName" Type="Edm.String" MaxLength="40"/>
          <Property Name="LastName" Type="Edm.String" Nullable="false" MaxLength="40"/>
          <Property Name="City" Type="Edm.String" MaxLength="60"/>
          <Property Name="Region" Type="Edm.String" Nullable="false" MaxLength="20"/>
          <Property Name="Photo" Type="Edm.Stream"/>
          <NavigationProperty Name="SalesOrders" Type="Collection(Crm.SalesOrder)" Partner="Customer">
            <Annotation Term="Objects.Composite"/>
          </NavigationProperty>
          <Annotation Term="Objects.EntityTypeNumber" Int="1"/>
          <Annotation Term="Objects.ObjectQueries"><Collection><Record>
            <PropertyValue Property="Name" String="findByCity"/>
            <PropertyValue Property="Query" String="$filter=City eq @city&amp;$orderby=LastName"/>
            <PropertyValue Property="Parameters"><Collection><Record>
              <PropertyValue Property="Name" String="city"/><PropertyValue Property="Type" String="Edm.String"/>
            </Record></Collection></PropertyValue>
          </Record></Collection></Annotation>
        </EntityType>
        <EntityType Name="SalesOrder">
          <Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>
          <Property Name="CustomerID" Type="Edm.Int64"/>
          <Property Name="Amount" Type="Edm.Decimal" Nullable="false" Precision="12" Scale="2"/>
          <Property Name="OrderDate" Type="Edm.Date"/>
          <NavigationProperty Name="Customer" Type="Crm.Customer" Partner="SalesOrders">
            <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/>
          </NavigationProperty>
          <Annotation Term="Objects.EntityTypeNumber" Int="2"/>
        </EntityType>
        <EntityContainer Name="Container">
          <EntitySet Name="Customers" EntityType="Crm.Customer">
            <NavigationPropertyBinding Path="SalesOrders" Target="SalesOrders"/>
            <Annotation Term="Objects.SynchronizationGroup" String="sales"/>
            <Annotation Term="Objects.SynchronizationFilter" String="Region eq @region"/>
            <Annotation Term="Objects.SynchronizationParameters"><Collection><Record>
              <PropertyValue Property="Name" String="region"/><PropertyValue Property="Type" String="Edm.String"/>
              <PropertyValue Property="PersonalizationKey" String="Territory"/>
            </Record></Collection></Annotation>
          </EntitySet>
          <EntitySet Name="SalesOrders" EntityType="Crm.SalesOrder">
            <NavigationPropertyBinding Path="Customer" Target="Customers"/>
            <Annotation Term="Objects.SynchronizationGroup" String="sales"/>
            <Annotation Term="Org.OData.Capabilities.V1.DeleteRestrictions"><Record>
              <PropertyValue Property="Deletable" Bool="false"/></Record></Annotation>
          </EntitySet>
          <Annotation Term="Objects.Package"><Record>
            <PropertyValue Property="Name" String="Crm"/><PropertyValue Property="Version" String="1"/>
          </Record></Annotation>
          <Annotation Term="Objects.PersonalizationKeys"><Collection><Record>
            <PropertyValue Property="Name" String="Territory"/><PropertyValue Property="Type" String="Edm.String"/>
            <PropertyValue Property="Scope" EnumMember="Outpost.Objects.V1.PersonalizationScope/Client"/>
            <PropertyValue Property="DefaultValue" String="West"/>
          </Record></Collection></Annotation>
        </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}
