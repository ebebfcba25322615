import ODataTransportNIO

func usesODataTransportNIO() async throws {
    let transport = try NIOTransport()
    try await transport.shutdown()
    print("connected to nobody")
}
