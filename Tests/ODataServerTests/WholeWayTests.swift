import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataServer
import ODataService
import ODataTransportNIO
import Synchronization
import Testing

/// Client, transport, socket, server and handler together.
@Suite struct WholeWayTests {
    /// A provider with many rows, which are returned as encoded bytes if a format is requested. It accepts
    /// every created entity.
    private struct Rows: ODataProvider {
        let fixedModel: EntityDataModel
        let count: Int

        init(count: Int) throws {
            self.count = count
            fixedModel = try CSDLReader.read(
                xml: Array(
                    """
                    <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
                    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="N"><EntityType Name="Row"><Key>
                    <PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                    <Property Name="Text" Type="Edm.String"/></EntityType><EntityContainer Name="C">
                    <EntitySet Name="Rows" EntityType="N.Row"/></EntityContainer></Schema>
                    </edmx:DataServices></edmx:Edmx>
                    """.utf8))
        }

        var model: EntityDataModel { get async throws { fixedModel } }

        var traits: ProviderTraits { .standard }

        func execute(_ request: ODataRequest) async throws -> ODataResponse {
            if case .entity(let entity) = request.body {
                return ODataResponse(status: 201, body: .entity(entity), etag: "\"1\"")
            }
            let next = Mutex(0)
            let count = count
            let stream = ByteStream {
                let start = next.withLock { next in
                    defer { next += 1000 }
                    return next
                }
                if start > count { return nil }
                var text = start == 0 ? #"{"@context":"$metadata#Rows","value":["# : ""
                for id in start..<min(start + 1000, count) {
                    text += (id == 0 ? "" : ",") + #"{"ID":\#(id),"Text":"row \#(id) ü"}"#
                }
                if start + 1000 > count { text += "]}" }
                return Array(text.utf8)
            }
            return ODataResponse(body: .encoded(stream, contentType: request.format?.mediaType ?? "application/json"))
        }
    }

    @Test func `a large collection streams through everything, and a change goes the other way`() async throws {
        let rows = try Rows(count: 50_500)
        let handler = try ODataHandler(provider: rows, serviceRoot: "/n/")
        let server = try await ODataServer(
            configuration: .init(pathPrefix: "/n/", authentication: [BasicAuthentication(user: "a", password: "b")]),
            handler: handler.handle
        ).start()
        let transport = MeteredTransport(try NIOTransport())
        let client = try ODataClient(
            serviceRoot: server.url, transport: transport, authentication: .basic(user: "a", password: "b"))
        let data = DataService(client)
        let entities = try await data.entities("Rows")
        #expect(entities.count == 50_500)
        #expect(entities.last?["Text"] == "row 50499 ü")
        #expect(transport.meter.received > 1_000_000)
        let shape = try #require(rows.fixedModel.shape(ofSet: "Rows"))
        let created = try await data.create(ODataEntity(shape: shape, ["ID": 7, "Text": "neu"]))
        #expect(created["Text"] == "neu")
        #expect(created.control.etag == "\"1\"")
        let error = await #expect(throws: ODataError.self) {
            _ = try await data.entities(ODataURL(parsing: "Rows?$filter=Txet eq 'x'"))
        }
        #expect(error?.status == 400)
        let stranger = try ODataClient(serviceRoot: server.url, transport: transport)
        await #expect(throws: MetadataError.unauthorized(url: server.url + "$metadata")) {
            _ = try await stranger.model
        }
        try await transport.base.shutdown()
        await server.stop()
    }
}
