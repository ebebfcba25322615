import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataDatabases

@Suite("Names of a foreign database that are invalid identifiers")
struct HostileNameTests {
    @Test("Table and column names may contain quotes and SQL")
    func foreignNames() async throws {
        let fixture = try ForeignFixture(
            """
            CREATE TABLE "a""b;--" ("i""d" INTEGER PRIMARY KEY, "x"" = 1 OR ""y" TEXT);
            INSERT INTO "a""b;--" VALUES (1, 'one'), (2, 'two');
            """)
        let served = try await ServedDatabase.open(path: fixture.path)
        let set = try #require(served.model.container.entitySets.first)
        let text = try #require(served.model.shape(set.type)?.properties.last?.name)
        for url in [
            "\(set.name)?$filter=\(text) eq 'one'", "\(set.name)?$apply=groupby((\(text)))/top(1)",
            "\(set.name)?$orderby=\(text) desc&$top=1", "\(set.name)?$search=one",
        ] {
            let response = try await served.execute(ODataRequest(.read, try ODataURL(parsing: url)))
            guard case .page(let page) = response.body else {
                Issue.record("no page for \(url)")
                continue
            }
            #expect(page.entities.count == 1)
        }
        try await served.close()
    }
}
