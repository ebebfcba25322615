import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataStore

/// A service with relations of every kind: foreign keys, containment and link tables, within one set and to
/// derived types.
enum Depot {
    /// Returns a new service with some entities in each set.
    ///
    /// - Parameter rows: the entities by set, in JSON.
    static func bazaar(
        _ rows: [(set: String, json: String)] = Self.rows,
        changing change: (inout ServiceDefinition) throws -> Void = { _ in }
    ) async throws -> Bazaar {
        let bazaar = try await Bazaar(model: metadata, change)
        for row in rows { try await bazaar.create(row.set, row.json) }
        return bazaar
    }

    /// Two customers with orders; the items of different orders have the same numbers.
    static let rows: [(set: String, json: String)] = [
        (set: "Products", json: #"{"ID":50,"Name":"Mug"}"#), ("Products", #"{"ID":51,"Name":"Cup"}"#),
        ("Tags", #"{"ID":1,"Name":"thin"}"#), ("Tags", #"{"ID":2,"Name":"tall"}"#),
        ("Customers", #"{"ID":"A"}"#), ("Customers", #"{"ID":"B"}"#),
        ("Orders", #"{"ID":1,"Amount":10,"CustomerID":"A","Items":[{"No":1,"ProductID":50}]}"#),
        ("Orders", #"{"ID":2,"Amount":20,"CustomerID":"B"}"#),
        ("Orders", #"{"ID":3,"Amount":30,"CustomerID":"A","Items":[{"No":1,"ProductID":51}]}"#),
    ]

    static let metadata = """
        <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="T" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <ComplexType Name="Side" OpenType="true"><Property Name="A" Type="Edm.String"/>
            <Property Name="B" Type="Edm.String"/></ComplexType>
          <ComplexType Name="Open" OpenType="true"><Property Name="X" Type="Edm.String"/>
            <Property Name="In" Type="T.Side"/></ComplexType>
          <ComplexType Name="Plain"><Property Name="P" Type="Edm.String"/><Property Name="Q" Type="Edm.String"/>
            <Property Name="In" Type="T.Side"/></ComplexType>
          <ComplexType Name="Shape"><Property Name="P" Type="Edm.String"/></ComplexType>
          <ComplexType Name="Ball" BaseType="T.Shape"><Property Name="Size" Type="Edm.Int32"/></ComplexType>
          <EntityType Name="Product"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
            <Property Name="Open" Type="T.Open"/><Property Name="Plain" Type="T.Plain"/>
            <Property Name="Shape" Type="T.Shape"/>
            <NavigationProperty Name="Tags" Type="Collection(T.Tag)"/></EntityType>
          <EntityType Name="Tag"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/></EntityType>
          <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.String" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
            <NavigationProperty Name="Orders" Type="Collection(T.Order)" Partner="Customer"/></EntityType>
          <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Amount" Type="Edm.Int32"/>
            <Property Name="CustomerID" Type="Edm.String"/>
            <NavigationProperty Name="Customer" Type="T.Customer" Partner="Orders">
              <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty>
            <NavigationProperty Name="Items" Type="Collection(T.Item)" ContainsTarget="true"/></EntityType>
          <EntityType Name="SpecialOrder" BaseType="T.Order"/>
          <EntityType Name="Item"><Key><PropertyRef Name="No"/></Key>
            <Property Name="No" Type="Edm.Int32" Nullable="false"/><Property Name="ProductID" Type="Edm.Int32"/>
            <NavigationProperty Name="Product" Type="T.Product">
              <ReferentialConstraint Property="ProductID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
          <EntityType Name="Node"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="ParentID" Type="Edm.Int32"/>
            <NavigationProperty Name="Parent" Type="T.Node" Partner="Children">
              <ReferentialConstraint Property="ParentID" ReferencedProperty="ID"/></NavigationProperty>
            <NavigationProperty Name="Children" Type="Collection(T.Node)" Partner="Parent">
              <OnDelete Action="Cascade"/></NavigationProperty>
            <NavigationProperty Name="Known" Type="Collection(T.Node)"/></EntityType>
          <EntityType Name="Animal"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
          <EntityType Name="Cat" BaseType="T.Animal"/>
          <EntityType Name="Dog" BaseType="T.Animal"><Property Name="Breed" Type="Edm.String"/>
            <NavigationProperty Name="Toys" Type="Collection(T.Tag)"/></EntityType>
          <EntityContainer Name="C">
            <EntitySet Name="Products" EntityType="T.Product">
              <NavigationPropertyBinding Path="Tags" Target="Tags"/></EntitySet>
            <EntitySet Name="Tags" EntityType="T.Tag"/>
            <EntitySet Name="Customers" EntityType="T.Customer">
              <NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
            <EntitySet Name="Orders" EntityType="T.Order">
              <NavigationPropertyBinding Path="Customer" Target="Customers"/>
              <NavigationPropertyBinding Path="Items/Product" Target="Products"/></EntitySet>
            <EntitySet Name="Nodes" EntityType="T.Node">
              <NavigationPropertyBinding Path="Parent" Target="Nodes"/>
              <NavigationPropertyBinding Path="Children" Target="Nodes"/>
              <NavigationPropertyBinding Path="Known" Target="Nodes"/></EntitySet>
            <EntitySet Name="Animals" EntityType="T.Animal">
              <NavigationPropertyBinding Path="T.Dog/Toys" Target="Tags"/></EntitySet>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}

extension Bazaar {
    /// Creates a service with another model.
    init(model metadata: String, _ change: (inout ServiceDefinition) throws -> Void) async throws {
        var definition = ServiceDefinition(model: try CSDLReader.read(xml: Array(metadata.utf8)))
        try change(&definition)
        let clock = Clock()
        var options = StoreService.Options()
        options.now = { clock.now }
        self.clock = clock
        service = try await StoreService.open(definition, at: .memory, options: options)
    }

    /// Returns a property of all entities in a collection, in the order of the keys.
    func values(_ url: String, _ property: String) async throws -> [ODataValue?] {
        try await page(url).entities.sorted { "\($0.key?.parts ?? [])" < "\($1.key?.parts ?? [])" }
            .map { $0[property] }
    }
}
