// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ODataModel
import ODataQuery
import ODataService

/// The metadata that the code was generated from, as far as it needs them.
enum HarbourMetadata {
    /// Read once, when they are first needed.
    static let metadata: GeneratedMetadata = GeneratedMetadata(text)

    /// Their model.
    static var model: EntityDataModel { metadata.model }

    static let text: String = #"""
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" xmlns="http://docs.oasis-open.org/odata/ns/edm" Version="4.01">
        <edmx:DataServices>
        <Schema Namespace="Harbour">
        <ComplexType Name="Position"><Property Name="Quay" Type="Edm.String"/><Property Name="Number" Type="Edm.Int32" Nullable="false"/></ComplexType>
        <ComplexType Name="MarkedPosition" BaseType="Harbour.Position"><Property Name="Colour" Type="Edm.String"/></ComplexType>
        <EntityType Name="Party" Abstract="true"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Guid" Nullable="false"/><Property Name="Name" Type="Edm.String" MaxLength="80"/><Property Name="Tags" Type="Collection(Edm.String)" Nullable="false"/></EntityType>
        <EntityType Name="Company" BaseType="Harbour.Party"><Property Name="VATNumber" Type="Edm.String"/><NavigationProperty Name="Fleet" Type="Collection(Harbour.Ship)" Partner="Owner"/></EntityType>
        <EntityType Name="Person" BaseType="Harbour.Party" OpenType="true"><Property Name="Born" Type="Edm.Date"/><NavigationProperty Name="Superior" Type="Harbour.Person"/></EntityType>
        <EntityType Name="Ship"><Key><PropertyRef Name="ShipID"/></Key><Property Name="ShipID" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property><Property Name="Name" Type="Edm.String" Nullable="false"/><Property Name="Length" Type="Harbour.Metres"/><Property Name="Kind" Type="Harbour.ShipKind"/><Property Name="Needs" Type="Harbour.Services"/><Property Name="Built" Type="Edm.Date"/><Property Name="Arrived" Type="Edm.DateTimeOffset"/><Property Name="Draughts" Type="Collection(Edm.Double)" Nullable="true"/><Property Name="Berth" Type="Harbour.Position"/><Property Name="Anchors" Type="Collection(Harbour.Position)" Nullable="false"/><Property Name="Blueprint" Type="Edm.Stream"/><Property Name="IsLaidUp" Type="Edm.Boolean" Nullable="false"/><Property Name="OwnerID" Type="Edm.Guid"/><NavigationProperty Name="Owner" Type="Harbour.Company" Partner="Fleet"><ReferentialConstraint Property="OwnerID" ReferencedProperty="ID"/></NavigationProperty><NavigationProperty Name="Calls" Type="Collection(Harbour.Call)" ContainsTarget="true"/><NavigationProperty Name="Crew" Type="Collection(Harbour.Person)"/></EntityType>
        <EntityType Name="Call"><Key><PropertyRef Name="Year"/><PropertyRef Name="Number"/></Key><Property Name="Year" Type="Edm.Int32" Nullable="false"/><Property Name="Number" Type="Edm.Int32" Nullable="false"/><Property Name="Dues" Type="Edm.Decimal" Scale="2"/></EntityType>
        <EntityType Name="Photo" HasStream="true"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Taken" Type="Edm.DateTimeOffset"/></EntityType>
        <EnumType Name="ShipKind"><Member Name="Cargo" Value="0"/><Member Name="PASSENGER" Value="1"/><Member Name="Freight" Value="0"/><Member Name="None" Value="9"/></EnumType>
        <EnumType Name="Services" IsFlags="true"><Member Name="Water" Value="1"/><Member Name="Power" Value="2"/><Member Name="All" Value="3"/></EnumType>
        <EnumType Name="Unit"><Member Name="Metre" Value="0"/><Member Name="Cable" Value="1"/></EnumType>
        <TypeDefinition Name="Metres" UnderlyingType="Edm.Decimal" Scale="2"/>
        <Action Name="Move" IsBound="true"><Parameter Name="ship" Type="Harbour.Ship"/><Parameter Name="to" Type="Harbour.Position" Nullable="false"/><Parameter Name="Reason" Type="Edm.String"><Annotation Term="Org.OData.Core.V1.OptionalParameter"/></Parameter><ReturnType Type="Harbour.Ship"/></Action>
        <Action Name="Close" IsBound="true"><Parameter Name="ships" Type="Collection(Harbour.Ship)"/></Action>
        <Function Name="Similar" IsBound="true" IsComposable="true"><Parameter Name="ship" Type="Harbour.Ship"/><Parameter Name="kind" Type="Harbour.ShipKind" Nullable="false"/><ReturnType Type="Collection(Harbour.Ship)"/></Function>
        <Function Name="Label" IsBound="true"><Parameter Name="party" Type="Harbour.Party"/><ReturnType Type="Edm.String"/></Function>
        <Function Name="FreeBerths"><Parameter Name="minLength" Type="Harbour.Metres" Nullable="false"/><ReturnType Type="Collection(Harbour.Position)"/></Function>
        <Function Name="Distance" IsBound="true"><Parameter Name="position" Type="Harbour.Position"/><Parameter Name="to" Type="Harbour.Position" Nullable="false"/><ReturnType Type="Edm.Double" Nullable="false"/></Function>
        <Function Name="Distance" IsBound="true"><Parameter Name="position" Type="Harbour.Position"/><Parameter Name="to" Type="Harbour.Position" Nullable="false"/><Parameter Name="unit" Type="Harbour.Unit" Nullable="false"/><ReturnType Type="Edm.Double" Nullable="false"/></Function>
        <Action Name="Clear" IsBound="true"><Parameter Name="position" Type="Harbour.Position"/><Parameter Name="reasons" Type="Collection(Edm.String)" Nullable="true"><Annotation Term="Org.OData.Core.V1.OptionalParameter"/></Parameter></Action>
        <Function Name="Paint" IsBound="true"><Parameter Name="position" Type="Harbour.MarkedPosition"/><ReturnType Type="Harbour.MarkedPosition"/></Function>
        <Function Name="Nearest" IsBound="true"><Parameter Name="positions" Type="Collection(Harbour.Position)"/><Parameter Name="kinds" Type="Collection(Harbour.ShipKind)" Nullable="false"/><ReturnType Type="Harbour.Position"/></Function>
        <Function Name="Mean" IsBound="true"><Parameter Name="values" Type="Collection(Edm.Double)"/><ReturnType Type="Edm.Double"/></Function>
        <Function Name="InFeet" IsBound="true"><Parameter Name="length" Type="Harbour.Metres"/><ReturnType Type="Edm.Decimal"/></Function>
        <Function Name="Successors" IsBound="true"><Parameter Name="kind" Type="Harbour.ShipKind"/><ReturnType Type="Collection(Harbour.ShipKind)" Nullable="false"/></Function>
        <Function Name="Remarks" IsBound="true"><Parameter Name="ship" Type="Harbour.Ship"/><ReturnType Type="Collection(Edm.String)" Nullable="true"/></Function>
        <Function Name="Plan" IsBound="true"><Parameter Name="ship" Type="Harbour.Ship"/><ReturnType Type="Edm.Stream"/></Function>
        <Action Name="Tow" IsBound="true"><Parameter Name="ships" Type="Collection(Harbour.Ship)"/><ReturnType Type="Collection(Harbour.Ship)" Nullable="false"/></Action>
        <Function Name="Oldest"><ReturnType Type="Harbour.Ship"/></Function>
        <Action Name="Reset"/>
        <EntityContainer Name="HarbourContainer"><EntitySet Name="Ships" EntityType="Harbour.Ship"><NavigationPropertyBinding Path="Owner" Target="Parties"/><NavigationPropertyBinding Path="Crew" Target="Parties"/></EntitySet><EntitySet Name="Parties" EntityType="Harbour.Party"/><EntitySet Name="Photos" EntityType="Harbour.Photo"/><Singleton Name="Master" Type="Harbour.Person"/><FunctionImport Name="FreeBerths" Function="Harbour.FreeBerths"/><FunctionImport Name="Oldest" Function="Harbour.Oldest" EntitySet="Ships"/><ActionImport Name="Reset" Action="Harbour.Reset"/></EntityContainer>
        </Schema>
        </edmx:DataServices>
        </edmx:Edmx>
        """#
}
