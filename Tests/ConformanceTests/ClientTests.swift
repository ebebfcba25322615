import HTTPTypes
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataServer
import ODataService
import ODataTransportNIO
import Testing

@testable import reference_service

/// Our client and the reference service over real sockets, with both V2 and V4.
@Suite struct ClientOverSocketsTests {
    private func withService(
        _ configuration: ODataClient.Configuration = .init(), version2: Bool = false,
        _ body: (DataService) async throws -> Void
    ) async throws {
        let service = try await ReferenceService.open()
        let server = try await ODataServer(handler: ODataEndpoints(provider: service).handle).start()
        let transport = try NIOTransport()
        do {
            let client = try await ODataClient(
                server.url + (version2 ? "v2/" : ""), transport: transport, configuration: configuration)
            try await body(DataService(client))
        } catch {
            try await transport.shutdown()
            await server.stop()
            throw error
        }
        try await transport.shutdown()
        await server.stop()
        try await service.close()
    }

    private func product(_ service: DataService, _ name: String) async throws -> ODataEntity {
        ODataEntity(
            shape: try #require(try await service.provider.model.shape(ofSet: "Products")),
            [
                "Name": .string(name), "Price": .double(10.5), "Rating": 1, "Temperature": 2, "Quantity": 3,
                "Weight": .single(4.5), "Status": .enumeration(1),
            ])
    }

    @Test func `the life of an entity: create, read, change, conflict, delete`() async throws {
        try await withService { service in
            let created = try await service.create(try await product(service, "Kettle"), in: "Products")
            #expect(created.key != nil)
            var mine = created
            var theirs = created
            theirs["Price"] = .double(11)
            try await service.update(theirs, in: "Products")
            mine["Price"] = .double(12)
            let attempt = mine
            let error = await #expect(throws: ConflictError.self) {
                try await service.update(attempt, in: "Products", readingConflict: true)
            }
            #expect(error?.currentEntity?["Price"] == .double(11))
            var current = try #require(error?.currentEntity)
            current["Price"] = .double(12)
            let changed = try await service.update(current, in: "Products")
            #expect(try await service.value(of: "Price", changed, in: "Products") == .double(12))
            try await service.delete(changed, in: "Products")
            #expect(try await service.entity("Products", key: try #require(changed.key)) == nil)
        }
    }

    @Test func `pages, counts, expansion, aggregation and changes`() async throws {
        try await withService { service in
            let count = try await service.count("Products")
            var read = 0
            var deltaLink: String?
            let pages = service.pages(
                ResourceQuery("Products"), preferences: Preferences(maxPageSize: 2, trackChanges: true))
            for try await page in pages.lookingAhead(2) {
                read += page.entities.count
                deltaLink = page.deltaLink ?? deltaLink
            }
            #expect(Int64(read) == count)
            let created = try await service.create(try await product(service, "Kettle"), in: "Products")
            var changes: [ODataEntity] = []
            for try await page in service.changes(since: try #require(deltaLink)) { changes += page.entities }
            #expect(changes.map { $0["Name"] } == ["Kettle"])
            let rows = try await service.entities(
                ResourceQuery(
                    try ODataURL(parsing: "Products?$apply=aggregate(Price with max as Highest,$count as Rows)")))
            #expect(rows[0]["Rows"] == .integer(count + 1) || rows[0]["Rows"] == .decimal(ODataDecimal(count + 1)))
            let category = try #require(try await service.first(ResourceQuery("Categories")))
            try await service.link("Category", of: created, to: category, in: "Products", targetSet: "Categories")
            let loaded = try await service.load("Category", of: created, in: "Products")
            guard case .one(let found)? = loaded.related["Category"] else {
                Issue.record("\(loaded.related)")
                return
            }
            #expect(found["ID"] == category["ID"])
            try await service.unlink("Category", of: created, in: "Products")
            #expect(try await service.related("Category", of: created, in: "Products").isEmpty)
        }
    }

    @Test(arguments: [BatchFormat.multipart, .json])
    func `a batch with a change set, references between its requests, and reads`(format: BatchFormat) async throws {
        try await withService(.init(batchFormat: format)) { service in
            let shape = try #require(try await service.provider.model.shape(ofSet: "ProductDescriptions"))
            let kettle = try await product(service, "Kettle")
            let results = try await service.batch {
                BatchOperation.read(ResourceQuery("Categories").top(1), id: "categories")
                ChangeSet {
                    BatchOperation.create(kettle, in: "Products", id: "kettle")
                    BatchOperation.create(
                        ODataEntity(shape: shape, ["LanguageKey": "DE", "Description": "Wasserkocher"]),
                        at: .result("kettle", "Descriptions"), id: "german")
                }
            }
            #expect(try results.entities("categories").count == 1)
            let created = try results.entity("kettle")
            #expect(try results.entity("german")["ProductID"] == created["ID"])
            let failed = try await service.batch {
                ChangeSet {
                    BatchOperation.create(kettle, in: "Products", id: "one")
                    BatchOperation.create(ODataEntity(shape: kettle.shape), in: "Products", id: "incomplete")
                }
            }
            #expect(Set(failed.refusals.map(\.id)) == ["one", "incomplete"], "all or nothing")
        }
    }

    @Test func `media of some megabytes go up and come back`() async throws {
        try await withService { service in
            let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let first = try #require(try await service.first(ResourceQuery("Products")))
            try await service.setMedia(
                of: first, property: "Photo", in: "Products", ByteStream(bytes).chunked(),
                contentType: "application/octet-stream", overwriting: false)
            let (stream, type) = try await service.media(of: first, property: "Photo", in: "Products")
            #expect(type == "application/octet-stream")
            #expect(try await stream.collect(limit: 4_000_000) == bytes)
        }
    }

    @Test
    func `a request that the metadata exclude is refused by the client, and by a service if the client does not check`()
        async throws
    {
        try await withService { service in
            let shape = try #require(try await service.provider.model.shape(ofSet: "ReadOnlyItems"))
            await #expect(throws: CapabilityError.self) {
                try await service.create(ODataEntity(shape: shape, ["Name": "x"]), in: "ReadOnlyItems")
            }
        }
        try await withService(.init(capabilities: .ignore)) { service in
            let shape = try #require(try await service.provider.model.shape(ofSet: "ReadOnlyItems"))
            await #expect(throws: ODataError.self) {
                try await service.create(ODataEntity(shape: shape, ["Name": "x"]), in: "ReadOnlyItems")
            }
        }
    }

    @Test(arguments: [MessageDialect.EntityFormat.json, .atom])
    func `the same through OData 2.0`(format: MessageDialect.EntityFormat) async throws {
        try await withService(.init(entityFormat: format), version2: true) { service in
            #expect(try await service.provider.model.version < .v4)
            let count = try await service.count("Categories")
            #expect(try await service.entities("Categories").count == Int(count))
            let shape = try #require(try await service.provider.model.shape(ofSet: "Categories"))
            let key = ODataGuid.random()
            let created = try await service.create(
                ODataEntity(shape: shape, ["ID": .guid(key), "Name": "Pantry"]), in: "Categories")
            #expect(created["Name"] == "Pantry")
            var category = try #require(try await service.entity("Categories", key: .guid(key)))
            category["Description"] = "What cooks"
            try await service.update(category, in: "Categories")
            let found = try await service.entities(
                ResourceQuery("Categories").filter(
                    .property("Name").contains("antr") && .property("Description") != nil))
            #expect(found.map { $0["Description"] } == ["What cooks"])
            let products = try await service.entities(ResourceQuery("Products").expand("Category").top(3))
            #expect(products.count == 3)
            try await service.delete(category, in: "Categories")
            #expect(try await service.entity("Categories", key: .guid(key)) == nil)
        }
    }
}
