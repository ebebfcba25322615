import ODataDatabases

func usesODataDatabases() async throws {
    do {
        _ = try await ServedDatabase.open(path: "/nonexistent/music.db")
    } catch let error as ForeignDatabaseError {
        print(error)
    }
}
