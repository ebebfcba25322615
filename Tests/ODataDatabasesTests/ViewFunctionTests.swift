import Foundation
import ODataModel
import ODataService
import Testing

@testable import ODataDatabases

@Suite("Views without a key, which are functions")
struct ViewFunctionTests {
    static let sql = """
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price DECIMAL(8, 2), code);
        INSERT INTO item VALUES (1, 'Pen', 2.5, 7), (2, 'Ink', 1.25, 'x'), (3, 'Lamp', 30, NULL), (4, 'Cap', 2.5, '7');
        CREATE VIEW "Current List" AS SELECT name, price, code FROM item;
        """

    private func answer(_ url: String) async throws -> ResponseBody {
        let fixture = try ForeignFixture(Self.sql)
        let database = try await ServedDatabase.open(path: fixture.path)
        let body = try await database.get(url).body
        try await database.close()
        return body
    }

    @Test(
        "accept query options that need no keys and no pages",
        arguments: [
            ("", ["Pen", "Ink", "Lamp", "Cap"]), ("?$format=json", ["Pen", "Ink", "Lamp", "Cap"]),
            ("?sap-client=100&$format=json", ["Pen", "Ink", "Lamp", "Cap"]), ("?$top=2", ["Pen", "Ink"]),
            ("?$filter=price lt 3&$orderby=name", ["Cap", "Ink", "Pen"]),
            ("?$orderby=price desc,name&$skip=1", ["Cap", "Pen", "Ink"]),
            ("?$filter=code eq '7'&$orderby=name", ["Cap", "Pen"]),
            ("?$filter=contains(name,'a')&$select=name", ["Lamp", "Cap"]),
            ("?$filter=price gt @p&@p=5", ["Lamp"]), ("?$top=0", []),
        ] as [(String, [String])])
    func options(options: String, expected: [String]) async throws {
        guard case .value(.collection(let members), _) = try await answer("Current_List()\(options)") else {
            Issue.record("no collection")
            return
        }
        let names = members.compactMap { if case .complex(let row) = $0 { row["name"] } else { nil } }
        #expect(names == expected.map { .string($0) })
        if options.contains("$select"), case .complex(let row)? = members.first { #expect(row["price"] == nil) }
    }

    @Test("are counted inline")
    func counts() async throws {
        guard case .page(let page) = try await answer("Current_List()?$count=true&$top=1&$filter=price lt 3") else {
            Issue.record("no page")
            return
        }
        #expect(page.count == 3 && page.entities.count == 1)
    }

    @Test(
        "are counted by $count, as many as satisfy the filter (OData Protocol 4.01, 11.2.10)",
        arguments: [
            ("", 4), ("?$filter=price lt 3", 3), ("?$filter=contains(name,'a')", 2), ("?sap-client=100", 4),
            ("?$filter=price gt @p&@p=5", 1), ("?$filter=price gt 100", 0),
        ] as [(String, Int64)])
    func countSegment(options: String, expected: Int64) async throws {
        guard case .count(let count) = try await answer("Current_List()/$count\(options)") else {
            Issue.record("no count")
            return
        }
        #expect(count == expected)
    }

    @Test(
        "refuse other options by their names",
        arguments: ["$apply=groupby((name))", "$search=Pen", "$compute=price add 1 as p"])
    func refusals(option: String) async throws {
        do {
            _ = try await answer("Current_List()?\(option)")
            Issue.record("\(option) was taken")
        } catch let error as ODataError {
            #expect(error.status == 501 && error.message.contains(String(option.prefix { $0 != "=" })))
        }
    }
}
