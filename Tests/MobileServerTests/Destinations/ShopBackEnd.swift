import Foundation
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataServer
import ODataService
import ODataStore
import ServerState
import Synchronization

@testable import MobileServer

/// A real OData service as a back end: by default without delta links and without repeatable requests.
final class ShopBackEnd: Sendable {
    /// The capabilities that the service shows.
    struct Ability: Sendable {
        var hasDeltaLinks = false
        var isRepeatable = false
        var pageSize = 100
    }

    let service: StoreService
    /// The URL for V4; V2 lies below `v2/`.
    let url: String
    private let server: RunningServer
    private let count: Counter

    private final class Counter: Sendable {
        let requests = Mutex<[String]>([])
        let refusal = Mutex<Int?>(nil)
        let delay = Mutex<Duration>(.zero)
    }

    init(_ ability: Ability = Ability(), rows: Int = 3) async throws {
        let model = try CSDLReader.read(xml: Array(Self.metadata.utf8))
        var options = StoreService.Options()
        options.maxPageSize = ability.pageSize
        var definition = ServiceDefinition(model: model)
        definition.countChanges(of: "Products", in: "Version")
        service = try await StoreService.open(definition, at: .memory, options: options)
        let products = (1...max(rows, 1)).prefix(rows).map {
            "{\"ID\": \($0), \"Name\": \"Product \($0)\", \"Price\": \($0).5, \"CategoryID\": 1, \"Version\": 1}"
        }
        let text = """
            {"Categories": [{"ID": 1, "Name": "Writing"}, {"ID": 2, "Name": "Light"}],
             "Products": [\(products.joined(separator: ","))]}
            """
        try await service.seed(json: Array(text.utf8))
        let endpoints = try ODataEndpoints(provider: PlainService(base: service, ability: ability))
        let count = Counter()
        self.count = count
        server = try await ODataServer(configuration: .init()) { request, body, principal in
            count.requests.withLock { $0.append("\(request.method.rawValue) \(request.path ?? "")") }
            if let status = count.refusal.withLock({ $0 }) {
                return (HTTPResponse(status: .init(code: status)), ByteStream([]))
            }
            let answer = await endpoints.handle(request, body, principal: principal)
            if request.method == .get { try? await Task.sleep(for: count.delay.withLock(\.self)) }
            return answer
        }.start()
        url = "http://127.0.0.1:\(server.port)/"
    }

    /// The requests so far, as method and path.
    var requests: [String] { count.requests.withLock { $0 } }

    /// The port of the service.
    var port: Int { server.port }

    /// Makes every response this status; `nil` for the service's own ones.
    func refuse(with status: Int?) { count.refusal.withLock { $0 = status } }

    /// Holds the responses to reads back, after their rows were read.
    func delayReads(by time: Duration) { count.delay.withLock { $0 = time } }

    /// Changes rows as another program would.
    func send(_ method: String, _ path: String, _ json: String? = nil) async throws {
        var fields = ["Content-Type": "application/json"]
        if method != "POST" { fields["If-Match"] = "*" }
        let answer = try await Wire.send(method, url + path, fields, body: json)
        guard answer.status < 300 else {
            throw ODataError(status: answer.status, code: "Test", message: answer.text)
        }
    }

    func stop() async throws {
        await server.stop()
        try await service.close()
    }

    /// Runs a test with the service behind a node. The query `Products` is a shared feed.
    static func run(
        _ ability: Ability = Ability(), rows: Int = 3, isV2: Bool = false, query: String = "Products",
        _ change: @escaping DestinationSite.Arrangement = { _ in },
        _ body: (DestinationSite, ShopBackEnd) async throws -> Void
    ) async throws {
        let backEnd = try await ShopBackEnd(ability, rows: rows)
        do {
            try await DestinationSite.run(backEnd.url + (isV2 ? "v2/" : "")) { configuration in
                var shared = QueryConfiguration(query)
                shared.visibility = .shared
                configuration.destinations["shop"]?.queries["products"] = shared
                change(&configuration)
            } _: {
                try await body($0, backEnd)
            }
        } catch {
            try await backEnd.stop()
            throw error
        }
        try await backEnd.stop()
    }

    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01">
          <edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
              <EntityType Name="Product">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Name" Type="Edm.String" MaxLength="400" Nullable="false"/>
                <Property Name="Price" Type="Edm.Decimal" Precision="10" Scale="2" Nullable="false"/>
                <Property Name="CategoryID" Type="Edm.Int32"/>
                <Property Name="Version" Type="Edm.Int64"/>
                <NavigationProperty Name="Category" Type="Shop.Category" Partner="Products">
                  <ReferentialConstraint Property="CategoryID" ReferencedProperty="ID"/>
                </NavigationProperty>
              </EntityType>
              <EntityType Name="Category">
                <Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
                <Property Name="Name" Type="Edm.String" MaxLength="40" Nullable="false"/>
                <NavigationProperty Name="Products" Type="Collection(Shop.Product)" Partner="Category"/>
              </EntityType>
              <EntityContainer Name="Container">
                <EntitySet Name="Products" EntityType="Shop.Product">
                  <NavigationPropertyBinding Path="Category" Target="Categories"/>
                </EntitySet>
                <EntitySet Name="Categories" EntityType="Shop.Category">
                  <NavigationPropertyBinding Path="Products" Target="Products"/>
                </EntitySet>
              </EntityContainer>
            </Schema>
          </edmx:DataServices>
        </edmx:Edmx>
        """
}

/// A service without the capabilities that the mobile server adds.
private struct PlainService: ProviderWrapper {
    let base: any ODataProvider
    let ability: ShopBackEnd.Ability

    var traits: ProviderTraits {
        var traits = base.traits
        if !ability.hasDeltaLinks { traits.capabilities?.trackedSets = [] }
        if !ability.isRepeatable { traits.capabilities?.supportsRepeatableRequests = false }
        return traits
    }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        var request = request
        if !ability.hasDeltaLinks { request.preferences.trackChanges = false }
        if !ability.isRepeatable { request.repeatability = nil }
        if case .batch(var items) = request.body {
            for index in items.indices {
                if !ability.hasDeltaLinks { items[index].request.preferences.trackChanges = false }
                if !ability.isRepeatable { items[index].request.repeatability = nil }
            }
            request.body = .batch(items)
        }
        return try await base.execute(request)
    }
}
