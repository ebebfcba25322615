import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// The number in a property.
private func number(_ value: ODataValue?) throws -> Int64 {
    guard case .integer(let number)? = value else { throw ODataError.notFound("a number") }
    return number
}

@Suite("The engine's own entity sets")
struct EngineSetTests {
    private static let order: [String: ODataValue] = [
        "CustomerID": "NOBODY", "OrderedAt": .dateTimeOffset(.init(seconds: 1_790_000_000)),
    ]
    private static let line: [String: ODataValue] = [
        "OrderID": -1, "LineNumber": 1, "ProductID": 3, "Quantity": 2, "Price": .decimal(ODataDecimal(5)),
    ]

    /// A refused order with a line that waits for it, and a change that is refused by itself.
    private func refused(_ shop: Shop) async throws -> OfflineODataProvider {
        let store = try await shop.clone()
        try await store.changing(ChangeOptions(tag: "visit 12", headers: ["X-Visit": "12"])).create(
            "Orders", Self.order)
        try await store.create("Order_Lines", Self.line)
        try await store.update("Products(6)", ["Stock": -4])
        try await store.update("Products(7)", ["Stock": 4])
        #expect(try await store.upload().failed.count == 2)
        return store
    }

    @Test("ErrorArchive tells request, answer and entity of what was refused (§3.11)")
    func archive() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        let entries = try await store.rows("ErrorArchive?$orderby=RequestID")
        #expect(entries.map { $0["Entity"] } == ["Orders(-1)", "Products(6)"])
        let first = try #require(entries.first)
        #expect(first["RequestMethod"] == "POST")
        #expect(first["RequestURL"] == "Orders")
        #expect(first["CustomTag"] == "visit 12")
        #expect(first["HTTPStatusCode"].map { $0 != .null } == true)
        #expect(first["Message"] != .null)
        #expect(first["IsInDoubt"] == false)
        guard case .string(let body)? = first["RequestBody"] else { throw ODataError.notFound("RequestBody") }
        #expect(body.contains("\"CustomerID\":\"NOBODY\""))
        #expect(!body.contains("OrderID"), "the service gives it")
    }

    @Test("ErrorArchive leads to dependent requests, header fields and the entity")
    func navigation() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        let entry = try #require(
            try await store.rows(
                "ErrorArchive?$filter=EntitySet eq 'Orders'"
                    + "&$expand=DependentRequests($select=Entity),CustomHeaders,AffectedEntity,RequestEntity"
            ).first)
        guard case .many(let dependents, _, _)? = entry.related["DependentRequests"],
            case .many(let headers, _, _)? = entry.related["CustomHeaders"],
            case .one(let affected)? = entry.related["AffectedEntity"],
            case .one(let sent)? = entry.related["RequestEntity"]
        else { throw ODataError.notFound("\(entry.related.keys)") }
        #expect(dependents.map { $0["Entity"] } == ["Order_Lines(OrderID=-1,LineNumber=1)"])
        #expect(headers.map { $0["Value"] } == ["12"])
        #expect(affected["CustomerID"] == "NOBODY")
        #expect(affected.inErrorState)
        #expect(sent["CustomerID"] == "NOBODY")
        let id = try number(entry["RequestID"])
        #expect(try await store.rows("ErrorArchive(\(id))/AffectedEntity").first?["OrderID"] == -1)
        #expect(try await store.rows("ErrorArchive(\(id))/DependentRequests").count == 1)
        let url = try ODataURL(parsing: "ErrorArchive/$count?$filter=HTTPStatusCode ge 400")
        guard case .count(2) = try await store.execute(ODataRequest(.read, url)).body else {
            Issue.record("two were refused")
            return
        }
    }

    @Test("RequestQueue lists what waits, in order, with its state (§3.1)")
    func queue() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        try await store.changing(ChangeOptions(category: "c", priority: 3)).update("Products(1)", ["Stock": 9])
        let requests = try await store.rows("RequestQueue?$orderby=RequestID&$select=Entity,Status,Method,Category")
        #expect(
            requests.map { $0["Entity"] } == [
                "Orders(-1)", "Order_Lines(OrderID=-1,LineNumber=1)", "Products(6)", "Products(1)",
            ])
        #expect(requests.map { $0["Status"] } == ["Failed", "NotSent", "Failed", "NotSent"])
        #expect(requests.last?["Category"] == "c")
        try await store.delete("RequestQueue(\(try #require(try await store.status().pending.last?.id)))")
        #expect(try await store.rows("RequestQueue").count == 3)
        await #expect(throws: ODataError.self) { try await store.delete("RequestQueue(4711)") }
        await #expect(throws: ODataError.self) { try await store.create("RequestQueue", ["Method": "POST"]) }
    }

    @Test("deleting an archived request gives that one up with what depends on it, or all where asked")
    func deleted() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        let id = try number(
            try await store.rows("ErrorArchive?$filter=EntitySet eq 'Orders'").first?["RequestID"])
        try await store.delete("ErrorArchive(\(id))")
        #expect(try await store.rows("RequestQueue").map { $0["Entity"] } == ["Products(6)"])
        try store.close()

        var options = OfflineODataProvider.Options()
        options.revertsErrorsTogether = true
        let together = try await shop.store(named: "together", options: options)
        try await together.download()
        try await together.update("Products(8)", ["Stock": -4])
        try await together.update("Products(9)", ["Stock": -4])
        try await together.upload()
        let one = try number(try await together.rows("ErrorArchive").first?["RequestID"])
        try await together.delete("ErrorArchive(\(one))")
        try await shop.expectEqual(together)
    }

    @Test("a failure of communication is never put into the archive, and is an event")
    func communication() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": 4])
        await shop.wire.cut { _, _ in .lostOnTheWay }
        _ = try? await store.upload()
        await shop.wire.mend()
        #expect(try await store.rows("ErrorArchive").isEmpty)
        let event = try #require(try await store.rows("EventLog?$orderby=ID desc&$top=1").first)
        #expect(event["Type"] == "Upload")
        #expect(event["Failures"] == 1)
        #expect(try await store.upload().accepted.count == 1)
    }

    @Test("EventLog tells of downloads and uploads with counts, failures and bytes (§3.12)")
    func events() async throws {
        let shop = try await Shop()
        let meter = TransferMeter()
        var options = OfflineODataProvider.Options()
        options.meter = meter
        let store = try await shop.store(
            options: options, through: try shop.client(over: meter.transport(over: shop.wire)))
        try await store.download(["Products"])
        try await store.update("Products(6)", ["Stock": -4])
        try await store.update("Products(7)", ["Stock": 4])
        try await store.upload()
        let download = try #require(try await store.rows("EventLog?$filter=Type eq 'Download'").first)
        #expect(download["Details"] == "Products")
        guard case .integer(let bytes)? = download["Bytes"] else { throw ODataError.notFound("Bytes") }
        #expect(bytes > 1000)
        let upload = try #require(try await store.rows("EventLog?$filter=Type eq 'Upload'").first)
        #expect(upload["Requests"] == 2)
        #expect(upload["Failures"] == 1)
    }

    @Test("are not what a store is cloned with")
    func notCloned() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let second = try await shop.clone(named: "second", through: store)
        #expect(try await second.definingQueries().count == shop.database.model.container.entitySets.count)
        #expect(second.serviceModel.entitySet("ErrorArchive") == nil)
        #expect(try await second.rows("ErrorArchive").isEmpty)
        #expect(try await second.rows("EventLog").count == 2)
    }
}

@Suite("State functions")
struct StateFunctionTests {
    @Test("islocal, haspendingchanges and inerrorstate tell what became of changes", arguments: ["sap", "outpost"])
    func states(namespace: String) async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        func found(_ function: String) async throws -> [ODataValue?] {
            try await store.rows("Products?$filter=\(namespace).\(function)()&$orderby=ProductID").map {
                $0["ProductID"]
            }
        }
        #expect(try await found("islocal").isEmpty)
        try await store.update("Products(1)", ["Stock": 5])
        try await store.update("Products(6)", ["Stock": -4])
        #expect(try await found("isLocal") == [1, 6])
        #expect(try await found("haspendingchanges") == [1, 6])
        #expect(try await found("inErrorState").isEmpty)
        try await store.upload()
        #expect(try await found("islocal") == [1, 6], "uploaded, but not downloaded back")
        #expect(try await found("hasPendingChanges") == [6])
        #expect(try await found("inerrorstate") == [6])
        try await store.download()
        #expect(try await found("islocal") == [6])
    }

    @Test("upsertedLastDownload tells what is new: every row at first, then what changed")
    func upserted() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let all = try await store.rows("Customers").count
        #expect(try await store.rows("Customers?$filter=sap.upsertedLastDownload()").count == all)
        #expect(try await store.rows("Customers?$top=1").first?.isUpsertedLastDownload == true)
        try await shop.sql("UPDATE Customers SET City = 'New' WHERE CustomerID = 'C0002'")
        try await store.download()
        let found = try await store.rows("Customers?$filter=outpost.upsertedlastdownload()")
        #expect(found.map { $0["CustomerID"] } == ["C0002"])
        #expect(found.first?.isUpsertedLastDownload == true)
        try await store.download()
        #expect(try await store.rows("Customers?$filter=outpost.upsertedlastdownload()").isEmpty)
    }

    @Test("entityexists asks whether a to-one navigation property leads anywhere")
    func exists() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let without = try await store.rows("Employees?$filter=not sap.entityexists(ReportsToEmployee)")
        #expect(without.map { $0["EmployeeID"] } == [1])
        #expect(try await store.rows("Employees?$filter=outpost.entityExists(ReportsToEmployee)").count == 4)
    }

    @Test("work within the options of $expand and beside other conditions")
    func nested() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let line = try #require(try await store.rows("Order_Lines?$filter=OrderID eq 1001&$top=1").first)
        let number = try number(line["LineNumber"])
        try await store.update("Order_Lines(OrderID=1001,LineNumber=\(number))", ["Quantity": 99])
        let order = try #require(
            try await store.rows("Orders?$filter=OrderID eq 1001&$expand=Order_Lines($filter=sap.islocal())").first)
        guard case .many(let lines, _, _)? = order.related["Order_Lines"] else { throw ODataError.notFound("lines") }
        #expect(lines.map { $0["Quantity"] } == [99])
        #expect(lines.first?.isLocal == true)
        #expect(try await store.rows("Order_Lines?$filter=sap.islocal() and Quantity lt 99").isEmpty)
    }

    @Test("the same are properties of entities, beside the values that the service had")
    func properties() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let stock = try await store.rows("Products(1)").first?["Stock"]
        try await store.update("Products(1)", ["Stock": 555])
        try await store.create("Categories", ["Name": "New"])
        let product = try #require(try await store.rows("Products(1)").first)
        #expect(product.isLocal && product.hasPendingChanges && product.isUpdated)
        #expect(!product.inErrorState && !product.isCreated)
        #expect(try await store.original(of: ODataURL(parsing: "Products(1)"))?["Stock"] == stock)
        #expect(try await store.rows("Categories(-1)").first?.isCreated == true)
        #expect(try await store.original(of: ODataURL(parsing: "Categories(-1)")) == nil)
        #expect(try await store.rows("Products(2)").first?.isLocal == false)
        try await store.delete("Products(1)")
        #expect(try await store.original(of: ODataURL(parsing: "Products(1)"))?["Stock"] == stock)
        #expect(try await store.original(of: ODataURL(parsing: "Products(2)"))?["ProductID"] == 2)
    }
}
