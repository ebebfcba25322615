import ODataModel

/// The part of ``sampleModel()`` that V2 can express, with the types that V4 does not have.
func sampleModelV2() -> EntityDataModel {
    let document = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
        xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><edmx:DataServices m:DataServiceVersion="2.0">
        <Schema Namespace="Shop" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
          <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
          <EntityType Name="Order" m:HasStream="true"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false"/><Property Name="Price" Type="Edm.Decimal" Precision="9" Scale="2"/>
            <Property Name="Rate" Type="Edm.Double"/><Property Name="Small" Type="Edm.Single"/>
            <Property Name="Name" Type="Edm.String"/><Property Name="Paid" Type="Edm.Boolean"/>
            <Property Name="Placed" Type="Edm.DateTime"/><Property Name="At" Type="Edm.DateTimeOffset"/>
            <Property Name="Length" Type="Edm.Time"/><Property Name="Tag" Type="Edm.Guid"/>
            <Property Name="Photo" Type="Edm.Binary"/><Property Name="ShipTo" Type="Shop.Address"/>
            <NavigationProperty Name="Items" Relationship="Shop.OrderItems" FromRole="Order" ToRole="Item"/>
          </EntityType>
          <EntityType Name="Rush" BaseType="Shop.Order"><Property Name="Hours" Type="Edm.Byte"/></EntityType>
          <EntityType Name="Item"><Key><PropertyRef Name="Line"/></Key><Property Name="Line" Type="Edm.Int32" Nullable="false"/></EntityType>
          <Association Name="OrderItems"><End Role="Order" Type="Shop.Order" Multiplicity="1"/><End Role="Item" Type="Shop.Item" Multiplicity="*"/></Association>
          <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Orders" EntityType="Shop.Order"/>
            <EntitySet Name="Items" EntityType="Shop.Item"/>
            <AssociationSet Name="OrderItems" Association="Shop.OrderItems"><End Role="Order" EntitySet="Orders"/><End Role="Item" EntitySet="Items"/></AssociationSet>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
    do {
        return try CSDLReader.read(xml: Array(document.utf8))
    } catch {
        fatalError("the sample model of V2 is wrong: \(error)")
    }
}
