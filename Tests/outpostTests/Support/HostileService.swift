import Foundation
import HTTPTypes
import ODataServer
import ODataService

/// A service with names, codes, messages and values that may harm a terminal, and with given words.
struct HostileService: Sendable {
    /// Harmful characters: an escape sequence, a bell, its C1 form, direction marks, zero-width characters, ends
    /// of lines.
    static let harm =
        "a\u{1B}[31mb\u{07}c\u{9B}32md\u{202E}e\u{2066}f\u{200B}g\u{200F}h\u{061C}i\u{FEFF}j\r\nFAKE LINE\u{2028}k\u{7F}l"

    /// The harmless part of the messages.
    var words = "no"

    private static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        <EntityType Name="Thing" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="Shop.Thing"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    /// Serves it while something is done.
    func serving(_ body: (String) async throws -> Void) async throws {
        let server = try await ODataServer { await self.answer($0, $1) }.start()
        do {
            try await body("http://127.0.0.1:\(server.port)/")
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func answer(_ request: HTTPRequest, _ upload: ByteStream) async -> (HTTPResponse, ByteStream) {
        _ = try? await upload.collect(limit: 1 << 20)
        let path = request.path ?? ""
        if path.contains("$metadata") { return Self.response(.ok, "application/xml", Self.metadata) }
        if path.contains("count") { return Self.response(.ok, "text/plain", "1") }
        guard request.method == .get else {
            let error = ["code": "E\(Self.harm) \(words)", "message": "M\(Self.harm) \(words)", "target": Self.harm]
            return Self.response(.badRequest, "application/json", Self.json(["error": error]))
        }
        let row: [String: Any] = ["ID": 1, "Name": "value \(Self.harm)", "dynamic\(Self.harm)": "=\(Self.harm)"]
        return Self.response(
            .ok, "application/json", Self.json(["@odata.context": "$metadata#Things", "value": [row]]))
    }

    private static func json(_ value: [String: Any]) -> String {
        (try? JSONSerialization.data(withJSONObject: value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private static func response(
        _ status: HTTPResponse.Status, _ type: String, _ text: String
    ) -> (HTTPResponse, ByteStream) {
        var response = HTTPResponse(status: status)
        response.headerFields[.contentType] = type
        return (response, ByteStream(Array(text.utf8)))
    }
}
