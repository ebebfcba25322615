import ODataClient
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

@Suite("A service of V2 with several containers (OData 2.0, URI Conventions, 3.1)")
struct SeveralContainersTests {
    private static let schema = OddService.olderSchema().replacing(
        "</EntityContainer>",
        with: """
            </EntityContainer><EntityContainer Name="Archive"><EntitySet Name="Photos" EntityType="N.Item"/>
            <EntitySet Name="Items" EntityType="N.Item"/></EntityContainer>
            """)

    /// Returns a service in which the sets outside the default container only have qualified addresses.
    private func service() -> OddService {
        let service = OddService(Self.schema, rows: [1: #"{"ID":1,"Name":"a"}"#])
        service.answer { request in
            for set in ["Archive.Photos", "Archive.Items"] where request.target.hasPrefix(set) {
                let row = #"""
                    {"__metadata":{"uri":"\#(OddService.root)\#(set)(7)","type":"N.Item"},"ID":7,"Name":"\#(set)"}
                    """#
                if request.method == "POST" { return .json(#"{"d":\#(row.replacing("7", with: "8"))}"#, status: 201) }
                if request.method != "GET" { return OddService.Answer(status: 204) }
                if request.target.hasPrefix("\(set)/$count") { return OddService.Answer(body: "1") }
                return .json(request.target.hasPrefix("\(set)(") ? #"{"d":\#(row)}"# : #"{"d":{"results":[\#(row)]}}"#)
            }
            return nil
        }
        return service
    }

    @Test("is cloned with all sets of all containers")
    func clone() async throws {
        let service = service()
        #expect(
            try await ServiceSurvey.take(of: service.client()).parts.map(\.query.name) == [
                "Items", "Photos", "Archive_Items",
            ])
        let store = try await service.clone()
        #expect(try await store.rows("Items").map { $0["ID"] } == [1])
        #expect(try await store.rows("Photos").map { $0["Name"] } == ["Archive.Photos"])
        #expect(try await store.rows("Archive_Items").map { $0["Name"] } == ["Archive.Items"])
        #expect(!service.lines.contains { $0.contains(" Photos") || $0.contains("Archive_Items") }, "\(service.lines)")
        // Queries can use the qualified address as well.
        let named = try await service.store(["p": "Archive.Photos?$filter=ID eq 7"])
        try await named.download()
        #expect(try await named.rows("Photos").count == 1)
    }

    @Test("takes changes at the qualified addresses, also after reopening")
    func changes() async throws {
        let service = service()
        let store = try await service.clone()
        let directory = store.directory
        try store.close()
        let again = try await OfflineStore.open(
            at: directory, protection: .unencrypted,
            connect: { root, model in
                let session = try HTTPSession(
                    service, serviceRoot: root, configuration: .init(retry: .none, allowsPlainHTTP: true))
                return try ODataClient(
                    serviceRoot: root, transport: session, model: model, configuration: .init(allowsPlainHTTP: true))
            })
        try await again.update("Photos(7)", ["Name": "new"])
        try await again.upload()
        try await again.create("Archive_Items", ["ID": 8, "Name": "made"])
        try await again.upload()
        _ = try await again.execute(ODataRequest(.delete, try ODataURL(parsing: "Archive_Items(7)")))
        try await again.upload()
        #expect(try await again.observe.status().failed.isEmpty)
        let changes = service.lines.filter { !$0.hasPrefix("GET") && !$0.contains("$batch") }
        #expect(
            changes == ["MERGE Archive.Photos(7)", "POST Archive.Items", "DELETE Archive.Items(7)"], "\(service.lines)")
    }
}
