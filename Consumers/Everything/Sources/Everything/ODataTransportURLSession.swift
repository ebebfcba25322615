import ODataTransportURLSession

func usesODataTransportURLSession() async throws {
    _ = URLSessionTransport()
    print("connected to nobody")
}
