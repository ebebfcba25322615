import HTTPTypes
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// The keys that only the service assigns, and the changes that wait for them.
@Suite("Rule 11: the key of a created entity")
struct CreatedKeyTests {
    /// Returns a service that answers creations with only the header fields of the new entity.
    private func lean(
        _ base: any ODataProvider, _ fields: @escaping @Sendable (ODataEntity) -> (location: String?, id: String?)
    ) -> Gateway {
        Gateway(
            base: base,
            after: { request, response in
                guard request.method == .create, case .entity(let entity) = response.body else { return response }
                var answer = ODataResponse(status: 204, etag: response.etag)
                (answer.location, answer.entityID) = fields(entity)
                return answer
            })
    }

    @Test("is assigned by the service if the app gave null or none")
    func null() async throws {
        let shop = try await Shop()
        let sent = LockedList()
        let isLost = LockedFlag()
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            after: { request, response in
                guard request.method == .create else { return response }
                sent.append(request)
                guard !isLost.isSet else { return response }
                isLost.set()
                throw ODataError(status: 504, code: "Gateway", message: "The service did not answer.")
            })
        let store = try await shop.clone(through: service)
        try await store.create(
            "Orders", ["OrderID": .null, "CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 0))])
        await #expect(throws: ODataError.self) { try await store.upload() }
        guard case .entity(let order)? = sent.requests.first?.body else { throw ODataError.notFound("a creation") }
        #expect(order["OrderID"] == nil)
        // The entity never had the temporary key, so it cannot be searched for.
        #expect(try await store.upload().failed.map(\.state) == [.inDoubt])
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders") == 201)
    }

    @Test("is read from the location of a contained entity")
    func contained() async throws {
        let studio = try await Studio()
        let service = lean(try studio.client()) { sheet in
            guard case .integer(let id)? = sheet["ID"] else { return (nil, nil) }
            return ("http://studio.test/Albums(1)/Sheets(\(id))", nil)
        }
        let store = try await studio.clone([try DefiningQuery("albums", "Albums?$expand=Sheets")], through: service)
        try await store.change(.create, "Albums(1)/Sheets", "Sheet", ["Text": "new"])
        let report = try await store.upload()
        #expect(report.failed.map(\.description) == [])
        let theirs = try await studio.service.rows("Albums(1)/Sheets").map { $0["ID"] }
        #expect(try await store.rows("Albums(1)/Sheets").map { $0["ID"] } == theirs)
    }

    @Test("is read from a location that ends in a type, or from the entity's id", arguments: [true, false])
    func derived(isInLocation: Bool) async throws {
        let depot = try await Depot { metadata in
            metadata.replacingOccurrences(
                of: """
                    <Property Name="ID" Type="Edm.Int64" Nullable="false"/>
                        <Property Name="Text"
                    """,
                with: """
                    <Property Name="ID" Type="Edm.Int64" Nullable="false">
                      <Annotation Term="Org.OData.Core.V1.ComputedDefaultValue" Bool="true"/></Property>
                    <Property Name="Text"
                    """)
        }
        let service = lean(try depot.client()) { paper in
            guard case .integer(let id)? = paper["ID"] else { return (nil, nil) }
            let address = "http://depot.test/Papers(\(id))/Depot.Letter"
            return isInLocation ? (address, nil) : ("http://depot.test/monitor/7", address)
        }
        let store = try await depot.clone(through: service)
        try await store.change(.create, "Papers", "Letter", ["Text": "new", "HeaderID": 1])
        let report = try await store.upload()
        #expect(report.failed.map(\.description) == [])
        #expect(report.accepted.map(\.omitted) == [["ID"]])
        let theirs = try await depot.service.rows("Papers").map { $0["ID"] }
        #expect(try await store.rows("Papers").map { $0["ID"] } == theirs)
    }

    @Test("is searched in a location in time proportional to its length", Patience.limit)
    func longAddress() async throws {
        let shop = try await Shop()
        let service = lean(try shop.client()) { order in
            guard case .integer(let id)? = order["OrderID"] else { return (nil, nil) }
            return ("http://shop.test/" + String(repeating: "a/", count: 100_000), "http://shop.test/Orders(\(id))")
        }
        let store = try await shop.clone(through: service)
        try await store.create("Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 0))])
        let report = try await store.upload()
        #expect(report.failed.map(\.description) == [])
        #expect(try await store.rows("Orders(1201)").count == 1)
    }

    @Test("is reported beside the temporary key")
    func report() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.create("Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(.init(seconds: 0))])
        try await store.update("Orders(1001)", ["Freight": .decimal(ODataDecimal(9))])
        let report = try await store.upload()
        let created = try #require(report.accepted.first { $0.kind == .create })
        #expect(created.entityText == "Orders(-1)")
        #expect(report.assignedKeys == [created.id: EntityKey("OrderID", 1201)])
        #expect(report.assignedKeys[created.id].map(created.entityText(under:)) == "Orders(1201)")
    }

    // MARK: Dependent changes

    @Test("is used by an action, even if the entity is not kept")
    func action() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        try await store.changes.provider(with: ChangeOptions(removesCreatedEntity: true)).create(
            "Albums", ["Name": "Autumn"])
        _ = try await store.execute(
            ODataRequest(
                .create, try ODataURL(parsing: "Albums(-1)/Studio.Rename"), body: .parameters(["Name": "Fall"])))
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        #expect(report.accepted.map(\.kind) == [.create, .call])
        #expect(try await studio.service.rows("Albums(3)").map { $0["Name"] } == ["Fall"])
        try await store.download()
        #expect(try await store.rows("Albums").count == 3)
    }

    @Test("is used by a header field, even if the entity is not kept")
    func headerField() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        try await store.changes.provider(with: ChangeOptions(removesCreatedEntity: true)).create(
            "Tags", ["Name": "new"])
        try await store.changes.provider(with: ChangeOptions(headers: ["X-About": "{Tags(-1)}"])).update(
            "Albums(1)", ["Name": "Renamed"])
        #expect(try await store.upload().accepted.map(\.kind) == [.create, .update])
        let name = try #require(HTTPField.Name("X-About"))
        #expect(await studio.wire.requests.compactMap { $0.headerFields[name] } == ["Tags(4)"])
    }
}
