import HTTPTypes
import ODataClient
import ODataHTTP
import ODataQuery
import ODataService

func usesODataClient() async throws {
    // A service without a network: the answers that a real one would give.
    let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop"><EntityType Name="Order">
        <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="City" Type="Edm.String"/></EntityType><EntityContainer Name="C">
        <EntitySet Name="Orders" EntityType="Shop.Order"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
    let transport = LoopbackTransport { request, _ in
        let isMetadata = request.path?.hasSuffix("$metadata") ?? false
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = isMetadata ? "application/xml" : "application/json"
        let body =
            isMetadata
            ? metadata : "{\"@odata.context\":\"$metadata#Orders\",\"value\":[{\"ID\":1,\"City\":\"Graz\"}]}"
        return (response, ByteStream(Array(body.utf8)))
    }

    let service = DataService(
        try await ODataClient(
            "https://service.test/shop/", transport: transport,
            authentication: .basic(user: "me", password: "never printed")))
    for order in try await service.entities(ResourceQuery("Orders").filter(.property("City") == "Graz")) {
        print(order["ID"] ?? .null, order["City"] ?? .null)
    }
    print(Authentication.basic(user: "me", password: "never printed"))

    // A session around a transport in memory, as an app has one around a transport with sockets.
    let loopback = LoopbackTransport { request, _ in
        (HTTPResponse(status: .ok), ByteStream(Array((request.headerFields[.cookie] ?? "no cookie").utf8)))
    }
    let session = try HTTPSession(loopback, serviceRoot: "https://service.test/")
    let request = HTTPRequest(method: .get, scheme: "https", authority: "service.test", path: "/")
    for await event in session.events(of: request) { print(event) }
}
