import ODataServer

func usesODataServer() async throws {
    print(ODataServer.Configuration(port: 0).host)
}
