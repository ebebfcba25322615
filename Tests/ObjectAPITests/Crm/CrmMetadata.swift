// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ObjectAPI
import ODataModel
import ODataQuery
import ODataService

/// The metadata that the code was generated from, as far as it needs them.
enum CrmMetadata {
    /// Read once, when they are first needed.
    static let metadata: GeneratedMetadata = GeneratedMetadata(text)

    /// Their model.
    static var model: EntityDataModel { metadata.model }

    static let text: String = #"""
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" xmlns="http://docs.oasis-open.org/odata/ns/edm" Version="4.01">
        <edmx:DataServices>
        <Schema Namespace="Crm">
        <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property><Property Name="FirstName" Type="Edm.String" MaxLength="40"/><Property Name="LastName" Type="Edm.String" Nullable="false" MaxLength="40"/><Property Name="City" Type="Edm.String" MaxLength="60"/><Property Name="Region" Type="Edm.String" Nullable="false" MaxLength="20"/><Property Name="Photo" Type="Edm.Stream"/><NavigationProperty Name="SalesOrders" Type="Collection(Crm.SalesOrder)" Partner="Customer"><Annotation Term="Outpost.Objects.V1.Composite"/></NavigationProperty><Annotation Term="Outpost.Objects.V1.EntityTypeNumber" Int="1"/><Annotation Term="Outpost.Objects.V1.ObjectQueries"><Collection><Record><PropertyValue Property="Name" String="findByCity"/><PropertyValue Property="Query" String="$filter=City eq @city&amp;$orderby=LastName"/><PropertyValue Property="Parameters"><Collection><Record><PropertyValue Property="Name" String="city"/><PropertyValue Property="Type" String="Edm.String"/></Record></Collection></PropertyValue></Record></Collection></Annotation></EntityType>
        <EntityType Name="SalesOrder"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property><Property Name="CustomerID" Type="Edm.Int64"/><Property Name="Amount" Type="Edm.Decimal" Nullable="false" Precision="12" Scale="2"/><Property Name="OrderDate" Type="Edm.Date"/><NavigationProperty Name="Customer" Type="Crm.Customer" Partner="SalesOrders"><ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty><Annotation Term="Outpost.Objects.V1.EntityTypeNumber" Int="2"/></EntityType>
        <Action Name="ChangeLastName" IsBound="true"><Parameter Name="customer" Type="Crm.Customer"/><Parameter Name="OldName" Type="Edm.String" Nullable="false"/><Parameter Name="NewName" Type="Edm.String" Nullable="false"/></Action>
        <EntityContainer Name="Container"><EntitySet Name="Customers" EntityType="Crm.Customer"><NavigationPropertyBinding Path="SalesOrders" Target="SalesOrders"/><Annotation Term="Outpost.Objects.V1.SynchronizationGroup" String="sales"/><Annotation Term="Outpost.Objects.V1.SynchronizationFilter" String="Region eq @region"/><Annotation Term="Outpost.Objects.V1.SynchronizationParameters"><Collection><Record><PropertyValue Property="Name" String="region"/><PropertyValue Property="Type" String="Edm.String"/><PropertyValue Property="PersonalizationKey" String="Territory"/></Record></Collection></Annotation></EntitySet><EntitySet Name="SalesOrders" EntityType="Crm.SalesOrder"><NavigationPropertyBinding Path="Customer" Target="Customers"/><Annotation Term="Outpost.Objects.V1.SynchronizationGroup" String="sales"/><Annotation Term="Org.OData.Capabilities.V1.DeleteRestrictions"><Record><PropertyValue Property="Deletable" Bool="false"/></Record></Annotation></EntitySet><Annotation Term="Outpost.Objects.V1.Package"><Record><PropertyValue Property="Name" String="Crm"/><PropertyValue Property="Version" String="1"/></Record></Annotation><Annotation Term="Outpost.Objects.V1.PersonalizationKeys"><Collection><Record><PropertyValue Property="Name" String="Territory"/><PropertyValue Property="Type" String="Edm.String"/><PropertyValue Property="Scope" EnumMember="Outpost.Objects.V1.PersonalizationScope/Client"/><PropertyValue Property="DefaultValue" String="West"/></Record></Collection></Annotation></EntityContainer>
        </Schema>
        </edmx:DataServices>
        </edmx:Edmx>
        """#
}
