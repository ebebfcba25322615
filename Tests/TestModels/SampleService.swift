import ODataModel

/// A small service for payload tests.
package enum SampleService {
    package static let order = QualifiedName("Shop", "Order")

    package static func model() throws -> EntityDataModel {
        try CSDLReader.read(
            xml: Array(
                """
                <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
                <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                  <EntityType Name="Order">
                    <Key><PropertyRef Name="ID"/></Key>
                    <Property Name="ID" Type="Edm.Int64" Nullable="false"/>
                    <Property Name="Freight" Type="Edm.Decimal" Scale="variable"/>
                    <Property Name="ShipTo" Type="Shop.Address"/>
                    <Property Name="Tags" Type="Collection(Edm.String)"/>
                    <Property Name="Placed" Type="Edm.DateTimeOffset"/>
                    <NavigationProperty Name="Customer" Type="Shop.Customer"/>
                    <NavigationProperty Name="Items" Type="Collection(Shop.Item)" ContainsTarget="true"/>
                  </EntityType>
                  <EntityType Name="RushOrder" BaseType="Shop.Order" OpenType="true"><Property Name="Hours" Type="Edm.Int32"/></EntityType>
                  <EntityType Name="Customer"><Key><PropertyRef Name="Code"/></Key>
                    <Property Name="Code" Type="Edm.String" Nullable="false"/><Property Name="Name" Type="Edm.String"/></EntityType>
                  <EntityType Name="Item"><Key><PropertyRef Name="Line"/></Key>
                    <Property Name="Line" Type="Edm.Int32" Nullable="false"/></EntityType>
                  <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
                  <EntityContainer Name="C">
                    <EntitySet Name="Orders" EntityType="Shop.Order"/><EntitySet Name="Customers" EntityType="Shop.Customer"/>
                    <Singleton Name="Me" Type="Shop.Customer"/>
                  </EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
    }
}
