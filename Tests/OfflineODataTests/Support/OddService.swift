import Foundation
import HTTPTypes
import ODataClient
import ODataHTTP
import ODataService
import OfflineOData
import Synchronization

/// A service with the set `Items`. Rules answer some requests in unusual ways; all other responses are
/// ordinary.
final class OddService: HTTPTransport {
    /// A request as a rule receives it.
    struct Request: Sendable {
        let method: String
        /// The target without service root and percent-encoding: `Items(1)?$select=ID`.
        let target: String
        let fields: HTTPFields
        let body: String
    }

    struct Answer: Sendable {
        var status = 200
        var fields: [String: String] = [:]
        var body = ""

        /// Returns a response with a JSON body.
        static func json(_ body: String, status: Int = 200, _ fields: [String: String] = [:]) -> Answer {
            Answer(
                status: status, fields: fields.merging(["Content-Type": "application/json"]) { one, _ in one },
                body: body)
        }

        /// Returns a response with an OData error.
        static func refusal(_ status: Int, _ message: String = "no", _ fields: [String: String] = [:]) -> Answer {
            .json(#"{"error":{"code":"E\#(status)","message":"\#(message)"}}"#, status: status, fields)
        }

        /// Returns a page of `Items`.
        static func page(_ rows: [String], _ end: String = "") -> Answer {
            .json(#"{"@odata.context":"$metadata#Items","value":[\#(rows.joined(separator: ","))]\#(end)}"#)
        }
    }

    typealias Rule = @Sendable (Request) -> Answer?

    static let root = "http://odd.test/svc/"

    private struct State {
        var requests: [Request] = []
        var rule: Rule = { _ in nil }
        var metadata: String
        var rows: [Int: String]
    }

    private let state: Mutex<State>
    private let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("outpost-\(UUID().uuidString)")

    /// - Parameters:
    ///   - metadata: the metadata document; by default that of ``schema(_:)``.
    ///   - rows: the rows by key, in JSON.
    init(_ metadata: String = OddService.schema(), rows: [Int: String] = [1: #"{"ID":1,"Name":"a"}"#]) {
        state = Mutex(State(metadata: metadata, rows: rows))
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// Returns V4 metadata with the set `Items` of `ID` and `Name`.
    ///
    /// - Parameters:
    ///   - properties: further properties, in CSDL.
    ///   - types: further types.
    ///   - annotations: annotations of the set.
    ///   - sets: further sets.
    static func schema(
        _ properties: String = "", types: String = "", annotations: String = "", sets: String = ""
    ) -> String {
        """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(types)
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>\(properties)
        </EntityType><EntityContainer Name="C"><EntitySet Name="Items" EntityType="N.Item">\(annotations)</EntitySet>
        \(sets)</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
    }

    /// Returns V2 metadata with the same set.
    static func olderSchema(_ properties: String = "", set: String = "", container: String = "") -> String {
        """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
        <edmx:DataServices m:DataServiceVersion="2.0"
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"
            xmlns:sap="http://www.sap.com/Protocols/SAPData">
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>\(properties)
        </EntityType><EntityContainer Name="C" m:IsDefaultEntityContainer="true" \(container)>
        <EntitySet Name="Items" EntityType="N.Item" \(set)/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
    }

    /// Sets the rule for further responses and clears the recorded requests.
    func answer(_ rule: @escaping Rule) {
        state.withLock { state in
            state.rule = rule
            state.requests = []
        }
    }

    var metadata: String {
        get { state.withLock { $0.metadata } }
        set { state.withLock { $0.metadata = newValue } }
    }

    /// The rows by key, in JSON.
    var rows: [Int: String] {
        get { state.withLock { $0.rows } }
        set { state.withLock { $0.rows = newValue } }
    }

    var requests: [Request] { state.withLock { $0.requests } }

    /// The requests as method and target.
    var lines: [String] { requests.map { "\($0.method) \($0.target)" } }

    func client(_ configuration: ODataClient.Configuration = .init()) throws -> ODataClient {
        var configuration = configuration
        configuration.allowsPlainHTTP = true
        let session = try HTTPSession(
            self, serviceRoot: Self.root, configuration: .init(retry: .none, allowsPlainHTTP: true))
        return try ODataClient(serviceRoot: Self.root, transport: session, configuration: configuration)
    }

    /// Creates a store without a download.
    func store(
        _ queries: [String: String] = [:], _ options: OfflineODataProvider.Options = .init(),
        _ configuration: ODataClient.Configuration = .init()
    ) async throws -> OfflineODataProvider {
        try await OfflineODataProvider.create(
            at: directory.appendingPathComponent(UUID().uuidString).path, protection: .unencrypted,
            serviceRoot: Self.root, remote: try client(configuration),
            queries: try queries.sorted { $0.key < $1.key }.map { try DefiningQuery($0.key, $0.value) },
            options: options)
    }

    /// Creates a downloaded store of all sets.
    func clone(
        _ options: OfflineODataProvider.Options = .init(), _ configuration: ODataClient.Configuration = .init()
    ) async throws -> OfflineODataProvider {
        let store = try await store([:], options, configuration)
        try await store.download()
        return store
    }

    func send(
        _ message: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let path = message.path?.removingPercentEncoding ?? ""
        let target = path.hasPrefix("/svc/") ? String(path.dropFirst(5)) : path
        let bytes = try await body?.collect(limit: 1 << 20) ?? []
        let request = Request(
            method: message.method.rawValue, target: target, fields: message.headerFields,
            body: String(decoding: bytes, as: UTF8.self))
        let rule = state.withLock { state in
            state.requests.append(request)
            return state.rule
        }
        let answer = rule(request) ?? plain(request)
        var response = HTTPResponse(status: .init(code: answer.status))
        for (name, value) in answer.fields {
            if let name = HTTPField.Name(name) { response.headerFields[name] = value }
        }
        return (response, ByteStream(Array(answer.body.utf8)))
    }

    private func plain(_ request: Request) -> Answer {
        let path = request.target.prefix { $0 != "?" }
        let (metadata, rows) = state.withLock { ($0.metadata, $0.rows) }
        let isOld = metadata.contains("2008/09")
        if path == "$metadata" { return Answer(fields: ["Content-Type": "application/xml"], body: metadata) }
        if path.isEmpty { return .json(#"{"@odata.context":"$metadata","value":[]}"#) }
        if path.hasSuffix("/$count") { return Answer(fields: ["Content-Type": "text/plain"], body: "\(rows.count)") }
        if path == "Items", request.method == "GET" {
            let all = rows.sorted { $0.key < $1.key }.map(\.value)
            return isOld ? .json(#"{"d":{"results":[\#(all.joined(separator: ","))]}}"#) : .page(all)
        }
        let number = path.dropFirst(6).dropLast()
        guard path.hasPrefix("Items("), let key = Int(number), let row = rows[key] else { return .refusal(404) }
        switch request.method {
        case "GET":
            if isOld { return .json(#"{"d":\#(row)}"#) }
            return .json(#"{"@odata.context":"$metadata#Items/$entity",\#(row.dropFirst())"#)
        case "DELETE":
            state.withLock { $0.rows[key] = nil }
            return Answer(status: 204)
        default: return Answer(status: 204)
        }
    }
}
