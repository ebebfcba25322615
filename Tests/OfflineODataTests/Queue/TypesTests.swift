import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Testing

@Suite("The queue of changes")
struct TypesTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Plan"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.String" Nullable="false"/>
            <Property Name="Title" Type="Edm.String"/>
            <NavigationProperty Name="Steps" Type="Collection(S.Step)" ContainsTarget="true"/>
            <NavigationProperty Name="Tags" Type="Collection(S.Tag)"/>
          </EntityType>
          <EntityType Name="BigPlan" BaseType="S.Plan"><Property Name="Size" Type="Edm.Int32"/></EntityType>
          <EntityType Name="EmptyPlan" BaseType="S.Plan"/>
          <EntityType Name="NamedPlan" BaseType="S.Plan"><Property Name="Nick" Type="Edm.String"/></EntityType>
          <EntityType Name="Step"><Key><PropertyRef Name="No"/></Key>
            <Property Name="No" Type="Edm.Int32" Nullable="false"/></EntityType>
          <EntityType Name="Tag"><Key><PropertyRef Name="Name"/></Key>
            <Property Name="Name" Type="Edm.String" Nullable="false"/></EntityType>
          <EntityContainer Name="C"><EntitySet Name="Plans" EntityType="S.Plan">
              <NavigationPropertyBinding Path="Tags" Target="Tags"/></EntitySet>
            <EntitySet Name="Tags" EntityType="S.Tag"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    /// A service that accepts every change and has no entities.
    private struct Service: ODataProvider {
        let parsed: EntityDataModel
        let seen: LockedList

        var model: EntityDataModel { get async throws { parsed } }

        var traits: ProviderTraits { .standard }

        func execute(_ request: ODataRequest) async throws -> ODataResponse {
            guard request.method != .read else { return ODataResponse(body: .page(EntityPage())) }
            seen.append(request)
            return ODataResponse(status: 204, etag: "W/\"1\"")
        }
    }

    private func store() async throws -> (OfflineStore, LockedList, String) {
        let seen = LockedList()
        let service = Service(parsed: try CSDLReader.read(xml: Array(Self.metadata.utf8)), seen: seen)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)").path
        let store = try await OfflineStore.create(
            at: path, protection: .unencrypted, serviceRoot: "http://plans.test/", remote: service)
        try await store.download()
        return (store, seen, path)
    }

    private func shape(_ name: String, _ store: OfflineStore) throws -> TypeShape {
        let qualified = try #require(QualifiedName("S.\(name)"))
        return try #require(store.model.shape(qualified))
    }

    @Test("keeps the properties of derived types")
    func derived() async throws {
        let (store, seen, path) = try await store()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let shape = try shape("BigPlan", store)
        let plan = ODataEntity(shape: shape, ["ID": "a", "Title": "A", "Size": 3])
        _ = try await store.execute(ODataRequest(.create, ODataURL(parsing: "Plans"), body: .entity(plan)))
        var patch = ODataEntity(shape: shape)
        patch["Size"] = 4
        _ = try await store.execute(ODataRequest(.update, ODataURL(parsing: "Plans('a')"), body: .entity(patch)))
        #expect(try await store.observe.status().pending.map { $0.changes["Size"] } == [3, 4])
        #expect(try await store.upload().failed.map(\.entityText) == [])
        let sent = seen.requests.compactMap { request -> ODataEntity? in
            if case .entity(let entity) = request.body { entity } else { nil }
        }
        #expect(sent.map { $0["Size"] } == [3, 4])
        #expect(sent.map(\.control.type) == [shape.name, shape.name], "the URL does not tell it")
        #expect(try await store.rows("Plans('a')").first?["Size"] == 4)
    }

    @Test("keeps derived types that have no properties of their own")
    func derivedWithoutProperties() async throws {
        let (store, _, path) = try await store()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let shape = try shape("EmptyPlan", store)
        let plan = ODataEntity(shape: shape, ["ID": "a", "Title": "A"])
        _ = try await store.execute(ODataRequest(.create, ODataURL(parsing: "Plans"), body: .entity(plan)))
        #expect(try await store.upload().failed.map(\.entityText) == [])
        #expect(try await store.rows("Plans/S.EmptyPlan").map { $0["ID"] } == ["a"])
        var patch = ODataEntity(shape: shape)
        patch["Title"] = "B"
        _ = try await store.execute(ODataRequest(.update, ODataURL(parsing: "Plans('a')"), body: .entity(patch)))
        #expect(try await store.upload().accepted.map(\.changes.shape.name) == [shape.name])
        #expect(try await store.rows("Plans/S.EmptyPlan").map { $0["Title"] } == ["B"])
    }

    /// Returns a service with an entity of a derived type, and a store of it.
    private func bigPlan(_ folder: Folder) async throws -> (StoreService, OfflineStore) {
        let root = "http://plans.test/"
        let model = try CSDLReader.read(xml: Array(Self.metadata.utf8))
        let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory)
        try await service.change(.create, "Plans", "BigPlan", ["ID": "a", "Title": "A", "Size": 3])
        let store = try await OfflineStore.create(
            at: folder.url.appendingPathComponent("store").path, protection: .unencrypted, serviceRoot: root,
            remote: try ODataClient(
                serviceRoot: root, transport: LoopbackTransport(ODataHandler(provider: service))))
        try await store.download()
        return (service, store)
    }

    @Test(
        "uses the latest type of an entity that is created again while a change is pending",
        arguments: ["Plan", "EmptyPlan", "NamedPlan", "BigPlan"], [true, false])
    func otherType(type: String, isUploaded: Bool) async throws {
        let folder = Folder()
        let (service, store) = try await bigPlan(folder)
        try await store.update("Plans('a')", ["Title": "Mine"])
        try await service.delete("Plans('a')")
        var values: [String: ODataValue] = ["ID": "a", "Title": "Theirs"]
        if type == "NamedPlan" { values["Nick"] = "n" }
        if type == "BigPlan" { values["Size"] = 4 }
        try await service.change(.create, "Plans", type, values)
        if isUploaded {
            #expect(try await store.upload().failed.map { $0.failure?.status } == [412])
        } else {
            try await store.download()
        }
        func expectType(_ title: ODataValue) async throws {
            for known in ["EmptyPlan", "NamedPlan", "BigPlan"] {
                let found = try await store.rows("Plans/S.\(known)").map { $0["Title"] }
                #expect(found == (known == type ? [title] : []), "\(known)")
            }
            let plan = try #require(try await store.rows("Plans('a')").first)
            #expect(plan["Title"] == title)
            if type == "NamedPlan" { #expect(plan["Nick"] == "n") }
            if type == "BigPlan" { #expect(plan["Size"] == 4) }
        }
        try await expectType("Mine")
        if isUploaded {
            #expect(try await store.changes.discard() == 1)
        } else {
            #expect(try await store.changes.undoAll() == 1)
        }
        try await expectType("Theirs")
    }

    @Test("omits a pending value that the current type of an entity lacks")
    func changeOfOtherType() async throws {
        let folder = Folder()
        let (service, store) = try await bigPlan(folder)
        try await store.change(.update, "Plans('a')", "BigPlan", ["Title": "Mine", "Size": 5])
        try await service.delete("Plans('a')")
        try await service.change(.create, "Plans", "NamedPlan", ["ID": "a", "Title": "Theirs", "Nick": "n"])
        for _ in 1...2 { try await store.download() }
        let plan = try #require(try await store.rows("Plans/S.NamedPlan").first)
        #expect(plan["Title"] == "Mine" && plan["Nick"] == "n")
        #expect(try await store.observe.status().pending.map { $0.changes["Size"] } == [5])
        #expect(try await store.upload().failed.map { $0.failure?.status } == [412])
        #expect(try await store.changes.discard() == 1)
        #expect(try await store.rows("Plans/S.NamedPlan").map { $0["Nick"] } == ["n"])
        #expect(try await store.rows("Plans/S.NamedPlan").map { $0["Title"] } == ["Theirs"])
    }

    /// Returns the URL of a plan.
    private static func address(_ key: String) -> String {
        ODataURL(path: ResourcePath([.name("Plans", .key(.single(.literal(Literal(.string(key))))))])).description
    }

    /// Returns the UTF-8 bytes of keys, because Swift considers canonically equivalent strings equal.
    private static func bytes(_ keys: [ODataValue?]) throws -> [[UInt8]] {
        try keys.map { key in
            guard case .string(let text)? = key else { throw ODataError.notFound("a text") }
            return Array(text.utf8)
        }
    }

    @Test("accepts any key: empty, with slash, quote or percent sign, or beyond ASCII")
    func keys() async throws {
        let root = "http://plans.test/"
        let model = try CSDLReader.read(xml: Array(Self.metadata.utf8))
        let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try await OfflineStore.create(
            at: path, protection: .unencrypted, serviceRoot: root,
            remote: try ODataClient(
                serviceRoot: root, transport: LoopbackTransport(ODataHandler(provider: service))))
        try await store.download()
        let keys = ["", "a/b", "it's", "50%", "日本", "a b?c#d", "e\u{301}"]
        let given = keys.map { Array($0.utf8) }
        for key in keys { try await store.create("Plans", ["ID": .string(key), "Title": "A"]) }
        #expect(try await Self.bytes(store.observe.status().pending.map { $0.key.parts[0].value }) == given)
        #expect(try await store.upload().failed.map(\.entityText) == [])
        #expect(try await Set(Self.bytes(service.rows("Plans").map { $0["ID"] })) == Set(given))
        // The URLs of the keys work in the store and at the service.
        for key in keys { try await store.update(Self.address(key), ["Title": .string("of \(key)")]) }
        #expect(try await store.upload().failed.map(\.entityText) == [])
        for key in keys {
            #expect(try await service.rows(Self.address(key)).map { $0["Title"] } == [.string("of \(key)")])
        }
        try await store.download()
        #expect(try await Set(Self.bytes(store.rows("Plans").map { $0["ID"] })) == Set(given))
        for key in keys { try await store.delete(Self.address(key)) }
        #expect(try await store.upload().failed.map(\.entityText) == [])
        #expect(try await service.rows("Plans").isEmpty)
    }
}
