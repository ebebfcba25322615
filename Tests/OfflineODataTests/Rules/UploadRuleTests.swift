import Foundation
import GRDB
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Testing

/// The rules of editing and uploads that are not covered by a suite of their own.
@Suite("Rules of uploads")
struct UploadRuleTests {
    // MARK: Identification

    @Test(
        "Rule 2: a service without repeatable requests gets the request once more without the fields",
        arguments: [true, false])
    func notRepeatable(isSet: Bool) async throws {
        let shop = try await Shop()
        let refusals = LockedNames()
        let refusal = ODataError(
            status: 501, code: "NotImplemented", message: "What is that?", repeatabilityResult: .rejected)
        let service = Gateway(
            base: PlainService(base: try shop.client()),
            before: { request in
                if case .batch(let items) = request.body, items.contains(where: { $0.request.repeatability != nil }) {
                    refusals.append("batch")
                    return ODataResponse(
                        body: .batch(items.map { BatchResult(id: $0.id, result: .failure(refusal)) }))
                }
                guard request.repeatability != nil else { return nil }
                refusals.append("\(request.url)")
                throw refusal
            })
        let store = try await shop.clone(through: service)
        for stock in [5, 6] {
            if isSet {
                try await store.changes.transaction { changes in
                    try changes.update("Products(1)", ["Stock": .integer(Int64(stock))])
                    try changes.update("Products(2)", ["Stock": .integer(Int64(stock))])
                }
            } else {
                try await store.update("Products(1)", ["Stock": .integer(Int64(stock))])
            }
            let report = try await store.upload()
            #expect(report.failed.map { $0.failure?.message } == [])
            #expect(report.accepted.count == (isSet ? 2 : 1))
        }
        #expect(refusals.names == [isSet ? "batch" : "Products(1)"])
        #expect(try await shop.count("SELECT Stock FROM Products WHERE ProductID = 1") == 6)
    }

    @Test(
        "Rule 3: a request or change set is marked as sending in the file before it leaves",
        arguments: [true, false])
    func markedBefore(isSet: Bool) async throws {
        let shop = try await Shop()
        let path = shop.directory.appendingPathComponent("clone/store.db").path
        let states = LockedNames()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.method != .read else { return nil }
                let found = try await DatabaseQueue(path: path).read { database in
                    try String.fetchAll(
                        database,
                        sql: """
                            SELECT state || CASE WHEN request_id IS NULL OR first_sent IS NULL THEN '' ELSE ' since' END
                            FROM outpost_queue ORDER BY id
                            """)
                }
                states.append(found.joined(separator: ", "))
                return nil
            })
        let store = try await shop.clone(through: service)
        if isSet {
            try await store.changes.transaction { changes in
                try changes.update("Products(1)", ["Stock": 5])
                try changes.update("Products(2)", ["Stock": 7])
            }
        } else {
            try await store.update("Products(1)", ["Stock": 5])
            try await store.update("Products(2)", ["Stock": 7])
        }
        #expect(try await store.upload().accepted.count == 2)
        let expected = isSet ? ["sending since, sending since"] : ["sending since, pending", "sending since"]
        #expect(states.names == expected)
    }

    // MARK: Versions

    @Test("Rule 5: after a response without its ETag, an entity is read again for the next change")
    func answerWithoutETag() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: try shop.client(),
            after: { request, response in request.method == .update ? ODataResponse(status: 204) : response })
        let store = try await shop.clone(through: service)
        try await store.update("Products(1)", ["Stock": 5])
        try await store.update("Products(1)", ["Stock": 6])
        await shop.wire.mend()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        let requests = await shop.wire.requests
        #expect(requests.map(\.method) == [.patch, .get, .patch, .get])
        let guards = requests.filter { $0.method == .patch }.compactMap { $0.headerFields[.ifMatch] }
        #expect(guards.count == 2 && Set(guards).count == 2)
    }

    @Test(
        "Rule 8: without ETags an entity is read once before a change, and PATCH carries only changed properties")
    func comparedAndSparse() async throws {
        let shop = try await Shop()
        let sent = LockedList()
        let service = Gateway(
            base: PlainService(base: try shop.client(), hasETags: false),
            before: { request in
                if request.method == .update { sent.append(request) }
                return nil
            })
        let store = try await shop.clone(through: service)
        try await store.update("Customers('C0002')", ["City": "Mine"])
        try await shop.sql("UPDATE Customers SET CompanyName = 'Theirs' WHERE CustomerID = 'C0002'")
        await shop.wire.mend()
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [], "they changed something else")
        let methods = await shop.wire.requests.map(\.method)
        #expect(Array(methods.prefix(2)) == [.get, .patch])
        let names = sent.requests.map { request -> [String] in
            guard case .entity(let entity) = request.body else { return [] }
            return entity.shape.properties.map(\.name).filter { entity[$0] != nil }
        }
        #expect(names == [["City"]])
        let customer = "SELECT CompanyName || City FROM Customers WHERE CustomerID = 'C0002'"
        #expect(try await shop.text(customer) == "TheirsMine")
    }

    // MARK: Order

    @Test("Rule 6: the rest continues behind a refused request unless the first refusal ends the upload")
    func stopped() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": -1])
        try await store.update("Products(2)", ["Stock": 5])
        let stopped = try await store.upload(options: UploadOptions(stopOnFirstFailure: true))
        #expect(stopped.failed.map(\.entityText) == ["Products(1)"])
        #expect(stopped.accepted.isEmpty)
        #expect(stopped.waiting.map(\.entityText) == ["Products(2)"])
        #expect(try await store.upload().accepted.map(\.entityText) == ["Products(2)"])
    }

    @Test("Rule 7: a synchronisation is an upload, then a download")
    func uploadFirst() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": 5])
        try await shop.sql("UPDATE Products SET Stock = 99 WHERE ProductID = 2")
        await shop.wire.mend()
        try await store.sync()
        let methods = await shop.wire.requests.map(\.method)
        #expect(methods.first == .patch)
        #expect(methods.count > 1 && methods.dropFirst().allSatisfy { $0 == .get })
        #expect(try await store.rows("Products(2)").first?["Stock"] == 99)
        try await shop.expectEqual(store)
    }

    @Test("Rule 7: an edit is checked against facets, Computed and capabilities before it is queued")
    func checkedAtOnce() async throws {
        let properties = """
            <Property Name="Title" Type="Edm.String" MaxLength="6"/>
            <Property Name="Stamp" Type="Edm.String">
              <Annotation Term="Org.OData.Core.V1.Computed" Bool="true"/>
            </Property>
            """
        let restriction = """
            <Annotations Target="Depot.Container/Headers">
              <Annotation Term="Org.OData.Capabilities.V1.DeleteRestrictions"><Record>
                <PropertyValue Property="Deletable" Bool="false"/>
              </Record></Annotation>
            </Annotations></Schema>
            """
        let depot = try await Depot {
            $0.replacingOccurrences(of: #"<Property Name="Title" Type="Edm.String"/>"#, with: properties)
                .replacingOccurrences(of: "</Schema>", with: restriction)
        }
        let store = try await depot.clone()
        let long = await #expect(throws: ODataError.self) {
            try await store.create("Headers", ["Title": "seventh"])
        }
        #expect(long?.status == 400 && long?.target == "Title")
        let changed = await #expect(throws: ODataError.self) {
            try await store.update("Headers(1)", ["Title": "seventh"])
        }
        #expect(changed?.status == 400 && changed?.target == "Title")
        let refused = await #expect(throws: ODataError.self) { try await store.delete("Headers(1)") }
        #expect(refused?.status == 405)
        try await store.update("Headers(1)", ["Stamp": "mine"])
        #expect(try await store.rows("Headers(1)").map { $0["Stamp"] } == [.null], "it is the service's to give")
        #expect(try await store.observe.status().pending.map(\.description) == [])
        #expect(try await store.rows("Headers").count == 2)
    }

    // MARK: Temporary keys

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Keys" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="ByGuid"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Guid" Nullable="false"/><Property Name="Text" Type="Edm.String"/></EntityType>
          <EntityType Name="ByNumber"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false"/><Property Name="Text" Type="Edm.String"/></EntityType>
          <EntityType Name="ByText"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.String" Nullable="false">
              <Annotation Term="Org.OData.Core.V1.Computed" Bool="true"/></Property>
            <Property Name="Text" Type="Edm.String"/></EntityType>
          <EntityContainer Name="C"><EntitySet Name="Guids" EntityType="Keys.ByGuid"/>
            <EntitySet Name="Numbers" EntityType="Keys.ByNumber"/><EntitySet Name="Texts" EntityType="Keys.ByText"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    @Test("Rule 11: a missing key is a Guid, a negative number or a urn:uuid until the service assigns one")
    func temporaryKeys() async throws {
        let root = "http://keys.test/"
        let model = try CSDLReader.read(xml: Array(Self.metadata.utf8))
        let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let sent = LockedList()
        let client = try ODataClient(
            serviceRoot: root, transport: LoopbackTransport(ODataHandler(provider: service)))
        let remote = Gateway(
            base: client,
            before: { request in
                if request.method == .create { sent.append(request) }
                return nil
            })
        let store = try await OfflineStore.create(
            at: path, protection: .unencrypted, serviceRoot: root, remote: remote)
        try await store.download()
        var keys: [String: ODataValue] = [:]
        for set in ["Guids", "Numbers", "Texts"] { keys[set] = try await store.create(set, ["Text": "new"])?["ID"] }
        guard case .guid(let guid)? = keys["Guids"], case .string(let text)? = keys["Texts"] else {
            throw ODataError.notFound("a temporary key")
        }
        #expect(Array("\(guid)").dropFirst(14).first == "4", "of version 4")
        #expect(keys["Numbers"] == -1)
        #expect(text.hasPrefix("urn:uuid:") && text.count == 45)
        let report = try await store.upload()
        #expect(report.failed.map { $0.failure?.message } == [])
        let names = sent.requests.map { request -> [String] in
            guard case .entity(let entity) = request.body else { return [] }
            return entity.shape.properties.map(\.name).filter { entity[$0] != nil }
        }
        #expect(names == [["Text"], ["Text"], ["Text"]], "they are not sent")
        for set in ["Guids", "Numbers", "Texts"] {
            let given = try await service.rows(set).map { $0["ID"] }
            #expect(given.count == 1 && given.first != keys[set])
            #expect(try await store.rows(set).map { $0["ID"] } == given)
        }
    }
}
