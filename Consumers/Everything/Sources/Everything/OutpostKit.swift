import OutpostKit

func usesOutpostKit() async throws {
    let client = try ODataClient(serviceRoot: "https://services.example/", transport: URLSessionTransport())
    print("a client for \(client.serviceRoot), by one import")
}
