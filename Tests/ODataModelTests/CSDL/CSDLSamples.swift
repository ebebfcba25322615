/// Small metadata documents for tests.
enum CSDLSamples {
    static let v4 = """
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" xmlns="http://docs.oasis-open.org/odata/ns/edm" Version="4.01">
          <edmx:Reference Uri="core.xml">
            <edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/>
          </edmx:Reference>
          <edmx:DataServices>
            <Schema Namespace="Shop.Model" Alias="self">
              <EntityType Name="Order" HasStream="true">
                <Key><PropertyRef Name="Number"/><PropertyRef Name="Info/Site" Alias="Site"/></Key>
                <Property Name="Number" Type="Edm.Int64" Nullable="false"/>
                <Property Name="Freight" Type="Edm.Decimal" Precision="10" Scale="variable" DefaultValue="0"/>
                <Property Name="Info" Type="self.Info" Nullable="false"/>
                <Property Name="Colors" Type="Collection(self.Color)" Nullable="false"/>
                <Property Name="Weight" Type="self.Weight">
                  <Annotation Term="Core.Description" String="in &lt;kg&gt;&#10;&amp; net"/>
                </Property>
                <Property Name="Elsewhere" Type="Other.Thing"/>
                <NavigationProperty Name="Customer" Type="self.Customer" Nullable="false" Partner="Orders">
                  <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/>
                </NavigationProperty>
                <NavigationProperty Name="Items" Type="Collection(self.Item)" ContainsTarget="true">
                  <OnDelete Action="Cascade"/>
                </NavigationProperty>
              </EntityType>
              <EntityType Name="Customer" OpenType="true">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.String" Nullable="false" MaxLength="5" Unicode="false"/>
                <NavigationProperty Name="Orders" Type="Collection(self.Order)" Partner="Customer"/>
              </EntityType>
              <EntityType Name="Item"><Key><PropertyRef Name="Line"/></Key><Property Name="Line" Type="Edm.Int32" Nullable="false"/></EntityType>
              <EntityType Name="BigOrder" BaseType="self.Order"/>
              <ComplexType Name="Info" Abstract="true"><Property Name="Site" Type="Edm.Int32" Nullable="false"/></ComplexType>
              <EnumType Name="Color" IsFlags="true" UnderlyingType="Edm.Int16">
                <Member Name="Red" Value="1"/><Member Name="Green" Value="2"/>
              </EnumType>
              <EnumType Name="Size"><Member Name="S"/><Member Name="M"/><Member Name="L" Value="7"/><Member Name="XL"/></EnumType>
              <TypeDefinition Name="Weight" UnderlyingType="Edm.Decimal" Scale="3"/>
              <Function Name="Total" IsBound="true" IsComposable="true"><Parameter Name="it" Type="self.Order"/><ReturnType Type="Edm.Decimal" Nullable="false" Scale="2"/></Function>
              <Function Name="Total" IsBound="true"><Parameter Name="it" Type="self.Customer"/><ReturnType Type="Edm.Decimal"/></Function>
              <Action Name="Close" IsBound="true" EntitySetPath="it/Items"><Parameter Name="it" Type="self.Order"/><Parameter Name="why" Type="Edm.String" MaxLength="9"/></Action>
              <Function Name="Open"><ReturnType Type="Collection(self.Order)"/></Function>
              <Term Name="Note" Type="Edm.String" AppliesTo="Property EntityType" DefaultValue="x"/>
              <EntityContainer Name="Container">
                <EntitySet Name="Orders" EntityType="self.Order">
                  <NavigationPropertyBinding Path="Customer" Target="Customers"/>
                  <NavigationPropertyBinding Path="self.BigOrder/Customer" Target="self.Container/Customers"/>
                </EntitySet>
                <EntitySet Name="Customers" EntityType="self.Customer" IncludeInServiceDocument="false"/>
                <Singleton Name="Me" Type="self.Customer"/>
                <FunctionImport Name="OpenOrders" Function="self.Open" EntitySet="Orders" IncludeInServiceDocument="true"/>
              </EntityContainer>
              <Annotations Target="self.Order/Freight" Qualifier="Q">
                <Annotation Term="self.Note">
                  <Record Type="self.Info">
                    <Annotation Term="Core.IsLanguageDependent"/>
                    <PropertyValue Property="Site" Int="3"><Annotation Term="self.Note" Qualifier="z" String="p"/></PropertyValue>
                    <PropertyValue Property="Paths"><Collection><AnnotationPath>Customer/@self.Note#A</AnnotationPath></Collection></PropertyValue>
                    <PropertyValue Property="Shade" EnumMember="self.Color/Red self.Color/Green"/>
                    <PropertyValue Property="Text"><Apply Function="odata.concat"><String> a </String><Path>self.BigOrder/Number</Path></Apply></PropertyValue>
                    <PropertyValue Property="When"><If><Eq><Path>A</Path><Null/></Eq><Bool>true</Bool><Bool>false</Bool></If></PropertyValue>
                  </Record>
                  <Annotation Term="self.Note" String="nested"/>
                </Annotation>
              </Annotations>
              <Annotations Target="self.Total(self.Customer)/$ReturnType"><Annotation Term="self.Note"/></Annotations>
              <Annotations Target="self.Total"><Annotation Term="self.Note" String="all"/></Annotations>
              <Annotations Target="self.Color/Red"><Annotation Term="self.Note"/></Annotations>
              <Annotations Target="self.Container/Orders"><Annotation Term="self.Note"/></Annotations>
              <Annotations Target="Far.Away/Thing"><Annotation Term="self.Note"/></Annotations>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """

    static let v2 = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:s="http://www.sap.com/Protocols/SAPData">
          <edmx:DataServices m:DataServiceVersion="2.0">
            <Schema Namespace="Flight" xmlns="http://schemas.microsoft.com/ado/2008/09/edm" s:schema-version="1">
              <EntityType Name="Carrier" m:HasStream="true" s:content-version="1">
                <Key><PropertyRef Name="Id"/></Key>
                <Property Name="Id" Type="Edm.String" Nullable="false" MaxLength="3" s:label="Airline"/>
                <Property Name="Since" Type="Edm.DateTime" Precision="7"/>
                <Property Name="Version" Type="Edm.Int32" ConcurrencyMode="Fixed"/>
                <NavigationProperty Name="Flights" Relationship="Flight.CarrierFlights" FromRole="Carrier" ToRole="Flight"/>
              </EntityType>
              <EntityType Name="Flight">
                <Key><PropertyRef Name="Id"/></Key>
                <Property Name="Id" Type="Edm.Guid" Nullable="false"/>
                <Property Name="CarrierId" Type="Edm.String"/>
                <Property Name="Start" Type="Edm.Time"/>
                <NavigationProperty Name="Carrier" Relationship="Flight.CarrierFlights" FromRole="Flight" ToRole="Carrier"/>
              </EntityType>
              <EntityType Name="Charter" BaseType="Flight.Flight"/>
              <Association Name="CarrierFlights">
                <End Role="Carrier" Type="Flight.Carrier" Multiplicity="0..1"><OnDelete Action="Cascade"/></End>
                <End Role="Flight" Type="Flight.Flight" Multiplicity="*"/>
                <ReferentialConstraint>
                  <Principal Role="Carrier"><PropertyRef Name="Id"/></Principal>
                  <Dependent Role="Flight"><PropertyRef Name="CarrierId"/></Dependent>
                </ReferentialConstraint>
              </Association>
              <EntityContainer Name="Service" m:IsDefaultEntityContainer="true">
                <EntitySet Name="Carriers" EntityType="Flight.Carrier" s:creatable="false"/>
                <EntitySet Name="Flights" EntityType="Flight.Flight"/>
                <AssociationSet Name="CarrierFlightsSet" Association="Flight.CarrierFlights">
                  <End Role="Carrier" EntitySet="Carriers"/>
                  <End Role="Flight" EntitySet="Flights"/>
                </AssociationSet>
                <FunctionImport Name="Nearby" ReturnType="Collection(Flight.Flight)" EntitySet="Flights" m:HttpMethod="GET"><Parameter Name="km" Type="Edm.Int32" Mode="In"/></FunctionImport>
                <FunctionImport Name="Cancel" m:HttpMethod="POST"/>
              </EntityContainer>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """
}
