import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataService
import OfflineOData
import Testing

@Suite("Functions for the state of changes and for the existence of related entities")
struct StateFunctionPlaceTests {
    /// Queries in which `F` stands for a condition on an order.
    private static let forms = [
        "Orders?$filter=F", "Orders?$filter=not F", "Orders?$filter=F and Freight gt 0 or OrderID eq 1",
        "Orders?$orderby=F,OrderID desc", "Orders?$orderby=case(F:1,true:0) desc,OrderID&$top=5",
        "Orders?$filter=F in (true)", "Orders?$filter=true in (F,false)", "Orders?$filter=case(F:1,true:0) eq 1",
        "Orders?$filter=isof(F,Edm.Boolean)", "Orders?$filter=cast(F,Edm.String) eq 'true'",
        "Orders?$filter=concat(cast(F,Edm.String),'!') eq 'true!'", "Orders?$compute=F as X&$select=OrderID,X",
        "Orders?$compute=F as X&$filter=X&$orderby=X,OrderID", "Orders?$filter=@p&@p=F",
        "Orders?$filter=@p and not @q&@p=F&@q=@p eq false", "Orders/$filter(F)",
        "Orders?$apply=filter(F)/aggregate($count as N)", "Orders?$apply=filter(F in (true))/aggregate($count as N)",
        "Orders?$apply=compute(F as X)/groupby((X),aggregate($count as N))&$orderby=X",
        "Orders?$apply=concat(filter(F),filter(not F)/topcount(2,OrderID))&$orderby=OrderID",
        "Orders?$apply=filter(F)/groupby((EmployeeID),aggregate(Freight with sum as T))&$orderby=EmployeeID",
        "Orders?$apply=orderby(F,OrderID)/top(5)&$select=OrderID",
        "Customers?$expand=Orders($filter=F;$orderby=OrderID)&$orderby=CustomerID",
        "Customers?$expand=Orders($orderby=F,OrderID)&$orderby=CustomerID",
        "Customers?$expand=Orders($compute=F as X;$orderby=OrderID)&$orderby=CustomerID",
        "Employees?$expand=Orders($expand=Customer($expand=Orders($filter=F;$orderby=OrderID)))&$orderby=EmployeeID",
    ]

    /// Queries in which `F` stands for a condition on the members of a collection. `isLocal` always refers to
    /// the customer.
    private static let conditionsOnMembers = [
        "Customers?$filter=Orders/any(o:F)", "Customers?$filter=Orders/all(o:F)",
        "Customers?$filter=Orders/any(o:not F and o/Freight gt 0)", "Customers?$orderby=Orders/any(o:F),CustomerID",
        "Customers?$filter=Orders/any(o:F in (true))", "Customers?$filter=Orders/any(o:case(F:1,true:0) eq 1)",
    ]

    private struct Store {
        var shop: Shop
        var store: OfflineStore

        init() async throws {
            shop = try await Shop()
            try await shop.sql("UPDATE Orders SET EmployeeID = NULL WHERE OrderID IN (1002, 1004, 1005)")
            store = try await shop.clone()
            try await store.update("Orders(1003)", ["Freight": .decimal(47.25)])
            try await store.update("Customers('C0002')", ["City": "Here"])
        }

        /// Returns the results of a query by the library and over HTTP.
        func answers(_ text: String) async throws -> (rows: [String], json: String) {
            let rows = try await store.rows(text).map(Self.text)
            let handler = try ODataHandler(provider: store, serviceRoot: "/")
            let path = text.replacing(" ", with: "%20").replacing("'", with: "%27")
            let message = HTTPRequest(
                method: .get, scheme: "http", authority: "shop.test", path: "/" + path,
                headerFields: [.accept: "application/json;odata.metadata=none"])
            let (response, body) = await handler.handle(message, ByteStream([]))
            let json = String(decoding: try await body.collect(limit: 1 << 22), as: UTF8.self)
            #expect(response.status.code == 200, "\(text): \(json.prefix(500))")
            return (rows, json)
        }

        private static func text(_ entity: ODataEntity) -> String {
            let related = entity.related.sorted { $0.key < $1.key }.map { name, value -> String in
                switch value {
                case .one(let other): "\(name): {\(text(other))}"
                case .many(let others, _, _): "\(name): [\(others.map(text).joined(separator: ";"))]"
                case .none: "\(name): none"
                case .references(let references): "\(name): \(references)"
                }
            }
            let dynamic = entity.dynamicProperties.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return "\(entity.values) \(dynamic) \(related)"
        }
    }

    /// Expects the same results for a function and an equivalent condition.
    private func expectSame(_ form: String, _ function: String, _ condition: String, in store: Store) async throws {
        let query = form.replacing(/\bF\b/.wordBoundaryKind(.simple), with: function)
        let (rows, json) = try await store.answers(query)
        let expected = try await store.answers(form.replacing(/\bF\b/.wordBoundaryKind(.simple), with: condition))
        #expect(rows == expected.rows, "\(query)")
        #expect(Self.withoutContext(json) == Self.withoutContext(expected.json), "\(query)")
        #expect(!rows.isEmpty, "\(query)")
    }

    /// Returns a response without the annotations that contain the query.
    private static func withoutContext(_ json: String) -> String {
        json.replacing(/"[^"]*@(odata\.)?(context|nextLink)":"[^"]*",?/, with: "")
    }

    @Test("isLocal and entityExists work in every condition, in the library and over HTTP", arguments: forms)
    func everywhere(form: String) async throws {
        let store = try await Store()
        try await expectSame(form, "outpost.entityExists(Employee)", "(EmployeeID ne null)", in: store)
        try await expectSame(form, "outpost.isLocal()", "(OrderID eq 1003)", in: store)
    }

    @Test(
        "isLocal and entityExists work in conditions on collection members",
        arguments: conditionsOnMembers)
    func collections(form: String) async throws {
        let store = try await Store()
        try await expectSame(form, "outpost.entityExists(o/Employee)", "(o/EmployeeID ne null)", in: store)
        try await expectSame(form, "outpost.isLocal()", "($it/CustomerID eq 'C0002')", in: store)
    }

    @Test("entityExists works in the options of $count and in path filters")
    func counts() async throws {
        let store = try await Store()
        for form in [
            "Customers?$filter=Orders/$count($filter=F) gt 0",
            "Customers?$orderby=Orders/$count($filter=F) desc,CustomerID",
            "Customers?$filter=Orders/$filter(F)/$count gt 1",
        ] {
            try await expectSame(form, "outpost.entityExists(Employee)", "(EmployeeID ne null)", in: store)
        }
        #expect(try await !store.store.rows("Customers?$filter=Orders/$count($filter=outpost.isLocal()) gt 0").isEmpty)
    }

    @Test("Both functions work in either namespace, and wrong argument counts are refused")
    func names() async throws {
        let store = try await Store()
        let all = try await store.store.rows("Orders").count
        for name in ["outpost.entityExists", "outpost.entityexists", "sap.entityExists", "sap.entityexists"] {
            #expect(try await store.store.rows("Orders?$filter=\(name)(Employee)").count == all - 3, "\(name)")
        }
        let error = await #expect(throws: ODataError.self) {
            try await store.store.rows("Orders?$filter=outpost.entityExists(Employee,Customer)")
        }
        #expect(
            error?.message.contains("outpost.entityExists takes 1 argument, not 2") == true, "\(error.debugDescription)"
        )
        let unknown = await #expect(throws: ODataError.self) {
            try await store.store.rows("Orders?$filter=outpost.entityExist(Employee)")
        }
        #expect(unknown?.message.contains("outpost.entityExists") == true, "\(unknown.debugDescription)")
    }
}
