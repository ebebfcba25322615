import GRDB
import ODataModel
import ODataQuery
import ODataService
import Testing

@testable import ODataSQL

@Suite("Server-driven paging")
struct PagingTests {
    let traders: Traders

    init() throws { traders = try Traders() }

    /// Returns the keys of all pages by following the next links.
    private func walk(_ url: String, size: Int) async throws -> [String] {
        var keys: [String] = []
        var next: String? = url
        var pages = 0
        while let url = next, pages < 50 {
            let page = try await traders.page(url, page: size)
            #expect(page.entities.count <= size)
            keys += page.entities.map { $0.key?.parts.map { $0.value.lexicalText ?? "" }.joined(separator: ",") ?? "" }
            next = page.nextLink
            pages += 1
        }
        return keys
    }

    @Test(
        "Pages of any size give the same rows, with nulls, ties, both directions and joined sort values",
        arguments: [
            "Orders", "Orders?$orderby=CustomerID", "Orders?$orderby=CustomerID desc",
            "Orders?$orderby=OrderDate,Freight desc",
            "Orders?$orderby=Rating desc,OrderDate", "Orders?$orderby=Placed,OrderID desc", "Orders?$orderby=Weight",
            "Orders?$orderby=Customer/Country desc,CustomerID", "Orders?$orderby=Freight add 1 desc",
            "Orders?$orderby=Customer/Orders/$count,Shipped desc", "Orders?$orderby=Shipped&$skip=1",
            "Orders?$orderby=CustomerID desc&$top=4", "Orders?$orderby=OrderDate&$top=3&$skip=1",
            "Orders?$filter=OrderID gt 1&$orderby=year(OrderDate) desc", "Items?$orderby=Price desc",
            "Customers?$orderby=Name",
            "Orders?$compute=OrderID mul -1 as N&$orderby=N", "Employees?$orderby=Boss desc",
        ])
    func walks(url: String) async throws {
        let whole = try await traders.keys(url)
        #expect(!whole.isEmpty)
        for size in 1...6 { #expect(try await walk(url, size: size) == whole, "size \(size)") }
    }

    @Test("Pages continue behind any text")
    func anyText() async throws {
        try await traders.queue.write { database in
            try database.execute(sql: "UPDATE customer SET name = 'x' || char(0) || id WHERE id <> 'A'")
        }
        let byName = try await traders.keys("Customers?$orderby=Name")
        for size in 1...4 { #expect(try await walk("Customers?$orderby=Name", size: size) == byName) }
        // A token with this value would be too long, so that the page continues.
        try await traders.queue.write { database in
            try database.execute(sql: "UPDATE customer SET name = printf('%060000d', unicode(id)) WHERE id <> 'C'")
        }
        for (url, count) in [
            ("Customers?$orderby=Name", 4), ("Customers?$orderby=Name desc", 1), ("Customers?$orderby=Name&$top=3", 3),
        ] {
            let whole = try await traders.keys(url)
            #expect(try await traders.page(url, page: 1).entities.count == count, "\(url)")
            var keys: [String] = []
            var next: String? = url
            while let link = next, keys.count < 5 {
                let page = try await traders.page(link, page: 1)
                keys += page.entities.map { $0.key?.parts.first?.value.lexicalText ?? "" }
                next = page.nextLink
            }
            #expect(keys == whole, "\(url)")
        }
    }

    @Test("11.2.6.2 Null sorts before all values ascending, after them descending")
    func nullOrder() async throws {
        #expect(try await traders.keys("Orders?$orderby=CustomerID,OrderID") == ["5", "1", "2", "3", "4"])
        #expect(try await traders.keys("Orders?$orderby=CustomerID desc,OrderID desc") == ["4", "3", "2", "1", "5"])
    }

    @Test("A token of another query is refused with 400")
    func foreignToken() async throws {
        let next = try #require(try await traders.page("Orders?$orderby=OrderDate", page: 2).nextLink)
        let token = try #require(next.split(separator: "=").last.map(String.init))
        for url in ["Orders?$orderby=Freight&$skiptoken=\(token)", "Orders?$orderby=OrderDate&$skiptoken=x\(token)"] {
            let error = await #expect(throws: ODataError.self) { _ = try await traders.page(url) }
            #expect(error?.status == 400 && error?.target == "$skiptoken", "\(String(describing: error))")
        }
    }

    @Test("A page contains the total number of rows for any page, top and skip")
    func count() async throws {
        let page = try await traders.page("Orders?$count=true&$top=2&$filter=OrderID gt 1", page: 1)
        #expect(page.count == 4 && page.entities.count == 1 && page.nextLink != nil)
    }

    @Test("Every branch of a continued page uses an index")
    func plans() throws {
        let byKey = try traders.compile("Orders")
        #expect(try traders.plan(byKey.sqlFragment) == ["SCAN t0"])
        for fragment in byKey.pages(after: [2.databaseValue]) {
            let plan = try traders.plan(fragment)
            #expect(plan == ["SEARCH t0 USING INTEGER PRIMARY KEY (rowid>?)"], "\(plan)")
        }
        let byDate = try traders.compile("Orders?$orderby=OrderDate")
        for fragment in byDate.pages(after: ["2024-01-15".databaseValue, 2.databaseValue]) {
            let plan = try traders.plan(fragment)
            #expect(plan.count == 1 && plan[0].contains("USING INDEX orders_date"), "\(plan)")
        }
        for fragment in byDate.pages(after: [.null, 2.databaseValue]) {
            let plan = try traders.plan(fragment)
            #expect(plan.count == 1 && plan[0].contains("USING INDEX orders_date"), "\(plan)")
        }
        let byCountry = try traders.compile("Customers?$orderby=Country")
        for fragment in byCountry.pages(after: ["a".databaseValue, "b".databaseValue]) {
            let plan = try traders.plan(fragment)
            #expect(plan.count == 1 && plan[0].contains("USING INDEX customer_country"), "\(plan)")
        }
    }

    @Test("A filter on the key or an indexed column uses the index")
    func searches() throws {
        for url in [
            "Orders?$filter=OrderID eq 3", "Orders?$filter=OrderDate gt 2024-01-01&$orderby=OrderDate",
            "Orders?$filter=CustomerID in ('A','B')",
            "Customers('A')/Orders", "Customers?$filter=startswith(Country,'G')",
        ] {
            let plan = try traders.plan(try traders.compile(url).sqlFragment)
            #expect(plan.contains { $0.hasPrefix("SEARCH t0 USING") }, "\(url): \(plan)")
        }
    }

    @Test("Grouped rows are paged by their groups")
    func groups() async throws {
        var countries: [ODataValue?] = []
        var next: String? = "Orders?$apply=groupby((Customer/Country),aggregate($count as N))"
        while let url = next {
            let page = try await traders.page(url, page: 1)
            countries += page.entities.map { $0["Customer/Country"] }
            next = page.nextLink
        }
        #expect(countries == [.null, "Germany", "USA", "germany"])
    }

    @Test(
        "Expanded collections have next links that continue them",
        arguments: [
            "Orders", "Orders($orderby=OrderDate desc;$select=OrderID)", "Friends($count=true)", "Orders($top=2)",
        ])
    func expanded(expand: String) async throws {
        let name = String(expand.prefix { $0 != "(" })
        let url = "Customers?$filter=ID eq 'A'&$expand=\(expand)"
        let whole = try #require(try await traders.page(url).entities.first?.related[name])
        let request = ODataRequest(.read, try ODataURL(parsing: url))
        let reader = traders.reader(maxExpandedRows: 1)
        guard case .page(let page) = try await reader.read(traders.bind(url), request: request, in: traders.queue).body,
            case .many(let all, _, nil) = whole,
            case .many(let first, _, let link?)? = page.entities.first?.related[name]
        else {
            Issue.record("no collection with a link")
            return
        }
        #expect(first == Array(all.prefix(1)) && all.count == 2)
        #expect(try await traders.page(link).entities == Array(all.dropFirst()), "\(link)")
    }

    @Test(
        "Next links of an expanded collection keep aliases, levels of a star and further segments",
        arguments: [
            ("Customers", "Orders($filter=OrderID gt @x)&@x=0", "Orders"), ("Employees", "*($levels=2)", "Reports"),
            ("Employees", "Reports($levels=3)", "Reports"), ("Employees", "Reports($levels=max)", "Reports"),
            ("Customers", "Orders/Items", "Orders"), ("Customers", "Orders,Orders/Items,Orders/Customer", "Orders"),
            ("Customers", "Orders($expand=Items($filter=Line ge @x))&@x=0", "Orders"),
        ])
    func expandedOptions(set: String, expand: String, name: String) async throws {
        let url = try ODataURL(
            parsing: "\(set)?$top=1&$expand=\(expand)",
            options: ParsingOptions(dialect: expand.contains("/") ? .v2 : .v4))
        let bound = try Binder(model: traders.model).bind(url)
        func first(_ size: Int?) async throws -> RelatedEntities? {
            let response = try await traders.reader(maxExpandedRows: size).read(
                bound, request: ODataRequest(.read, url), in: traders.queue)
            guard case .page(let page) = response.body else { throw ODataError.notFound(name) }
            return page.entities.first?.related[name]
        }
        guard case .many(let all, _, nil)? = try await first(nil),
            case .many(let some, _, let link?)? = try await first(1)
        else {
            Issue.record("no collection with a link")
            return
        }
        #expect(some.count == 1 && all.count == 2)
        #expect(try await traders.page(link).entities == Array(all.dropFirst()), "\(link)")
    }

    @Test("A next link fits only its query, for any provider, and after rows were hidden")
    func lasting() async throws {
        var tables = traders.mapping.tables
        tables["Customers"]?.visibility = .init(ownerColumn: "owner", hiddenTable: "hidden")
        let mapping = StorageMapping(model: traders.model, tables: Array(tables.values))
        let reader = StoreReader(
            mapping: mapping,
            configuration: .init(
                maxExpandedRows: 1, now: { ODataDateTimeOffset(seconds: 0) },
                hasHiddenOwners: { try Bool.fetchOne($0, sql: "SELECT EXISTS (SELECT 1 FROM hidden)") ?? false }))
        func page(_ url: String) async throws -> EntityPage {
            var request = ODataRequest(.read, try ODataURL(parsing: url))
            request.preferences.maxPageSize = 1
            let response = try await reader.read(try traders.bind(url), request: request, in: traders.queue)
            guard case .page(let page) = response.body else { throw ODataError.notFound(url) }
            return page
        }
        try await traders.queue.write {
            try $0.execute(sql: "ALTER TABLE customer ADD COLUMN owner; CREATE TABLE hidden(id)")
        }
        for (url, expected) in [
            ("Customers?$expand=Friends", ["A", "C", "D"]),
            ("Customers?$search=big OR usa OR bär OR germany", ["A", "D"]),
        ] {
            let first = try await page(url)
            try await traders.queue.write { database in
                try database.execute(sql: "INSERT INTO hidden VALUES (7); UPDATE customer SET owner = 7 WHERE id = 'B'")
                if url.contains("$search") {
                    try PropertyIndexes(mapping: mapping).createSearch(on: "Customers", in: database)
                }
            }
            if case .many(_, _, let rest?)? = first.entities.first?.related["Friends"] {
                #expect(try await page(rest).entities.map { $0["ID"] } == ["D"])
            }
            let second = try await page(try #require(first.nextLink))
            try await traders.queue.write { try $0.execute(sql: "DELETE FROM hidden") }
            var found = (first.entities + second.entities).map { $0["ID"] }
            if let link = second.nextLink { found += try await page(link).entities.map { $0["ID"] } }
            #expect(found == expected.map { .string($0) }, "\(url)")
        }
    }

    @Test("A next link stays valid after a restart, for any order of derived types")
    func derivedTypes() throws {
        let namespace = "D"
        let names = (1...12).map { QualifiedName(namespace, "T\($0)") }
        let base = StructuredType(
            name: QualifiedName(namespace, "Base"), kind: .entity, key: [.init(path: "ID")],
            properties: [Property(name: "ID", type: .primitive(.int32), isNullable: false)])
        let derived = names.map {
            StructuredType(
                name: $0, kind: .entity, baseType: base.name,
                properties: [Property(name: "P\($0.name)", type: .primitive(.int32))])
        }
        let model = try EntityDataModel(schemas: [
            ODataSchema(
                namespace: namespace, structuredTypes: [base] + derived,
                container: EntityContainer(
                    name: QualifiedName(namespace, "Container"), entitySets: [EntitySet(name: "All", type: base.name)]))
        ])
        let shape = try #require(model.shape(base.name))
        func column(_ name: String) -> PropertyStorage {
            .column(ColumnStorage(name: name, type: .primitive(.int32), codec: .integer))
        }
        func statement(_ capacity: Int, _ url: String) throws -> CompiledQuery {
            var storages = [QualifiedName: [PropertyStorage]](minimumCapacity: capacity)
            for name in names { storages[name] = [column("p\(name.name)")] }
            let table = TableStorage(
                set: "All", shape: shape, table: "all", rowID: "id", properties: [column("id")],
                derivedProperties: storages, discriminator: "type", etag: .none)
            let mapping = StorageMapping(model: model, tables: [table])
            let bound = try Binder(model: model).bind(ODataURL(parsing: url))
            return try SQLCompiler(mapping: mapping, options: .init(now: ODataDateTimeOffset(seconds: 0)))
                .compile(try #require(bound.query))
        }
        for url in ["All", "All?$select=D.T1/PT1,D.T2/PT2,D.T3/PT3,D.T4/PT4,D.T5/PT5,D.T6/PT6"] {
            let texts = Set(try [1, 12, 100, 1_000, 10_000].map { try statement($0, url).sql })
            #expect(texts.count == 1, "\(texts)")
        }
    }

    @Test("Rows without a unique order are paged over a stored result (rule 21)")
    func snapshots() async throws {
        let reader = traders.reader()
        func page(_ url: String) async throws -> EntityPage {
            var request = ODataRequest(.read, try ODataURL(parsing: url))
            request.preferences.maxPageSize = 2
            let response = try await reader.read(try traders.bind(url), request: request, in: traders.queue)
            guard case .page(let page) = response.body else { throw ODataError.notFound(url) }
            return page
        }
        let url = "Items?$apply=concat(filter(Quantity gt 0),aggregate(Quantity with sum as Q))&$top=4"
        let first = try await page(url)
        #expect(first.entities.compactMap { $0["Line"] } == [1, 2])
        // Later pages do not show this change.
        try await traders.queue.write { try $0.execute(sql: "DELETE FROM item") }
        let second = try await page(try #require(first.nextLink))
        #expect(second.entities.compactMap { $0["Quantity"] } == [10, 2])
        #expect(second.nextLink == nil)
        #expect(try await page(url).entities.map { $0["Q"] } == [.null])
        // Another reader does not have the snapshot.
        let error = await #expect(throws: ODataError.self) {
            let link = try #require(first.nextLink)
            _ = try await traders.page(link, page: 2)
        }
        #expect(error?.status == 410)
    }

    @Test("$crossjoin returns all combinations, with links or rows, and is paged by keys")
    func crossJoin() async throws {
        let format = ResponseFormat(serviceRoot: "http://nw/")
        let plain = try await traders.json(
            "$crossjoin(Customers,Employees)?$filter=Customers/ID eq 'A' and Employees/ID lt 3", format: format)
        #expect(
            plain.contains(
                #"[{"Customers@navigationLink":"Customers('A')","Employees@navigationLink":"Employees(1)"},"#),
            "\(plain)")
        let inline = try await traders.json(
            "$crossjoin(Items,Orders)?$filter=Items/OrderID eq Orders/OrderID and Items/Line eq 2&$expand=Orders($select=OrderID)",
            format: ResponseFormat(metadata: .none))
        #expect(inline == #"{"value":[{"Orders":{"OrderID":1}}]}"#)
        let counted = try await traders.page("$crossjoin(Customers,Orders)?$count=true", page: 7)
        #expect(counted.count == 20 && counted.entities.count == 7 && counted.nextLink != nil)
    }
}
