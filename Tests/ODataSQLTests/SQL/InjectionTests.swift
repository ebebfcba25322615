import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

/// Values and names that attempt an SQL injection. Each must have a response, which may be empty, or a typed error,
/// and must change nothing.
@Suite("Injection")
struct InjectionTests {
    static let payloads = [
        "'; DROP TABLE orders; --", "' OR '1'='1", "\"; DROP TABLE orders; --", "x') UNION SELECT 1 --",
        "%' ESCAPE '\\",
        "?1", ":a", "$a", "@a", "\u{0}", "*/ OR 1=1 /*", "\\\"", "NEAR(a b)", "a* OR b", "^a", "{c0}: x",
        "\"a\" OR \"b",
    ]

    @Test("Injected SQL in every text of a query has no effect", arguments: payloads)
    func literals(payload: String) async throws {
        let traders = try Traders()
        let quoted = payload.replacing("'", with: "''")
        let json = payload.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
            "\u{0}", with: "\\u0000")
        var urls = [
            "Customers?$filter=Name eq '\(quoted)'", "Customers?$filter=startswith(Name,'\(quoted)')",
            "Customers?$filter=contains(Name,'\(quoted)')", "Customers?$filter=Name in ('\(quoted)','x')",
            "Customers?$filter=Tags/any(t:t eq '\(quoted)')", "Customers?$filter=hassubset(Tags,[\"\(json)\"])",
            "Customers('\(quoted)')", "Customers?$apply=filter(Name eq '\(quoted)')/groupby((Country))",
            "Customers?$apply=concat(filter(Name eq '\(quoted)'),filter(Name eq '\(quoted)'))",
            "Customers?$expand=Orders($filter=CustomerID eq '\(quoted)')",
            "Customers?$filter=concat(Name,'\(quoted)') eq 'x'",
            "Orders?$filter=$root/Customers('\(quoted)')/Name eq 'x'",
        ]
        if !payload.contains("\""), !payload.contains("\\") { urls.append("Customers?$search=\"\(payload)\"") }
        for url in urls {
            do {
                let bound = try traders.bind(url)
                _ = try await traders.reader().read(
                    bound, request: ODataRequest(.read, try ODataURL(parsing: url)), in: traders.queue)
                if let query = bound.query {
                    let options = SQLCompiler.Options(now: ODataDateTimeOffset(seconds: 0))
                    let sql = try SQLCompiler(mapping: traders.mapping, options: options)
                        .compile(query, at: bound.resource.steps).sql
                    if payload.count > 3 { #expect(!sql.contains(payload), "\(url)") }
                }
            } catch is QueryError {
            } catch let error as ODataError {
                #expect((400..<600).contains(error.status), "\(url): \(error)")
            }
        }
        let count = try await traders.queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM orders") }
        #expect(count == 5)
    }

    @Test("Injected SQL in every other literal, name and option has no effect", arguments: payloads)
    func others(payload: String) async throws {
        let traders = try Traders()
        let quoted = payload.replacing("'", with: "''")
        for url in [
            "Orders?$filter=Took eq duration'\(quoted)'", "Orders?$filter=Token eq \(payload)",
            "Orders?$filter=Token eq guid'\(quoted)'", "Orders?$filter=OrderDate eq datetime'\(quoted)'",
            "Orders?$filter=OrderDate eq 2024-01-15\(payload)", "Orders?$filter=Freight eq 1\(payload)",
            "Orders?$filter=Token eq binary'\(quoted)'", "Orders?$filter=Token has NW.Kind'\(quoted)'",
            "Orders?$filter=geo.length(geography'\(quoted)') gt 1",
            "Orders?$filter=Customer/Phones/any(\(payload):true)",
            "Orders?$filter=isof(\(payload))", "Orders?$filter=cast(OrderID,\(payload)) eq 1",
            "Orders?$filter=Customer/\(payload) eq 1", "Customers?$filter=More/\(payload) eq 1",
            "Orders?$filter=OrderID eq @p&@p=\(payload)", "Orders?$filter=CustomerID eq @p&@p='\(quoted)'",
            "Orders?$orderby=\(payload)", "Orders?$select=\(payload)", "Customers?$select=\(payload)",
            "Orders?$expand=\(payload)", "Orders?$top=\(payload)", "Orders?$skip=\(payload)",
            "Orders?$skiptoken=\(payload)", "Orders?$compute=OrderID as \(payload)", "Orders?$search=\(payload)",
            "Orders?$apply=groupby((\(payload)))", "Orders?$apply=aggregate(Freight with \(payload) as X)",
            "Orders?$apply=aggregate(Freight with sum as \(payload))", "Orders?$apply=join(Items as \(payload))",
            "Orders?$apply=nest(identity as \(payload))", "\(payload)", "Orders(\(payload))", "Orders/\(payload)",
            "Employees?$apply=descendants($root/Employees,\(payload),ID,identity)",
            "Employees?$filter=Aggregation.isnode(HierarchyNodes=$root/Employees,HierarchyQualifier='\(quoted)',Node=ID)",
            "Employees?$filter=Aggregation.isdescendant(HierarchyNodes=$root/Employees,HierarchyQualifier='Staff',"
                + "Node=ID,Ancestor='\(quoted)')",
        ] {
            do {
                _ = try await traders.json(url)
            } catch is QueryError {
            } catch let error as ODataError {
                #expect((400..<600).contains(error.status) && error.status != 500, "\(url): \(error)")
            }
        }
        let count = try await traders.queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM orders") }
        #expect(count == 5)
    }

    @Test(
        "Injected SQL in the names of computed values has no effect",
        arguments: ["a", "$o.0", "_id", "rowid", "Customer_x"])
    func names(name: String) async throws {
        let traders = try Traders()
        do {
            let page = try await traders.page(
                "Orders?$apply=compute(OrderID add 1 as \(name))/topcount(2,\(name))&$filter=\(name) gt 1&$orderby=\(name)"
            )
            #expect(page.entities.count == 2)
        } catch is QueryError {
            // The name is not an OData identifier.
            #expect(name.contains("$"))
        }
    }
}
