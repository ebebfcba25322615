import Foundation

/// The rows that go over the wire and into tables: a key and eleven more properties, told by the number alone.
public struct SampleOrder {
    /// The key.
    public let id: Int

    /// The order of this number.
    public init(id: Int) { self.id = id }

    /// In hundredths.
    public var freight: Int { id % 900 * 100 + 10 + id % 90 }
    /// Of the month.
    public var day: Int { 10 + id % 20 }

    /// The entity in OData JSON.
    ///
    /// - Parameter version: how often the row was changed.
    public func json(version: Int = 0) -> String {
        """
        {"@odata.etag":"W/\\"\(id).\(version)\\"","ID":\(id),"Customer":"VINET","Employee":\(id % 9 + version),"Placed":\
        "2026-07-\(day)T08:30:00Z","Required":"2026-08-\(day)","Freight":\(id % 900).\(10 + id % 90),\
        "ShipName":"Vins et alcools Chevalier","ShipAddress":"59 rue de l'Abbaye","ShipCity":"Reims","ShipCountry":\
        "France","Paid":\(id % 2 == 0),"Weight":\(id % 50).5}
        """
    }

    /// A page of a collection, without the brace at its end where another page follows it by a link of its own.
    public static func page(_ number: Int, of count: Int, size: Int) -> String {
        var text = "{\"@odata.context\":\"$metadata#Orders\",\"value\":["
        text += (0..<size).map { SampleOrder(id: number * size + $0).json() }.joined(separator: ",")
        text += "]"
        if number + 1 < count { text += ",\"@odata.nextLink\":\"Orders?page=\(number + 1)\"" }
        return text
    }

    /// The model that the rows are of.
    public static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Bench"><EntityType Name="Order">
        <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"/>
        <Property Name="Customer" Type="Edm.String"/><Property Name="Employee" Type="Edm.Int32"/>
        <Property Name="Placed" Type="Edm.DateTimeOffset"/><Property Name="Required" Type="Edm.Date"/>
        <Property Name="Freight" Type="Edm.Decimal" Scale="2"/><Property Name="ShipName" Type="Edm.String"/>
        <Property Name="ShipAddress" Type="Edm.String"/><Property Name="ShipCity" Type="Edm.String"/>
        <Property Name="ShipCountry" Type="Edm.String"/><Property Name="Paid" Type="Edm.Boolean"/>
        <Property Name="Weight" Type="Edm.Double"/></EntityType><EntityContainer Name="C">
        <EntitySet Name="Orders" EntityType="Bench.Order"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
}
