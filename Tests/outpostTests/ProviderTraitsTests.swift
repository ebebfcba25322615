import Foundation
import ODataCache
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import Testing

@testable import OfflineOData
@testable import outpost

@Suite("Traits of providers")
struct ProviderTraitsTests {
    /// A provider with a trait of each kind that is not the standard's.
    private struct Base: ODataProvider {
        let model: EntityDataModel
        let traits: ProviderTraits

        init() throws {
            model = try CSDLReader.read(
                xml: Array(
                    """
                    <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
                    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="N"><EntityType Name="Row"><Key>
                    <PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
                    <EntityContainer Name="C"><EntitySet Name="Rows" EntityType="N.Row"/></EntityContainer></Schema>
                    </edmx:DataServices></edmx:Edmx>
                    """.utf8))
            var capabilities = PublishedCapabilities()
            capabilities.trackedSets = ["Rows"]
            capabilities.supportsSnapshots = true
            traits = ProviderTraits(
                supportsIsolation: true, capabilities: capabilities,
                queryLanguage: QueryLanguage(functions: FunctionRegistry()))
        }

        func execute(_ request: ODataRequest) async throws -> ODataResponse { throw ODataError.notFound("Rows") }
    }

    /// A provider that stands before another one, and the changes of traits that it makes by intent.
    private struct Row {
        var type: String
        var provider: any ODataProvider
        var base: ProviderTraits
        var hasOwnLanguage = false
        var change: (inout PublishedCapabilities) -> Void = { _ in }
    }

    private func rows(_ store: OfflineStore) async throws -> [Row] {
        let base = try Base()
        let isClosed = { (capabilities: inout PublishedCapabilities) in capabilities.isReadOnly = true }
        return [
            Row(type: "RefusingProvider", provider: RefusingProvider(base: base), base: base.traits),
            Row(
                type: "OffsetAssumingProvider", provider: OffsetAssumingProvider(base: base, offset: 60),
                base: base.traits),
            Row(type: "CachingProvider", provider: CachingProvider(base), base: base.traits),
            Row(
                type: "ChangingProvider", provider: ChangingProvider(base: base, options: ChangeOptions()),
                base: base.traits),
            // It refuses every change.
            Row(type: "ReadOnlyProvider", provider: ReadOnlyProvider(base: base), base: base.traits, change: isClosed),
            // A store makes its language anew for each question, with the same URLs behind it.
            Row(type: "ReopeningProvider", provider: try await ReopeningProvider { store }, base: store.traits),
            // A store has functions and paths of its own, and answers more than its service.
            Row(
                type: "OfflineStore", provider: store, base: store.local.traits, hasOwnLanguage: true,
                change: { $0.supersedesModel = true }),
        ]
    }

    private func withStore(_ body: (OfflineStore) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try await OfflineStore.create(
            at: directory.path, protection: .unencrypted, serviceRoot: "http://rows.test/", remote: Base())
        try await body(store)
        try store.close()
    }

    @Test("Every provider trait is passed through every wrapping provider")
    func arrive() async throws {
        try await withStore { store in
            for row in try await rows(store) {
                let (traits, base) = (row.provider.traits, row.base)
                #expect(traits.supportsIsolation == base.supportsIsolation, "\(row.type)")
                var expected = try #require(base.capabilities)
                row.change(&expected)
                #expect(traits.capabilities == expected, "\(row.type)")
                #expect((traits.queryLanguage.urls === base.queryLanguage.urls) != row.hasOwnLanguage, "\(row.type)")
            }
        }
    }

    @Test("Several stores that are read together refuse changes")
    func attached() async throws {
        try await withStore { store in
            let attached = try await AttachedStores.open(["rows": store])
            #expect(attached.traits.capabilities?.isReadOnly == true)
            #expect(!attached.traits.supportsIsolation)
            try attached.close()
        }
    }

    /// The providers that answer requests themselves.
    private static let sources: Set<String> = [
        "AttachedStores", "ConnectingProvider", "ODataClient", "ServedDatabase", "StoreProvider", "StoreService",
    ]

    /// The providers of the Object API, which its own tests check.
    private static let objects: Set<String> = ["ObjectProvider"]

    /// The providers of the mobile server, the plain back end of its demonstration, and the reference service with its
    /// script of faults. The tests of feeds and of that script read the capabilities that these announce.
    private static let server: Set<String> = [
        "DestinationRights", "DeviceProvider", "FaultyService", "FeedProvider", "OperatorProvider", "PlainService",
        "RemoteProvider",
    ]

    @Test("Every provider of the package is in the table or answers requests itself")
    func all() async throws {
        var types: Set<String> = []
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let declaration = /(?:struct|class|actor) +(\w+)[^{]*: *(?:[^{]*, *)?(?:ODataProvider|ProviderWrapper)\b/
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            where !line.contains("///") {
                if let match = line.firstMatch(of: declaration) { types.insert(String(match.output.1)) }
            }
        }
        try await withStore { store in
            let table = Set(try await rows(store).map(\.type))
            #expect(types == table.union(Self.sources).union(Self.objects).union(Self.server))
        }
    }
}
