import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Synchronization
import Testing

/// A real service with features that served databases lack: media, relations without foreign keys, actions,
/// contained entities and a singleton. A wire that can be cut connects it to offline stores.
final class Studio: Sendable {
    let service: StoreService
    let wire: Wire
    let directory: URL
    /// The names passed to the action.
    let calls = LockedNames()

    /// - Parameter alteration: a closure that changes the metadata of the service.
    init(_ alteration: (String) -> String = { $0 }) async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        var definition = ServiceDefinition(
            model: try CSDLReader.read(xml: Array(alteration(Self.metadata).utf8)))
        definition.values = [.contentType("ContentType")]
        let album = QualifiedName("Studio", "Album")
        let calls = calls
        try definition.action("Rename", on: .entity(album), parameters: [.init("Name", .primitive(.string))]) { call in
            let name: String = try call.argument("Name")
            guard !name.isEmpty else {
                throw ODataError(status: 400, code: "NoName", message: "A name is needed.", target: "Name")
            }
            calls.append(name)
            _ = try call.transaction.update(call.boundEntity(), ["Name": .string(name)])
            return .none
        }
        try definition.action("Stamp", on: .entity(QualifiedName("Studio", "Page"))) { call in
            guard case .string(let title)? = try call.boundEntity()["Title"] else { return .none }
            calls.append(title)
            return .none
        }
        try definition.function("CountAlbums", returns: .primitive(.int32)) { call in
            .value(.integer(42))
        }
        service = try await StoreService.open(definition, at: .memory)
        wire = Wire(LoopbackTransport(ODataHandler(provider: service)))
        for (id, name) in [(1, "Summer"), (2, "Winter")] {
            try await service.create("Albums", ["ID": .integer(Int64(id)), "Name": .string(name)])
        }
        for (id, name) in [(1, "red"), (2, "blue"), (3, "green")] {
            try await service.create("Tags", ["ID": .integer(Int64(id)), "Name": .string(name)])
        }
        try await link("Albums(1)/Tags", to: "Tags(1)")
        try await link("Albums(1)/Tags", to: "Tags(2)")
        try await service.create("Notes", ["ID": 1, "AlbumID": 1, "Text": "first"])
        try await picture("Pictures", Array("one".utf8))
        _ = try await service.execute(
            ODataRequest(
                .create, try ODataURL(parsing: "Albums(1)/Pages"),
                body: .entity(
                    ODataEntity(
                        shape: try #require(service.model.shape(QualifiedName("Studio", "Page"))),
                        ["Number": 1, "Title": "Cover"]))))
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func link(_ navigation: String, to target: String) async throws {
        try await service.link(navigation, to: target)
    }

    @discardableResult
    func picture(_ set: String, _ bytes: [UInt8]) async throws -> ODataEntity? {
        let response = try await service.execute(
            ODataRequest(
                .create, try ODataURL(parsing: set), body: .media(ByteStream(bytes), contentType: "image/png")))
        if case .entity(let entity) = response.body { return entity }
        return nil
    }

    func client() throws -> ODataClient {
        let root = "http://studio.test/"
        let session = try HTTPSession(wire, serviceRoot: root, configuration: .init(retry: .none))
        return try ODataClient(serviceRoot: root, transport: session)
    }

    func clone(
        _ queries: [DefiningQuery] = [], named name: String = "clone", options: OfflineODataProvider.Options = .init(),
        through remote: (any ODataProvider)? = nil
    ) async throws -> OfflineODataProvider {
        // The client's service has confirmed in an earlier response that it recognises repeated requests.
        let options = remote == nil ? options.confirmingRepeats : options
        let service: any ODataProvider = if let remote { remote } else { try client() }
        let store = try await OfflineODataProvider.create(
            at: directory.appendingPathComponent(name).path, protection: .unencrypted,
            serviceRoot: "http://studio.test/", remote: service, queries: queries, options: options)
        try await store.download()
        return store
    }

    static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Studio" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Album">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false">
              <Annotation Term="Org.OData.Core.V1.ComputedDefaultValue" Bool="true"/>
            </Property>
            <Property Name="Name" Type="Edm.String" Nullable="false"/>
            <NavigationProperty Name="Tags" Type="Collection(Studio.Tag)" Partner="Albums"/>
            <NavigationProperty Name="Notes" Type="Collection(Studio.Note)" Partner="Album"/>
            <NavigationProperty Name="Pages" Type="Collection(Studio.Page)" ContainsTarget="true"/>
            <NavigationProperty Name="Sheets" Type="Collection(Studio.Sheet)" ContainsTarget="true"/>
            <NavigationProperty Name="Cover" Type="Studio.Page" ContainsTarget="true"/>
            <NavigationProperty Name="Scans" Type="Collection(Studio.Picture)" ContainsTarget="true"/>
            <NavigationProperty Name="Pictures" Type="Collection(Studio.Picture)"/>
          </EntityType>
          <EntityType Name="Tag">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false">
              <Annotation Term="Org.OData.Core.V1.ComputedDefaultValue" Bool="true"/>
            </Property>
            <Property Name="Name" Type="Edm.String" Nullable="false"/>
            <NavigationProperty Name="Albums" Type="Collection(Studio.Album)" Partner="Tags"/>
          </EntityType>
          <EntityType Name="Note">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false">
              <Annotation Term="Org.OData.Core.V1.ComputedDefaultValue" Bool="true"/>
            </Property>
            <Property Name="AlbumID" Type="Edm.Int64"/>
            <Property Name="Text" Type="Edm.String"/>
            <NavigationProperty Name="Album" Type="Studio.Album" Partner="Notes">
              <ReferentialConstraint Property="AlbumID" ReferencedProperty="ID"/>
            </NavigationProperty>
          </EntityType>
          <EntityType Name="Page">
            <Key><PropertyRef Name="Number"/></Key>
            <Property Name="Number" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Title" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Sheet">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false">
              <Annotation Term="Org.OData.Core.V1.ComputedDefaultValue" Bool="true"/>
            </Property>
            <Property Name="Text" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Picture" HasStream="true">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int64" Nullable="false">
              <Annotation Term="Org.OData.Core.V1.ComputedDefaultValue" Bool="true"/>
            </Property>
            <Property Name="Title" Type="Edm.String"/>
            <Property Name="ContentType" Type="Edm.String"/>
            <Property Name="Thumb" Type="Edm.Stream"/>
          </EntityType>
          <EntityType Name="Profile">
            <Property Name="Owner" Type="Edm.String"/>
          </EntityType>
          <EntityContainer Name="Container">
            <EntitySet Name="Albums" EntityType="Studio.Album">
              <NavigationPropertyBinding Path="Tags" Target="Tags"/>
              <NavigationPropertyBinding Path="Notes" Target="Notes"/>
              <NavigationPropertyBinding Path="Pictures" Target="Pictures"/>
            </EntitySet>
            <EntitySet Name="Tags" EntityType="Studio.Tag">
              <NavigationPropertyBinding Path="Albums" Target="Albums"/>
            </EntitySet>
            <EntitySet Name="Notes" EntityType="Studio.Note">
              <NavigationPropertyBinding Path="Album" Target="Albums"/>
            </EntitySet>
            <EntitySet Name="Pictures" EntityType="Studio.Picture"/>
            <Singleton Name="Me" Type="Studio.Profile"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}

/// A thread-safe list of names.
final class LockedNames: Sendable {
    private let value = Mutex<[String]>([])

    var names: [String] { value.withLock { $0 } }

    func append(_ name: String) { value.withLock { $0.append(name) } }
}

extension ODataProvider {
    func link(_ navigation: String, to target: String) async throws {
        _ = try await execute(
            ODataRequest(.create, try ODataURL(parsing: navigation + "/$ref"), body: .reference(target)))
    }

    /// Returns the content of a stream.
    func stream(_ url: String) async throws -> String {
        guard case .raw(let bytes, _) = try await execute(ODataRequest(.read, try ODataURL(parsing: url))).body else {
            throw ODataError.notFound(url)
        }
        return String(decoding: try await bytes.collect(limit: 1 << 24), as: UTF8.self)
    }

    func createMedia(_ set: String, _ text: String) async throws -> ODataEntity {
        let response = try await execute(
            ODataRequest(
                .create, try ODataURL(parsing: set),
                body: .media(ByteStream(Array(text.utf8)), contentType: "image/png"),
                preferences: Preferences(returns: .representation)))
        guard case .entity(let entity) = response.body else { throw ODataError.notFound(set) }
        return entity
    }

    func replaceStream(_ url: String, _ text: String) async throws {
        _ = try await execute(
            ODataRequest(
                .replace, try ODataURL(parsing: url),
                body: .media(ByteStream(Array(text.utf8)), contentType: "text/plain")))
    }
}
