import ODataHTTP
import ODataModel
import ODataQuery
import ODataServer
import ODataService
import ODataStore
import Synchronization

/// A service with albums, pictures that are media entities with a thumbnail, actions and functions.
final class StudioService: Sendable {
    let service: StoreService
    private let recorder: Recorder

    /// The actions that were called, in order.
    var calls: [String] { recorder.all }

    init() async throws {
        var definition = ServiceDefinition(model: try CSDLReader.read(xml: Array(Self.metadata.utf8)))
        let recorder = Recorder()
        let album = QualifiedName("Studio", "Album")
        try definition.action("Rename", on: .entity(album), parameters: [.init("Name", .primitive(.string))]) { call in
            let name: String = try call.argument("Name")
            recorder.add("Rename \(name)")
            _ = try call.transaction.update(call.boundEntity(), ["Name": .string(name)])
            return .none
        }
        try definition.action("Reset") { _ in
            recorder.add("Reset")
            return .none
        }
        try definition.function(
            "Add", parameters: [.init("left", .primitive(.int32)), .init("right", .primitive(.int32))],
            returns: .primitive(.int32)
        ) { call in
            let (left, right): (Int64, Int64) = (try call.argument("left"), try call.argument("right"))
            return .value(.integer(left + right))
        }
        service = try await StoreService.open(definition, at: .memory)
        self.recorder = recorder
        try await service.seed(
            json: Array(
                #"""
                {"Albums": [{"ID": 1, "Name": "Summer"}],
                 "Pictures": [{"ID": 1, "Title": "Sea", "$content": "c2Vh"}]}
                """#.utf8))
    }

    /// The calls, which handlers add.
    private final class Recorder: Sendable {
        private let calls = Mutex<[String]>([])
        var all: [String] { calls.withLock { $0 } }
        func add(_ call: String) { calls.withLock { $0.append(call) } }
    }

    /// Serves it while something is done.
    func serving(_ body: (String) async throws -> Void) async throws {
        let handler = ODataHandler(provider: service)
        let server = try await ODataServer { await handler.handle($0, $1) }.start()
        do {
            try await body("http://127.0.0.1:\(server.port)/")
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// The bytes of a stream as text; `nil` if there is none.
    func text(of stream: String) async throws -> String? {
        let response = try await service.execute(ODataRequest(.read, try ODataURL(parsing: stream)))
        guard case .raw(let bytes, _) = response.body else { return nil }
        return String(decoding: try await bytes.collect(limit: 1 << 20), as: UTF8.self)
    }

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Studio" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Album">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
          </EntityType>
          <EntityType Name="Picture" HasStream="true">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false">
              <Annotation Term="Org.OData.Core.V1.Computed" Bool="true"/>
            </Property>
            <Property Name="Title" Type="Edm.String"/><Property Name="Thumb" Type="Edm.Stream"/>
          </EntityType>
          <EntityContainer Name="C">
            <EntitySet Name="Albums" EntityType="Studio.Album"/>
            <EntitySet Name="Pictures" EntityType="Studio.Picture"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}
