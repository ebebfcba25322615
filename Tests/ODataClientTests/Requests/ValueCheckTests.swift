import ODataClient
import ODataModel
import ODataQuery
import ODataService
import Testing

@Suite("Values are checked before they are sent")
struct ValueCheckTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="S"><EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String" MaxLength="3" Nullable="false"/>
        <Property Name="Price" Type="Edm.Decimal" Precision="4" Scale="2"/><NavigationProperty Name="Parts" Type="Collection(S.Item)"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Items" EntityType="S.Item"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    private let wire = WireScript(metadata: metadata) { sent, _ in
        sent.message.method == .post ? .json("{\"ID\":1,\"Name\":\"ok\"}", status: 201) : .empty()
    }

    private func item(_ client: ODataClient, _ values: [String: ODataValue]) async throws -> ODataEntity {
        ODataEntity(shape: try await client.model.requiredShape(ofSet: "Items"), values)
    }

    @Test(
        "An invalid property value is refused before the request is sent",
        arguments: [
            ["ID": .integer(1), "Name": .string("long")], ["ID": .integer(1), "Name": .null],
            ["ID": .string("1"), "Name": .string("a")], ["ID": .integer(1 << 40), "Name": .string("a")],
            ["ID": .integer(1), "Name": .string("a"), "Price": .decimal(ODataDecimal(12345))],
        ] as [[String: ODataValue]])
    func refused(values: [String: ODataValue]) async throws {
        let client = try wire.client()
        let entity = try await item(client, values)
        let url = ODataURL(set: "Items")
        let one = try ODataURL(parsing: "Items(1)")
        for request in [
            ODataRequest(.create, url, body: .entity(entity)), ODataRequest(.update, one, body: .entity(entity)),
            ODataRequest(
                .create, try ODataURL(parsing: "$batch"),
                body: .batch([BatchItem(id: "1", request: ODataRequest(.create, url, body: .entity(entity)))])),
        ] {
            await #expect(throws: InvalidValueError.self) { try await client.execute(request) }
        }
        var parent = try await item(client, ["ID": .integer(1), "Name": .string("a")])
        parent.related["Parts"] = .many([entity])
        await #expect(throws: InvalidValueError.self) {
            try await client.execute(ODataRequest(.create, url, body: .entity(parent)))
        }
        #expect(wire.sent.isEmpty)
        var configuration = ODataClient.Configuration()
        configuration.valueChecks = []
        let unchecked = try wire.client(configuration)
        _ = try? await unchecked.execute(ODataRequest(.create, url, body: .entity(entity)))
        #expect(wire.sent.count == 1 || values["ID"] == .string("1"))
    }

    @Test("For an entity that was read, only changed properties are checked")
    func changed() async throws {
        let client = try wire.client()
        var entity = try await item(client, ["ID": .integer(1), "Name": .string("much too long")])
        entity.markUnchanged()
        entity["Price"] = .decimal(ODataDecimal(1))
        let url = try ODataURL(parsing: "Items(1)")
        for method in [ODataRequest.Method.update, .replace] {
            _ = try await client.execute(ODataRequest(method, url, body: .entity(entity)))
        }
        entity["Name"] = .string("much longer")
        await #expect(throws: InvalidValueError.self) {
            try await client.execute(ODataRequest(.update, url, body: .entity(entity)))
        }
    }
}
