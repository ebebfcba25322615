import Foundation
import ODataModel
import ODataQuery
import ODataService
import Synchronization

@testable import ODataCache

/// A small service with cached content.
enum Shop {
    static let xml = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/><Property Name="City" Type="Edm.String"/>
        <Property Name="Credit" Type="Edm.Decimal" Scale="2"/></EntityType>
        <EntityType Name="Article" xmlns:sap="http://www.sap.com/Protocols/SAPData"><Key><PropertyRef Name="Code"/></Key>
        <Property Name="Code" Type="Edm.String" Nullable="false"/>
        <Property Name="Title" Type="Edm.String" sap:searchable="true"/>
        <Property Name="Note" Type="Edm.String"/></EntityType>
        <EntityContainer Name="Container"><EntitySet Name="Customers" EntityType="Shop.Customer"/>
        <EntitySet Name="Articles" EntityType="Shop.Article"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    static func model(_ xml: String = xml) throws -> EntityDataModel { try CSDLReader.read(xml: Array(xml.utf8)) }

    static func customer(
        _ model: EntityDataModel, _ id: Int64, _ name: String, city: String? = "Berlin", etag: String? = nil
    ) throws -> ODataEntity {
        var entity = ODataEntity(shape: try model.requiredShape(ofSet: "Customers"))
        entity["ID"] = .integer(id)
        entity["Name"] = .string(name)
        entity["City"] = city.map { .string($0) } ?? .null
        entity["Credit"] = .decimal(ODataDecimal(id))
        entity.control.etag = etag
        entity.markUnchanged()
        return entity
    }

    static func article(_ model: EntityDataModel, _ code: String, title: String, note: String) throws -> ODataEntity {
        var entity = ODataEntity(shape: try model.requiredShape(ofSet: "Articles"))
        entity["Code"] = .string(code)
        entity["Title"] = .string(title)
        entity["Note"] = .string(note)
        entity.markUnchanged()
        return entity
    }

    static func key(_ id: Int64) -> EntityKey { EntityKey("ID", .integer(id)) }
}

/// A cache that an app provides, with only the required methods.
actor ForeignCache: EntityCache {
    private(set) var model: EntityDataModel?
    private(set) var content: [String: [CachedEntity]] = [:]

    init(model: EntityDataModel? = nil) { self.model = model }

    func adopt(_ model: EntityDataModel) { self.model = model }
    var collections: [String] { content.filter { !$0.value.isEmpty }.keys.sorted() }
    func entries(of collection: String) -> [CachedEntity] { content[collection] ?? [] }
    func entry(_ key: EntityKey, in collection: String) -> CachedEntity? {
        content[collection]?.first { $0.entity.key == key }
    }
    func store(_ entries: [CachedEntity], in collection: String) {
        for entry in entries {
            content[collection, default: []].removeAll { $0.entity.key == entry.entity.key }
            content[collection, default: []].append(entry)
        }
    }
    func remove(_ keys: [EntityKey], from collection: String) -> Int {
        let before = content[collection]?.count ?? 0
        content[collection]?.removeAll { entry in keys.contains { $0 == entry.entity.key } }
        return before - (content[collection]?.count ?? 0)
    }
    func clear() { content = [:] }

    // This cache ignores delta links and documents.
    func deltaLink(of collection: String) -> String? { nil }
    func setDeltaLink(_ link: String?, of collection: String) {}
    var documentKeys: [String] { [] }
    func document(_ key: String) -> CachedDocument? { nil }
    func setDocument(_ document: CachedDocument?, for key: String) {}
}

/// A service with scripted responses that records its requests.
final class ScriptedProvider: ODataProvider {
    let model: EntityDataModel
    private struct State {
        var requests: [ODataRequest] = []
        var answer: @Sendable (ODataRequest) throws -> ODataResponse = { _ in throw ODataError.notFound("anything") }
    }
    private let state = Mutex(State())

    init(_ model: EntityDataModel) { self.model = model }

    var requests: [ODataRequest] { state.withLock { $0.requests } }
    func answer(_ answer: @escaping @Sendable (ODataRequest) throws -> ODataResponse) {
        state.withLock { $0.answer = answer }
    }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answer
        }
        return try answer(request)
    }
}

/// A folder that is removed when it is deallocated.
final class TemporaryFolder: Sendable {
    let path = NSTemporaryDirectory() + "outpost-cache-\(UUID().uuidString)"
    deinit {
        try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        try? FileManager.default.removeItem(atPath: path)
    }

    var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
    var items: [String] { files.filter { $0.hasSuffix(".item") }.map { path + "/" + $0 } }

    /// Returns whether any file contains a text.
    func contains(_ text: String) throws -> Bool {
        try files.contains { name in
            try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)).range(of: Data(text.utf8)) != nil
        }
    }
}
