import ODataHTTP

func usesODataHTTP() async throws {
    print(TransportError.timedOut(host: "example.org"))
}
