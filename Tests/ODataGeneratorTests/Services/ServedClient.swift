import ODataClient
import ODataServer
import ODataTransportNIO

/// Runs a body with a client of a handler that is served over a socket.
func withServedClient(
    at path: String, _ handler: @escaping ODataServer.IdentifiedHandler,
    _ configuration: ODataClient.Configuration = .init(),
    _ body: (_ client: ODataClient, _ root: String) async throws -> Void
) async throws {
    let server = try await ODataServer(handler: handler).start()
    let transport = try NIOTransport()
    let root = "http://127.0.0.1:\(server.port)\(path)"
    let result: Result<Void, any Error>
    do {
        let client = try await ODataClient(root, transport: transport, configuration: configuration)
        result = .success(try await body(client, root))
    } catch {
        result = .failure(error)
    }
    try await transport.shutdown()
    await server.stop()
    try result.get()
}
