import ODataQuery

func usesODataQuery() async throws {
    let url = try ODataURL(parsing: "Orders?$filter=Freight gt 50&$top=10")
    print(url)
}
