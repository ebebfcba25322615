import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

@Suite("Indexes on properties, plans and limits")
struct IndexTests {
    let traders: Traders
    let indexes: PropertyIndexes

    init() throws {
        traders = try Traders()
        indexes = PropertyIndexes(mapping: traders.mapping)
    }

    private func plan(_ url: String) async throws -> String {
        let explanation = try await traders.reader().explain(try traders.bind(url), in: traders.queue)
        return explanation.statements.flatMap(\.plan).joined(separator: "\n")
    }

    @Test(
        "An index serves its filter and order",
        arguments: [
            ("Customers", ["Name"], "Customers?$filter=Name eq 'x'"),
            ("Customers", ["Address/City"], "Customers?$filter=startswith(Address/City,'B')"),
            ("Orders", ["Placed"], "Orders?$filter=Placed gt 2024-01-15T08:00:00Z&$orderby=Placed"),
            ("Orders", ["Freight desc"], "Orders?$filter=Freight gt 20&$orderby=Freight desc"),
            ("Items", ["Price", "Quantity"], "Items?$filter=Price eq 2.5 and Quantity gt 1"),
        ])
    func used(set: String, paths: [String], url: String) async throws {
        let before = try await traders.keys(url)
        let index = try await traders.queue.write { try indexes.create(on: set, paths: paths, in: $0) }
        let steps = try await plan(url)
        #expect(steps.contains("INDEX \(index.name)"), "\(steps)")
        #expect(try await traders.keys(url) == before)
        try await traders.queue.write { database in
            #expect(try indexes.list(in: database) == [index])
            try indexes.drop(index, in: database)
            #expect(try indexes.list(in: database) == [])
        }
    }

    @Test("An unknown property, or one without a single value, is refused by name")
    func refused() async throws {
        for (set, paths) in [
            ("Nothing", ["x"]), ("Orders", ["Nothing"]), ("Customers", ["Tags"]), ("Orders", []),
            ("Orders", ["Freight\" DESC); DROP TABLE orders; --"]),
        ] {
            let error = await #expect(throws: ODataError.self) {
                try await traders.queue.write { try indexes.create(on: set, paths: paths, in: $0) }
            }
            #expect(error?.status == 400 || error?.status == 404)
        }
        // Only indexes of this type can be dropped.
        let index = PropertyIndexes.Index(name: "customer_country", set: "Customers", paths: [], isSearch: false)
        await #expect(throws: ODataError.self) { try await traders.queue.write { try indexes.drop(index, in: $0) } }
    }

    @Test("explain shows the tree, the SQL with separate values, and the plan")
    func explain() async throws {
        let url = "Customers?$filter=Country eq 'x''y'&$expand=Orders($expand=Items)&$orderby=Name desc&$top=3"
        let explanation = try await traders.reader().explain(try traders.bind(url), in: traders.queue)
        #expect(explanation.tree.contains("  filter (Country eq x'y:Edm.String)"), "\(explanation.tree)")
        #expect(explanation.statements.map(\.purpose) == ["rows", "Orders", "Orders/Items"])
        #expect(!explanation.statements[0].sql.contains("x'y"))
        #expect(explanation.statements[0].arguments.first == "'x''y'")
        #expect(explanation.statements[0].plan.contains { $0.contains("customer_country") })
        #expect(explanation.description.contains("PLAN"))
    }

    @Test("A query beyond the time limit ends with a typed error")
    func timeLimit() async throws {
        try await traders.queue.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) \
                    INSERT INTO employee SELECT i, NULL FROM n
                    """)
        }
        let reader = StoreReader(
            mapping: traders.mapping,
            configuration: .init(
                limits: .init(statementTime: .milliseconds(50)), now: { ODataDateTimeOffset(seconds: 0) }))
        let url = "Employees?$filter=$root/Employees/any(a:$root/Employees/any(b:b/ID add a/ID eq -1))"
        let error = await #expect(throws: ODataError.self) {
            _ = try await reader.read(
                try traders.bind(url), request: ODataRequest(.read, try ODataURL(parsing: url)), in: traders.queue)
        }
        #expect(error?.status == 503 && error?.code == "TimeLimit")
        // The connection is still usable.
        #expect(try await traders.keys("Orders?$top=1") == ["1"])
    }

    @Test(
        "A result with too many rows, expanded ones included, is a typed error",
        arguments: ["Orders", "Orders(1)?$expand=Items,Customer($expand=Orders)"])
    func rowLimit(url: String) async throws {
        let reader = StoreReader(
            mapping: traders.mapping,
            configuration: .init(limits: .init(rows: 4), now: { ODataDateTimeOffset(seconds: 0) }))
        let error = await #expect(throws: ODataError.self) {
            _ = try await reader.read(
                try traders.bind(url), request: ODataRequest(.read, try ODataURL(parsing: url)), in: traders.queue)
        }
        #expect(error?.status == 413 && error?.code == "RowLimit")
    }
}
