import ODataDatabases
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import ODataStore
import ProviderChecks
import Testing

@Suite("A served database resolves a URL once")
struct DatabaseResolutionTests {
    @Test("by a served database, on each of its connections")
    func database() async throws {
        let fixture = try ForeignFixture(ServedDatabaseTests.people)
        let database = try await ServedDatabase.open(path: fixture.path)
        for _ in 0..<2 {
            #expect(try await ResolutionCheck(database, set: "person").faults().isEmpty)
        }
    }

    @Test("Any connection of a served database continues a stored result")
    func keptResult() async throws {
        let fixture = try ForeignFixture(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, c TEXT); INSERT INTO t VALUES (1,'a'),(2,'b'),(3,'c'),(4,'d'),(5,'e')"
        )
        var options = ServedDatabase.Options()
        options.maxPageSize = 1
        let database = try await ServedDatabase.open(path: fixture.path, options: options)
        for query in ["t?$apply=groupby((c))", "t?$apply=groupby((c))&$orderby=c desc"] {
            var values: [ODataValue?] = []
            var link: String? = query
            while let next = link, values.count < 10 {
                let page = try await database.page(next)
                values += page.entities.map { $0["c"] }
                link = page.nextLink
            }
            #expect(Set(values.compactMap { $0.map { "\($0)" } }).count == 5 && values.count == 5, "\(query)")
        }
    }

    @Test("An option has the same name for all database providers")
    func settings() {
        func set(_ options: inout some ServingSettings) {
            options.maxPageSize = 7
            options.maxExpandedRows = 3
            options.isReadOnly = true
            options.valueSizeLimit = 10
        }
        var (store, service, served) = (
            StoreProvider.Options(), StoreService.Options(), ServedDatabase.Options()
        )
        set(&store)
        set(&service)
        set(&served)
        for options in [store.serving, service.serving, served.serving] {
            #expect(options.maxPageSize == 7 && options.maxExpandedRows == 3)
            #expect(options.isReadOnly && options.valueSizeLimit == 10)
        }
    }
}
