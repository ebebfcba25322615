import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// Returns the integer in a value.
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

    /// Returns a store with a refused order, a line that depends on it, and another refused change.
    private func refused(_ shop: Shop) async throws -> OfflineStore {
        let store = try await shop.clone()
        try await store.changes.provider(with: ChangeOptions(tag: "visit 12", headers: ["X-Visit": "12"])).create(
            "Orders", Self.order)
        try await store.create("Order_Lines", Self.line)
        try await store.update("Products(6)", ["Stock": -4])
        try await store.update("Products(7)", ["Stock": 4])
        #expect(try await store.upload().failed.count == 2)
        return store
    }

    @Test("ErrorArchive shows request, response and entity of a refused change (§3.11)")
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
        let failure = try #require(try await store.observe.status().failed.first?.failure)
        #expect(!failure.message.isEmpty)
        #expect(first["Message"] == .string(failure.message))
        #expect(first["IsInDoubt"] == false)
        guard case .string(let body)? = first["RequestBody"] else { throw ODataError.notFound("RequestBody") }
        #expect(body.contains("\"CustomerID\":\"NOBODY\""))
        #expect(!body.contains("OrderID"), "the service gives it")
    }

    @Test("ErrorArchive links to dependent requests, header fields and the entity")
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

    @Test("RequestQueue lists the pending requests in order, with their states (§3.1)")
    func queue() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        try await store.changes.provider(with: ChangeOptions(category: "c", priority: 3)).update(
            "Products(1)", ["Stock": 9])
        let requests = try await store.rows("RequestQueue?$orderby=RequestID&$select=Entity,Status,Method,Category")
        #expect(
            requests.map { $0["Entity"] } == [
                "Orders(-1)", "Order_Lines(OrderID=-1,LineNumber=1)", "Products(6)", "Products(1)",
            ])
        #expect(requests.map { $0["Status"] } == ["Failed", "NotSent", "Failed", "NotSent"])
        #expect(requests.last?["Category"] == "c")
        try await store.delete("RequestQueue(\(try #require(try await store.observe.status().pending.last?.id)))")
        #expect(try await store.rows("RequestQueue").count == 3)
        await #expect(throws: ODataError.self) { try await store.delete("RequestQueue(4711)") }
        await #expect(throws: ODataError.self) { try await store.create("RequestQueue", ["Method": "POST"]) }
    }

    @Test("deleting an archived request discards it with its dependents, or all on request")
    func deleted() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        let id = try number(
            try await store.rows("ErrorArchive?$filter=EntitySet eq 'Orders'").first?["RequestID"])
        try await store.delete("ErrorArchive(\(id))")
        #expect(try await store.rows("RequestQueue").map { $0["Entity"] } == ["Products(6)"])
        try store.close()

        var options = OfflineStore.Options()
        options.sync.revertsErrorsTogether = true
        let together = try await shop.store(named: "together", options: options)
        try await together.download()
        try await together.update("Products(8)", ["Stock": -4])
        try await together.update("Products(9)", ["Stock": -4])
        try await together.upload()
        let one = try number(try await together.rows("ErrorArchive").first?["RequestID"])
        try await together.delete("ErrorArchive(\(one))")
        try await shop.expectEqual(together)
    }

    @Test("a missing archived request cannot be deleted, and no request is discarded", arguments: [true, false])
    func deletedUnknown(together: Bool) async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.sync.revertsErrorsTogether = together
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.update("Products(8)", ["Stock": -4])
        try await store.upload()
        try await store.update("Products(9)", ["Stock": 4])
        let waiting = try #require(try await store.observe.status().pending.first?.id)
        for id in [4711, waiting] {
            let error = await #expect(throws: ODataError.self) { try await store.delete("ErrorArchive(\(id))") }
            #expect(error?.status == 404)
        }
        #expect(try await store.rows("ErrorArchive").map { $0["Entity"] } == ["Products(8)"])
        #expect(try await store.rows("Products(8)").first?["Stock"] == -4)
        #expect(try await store.observe.status().pending.count == 1)
    }

    @Test("AffectedEntity and RequestEntity can be expanded and followed over HTTP")
    func overHTTP() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": 4711])
        let handler = try ODataHandler(provider: store, serviceRoot: "/")
        func get(_ path: String) async throws -> (Int, String) {
            let message = HTTPRequest(method: .get, scheme: "http", authority: "shop.test", path: path)
            let (response, body) = await handler.handle(message, ByteStream([]))
            return (response.status.code, String(decoding: try await body.collect(limit: 1 << 20), as: UTF8.self))
        }
        let id = try number(try await store.rows("RequestQueue").first?["RequestID"])
        let paths = [
            "/RequestQueue?$expand=AffectedEntity,RequestEntity", "/RequestQueue(\(id))?$expand=AffectedEntity",
            "/RequestQueue(\(id))/AffectedEntity", "/ErrorArchive?$expand=AffectedEntity",
        ]
        for path in paths {
            let (status, text) = try await get(path)
            #expect(status == 200, "\(path): \(text)")
            #expect(text.contains("4711") != path.contains("Archive"), "\(path): \(text)")
        }
        #expect(try await get("/RequestQueue(\(id + 1))/AffectedEntity").0 == 404)
    }

    @Test("AffectedEntity and RequestEntity accept options and longer paths, in the library and over HTTP")
    func through() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.update("Products(1)", ["Stock": 4711])
        try await store.update("Customers('C0002')", ["City": "Mine"])
        let handler = try ODataHandler(provider: store, serviceRoot: "/")
        let ids = try await store.rows("RequestQueue?$orderby=RequestID").map { try number($0["RequestID"]) }
        let (product, customer) = (ids[0], ids[1])
        let answers = [
            ("RequestQueue?$expand=AffectedEntity($select=Stock)", ["4711"], ["\"City\""]),
            ("RequestQueue?$expand=AffectedEntity($expand=Category)", ["\"Category\":{"], []),
            ("RequestQueue?$expand=*", ["AffectedEntity", "RequestEntity", "DependentRequests", "4711"], []),
            ("RequestQueue?$select=Entity&$expand=RequestEntity($select=City)", ["Mine"], ["4711"]),
            ("RequestQueue?$filter=AffectedEntity/Stock eq 4711", ["Products(1)"], ["Customers"]),
            (
                "RequestQueue?$filter=RequestEntity/City eq 'Mine'&$expand=AffectedEntity", ["Customers('C0002')"],
                ["4711"]
            ),
            ("RequestQueue?$orderby=AffectedEntity/City&$select=Entity", ["C0002"], []),
            ("RequestQueue(\(product))/AffectedEntity", ["4711", "Name"], []),
            ("RequestQueue(\(product))/AffectedEntity?$select=Stock", ["4711"], ["Name"]),
            ("RequestQueue(\(product))/AffectedEntity/Stock", ["4711"], []),
            ("RequestQueue(\(product))/AffectedEntity/Stock/$value", ["4711"], ["{"]),
            ("RequestQueue(\(product))/AffectedEntity/Category", ["CategoryID"], ["4711"]),
            ("RequestQueue(\(product))/AffectedEntity/Category/Name", ["value"], []),
            ("RequestQueue(\(customer))/RequestEntity", ["Mine"], ["CompanyName"]),
            ("RequestQueue(\(customer))/RequestEntity/City", ["Mine"], []),
            ("RequestQueue(\(customer))/RequestEntity/City/$value", ["Mine"], ["{"]),
        ]
        for (path, texts, others) in answers {
            let message = HTTPRequest(
                method: .get, scheme: "http", authority: "shop.test",
                path: "/" + (try ODataURL(parsing: path)).urlEncoded())
            let (response, body) = await handler.handle(message, ByteStream([]))
            let text = String(decoding: try await body.collect(limit: 1 << 20), as: UTF8.self)
            #expect(response.status.code == 200, "\(path): \(text)")
            for part in texts { #expect(text.contains(part), "\(path): \(text)") }
            for part in others { #expect(!text.contains(part), "\(path): \(text)") }
            _ = try await store.execute(ODataRequest(.read, try ODataURL(parsing: path)))
        }
        for path in ["RequestQueue(4711)/AffectedEntity/City", "RequestQueue(\(product))/AffectedEntity/None"] {
            let message = HTTPRequest(method: .get, scheme: "http", authority: "shop.test", path: "/" + path)
            #expect(await handler.handle(message, ByteStream([])).0.status.code == 404, "\(path)")
        }
    }

    @Test("AffectedEntity may be a contained entity at any depth")
    func contained() async throws {
        let depot = try await Depot()
        let store = try await depot.clone([try DefiningQuery("boxes", "Boxes?$expand=Slips($expand=Marks)")])
        try await store.change(.update, "Boxes(1)/Slips(1)/Marks(1)", "Mark", ["Text": "mine"])
        try await store.change(.create, "Boxes(1)/Slips", "Slip", ["No": 2, "HeaderID": 2])
        let requests = try await store.rows("RequestQueue?$orderby=RequestID&$expand=AffectedEntity")
        let affected = requests.map { request -> ODataEntity? in
            guard case .one(let entity)? = request.related["AffectedEntity"] else { return nil }
            return entity
        }
        #expect(affected.map { $0?["Text"] } == ["mine", nil])
        #expect(affected.map { $0?.control.id } == ["Boxes(1)/Slips(1)/Marks(1)", "Boxes(1)/Slips(2)"])
        let id = try number(requests.first?["RequestID"])
        #expect(try await store.rows("RequestQueue(\(id))/AffectedEntity").first?["Text"] == "mine")
        try await store.delete("Boxes(1)/Slips(1)/Marks(1)")
        let newest = "RequestQueue?$orderby=RequestID desc&$expand=AffectedEntity"
        let deletion = try #require(try await store.rows(newest).first)
        #expect(deletion["Method"] == "DELETE")
        #expect(deletion.related["AffectedEntity"] == RelatedEntities.none)
    }

    @Test("AffectedEntity of an action call is its bound entity")
    func called() async throws {
        let studio = try await Studio()
        let store = try await studio.clone()
        _ = try await store.execute(
            ODataRequest(
                .create, try ODataURL(parsing: "Albums(1)/Studio.Rename"), body: .parameters(["Name": "Called"])))
        let request = try #require(try await store.rows("RequestQueue?$expand=AffectedEntity").first)
        guard case .one(let album)? = request.related["AffectedEntity"] else { throw ODataError.notFound("the album") }
        #expect(album["Name"] == "Summer")
    }

    @Test("also work in the store of an OData 2.0 service, whose metadata cannot express them")
    func older() async throws {
        let shop = try await Shop()
        let root = "http://shop.test/v2/"
        let handler = try ODataV2Handler(provider: shop.database, serviceRoot: root)
        let transport = LoopbackTransport(handle: { await handler.handle($0, $1) })
        let store = try await OfflineStore.create(
            at: shop.directory.appendingPathComponent("older").path, protection: .unencrypted, serviceRoot: root,
            remote: try ODataClient(serviceRoot: root, transport: transport))
        try await store.download()
        try await store.update("Products(6)", ["Stock": -4])
        #expect(try await store.upload().failed.count == 1)
        let entry = try #require(try await store.rows("ErrorArchive?$expand=AffectedEntity,RequestEntity").first)
        guard case .one(let affected)? = entry.related["AffectedEntity"],
            case .one(let sent)? = entry.related["RequestEntity"]
        else { throw ODataError.notFound("\(entry.related.keys)") }
        #expect(affected["Stock"] == -4 && affected["Name"] != nil)
        #expect(sent["Stock"] == -4 && sent["Name"] == nil)
        let id = try number(entry["RequestID"])
        #expect(try await store.rows("ErrorArchive(\(id))/AffectedEntity").first?["ProductID"] == 6)
        #expect(entry["RequestMethod"] == "MERGE")
        let shape = try #require(store.model.shape(ofSet: "ErrorArchive"))
        #expect(["AffectedEntity", "RequestEntity"].allSatisfy { shape.navigationProperty($0) != nil })
        let metadata = String(decoding: CSDLWriter.xml(store.model, version: .v2), as: UTF8.self)
        #expect(metadata.contains("DependentRequests") && !metadata.contains("AffectedEntity"))
    }

    /// The reason for which a change does not reach the service, or its response does not return.
    enum Failure: CaseIterable, Sendable {
        case noConnection
        case answerLost
        case busy
        case gatewayTimeout

        func before() throws {
            switch self {
            case .noConnection: throw TransportError.cannotConnect(host: "shop.test", reason: "the wire is cut")
            case .busy: throw ODataError(status: 503, code: "Busy", message: "Come again.")
            case .gatewayTimeout: throw ODataError(status: 504, code: "Gateway", message: "The service did not answer.")
            case .answerLost: break
            }
        }

        func after() throws {
            guard self == .answerLost else { return }
            throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
        }
    }

    @Test("a communication failure is an event and not in the archive", arguments: Failure.allCases)
    func communication(failure: Failure) async throws {
        let shop = try await Shop()
        let isCut = LockedFlag()
        let service = Gateway(
            base: try shop.client(),
            before: { _ in
                if isCut.isSet { try failure.before() }
                return nil
            },
            after: { _, response in
                if isCut.isSet { try failure.after() }
                return response
            })
        let store = try await shop.clone(through: service)
        try await store.update("Products(1)", ["Stock": 4])
        isCut.set()
        await #expect(throws: (any Error).self) { try await store.upload() }
        isCut.clear()
        #expect(try await store.rows("ErrorArchive").isEmpty)
        let event = try #require(try await store.rows("EventLog?$orderby=ID desc&$top=1").first)
        #expect(event["Type"] == "Upload")
        #expect(event["Failures"] == 1)
        #expect(try await store.upload().accepted.count == 1)
        #expect(try await store.rows("ErrorArchive").isEmpty)
    }

    @Test("EventLog contains downloads and uploads with counts, failures and bytes (§3.12)")
    func events() async throws {
        let shop = try await Shop()
        let meter = TransferMeter()
        var options = OfflineStore.Options()
        options.runtime.meter = meter
        let store = try await shop.store(
            options: options, through: try shop.client(over: meter.transport(over: shop.wire)))
        try await store.download(["Products"])
        try await store.update("Products(6)", ["Stock": -4])
        try await store.update("Products(7)", ["Stock": 4])
        try await store.update("Products(8)", ["Stock": -4])
        let before = meter.total
        try await store.upload()
        let transferred = meter.total - before
        let download = try #require(try await store.rows("EventLog?$filter=Type eq 'Download'").first)
        #expect(download["Details"] == "Products")
        guard case .integer(let bytes)? = download["Bytes"] else { throw ODataError.notFound("Bytes") }
        #expect(bytes > 1000)
        let upload = try #require(try await store.rows("EventLog?$filter=Type eq 'Upload'").first)
        #expect(upload["Requests"] == 3)
        #expect(upload["Failures"] == 2)
        #expect(transferred > 0)
        #expect(upload["Bytes"] == .integer(transferred))
    }

    @Test("are not cloned with a store, whatever rows they have")
    func notCloned() async throws {
        let shop = try await Shop()
        let store = try await refused(shop)
        #expect(try await store.rows("RequestQueue").count == 3)
        #expect(try await store.rows("EventLog").count > 2)
        let second = try await shop.clone(named: "second", through: store)
        #expect(try await second.queries.all().count == shop.database.model.container.entitySets.count)
        #expect(second.serviceModel.entitySet("ErrorArchive") == nil)
        #expect(try await second.rows("ErrorArchive").isEmpty)
        #expect(try await second.rows("RequestQueue").isEmpty)
        #expect(try await second.rows("EventLog?$orderby=ID").map { $0["Type"] } == ["Created", "Download"])
    }
}

@Suite("The method of a queued or archived request")
struct RequestMethodTests {
    private func methods(_ store: OfflineStore) async throws -> [ODataValue?] {
        try await store.rows("RequestQueue?$orderby=RequestID").map { $0["Method"] }
    }

    @Test("is DELETE for the removal of a stream, and PUT for a new one")
    func streams() async throws {
        let studio = try await Studio()
        try await studio.service.replaceStream("Pictures(1)/Thumb", "small")
        let store = try await studio.clone()
        try await store.replaceStream("Pictures(1)/$value", "two")
        _ = try await store.execute(ODataRequest(.delete, try ODataURL(parsing: "Pictures(1)/Thumb")))
        #expect(try await methods(store) == ["PUT", "DELETE"])
        #expect(try await store.observe.status().pending.map(\.method) == ["PUT", "DELETE"])
    }

    @Test("is PUT for a single-valued relation and a single contained entity, else POST")
    func relations() async throws {
        let studio = try await Studio()
        let albums = try await studio.clone([try DefiningQuery("albums", "Albums?$expand=Cover,Tags")])
        try await albums.change(.update, "Albums(1)/Cover", "Page", ["Number": 1, "Title": "Front"])
        #expect(try await methods(albums) == ["PUT"])
        let depot = try await Depot {
            $0.replacingOccurrences(
                of: "<Property Name=\"Title\" Type=\"Edm.String\"/>",
                with: "<Property Name=\"Title\" Type=\"Edm.String\"/>"
                    + "<NavigationProperty Name=\"Cover\" Type=\"Depot.Paper\"/>"
                    + "<NavigationProperty Name=\"Papers\" Type=\"Collection(Depot.Paper)\"/>")
        }
        try await depot.service.create("Papers", ["ID": 1, "Text": "cover"])
        let store = try await depot.clone()
        try await store.link("Headers(1)/Papers", to: "Papers(1)")
        _ = try await store.execute(
            ODataRequest(.replace, try ODataURL(parsing: "Headers(1)/Cover/$ref"), body: .reference("Papers(1)")))
        #expect(try await methods(store) == ["POST", "PUT"])
    }

    @Test("is PUT for a change if the service accepts only whole entities", arguments: [true, false])
    func wholeEntities(hasPatch: Bool) async throws {
        let shop = try await Shop()
        var options = OfflineStore.Options()
        options.service.capabilities.supportsPatch = hasPatch
        let store = try await shop.store(options: options)
        try await store.download()
        try await store.update("Products(6)", ["Stock": -4])
        let method: ODataValue = hasPatch ? "PATCH" : "PUT"
        #expect(try await methods(store) == [method])
        #expect(try await store.upload().failed.count == 1)
        #expect(try await store.rows("ErrorArchive").map { $0["RequestMethod"] } == [method])
    }
}

@Suite("State functions")
struct StateFunctionTests {
    @Test("islocal, haspendingchanges and inerrorstate show the state of changes", arguments: ["sap", "outpost"])
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

    @Test("upsertedLastDownload shows new rows: every row at first, then changed ones")
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

    @Test("entityexists tells whether a single-valued navigation property has a target")
    func exists() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let without = try await store.rows("Employees?$filter=not sap.entityexists(ReportsToEmployee)")
        #expect(without.map { $0["EmployeeID"] } == [1])
        #expect(try await store.rows("Employees?$filter=outpost.entityExists(ReportsToEmployee)").count == 4)
    }

    @Test("work within the options of $expand and with other conditions")
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

    @Test("equal the state properties of entities")
    func properties() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        let stock = try await store.rows("Products(1)").first?["Stock"]
        try await store.update("Products(1)", ["Stock": 555])
        try await store.create("Categories", ["Name": "New"])
        let product = try #require(try await store.rows("Products(1)").first)
        #expect(product.isLocal && product.hasPendingChanges && product.isUpdated)
        #expect(!product.inErrorState && !product.isCreated)
        #expect(try await store.changes.original(of: ODataURL(parsing: "Products(1)"))?["Stock"] == stock)
        #expect(try await store.rows("Categories(-1)").first?.isCreated == true)
        #expect(try await store.changes.original(of: ODataURL(parsing: "Categories(-1)")) == nil)
        #expect(try await store.rows("Products(2)").first?.isLocal == false)
        try await store.delete("Products(1)")
        #expect(try await store.changes.original(of: ODataURL(parsing: "Products(1)"))?["Stock"] == stock)
        #expect(try await store.changes.original(of: ODataURL(parsing: "Products(2)"))?["ProductID"] == 2)
    }
}
