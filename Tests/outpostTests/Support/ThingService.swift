import Foundation
import HTTPTypes
import ODataServer
import ODataService
import Synchronization
import WireFaults

/// A service of one set that assigns keys and recognises no repeat, behind a proxy that can lose its responses.
/// It refuses to create entities named `unwanted`, and rejects users that create a `stranger`.
final class ThingService: Sendable {
    private struct State {
        var names: [String] = []
        var changed: [String] = []
        var losesAnswers = false
        var refusesReads = false
    }

    /// The names of further sets.
    private let others: [String]
    /// The names of sets without a declared type.
    private let untyped: [String]
    /// The answer to a count; the true number by default.
    private let count: String?
    /// How long it thinks about that.
    private let thinking: Duration

    init(others: [String] = [], untyped: [String] = [], count: String? = nil, thinking: Duration = .zero) {
        self.others = others
        self.untyped = untyped
        self.count = count
        self.thinking = thinking
    }

    private var metadata: String {
        let sets =
            (["Things"] + others).map { "<EntitySet Name=\"\($0)\" EntityType=\"Shop.Thing\"/>" }
            + untyped.map { "<EntitySet Name=\"\($0)\" EntityType=\"Shop.Missing\"/>" }
        return """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
            <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false">
            <Annotation Term="Org.OData.Core.V1.Computed" Bool="true"/></Property>
            <Property Name="Name" Type="Edm.String"/></EntityType>
            <EntityContainer Name="C">\(sets.joined())</EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
    }

    private let state = Mutex(State())

    /// The names of the created entities; the first has the key 1.
    var names: [String] { state.withLock { $0.names } }
    /// The paths that were changed.
    var changed: [String] { state.withLock { $0.changed } }

    /// Whether the connection is lost after each request that the service has acted on.
    func loseAnswers(_ loses: Bool) { state.withLock { $0.losesAnswers = loses } }

    /// Whether it gives its rows to nobody any more.
    func refuseReads(_ refuses: Bool) { state.withLock { $0.refusesReads = refuses } }

    /// Serves it while something is done.
    func serving(_ body: (String) async throws -> Void) async throws {
        let server = try await ODataServer { await self.answer($0, $1) }.start()
        let proxy = try await FaultyProxy(to: server.port) { _ in
            self.state.withLock { $0.losesAnswers } ? .resetAfterAct : nil
        }
        do {
            try await body("http://127.0.0.1:\(proxy.port)/")
        } catch {
            try? await proxy.stop()
            await server.stop()
            throw error
        }
        try await proxy.stop()
        await server.stop()
    }

    private func answer(_ request: HTTPRequest, _ upload: ByteStream) async -> (HTTPResponse, ByteStream) {
        let path = (request.path ?? "").removingPercentEncoding ?? ""
        let bytes = (try? await upload.collect(limit: 1 << 20)) ?? []
        if path.contains("$metadata") { return Self.response(.ok, "application/xml", metadata) }
        if request.method == .post {
            let text = String(decoding: bytes, as: UTF8.self)
            if text.contains("unwanted") {
                return Self.response(
                    .badRequest, "application/json", #"{"error":{"code":"Unwanted","message":"We have enough."}}"#)
            }
            if text.contains("stranger") { return Self.response(.unauthorized, nil, "") }
            return Self.response(.created, "application/json", created(bytes))
        }
        if request.method == .patch {
            state.withLock { $0.changed.append(path) }
            return Self.response(.noContent, nil, "")
        }
        let things = names.enumerated().map { (id: $0.offset + 1, name: $0.element) }
        if path.contains("$count") {
            try? await Task.sleep(for: thinking)
            return Self.response(.ok, "text/plain", count ?? "\(things.count)")
        }
        if state.withLock({ $0.refusesReads }) { return Self.response(.unauthorized, nil, "") }
        if let id = path.firstMatch(of: /Things\((\d+)\)/).flatMap({ Int($0.1) }) {
            guard let thing = things.first(where: { $0.id == id }) else { return Self.response(.notFound, nil, "") }
            return Self.response(
                .ok, "application/json", Self.json(thing.id, thing.name, context: "$metadata#Things/$entity"))
        }
        let wanted = path.firstMatch(of: /Name eq '(\w+)'/).map { String($0.1) }
        let rows = things.filter { wanted == nil || $0.name == wanted }.map { Self.json($0.id, $0.name) }
        return Self.response(
            .ok, "application/json",
            "{\"@odata.context\":\"$metadata#Things\",\"value\":[\(rows.joined(separator: ","))]}")
    }

    private func created(_ bytes: [UInt8]) -> String {
        let object = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any]
        let name = object?["Name"] as? String ?? ""
        let id = state.withLock { state in
            state.names.append(name)
            return state.names.count
        }
        return Self.json(id, name, context: "$metadata#Things/$entity")
    }

    private static func json(_ id: Int, _ name: String, context: String? = nil) -> String {
        let context = context.map { "\"@odata.context\":\"\($0)\"," } ?? ""
        return "{\(context)\"ID\":\(id),\"Name\":\"\(name)\"}"
    }

    private static func response(
        _ status: HTTPResponse.Status, _ type: String?, _ text: String
    ) -> (HTTPResponse, ByteStream) {
        var response = HTTPResponse(status: status)
        if let type { response.headerFields[.contentType] = type }
        return (response, ByteStream(Array(text.utf8)))
    }
}
