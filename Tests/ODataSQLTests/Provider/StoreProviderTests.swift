import GRDB
import ODataModel
import ODataQuery
import ODataService
import TestModels
import Testing

@testable import ODataSQL

@Suite("A store as a service")
struct StoreProviderTests {
    private let provider: StoreProvider
    private let queue: DatabaseQueue

    init() throws {
        let layout = OfflineLayout(model: try LayoutModel.make())
        var configuration = Configuration()
        configuration.prepareDatabase { StoreFunctions.register(in: $0) }
        queue = try DatabaseQueue(configuration: configuration)
        try queue.write { try layout.create(in: $0) }
        provider = StoreProvider(database: queue, mapping: layout.mapping)
    }

    private func entity(_ set: String, _ properties: [String: ODataValue]) throws -> ODataEntity {
        ODataEntity(shape: try #require(provider.mapping.tables[set]).shape, properties)
    }

    private func request(
        _ method: ODataRequest.Method, _ url: String, _ body: RequestBody = .none,
        preferences: Preferences = Preferences(), ifMatch: String? = nil
    ) throws -> ODataRequest {
        ODataRequest(method, try ODataURL(parsing: url), body: body, preferences: preferences, ifMatch: ifMatch)
    }

    private func execute(
        _ method: ODataRequest.Method, _ url: String, _ body: RequestBody = .none,
        preferences: Preferences = Preferences(), ifMatch: String? = nil
    ) async throws -> ODataResponse {
        try await provider.execute(
            try request(method, url, body, preferences: preferences, ifMatch: ifMatch))
    }

    private func read(_ url: String) async throws -> ODataEntity? {
        guard case .entity(let entity) = try await execute(.read, url).body else { return nil }
        return entity
    }

    private func page(_ url: String) async throws -> [ODataEntity] {
        guard case .page(let page) = try await execute(.read, url).body else { return [] }
        return page.entities
    }

    private func refusal(
        _ method: ODataRequest.Method, _ url: String, _ body: RequestBody = .none
    ) async -> ODataError? {
        do {
            _ = try await execute(method, url, body)
            return nil
        } catch {
            return error as? ODataError
        }
    }

    private static let customer = "Customers(00000000-0000-0001-0000-000000000002)"
    private static let guid = ODataValue.guid(ODataGuid(high: 1, low: 2))

    private func fill() async throws {
        _ = try await execute(.create, "Customers", .entity(try entity("Customers", ["ID": Self.guid, "Name": "Ann"])))
        for id in 1...3 as ClosedRange<Int64> {
            _ = try await execute(
                .create, "Orders",
                .entity(
                    try entity("Orders", ["OrderID": .integer(id), "CustomerID": Self.guid, "Quantity": .integer(id)])))
        }
    }

    @Test("11.4.2 A creation returns the entity with its location, or 204 with its id")
    func create() async throws {
        let created = try await execute(.create, "Orders", .entity(try entity("Orders", ["OrderID": 7])))
        #expect(created.status == 201)
        #expect(created.location == "Orders(7)")
        guard case .entity(let body) = created.body else {
            Issue.record("no entity")
            return
        }
        #expect(body["OrderID"] == 7)
        let minimal = try await execute(
            .create, "Orders", .entity(try entity("Orders", ["OrderID": 8])),
            preferences: Preferences(returns: .minimal))
        #expect(minimal.status == 204)
        #expect(minimal.entityID == "Orders(8)")
        #expect(minimal.preferencesApplied == ["return=minimal"])
    }

    @Test("Reads go through the whole query language")
    func reads() async throws {
        try await fill()
        let orders = try await page("Orders?$filter=Quantity gt 1&$orderby=OrderID desc&$expand=Customer")
        #expect(orders.map { $0["OrderID"] } == [3, 2])
        guard case .one(let customer)? = orders.first?.related["Customer"] else {
            Issue.record("not expanded")
            return
        }
        #expect(customer["Name"] == "Ann")
        #expect(try await page("\(Self.customer)/Orders").count == 3)
        guard case .count(let count) = try await execute(.read, "Orders/$count").body else {
            Issue.record("no count")
            return
        }
        #expect(count == 3)
        if case .serviceDocument = try await execute(.read, "").body {} else { Issue.record("no service document") }
        if case .metadata = try await execute(.read, "$metadata").body {} else { Issue.record("no metadata") }
        #expect(try await read("$entity?$id=Orders(2)")?["Quantity"] == 2)
    }

    @Test("Queries with texts in different Unicode normal forms are different")
    func exactLiterals() async throws {
        let forms = ["\u{E9}", "e\u{301}", "\u{212B}", "\u{C5}"]
        for (index, text) in forms.enumerated() {
            _ = try await execute(
                .create, "Orders",
                .entity(try entity("Orders", ["OrderID": .integer(Int64(index)), "Source": .string(text)])))
        }
        func found(_ filter: String) async throws -> [ODataValue?] {
            try await page("Orders?$filter=\(filter)&$orderby=OrderID").map { $0["OrderID"] }
        }
        for (index, text) in forms.enumerated() {
            let id = ODataValue.integer(Int64(index))
            #expect(try await found("Source eq '\(text)'") == [id])
            #expect(try await found("startswith(Source,'\(text)')") == [id])
            #expect(try await found("Source in ('\(text)','x')") == [id])
            #expect(try await found("contains(concat(Source,'\(text)'),'\(text)\(text)')") == [id])
            #expect(try await found("Source eq '\(text)' and Source ne '\(forms[index ^ 1])'") == [id])
        }
    }

    @Test("11.4.3 An update changes the given properties; return=representation returns the entity")
    func update() async throws {
        try await fill()
        let response = try await execute(.update, "Orders(1)", .entity(try entity("Orders", ["Quantity": 9])))
        #expect(response.status == 204)
        let full = try await execute(
            .update, "Orders(1)?$select=Quantity&$expand=Customer", .entity(try entity("Orders", ["Quantity": 10])),
            preferences: Preferences(returns: .representation))
        #expect(full.status == 200)
        guard case .entity(let body) = full.body else {
            Issue.record("no entity")
            return
        }
        #expect(body["Quantity"] == 10)
        #expect(body.related["Customer"] != nil)
    }

    @Test("Entities are created and changed through navigation properties")
    func navigation() async throws {
        try await fill()
        let created = try await execute(
            .create, "Orders(1)/Items", .entity(try entity("Orders/Items", ["Line": 1, "Text": "a"])))
        #expect(created.location == "Orders(1)/Items(1)")
        _ = try await execute(.update, "Orders(1)/Items(1)", .entity(try entity("Orders/Items", ["Text": "b"])))
        #expect(try await read("Orders(1)/Items(1)")?["Text"] == "b")
        #expect(try await page("Orders(1)/Items").count == 1)
        #expect(try await page("Orders(2)/Items").isEmpty)
        _ = try await execute(.create, "\(Self.customer)/Orders", .entity(try entity("Orders", ["OrderID": 5])))
        #expect(try await read("Orders(5)")?["CustomerID"] == Self.guid)
        #expect(
            await refusal(.update, "\(Self.customer)/Orders(99)", .entity(try entity("Orders", [:])))?.status == 404)
        _ = try await execute(.update, "\(Self.customer)/Orders(5)", .entity(try entity("Orders", ["Quantity": 3])))
        #expect(try await read("Orders(5)")?["Quantity"] == 3)
        _ = try await execute(.update, "Orders(5)/Customer", .entity(try entity("Customers", ["Name": "Eve"])))
        #expect(try await read(Self.customer)?["Name"] == "Eve")
        _ = try await execute(.delete, "Orders(1)/Items(1)")
        #expect(try await page("Orders(1)/Items").isEmpty)
        #expect(
            await refusal(.create, "Orders(77)/Items", .entity(try entity("Orders/Items", ["Line": 1])))?.status == 404)
    }

    @Test("11.4.9 Single properties are changed and deleted, and complex ones partly")
    func properties() async throws {
        try await fill()
        _ = try await execute(.replace, "Orders(1)/Quantity", .value(5, .primitive(.int16)))
        #expect(try await read("Orders(1)")?["Quantity"] == 5)
        let address = try #require(provider.mapping.model.shape(LayoutModel.name("Address")))
        _ = try await execute(
            .replace, "\(Self.customer)/Address", .entity(ODataEntity(shape: address, ["City": "Bonn", "Zip": "1"])))
        _ = try await execute(.replace, "\(Self.customer)/Address/Zip", .value("2", .primitive(.string)))
        guard case .complex(let stored)? = try await read(Self.customer)?["Address"] else {
            Issue.record("no address")
            return
        }
        #expect(stored["City"] == "Bonn")
        #expect(stored["Zip"] == "2")
        _ = try await execute(.delete, "\(Self.customer)/Address")
        #expect(try await read(Self.customer)?["Address"] == .null)
        #expect(await refusal(.delete, "Orders(1)/Quantity")?.target == "Quantity")
        let stream = ByteStream(Array("42".utf8))
        _ = try await execute(.replace, "Orders(1)/Quantity/$value", .media(stream, contentType: "text/plain"))
        #expect(try await read("Orders(1)")?["Quantity"] == 42)
    }

    @Test("11.4.6 References are set and removed, in foreign keys and link tables")
    func references() async throws {
        try await fill()
        let other = "Customers(00000000-0000-0005-0000-000000000006)"
        _ = try await execute(
            .create, "Customers",
            .entity(try entity("Customers", ["ID": .guid(ODataGuid(high: 5, low: 6)), "Name": "Bob"])))
        _ = try await execute(.replace, "Orders(1)/Customer/$ref", .reference(other))
        #expect(try await read("Orders(1)")?["CustomerID"] == .guid(ODataGuid(high: 5, low: 6)))
        _ = try await execute(.delete, "Orders(1)/Customer/$ref")
        #expect(try await read("Orders(1)")?["CustomerID"] == .null)
        _ = try await execute(.create, "\(Self.customer)/Friends/$ref", .reference(other))
        #expect(try await page("\(Self.customer)/Friends").map { $0["Name"] } == ["Bob"])
        _ = try await execute(.delete, "\(Self.customer)/Friends/$ref?$id=\(other)")
        #expect(try await page("\(Self.customer)/Friends").isEmpty)
    }

    @Test("11.4.13 All members of a filtered collection are changed or deleted, or none")
    func each() async throws {
        try await fill()
        _ = try await execute(
            .update, "Orders/$filter(Quantity gt 1)/$each", .entity(try entity("Orders", ["Quantity": 9])))
        #expect(try await page("Orders?$orderby=OrderID").map { $0["Quantity"] } == [1, 9, 9])
        let refused = await refusal(
            .update, "Orders/$filter(Quantity gt 0)/$each", .entity(try entity("Orders", ["Source": "phone"])))
        #expect(refused?.target == "Source")
        #expect(try await read("Orders(1)")?["Source"] == .null)
        _ = try await execute(.delete, "Orders/$filter(Quantity gt 1)/$each")
        #expect(try await page("Orders").map { $0["OrderID"] } == [1])
    }

    @Test("An entity cannot be changed as another type")
    func casts() async throws {
        try await fill()
        let vip = try #require(provider.mapping.model.shape(LayoutModel.name("Vip")))
        #expect(
            await refusal(.update, "\(Self.customer)/Shop.Vip", .entity(ODataEntity(shape: vip, ["Name": "x"])))?.status
                == 404)
        let id = ODataValue.guid(ODataGuid(high: 3, low: 3))
        let created = try await execute(
            .create, "Customers",
            .entity(ODataEntity(shape: vip, ["ID": id, "Name": "V", "Discount": .decimal(ODataDecimal(5))])))
        let url = try #require(created.location)
        _ = try await execute(
            .update, "\(url)/Shop.Vip", .entity(ODataEntity(shape: vip, ["Discount": .decimal(ODataDecimal(6))])))
        #expect(try await read("\(url)/Shop.Vip")?["Discount"] == .decimal(ODataDecimal(6)))
    }

    @Test("Registered handlers execute operations in a transaction")
    func operations() async throws {
        let name = LayoutModel.name("Reset")
        let schemas = provider.mapping.model.schemas.map { schema in
            var schema = schema
            schema.operations = [ODataOperation(name: name, kind: .action)]
            schema.container?.operationImports = [OperationImport(name: "Reset", operation: name, kind: .action)]
            return schema
        }
        let mapping = OfflineLayout(model: try EntityDataModel(schemas: schemas)).mapping
        var options = StoreProvider.Options()
        options.operations[name] = { _, database in
            try database.execute(sql: "DELETE FROM Orders")
            return .none
        }
        try await fill()
        let service = StoreProvider(database: queue, mapping: mapping, options: options)
        #expect(try await service.execute(try request(.create, "Reset")).status == 204)
        #expect(try await page("Orders").isEmpty)
        await #expect(throws: ODataError.methodNotAllowed(.read, allowed: ["POST"])) {
            try await service.execute(try request(.read, "Reset"))
        }
    }

    @Test("A method that a resource does not allow is 405 with the allowed ones")
    func methods() async throws {
        #expect(await refusal(.delete, "Orders")?.allowedMethods == ["GET", "POST"])
        #expect(await refusal(.create, "Orders(1)", .entity(try entity("Orders", [:])))?.status == 405)
        #expect(await refusal(.delete, "Company")?.status == 405)
        #expect(await refusal(.delete, "$metadata")?.status == 405)
        #expect(await refusal(.read, "Nothing")?.status == 404)
        #expect(await refusal(.read, "Orders?$filter=Nothing eq 1")?.status == 400)
        #expect(await refusal(.read, "Orders(99)")?.status == 404)
        var options = StoreProvider.Options()
        options.isReadOnly = true
        let closed = StoreProvider(database: queue, mapping: provider.mapping, options: options)
        await #expect(throws: ODataError.methodNotAllowed(.delete, allowed: ["GET"])) {
            try await closed.execute(try request(.delete, "Orders(1)"))
        }
    }

    @Test("11.7 A change set succeeds or fails as a whole, and refers to its created entities")
    func batch() async throws {
        var order = try entity("Orders", ["OrderID": 1])
        order.related["Customer"] = .references(["$1"])
        var path = try request(.create, "Orders", .entity(try entity("Orders", ["OrderID": 2])))
        path.url.path = ResourcePath([.name("$1", .none), .name("Orders", .none)])
        let items = [
            BatchItem(
                id: "1",
                request: try request(
                    .create, "Customers", .entity(try entity("Customers", ["ID": Self.guid, "Name": "Ann"]))),
                atomicityGroup: "g"),
            BatchItem(id: "2", request: try request(.create, "Orders", .entity(order)), atomicityGroup: "g"),
            BatchItem(id: "3", request: path, atomicityGroup: "g"),
            BatchItem(id: "4", request: try request(.read, "Orders?$filter=CustomerID eq null")),
        ]
        let results = try await run(items)
        #expect(results.count == 4)
        #expect(results.allSatisfy { (try? $0.result.get()) != nil })
        #expect(try await page("\(Self.customer)/Orders").count == 2)
        let failing = [
            BatchItem(
                id: "1", request: try request(.create, "Orders", .entity(try entity("Orders", ["OrderID": 3]))),
                atomicityGroup: "g"),
            BatchItem(
                id: "2", request: try request(.create, "Orders", .entity(try entity("Orders", ["OrderID": 1]))),
                atomicityGroup: "g"),
            BatchItem(id: "3", request: try request(.read, "Orders(1)")),
            BatchItem(id: "4", request: try request(.read, "Orders(1)"), dependsOn: ["g"]),
        ]
        #expect(try await run(failing).count == 2)
        #expect(await refusal(.read, "Orders(3)")?.status == 404)
        let all = try await run(failing, continueOnError: true)
        #expect(all.map { Self.status($0) } == [409, 409, 200, 424])
    }

    @Test("11.4.2 A creation in a change set returns its expanded entities")
    func expandedInBatch() async throws {
        try await fill()
        let order = try entity("Orders", ["OrderID": 7, "CustomerID": Self.guid])
        let items = [
            BatchItem(
                id: "1", request: try request(.create, "Orders?$expand=Customer", .entity(order)), atomicityGroup: "g")
        ]
        let result = try #require(try await run(items).first)
        guard case .entity(let created) = try result.result.get().body,
            case .one(let customer)? = created.related["Customer"]
        else {
            Issue.record("not expanded")
            return
        }
        #expect(customer["Name"] == "Ann")
    }

    private func run(_ items: [BatchItem], continueOnError: Bool = false) async throws -> [BatchResult] {
        var preferences = Preferences()
        preferences.continueOnError = continueOnError
        let response = try await execute(.create, "$batch", .batch(items), preferences: preferences)
        guard case .batch(let results) = response.body else { return [] }
        return results
    }

    private static func status(_ result: BatchResult) -> Int {
        switch result.result {
        case .success(let response): response.status
        case .failure(let error): error.status
        }
    }
}
