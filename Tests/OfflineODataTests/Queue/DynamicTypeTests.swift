import Foundation
import HTTPTypes
import ODataClient
import ODataFormat
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData
import Testing

/// Only the value determines the type of a dynamic property. A date that is stored as text would become another
/// value, and an edit would change it at the service.
@Suite("The types of dynamic properties")
struct DynamicTypeTests {
    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="T">
        <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/><Property Name="Since" Type="Edm.Date"/>
        </ComplexType>
        <ComplexType Name="Open" OpenType="true"><Property Name="X" Type="Edm.String"/></ComplexType>
        <EntityType Name="Thing" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Open" Type="T.Open"/>
        <Property Name="Opens" Type="Collection(T.Open)"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="T.Thing"/></EntityContainer></Schema>
        </edmx:DataServices></edmx:Edmx>
        """
    private static let root = "http://types.test/"

    private static func values(_ model: EntityDataModel) throws -> [String: ODataValue] {
        let place = try #require(model.shape(QualifiedName("T", "Place")))
        let day = try ODataValue(lexical: "2026-11-27", type: .date)
        return [
            "Day": day,
            "Days": .collection([day, .null, day]),
            "Mark": try ODataValue(lexical: "f89dee73-af9f-4cd4-b330-db93c25ff3c7", type: .guid),
            "Price": try ODataValue(lexical: "5.50", type: .decimal),
            "Whole": try ODataValue(lexical: "7", type: .decimal),
            "Ratio": .double(0.25),
            "Endless": .double(.infinity),
            "Bytes": .binary([1, 2, 255]),
            "At": try ODataValue(lexical: "2026-11-27T10:00:00.5Z", type: .dateTimeOffset),
            "Long": try ODataValue(lexical: "PT90M", type: .duration),
            "Noon": try ODataValue(lexical: "12:00:00", type: .timeOfDay),
            "Name": "a@b", "Count": 3, "IsNew": true, "Words": .collection(["x", "y"]),
            "Place": .complex(ODataEntity(shape: place, ["City": "Graz", "Since": day])),
            "Places": .collection([.complex(ODataEntity(shape: place, ["City": "Linz", "Since": day]))]),
        ]
    }

    /// Returns a service with one entity that has a value of each type.
    private func service() async throws -> (StoreService, [String: ODataValue]) {
        let model = try CSDLReader.read(xml: Array(Self.metadata.utf8))
        let service = try await StoreService.open(ServiceDefinition(model: model), at: .memory)
        let values = try Self.values(model)
        let open = try #require(model.shape(QualifiedName("T", "Open")))
        var inner = ODataEntity(shape: open, ["X": "x"])
        inner["Day"] = values["Day"]
        var all = values
        all["ID"] = 1
        all["Open"] = .complex(inner)
        all["Opens"] = .collection([.complex(inner)])
        try await service.create("Things", all)
        return (service, values)
    }

    private static func answer(
        of service: StoreService, to path: String, metadata: String = "minimal", version: String = "4.01"
    ) async throws -> String {
        let transport = LoopbackTransport(ODataHandler(provider: service))
        var request = HTTPRequest(method: .get, scheme: "http", authority: "types.test", path: path)
        request.headerFields[.accept] = "application/json;odata.metadata=\(metadata)"
        request.headerFields[try #require(HTTPField.Name("OData-MaxVersion"))] = version
        let (_, body) = try await transport.send(request, body: nil, options: TransferOptions())
        return String(decoding: try await body.collect(limit: 1 << 20), as: UTF8.self)
    }

    private func store(_ service: StoreService, in folder: Folder) async throws -> OfflineStore {
        let client = try ODataClient(
            serviceRoot: Self.root, transport: LoopbackTransport(ODataHandler(provider: service)))
        let store = try await OfflineStore.create(
            at: folder.url.appendingPathComponent("store").path, protection: .unencrypted, serviceRoot: Self.root,
            remote: client)
        try await store.download()
        return store
    }

    @Test("are kept by a service, and by a store over the wire")
    func kept() async throws {
        let (service, values) = try await service()
        let folder = Folder()
        let store = try await store(service, in: folder)
        for thing in [try await service.rows("Things(1)").first, try await store.rows("Things(1)").first] {
            let thing = try #require(thing)
            for (name, value) in values {
                #expect(thing.dynamicProperties[name]?.isIdentical(to: value) == true, "\(name)")
            }
            let day = try #require(values["Day"])
            guard case .complex(let open)? = thing["Open"], case .collection(let opens)? = thing["Opens"],
                case .complex(let member)? = opens.first
            else {
                Issue.record("no complex values")
                continue
            }
            #expect(open["Day"]?.isIdentical(to: day) == true && member["Day"]?.isIdentical(to: day) == true)
        }
        #expect(try await store.rows("Things?$filter=Day eq 2026-11-27 and Price gt 5.4").count == 1)
        #expect(try await store.rows("Things?$filter=Day gt 2026-11-27 or Price gt 5.6").isEmpty)
    }

    @Test("are stated in JSON, in each of its forms", arguments: ["minimal", "none", "full"], ["4.0", "4.01"])
    func stated(metadata: String, version: String) async throws {
        let (service, values) = try await service()
        let text = try await Self.answer(of: service, to: "/Things(1)", metadata: metadata, version: version)
        let prefix = version == "4.0" ? "@odata." : "@"
        #expect(text.contains("\"Price\":5.5") && text.contains("\"Ratio\":0.25"), "\(text)")
        let day = "\"Day\(prefix)type\":\"#Date\",\"Day\":\"2026-11-27\""
        #expect(text.contains(day) == (metadata != "none"), "\(text)")
        #expect(text.contains("\"Place\":{") && values.keys.allSatisfy { text.contains("\"\($0)\":") })
    }

    @Test("Values within a dynamic value have their types as well")
    func nested() async throws {
        let (service, values) = try await service()
        let text = try await Self.answer(of: service, to: "/Things?$apply=nest(identity%20as%20All)")
        #expect(text.contains("\"All\":[{") && text.contains("\"Price\":5.5"), "\(text)")
        #expect(text.contains("\"Day@odata.type\":\"#Edm.Date\",\"Day\":\"2026-11-27\""), "\(text)")
        #expect(values.keys.allSatisfy { text.contains("\"\($0)\":") }, "\(text)")
    }

    @Test("are sent with offline changes, also from the queue of a reopened store")
    func sent() async throws {
        let (service, values) = try await service()
        let folder = Folder()
        var store = try await store(service, in: folder)
        let next = try ODataValue(lexical: "2026-12-24", type: .date)
        var changed: [String: ODataValue] = ["Day": next, "Price": try ODataValue(lexical: "6.25", type: .decimal)]
        try await store.update("Things(1)", changed)
        try store.close()
        store = try await OfflineStore.open(
            at: folder.url.appendingPathComponent("store").path, protection: .unencrypted
        ) { root, _ in
            try ODataClient(serviceRoot: root, transport: LoopbackTransport(ODataHandler(provider: service)))
        }
        let pending = try #require(try await store.observe.status().pending.first)
        #expect(pending.changes.dynamicProperties["Day"]?.isIdentical(to: next) == true)
        #expect(pending.changes.dynamicProperties.count == 2)
        #expect(try await store.upload().accepted.count == 1)
        try await store.download()
        changed.merge(values) { new, _ in new }
        for thing in [try await service.rows("Things(1)").first, try await store.rows("Things(1)").first] {
            let thing = try #require(thing)
            for (name, value) in changed {
                #expect(thing.dynamicProperties[name]?.isIdentical(to: value) == true, "\(name)")
            }
        }
    }
}
