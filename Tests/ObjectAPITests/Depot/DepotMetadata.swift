// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ObjectAPI
import ODataModel
import ODataQuery
import ODataService

/// The metadata that the code was generated from, as far as it needs them.
enum DepotMetadata {
    /// Read once, when they are first needed.
    static let metadata: GeneratedMetadata = GeneratedMetadata(text)

    /// Their model.
    static var model: EntityDataModel { metadata.model }

    static let text: String = #"""
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" xmlns="http://docs.oasis-open.org/odata/ns/edm" Version="4.01">
        <edmx:DataServices>
        <Schema Namespace="Depot">
        <EntityType Name="Parcel"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property><Property Name="Title" Type="Edm.String" Nullable="false" MaxLength="40"/><Property Name="Weight" Type="Edm.Decimal" Precision="12" Scale="2"/><Property Name="Shelf" Type="Edm.String" MaxLength="10"/><Property Name="Label" Type="Edm.Stream"><Annotation Term="Org.OData.Core.V1.MediaType" String="image/png"/></Property><Property Name="Notes" Type="Edm.Stream"><Annotation Term="Org.OData.Core.V1.MediaType" String="text/plain"/></Property></EntityType>
        <EntityType Name="Truck"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property><Property Name="Plate" Type="Edm.String" Nullable="false" MaxLength="12"/><Property Name="Color" Type="Edm.String" MaxLength="20"/></EntityType>
        <EntityType Name="Tool" Abstract="true"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property><Property Name="Name" Type="Edm.String"/></EntityType>
        <EntityType Name="Crane" BaseType="Depot.Tool"><Property Name="Load" Type="Edm.Int32"/></EntityType>
        <EntityType Name="Paper" HasStream="true"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property><Property Name="Name" Type="Edm.String"/><Annotation Term="Outpost.Objects.V1.DynamicQueries" Bool="false"/></EntityType>
        <Action Name="RegisterParcel"><Parameter Name="Name" Type="Edm.String"/><Parameter Name="Weight" Type="Edm.Decimal" Precision="12" Scale="2"/><Parameter Name="promoCode" Type="Edm.String" Nullable="false"/><ReturnType Type="Depot.Parcel"/><Annotation Term="Outpost.Objects.V1.OperationRole"><Record><PropertyValue Property="Role" EnumMember="Outpost.Objects.V1.Role/Create"/><PropertyValue Property="Parameters"><Collection><Record><PropertyValue Property="Parameter" String="Name"/><PropertyValue Property="Attribute" PropertyPath="Title"/></Record><Record><PropertyValue Property="Parameter" String="Weight"/><PropertyValue Property="Attribute" PropertyPath="Weight"/></Record></Collection></PropertyValue></Record></Annotation></Action>
        <Action Name="MoveParcel" IsBound="true" EntitySetPath="parcel"><Parameter Name="parcel" Type="Depot.Parcel" Nullable="false"/><Parameter Name="To" Type="Edm.String"/><Parameter Name="What" Type="Edm.String"/><ReturnType Type="Depot.Parcel"/><Annotation Term="Outpost.Objects.V1.OperationRole"><Record><PropertyValue Property="Role" EnumMember="Outpost.Objects.V1.Role/Update"/><PropertyValue Property="Parameters"><Collection><Record><PropertyValue Property="Parameter" String="To"/><PropertyValue Property="Attribute" PropertyPath="Shelf"/></Record><Record><PropertyValue Property="Parameter" String="What"/><PropertyValue Property="Attribute" PropertyPath="Title"/></Record></Collection></PropertyValue></Record></Annotation></Action>
        <Action Name="ScrapParcel" IsBound="true"><Parameter Name="parcel" Type="Depot.Parcel" Nullable="false"/><Parameter Name="Number" Type="Edm.Int64"/><Parameter Name="reason" Type="Edm.String"><Annotation Term="Org.OData.Core.V1.OptionalParameter"/></Parameter><Annotation Term="Outpost.Objects.V1.OperationRole"><Record><PropertyValue Property="Role" EnumMember="Outpost.Objects.V1.Role/Delete"/><PropertyValue Property="Parameters"><Collection><Record><PropertyValue Property="Parameter" String="Number"/><PropertyValue Property="Attribute" PropertyPath="ID"/></Record></Collection></PropertyValue></Record></Annotation></Action>
        <Action Name="AddTruck" IsBound="true"><Parameter Name="trucks" Type="Collection(Depot.Truck)" Nullable="false"/><Parameter Name="Plate" Type="Edm.String" Nullable="false"/><Annotation Term="Outpost.Objects.V1.OperationRole"><Record><PropertyValue Property="Role" EnumMember="Outpost.Objects.V1.Role/Create"/><PropertyValue Property="Parameters"><Collection><Record><PropertyValue Property="Parameter" String="Plate"/><PropertyValue Property="Attribute" PropertyPath="Plate"/></Record></Collection></PropertyValue></Record></Annotation></Action>
        <Action Name="PaintTruck" IsBound="true"><Parameter Name="truck" Type="Depot.Truck" Nullable="false"/><Parameter Name="Color" Type="Edm.String"/><Annotation Term="Outpost.Objects.V1.OperationRole"><Record><PropertyValue Property="Role" EnumMember="Outpost.Objects.V1.Role/Update"/><PropertyValue Property="Parameters"><Collection><Record><PropertyValue Property="Parameter" String="Color"/><PropertyValue Property="Attribute" PropertyPath="Color"/></Record></Collection></PropertyValue></Record></Annotation></Action>
        <Action Name="RetireTruck" IsBound="true"><Parameter Name="truck" Type="Depot.Truck" Nullable="false"/><Parameter Name="remark" Type="Edm.String" Nullable="false"/><Annotation Term="Outpost.Objects.V1.OperationRole"><Record><PropertyValue Property="Role" EnumMember="Outpost.Objects.V1.Role/Update"/></Record></Annotation></Action>
        <Action Name="TakeStock"><Parameter Name="count" Type="Edm.Int32" Nullable="false"/></Action>
        <EntityContainer Name="DepotContainer"><EntitySet Name="Parcels" EntityType="Depot.Parcel"/><EntitySet Name="Trucks" EntityType="Depot.Truck"/><EntitySet Name="Tools" EntityType="Depot.Tool"/><EntitySet Name="Papers" EntityType="Depot.Paper"/><ActionImport Name="RegisterParcel" Action="Depot.RegisterParcel" EntitySet="Parcels"/><ActionImport Name="TakeStock" Action="Depot.TakeStock"/></EntityContainer>
        </Schema>
        </edmx:DataServices>
        </edmx:Edmx>
        """#
}
