// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ODataModel
import ODataQuery
import ODataService

/// The metadata that the code was generated from, as far as it needs them.
enum OrchardMetadata {
    /// Read once, when they are first needed.
    static let metadata: GeneratedMetadata = GeneratedMetadata(text)

    /// Their model.
    static var model: EntityDataModel { metadata.model }

    static let text: String = #"""
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" Version="1.0">
        <edmx:DataServices m:DataServiceVersion="2.0">
        <Schema xmlns="http://schemas.microsoft.com/ado/2008/09/edm" Namespace="Orchard">
        <ComplexType Name="Place"><Property Name="Row" Type="Edm.Int16" Nullable="false"/><Property Name="Slot" Type="Edm.Byte"/></ComplexType>
        <EntityType Name="Tree"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String" MaxLength="40"/><Property Name="Planted" Type="Edm.DateTime"/><Property Name="Seen" Type="Edm.DateTimeOffset"/><Property Name="WateredAt" Type="Edm.Time"/><Property Name="Height" Type="Edm.Decimal" Precision="9" Scale="2"/><Property Name="Mass" Type="Edm.Double"/><Property Name="Leaves" Type="Edm.Int64"/><Property Name="IsOld" Type="Edm.Boolean" Nullable="false"/><Property Name="Mark" Type="Edm.Guid"/><Property Name="Ring" Type="Edm.Binary"/><Property Name="Place" Type="Orchard.Place" Nullable="false"/><Property Name="GroveCode" Type="Edm.String"/><NavigationProperty Name="Grove" Relationship="Orchard.GroveOfTree" FromRole="Tree" ToRole="Grove"/></EntityType>
        <EntityType Name="Grove"><Key><PropertyRef Name="Code"/></Key><Property Name="Code" Type="Edm.String" Nullable="false"/><Property Name="Title" Type="Edm.String"/><NavigationProperty Name="Trees" Relationship="Orchard.GroveOfTree" FromRole="Grove" ToRole="Tree"/></EntityType>
        <Association Name="GroveOfTree"><End Role="Grove" Type="Orchard.Grove" Multiplicity="0..1"/><End Role="Tree" Type="Orchard.Tree" Multiplicity="*"/><ReferentialConstraint><Principal Role="Grove"><PropertyRef Name="Code"/></Principal><Dependent Role="Tree"><PropertyRef Name="GroveCode"/></Dependent></ReferentialConstraint></Association>
        <EntityContainer Name="OrchardEntities" m:IsDefaultEntityContainer="true"><EntitySet Name="Trees" EntityType="Orchard.Tree"/><EntitySet Name="Groves" EntityType="Orchard.Grove"/><AssociationSet Name="GroveOfTreeSet" Association="Orchard.GroveOfTree"><End Role="Grove" EntitySet="Groves"/><End Role="Tree" EntitySet="Trees"/></AssociationSet><FunctionImport Name="TreesHigherThan" ReturnType="Collection(Orchard.Tree)" EntitySet="Trees" m:HttpMethod="GET"><Parameter Name="height" Type="Edm.Decimal" Nullable="false"/></FunctionImport><FunctionImport Name="Heaviest" ReturnType="Orchard.Tree" EntitySet="Trees" m:HttpMethod="GET"/><FunctionImport Name="TotalMass" ReturnType="Edm.Double" m:HttpMethod="GET"><Parameter Name="plantedBefore" Type="Edm.DateTime" Nullable="false"/><Parameter Name="named" Type="Edm.String" Nullable="false"/></FunctionImport><FunctionImport Name="PlaceOf" ReturnType="Orchard.Place" m:HttpMethod="GET"><Parameter Name="id" Type="Edm.Int32" Nullable="false"/></FunctionImport><FunctionImport Name="Places" ReturnType="Collection(Orchard.Place)" m:HttpMethod="GET"/><FunctionImport Name="Names" ReturnType="Collection(Edm.String)" m:HttpMethod="GET"/><FunctionImport Name="Water" ReturnType="Orchard.Tree" EntitySet="Trees" m:HttpMethod="POST"><Parameter Name="id" Type="Edm.Int32" Nullable="false"/><Parameter Name="at" Type="Edm.Time" Nullable="false"/></FunctionImport><FunctionImport Name="Fell" m:HttpMethod="POST"><Parameter Name="id" Type="Edm.Int32" Nullable="false"/></FunctionImport></EntityContainer>
        </Schema>
        </edmx:DataServices>
        </edmx:Edmx>
        """#
}
