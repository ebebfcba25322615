import Foundation
import HTTPTypes
import ODataDatabases
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO
import Testing

@testable import reference_service

/// A service behind a real socket, with a client that does not know OData.
struct Site {
    let root: String
    private let transport: NIOTransport

    /// Runs a test with the reference service and its own rows.
    static func reference(_ body: (Site) async throws -> Void) async throws {
        let service = try await ReferenceService.open()
        try await serve(service, body)
        try await service.close()
    }

    /// Runs a test with the Northwind database.
    static func northwind(_ body: (Site) async throws -> Void) async throws {
        let source = try #require(Self.northwindFile)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("conformance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("northwind.db")
        try FileManager.default.copyItem(at: source, to: file)
        let database = try await ServedDatabase.open(path: file.path)
        try await serve(database, body)
        try await database.close()
    }

    /// The Northwind database; `nil` if it is not available.
    static let northwindFile: URL? = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.deletingLastPathComponent().appendingPathComponent("shared/data/northwind.db")
        return FileManager.default.fileExists(atPath: file.path) ? file : nil
    }()

    private static func serve(_ provider: any ODataProvider, _ body: (Site) async throws -> Void) async throws {
        try await serve(ReferenceService.handler(provider), body)
    }

    /// Runs a test with a handler behind a socket.
    static func serve(_ handler: @escaping ODataServer.IdentifiedHandler, _ body: (Site) async throws -> Void)
        async throws
    {
        var configuration = ODataServer.Configuration()
        // A test suite sends more requests than the default limits allow.
        configuration.addressLimits = .none
        let server = try await ODataServer(configuration: configuration, handler: handler)
            .start()
        let transport = try NIOTransport()
        do {
            try await body(Site(root: server.url, transport: transport))
        } catch {
            try await transport.shutdown()
            await server.stop()
            throw error
        }
        try await transport.shutdown()
        await server.stop()
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - path: A path relative to the service root, or an absolute URL. Characters that are not allowed are
    ///     percent-encoded.
    ///   - fields: The header fields by name.
    func send(
        _ method: String, _ path: String, _ fields: [String: String] = [:], body: [UInt8]? = nil
    ) async throws -> Answer {
        let url = Self.encoded(path.hasPrefix("http://") ? path : root + path)
        let parts = try #require(URLComponents(string: url))
        let authority = "\(parts.host ?? ""):\(parts.port ?? 80)"
        let target = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
        var request = HTTPRequest(
            method: try #require(HTTPRequest.Method(method)), scheme: "http", authority: authority, path: target)
        for (name, value) in fields { request.headerFields[try #require(HTTPField.Name(name))] = value }
        let (response, stream) = try await transport.send(request, body: body.map { ByteStream($0) })
        return Answer(
            status: response.status.code, fields: response.headerFields,
            bytes: try await stream.collect(limit: 1 << 26))
    }

    func get(_ path: String, _ fields: [String: String] = [:]) async throws -> Answer {
        try await send("GET", path, fields)
    }

    func send(
        _ method: String, _ path: String, json: Any, _ fields: [String: String] = [:]
    ) async throws -> Answer {
        let body = try JSONSerialization.data(withJSONObject: json, options: [.fragmentsAllowed])
        return try await send(
            method, path, fields.merging(["Content-Type": "application/json"]) { given, _ in given }, body: Array(body))
    }

    private static func encoded(_ url: String) -> String {
        var allowed = CharacterSet.urlQueryAllowed
        allowed.insert(charactersIn: "%?")
        return url.addingPercentEncoding(withAllowedCharacters: allowed) ?? url
    }

    // MARK: The rows of the reference service

    /// Returns the key of a row with the given name.
    func key(of set: String, named name: String) async throws -> String {
        let rows = try await get("\(set)?$filter=Name eq '\(name)'&$select=ID").rows
        return try #require(rows.first?["ID"] as? String)
    }

    /// Returns the path of a product with the given name.
    func product(_ name: String = "Laptop") async throws -> String {
        "Products(\(try await key(of: "Products", named: name)))"
    }

    /// Returns the required properties of a product, and further ones.
    static func newProduct(_ name: String, _ more: [String: Any] = [:]) -> [String: Any] {
        let required: [String: Any] = [
            "Name": name, "Price": 10.5, "Rating": 1, "Temperature": 2, "Quantity": 3, "Weight": 4.5,
            "Status": "InStock",
        ]
        return required.merging(more) { $1 }
    }
}
