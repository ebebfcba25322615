import ODataModel

/// A model with one of everything that payloads can hold.
func sampleModel() -> EntityDataModel {
    let document = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EnumType Name="Color" IsFlags="true"><Member Name="Red" Value="1"/><Member Name="Blue" Value="2"/></EnumType>
          <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/><Property Name="At" Type="Edm.GeographyPoint"/></ComplexType>
          <ComplexType Name="Home" BaseType="Shop.Address" OpenType="true"><Property Name="Floor" Type="Edm.SByte"/></ComplexType>
          <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false"/><Property Name="Price" Type="Edm.Decimal" Scale="variable"/>
            <Property Name="Rate" Type="Edm.Double"/><Property Name="Small" Type="Edm.Single"/>
            <Property Name="Name" Type="Edm.String"/><Property Name="Paid" Type="Edm.Boolean"/>
            <Property Name="Placed" Type="Edm.DateTimeOffset"/><Property Name="Day" Type="Edm.Date"/>
            <Property Name="Time" Type="Edm.TimeOfDay"/><Property Name="Length" Type="Edm.Duration"/>
            <Property Name="Tag" Type="Edm.Guid"/><Property Name="Photo" Type="Edm.Binary"/>
            <Property Name="Color" Type="Shop.Color"/><Property Name="ShipTo" Type="Shop.Address"/>
            <Property Name="Tags" Type="Collection(Edm.String)"/>
            <NavigationProperty Name="Items" Type="Collection(Shop.Item)" ContainsTarget="true"/>
          </EntityType>
          <EntityType Name="Rush" BaseType="Shop.Order" OpenType="true"><Property Name="Hours" Type="Edm.Byte"/></EntityType>
          <EntityType Name="Item"><Key><PropertyRef Name="Line"/></Key><Property Name="Line" Type="Edm.Int32" Nullable="false"/></EntityType>
          <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="Shop.Order"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
    do {
        return try CSDLReader.read(xml: Array(document.utf8))
    } catch {
        fatalError("the sample model is wrong: \(error)")
    }
}
