import Foundation
import GRDB
import ODataModel
import ODataSQL

/// A million orders, and the customers that placed them, in the layout of an offline store, without the store's
/// encryption, which is measured elsewhere.
struct Orders {
    let model: EntityDataModel
    let layout: OfflineLayout
    let queue: DatabaseQueue

    init(rows: Int) throws {
        model = try CSDLReader.read(xml: Array(Self.metadata.utf8))
        layout = OfflineLayout(model: model)
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            StoreFunctions.register(in: database)
            try database.execute(sql: "PRAGMA cache_size = -65536")
        }
        queue = try DatabaseQueue(configuration: configuration)
        let layout = layout
        try queue.write { database in
            try layout.create(in: database)
            // Twenty cities and five thousand customers; the numbers of a prime spread them over the table.
            try database.execute(
                sql: """
                    INSERT INTO "Orders" ("OrderID", "CustomerID", "ShipCity", "Freight", "Shipped", "Placed")
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                    SELECT i, printf('C%04d', i * 7919 % 5000),
                        (CASE i * 7919 % 4 WHEN 0 THEN 'B' WHEN 1 THEN 'L' WHEN 2 THEN 'M' ELSE 'R' END)
                            || 'city ' || (i * 7919 % 20),
                        i * 7919 % 100000, i % 3 = 0, i * 7919 % 1000003
                    FROM n
                    """, arguments: [rows])
            try database.execute(
                sql: """
                    INSERT INTO "Customers" ("CustomerID", "City")
                    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
                    SELECT printf('C%04d', i), 'city ' || (i % 20) FROM n
                    """)
            try database.execute(sql: "CREATE INDEX by_placed ON \"Orders\" (\"Placed\")")
        }
    }

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Bench" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Order"><Key><PropertyRef Name="OrderID"/></Key>
        <Property Name="OrderID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="CustomerID" Type="Edm.String" MaxLength="5"/>
        <Property Name="ShipCity" Type="Edm.String"/>
        <Property Name="Freight" Type="Edm.Decimal" Precision="12" Scale="2"/>
        <Property Name="Shipped" Type="Edm.Boolean"/>
        <Property Name="Placed" Type="Edm.Int64"/>
        </EntityType>
        <EntityType Name="Customer"><Key><PropertyRef Name="CustomerID"/></Key>
        <Property Name="CustomerID" Type="Edm.String" MaxLength="5" Nullable="false"/>
        <Property Name="City" Type="Edm.String"/>
        </EntityType>
        <EntityContainer Name="Container"><EntitySet Name="Orders" EntityType="Bench.Order"/>
        <EntitySet Name="Customers" EntityType="Bench.Customer"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}
