import ODataService

func usesODataService() async throws {
    print(ODataError.notFound("Orders(1)"))
}
