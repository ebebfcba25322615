import Foundation
import HTTPTypes
import ODataServer
import ODataService

/// The service that is measured against: bytes made beforehand, in a process of its own.
enum Service {
    static let pageSize = 5_000

    static let metadata = """
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

    /// Serves until its standard input ends; prints the port.
    static func run(entities: Int) async throws {
        let pages = (0..<(entities / pageSize)).map { page(at: $0, of: entities / pageSize) }
        let single = Array("{\"@odata.context\":\"$metadata#Orders/$entity\",\(row(7).dropFirst())".utf8)
        let documents = Array(metadata.utf8)
        let server = try await ODataServer(configuration: .init()) { request, _, _ in
            var response = HTTPResponse(status: .ok)
            response.headerFields[.contentType] = "application/json"
            let path = request.path ?? "/"
            if path.hasSuffix("$metadata") {
                response.headerFields[.contentType] = "application/xml"
                return (response, ByteStream(documents))
            }
            if path.hasPrefix("/bench/Orders(") { return (response, ByteStream(single)) }
            let number = path.split(separator: "=").last.flatMap { Int($0) } ?? 0
            return (response, ByteStream(pages[min(number, pages.count - 1)]))
        }.start()
        FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
        while readLine() != nil {}
        await server.stop()
    }

    private static func page(at number: Int, of count: Int) -> [UInt8] {
        var text = "{\"@odata.context\":\"$metadata#Orders\",\"value\":["
        text += (0..<pageSize).map { row(number * pageSize + $0) }.joined(separator: ",")
        text += "]"
        if number + 1 < count { text += ",\"@odata.nextLink\":\"Orders?page=\(number + 1)\"" }
        return Array((text + "}").utf8)
    }

    private static func row(_ id: Int) -> String {
        """
        {"@odata.etag":"W/\\"\(id)\\"","ID":\(id),"Customer":"VINET","Employee":\(id % 9),"Placed":\
        "2026-07-\(10 + id % 20)T08:30:00Z","Required":"2026-08-\(10 + id % 20)","Freight":\(id % 900).\(10 + id % 90),\
        "ShipName":"Vins et alcools Chevalier","ShipAddress":"59 rue de l'Abbaye","ShipCity":"Reims","ShipCountry":\
        "France","Paid":\(id % 2 == 0),"Weight":\(id % 50).5}
        """
    }
}
