import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataService
import Synchronization
import Testing

/// A service with scripted responses that records its requests, including their bodies.
final class WireScript: HTTPTransport {
    /// A request as it was sent.
    struct Sent: Sendable {
        var message: HTTPRequest
        var body: String

        var line: String { "\(message.method) \(message.path ?? "")" }

        subscript(field: String) -> String? {
            HTTPField.Name(field).flatMap { message.headerFields[$0] }
        }
    }

    /// A scripted response.
    struct Answer: Sendable {
        var status = 200
        var fields: [String: String] = [:]
        var body = ""

        static func json(_ body: String, status: Int = 200, _ fields: [String: String] = [:]) -> Answer {
            Answer(status: status, fields: fields.merging(["Content-Type": "application/json"]) { $1 }, body: body)
        }

        static func empty(_ status: Int = 204, _ fields: [String: String] = [:]) -> Answer {
            Answer(status: status, fields: fields)
        }

        static func refusal(_ status: Int, _ fields: [String: String] = [:]) -> Answer {
            json("{\"error\":{\"code\":\"E\(status)\",\"message\":\"No.\"}}", status: status, fields)
        }
    }

    static let root = "https://service.test/shop/"

    private let metadata: String?
    private let answer: @Sendable (Sent, Int) throws -> Answer
    private let log = Mutex<[Sent]>([])

    /// - Parameter answer: Returns the response to each request except the one for metadata. It receives the
    ///   index of the request, from 0.
    init(metadata: String? = nil, _ answer: @escaping @Sendable (Sent, Int) throws -> Answer) {
        self.metadata = metadata
        self.answer = answer
    }

    /// The recorded requests except the one for metadata.
    var sent: [Sent] { log.withLock { $0 } }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let bytes = try await body?.collect(limit: 1 << 20) ?? []
        options.report?(.requestSent(.now))
        if let metadata, (request.path ?? "").prefix(while: { $0 != "?" }).hasSuffix("$metadata") {
            return Self.message(Answer(fields: ["Content-Type": "application/xml"], body: metadata), options)
        }
        let sent = Sent(message: request, body: String(decoding: bytes, as: UTF8.self))
        let number = log.withLock { log in
            log.append(sent)
            return log.count - 1
        }
        return Self.message(try answer(sent, number), options)
    }

    private static func message(_ answer: Answer, _ options: TransferOptions) -> (HTTPResponse, ByteStream) {
        var response = HTTPResponse(status: .init(code: answer.status))
        for (name, value) in answer.fields {
            guard let name = HTTPField.Name(name) else { continue }
            response.headerFields[name] = value
        }
        options.report?(.firstByte(.now))
        let once = ByteStream(Array(answer.body.utf8))
        return (
            response,
            ByteStream(length: Int64(answer.body.utf8.count)) {
                let chunk = try await once.next()
                if chunk == nil { options.report?(.lastByte(.now)) }
                return chunk
            }
        )
    }

    func client(_ configuration: ODataClient.Configuration = .init()) throws -> ODataClient {
        try ODataClient(serviceRoot: Self.root, transport: self, configuration: configuration)
    }

    func service(_ configuration: ODataClient.Configuration = .init()) throws -> DataService {
        DataService(try client(configuration))
    }
}

/// The metadata of a small shop in the versions that tests need.
enum ShopMetadata {
    static func v4(
        _ version: String = "4.0", sets: String = "", container: String = "", properties: String = ""
    ) -> String {
        """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="\(version)"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="City" Type="Edm.String"/>
        <Property Name="Freight" Type="Edm.Decimal" Scale="2"/>
        <Property Name="Tags" Type="Collection(Edm.String)"/>\(properties)
        <NavigationProperty Name="Items" Type="Collection(Shop.Item)"/>
        <NavigationProperty Name="Parent" Type="Shop.Order"/></EntityType>
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/></EntityType>
        <EntityType Name="Photo" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Thumb" Type="Edm.Stream"/></EntityType>
        <Action Name="Close"><Parameter Name="reason" Type="Edm.String"/><ReturnType Type="Edm.Int32"/></Action>
        <Action Name="Discount" IsBound="true"><Parameter Name="order" Type="Shop.Order"/>
        <Parameter Name="percent" Type="Edm.Decimal"/></Action>
        <Function Name="Nearest"><Parameter Name="city" Type="Edm.String"/>
        <Parameter Name="ids" Type="Collection(Edm.Int32)"/><ReturnType Type="Collection(Shop.Order)"/></Function>
        <EntityContainer Name="C">
        <EntitySet Name="Orders" EntityType="Shop.Order"><NavigationPropertyBinding Path="Items" Target="Items"/>
        <NavigationPropertyBinding Path="Parent" Target="Orders"/>\(sets)</EntitySet>
        <EntitySet Name="Items" EntityType="Shop.Item"/><EntitySet Name="Photos" EntityType="Shop.Photo"/>
        <ActionImport Name="Close" Action="Shop.Close"/>
        <FunctionImport Name="Nearest" Function="Shop.Nearest" EntitySet="Orders"/>\(container)</EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
    }

    static func entity(_ properties: [String: ODataValue], set: String = "Orders", of client: ODataClient) async throws
        -> ODataEntity
    {
        ODataEntity(shape: try #require(try await client.model.shape(ofSet: set)), properties)
    }
}
