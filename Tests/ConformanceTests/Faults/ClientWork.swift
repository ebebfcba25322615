import ODataModel
import ODataQuery
import ODataService
import Testing

/// An operation of the client with the reference service. Each kind of operation occurs once.
struct ClientWork: Sendable, CustomTestStringConvertible {
    let name: String
    /// The number of the first request with a fault. The first request of every operation reads the metadata.
    let first: Int
    let run: @Sendable (DataService) async throws -> Void

    init(_ name: String, first: Int = 2, _ run: @escaping @Sendable (DataService) async throws -> Void) {
        self.name = name
        self.first = first
        self.run = run
    }

    var testDescription: String { name }

    static let all = reading + changing + streams + operations

    private static let reading = [
        ClientWork("ping", first: 1) { try await $0.ping() },
        ClientWork("count") { _ = try await $0.count("Products") },
        ClientWork("entity") { _ = try await $0.entity("Categories", key: try #require(await category($0)["ID"])) },
        ClientWork("pages") { service in
            for try await _ in service.pages(ResourceQuery("Products"), preferences: Preferences(maxPageSize: 4)) {}
        },
        ClientWork("pages ahead") { service in
            let pages = service.pages(ResourceQuery("Products"), preferences: Preferences(maxPageSize: 4))
            for try await _ in pages.lookingAhead(2) {}
        },
        ClientWork("delta") { service in
            var link: String?
            for try await page in service.pages(
                ResourceQuery("Categories"), preferences: Preferences(trackChanges: true))
            {
                link = page.deltaLink
            }
            for try await _ in service.changes(since: try #require(link)) {}
        },
        ClientWork("aggregate") { service in
            let url = try ODataURL(parsing: "Products?$apply=groupby((CategoryID),aggregate(Price with sum as Sum))")
            _ = try await service.entities(ResourceQuery(url))
        },
        ClientWork("search") { service in
            _ = try await service.entities(ResourceQuery(try ODataURL(parsing: "Products?$search=Laptop")))
        },
        ClientWork("value") { service in
            _ = try await service.value(of: "Name", try await laptop(service), in: "Products")
        },
        ClientWork("load") { service in
            _ = try await service.load("Category", of: try await laptop(service), in: "Products")
        },
    ]

    private static let changing = [
        ClientWork("create") { service in
            try await service.create(try await kettle(service), in: "Products")
        },
        ClientWork("deep insert") { service in
            var kettle = try await kettle(service)
            let shape = try #require(try await service.provider.model.shape(ofSet: "ProductDescriptions"))
            kettle.related["Descriptions"] = .many([
                ODataEntity(shape: shape, ["LanguageKey": "DE", "Description": "Wasserkocher"]),
                ODataEntity(shape: shape, ["LanguageKey": "EN", "Description": "Kettle"]),
            ])
            try await service.create(kettle, in: "Products")
        },
        ClientWork("update") { service in
            var laptop = try await laptop(service)
            laptop["Price"] = .double(1)
            try await service.update(laptop, in: "Products")
        },
        ClientWork("deep update") { service in
            var category = try await category(service)
            category["Description"] = "One thing"
            category.related["Products"] = .many([try await kettle(service)])
            try await service.update(category, withRelated: ["Products"], in: "Categories")
        },
        ClientWork("replace") { service in
            var category = try await category(service)
            category["Description"] = .null
            try await service.replace(category, in: "Categories")
        },
        ClientWork("upsert") { service in
            let shape = try #require(try await service.provider.model.shape(ofSet: "Categories"))
            try await service.upsert(
                ODataEntity(
                    shape: shape,
                    [
                        "ID": .guid(try #require(ODataGuid("00000000-0000-0000-0000-000000000007"))),
                        "Name": "Pantry",
                    ]), in: "Categories")
        },
        ClientWork("delete") { service in
            try await service.delete(try await laptop(service), in: "Products")
        },
        ClientWork("delete by query") { service in
            let expensive = ResourceQuery("Products").filter(.property("Price") > .value(.double(900))).orderBy("Name")
            let count = try await service.delete(matching: expensive)
            #expect(count == 2)
        },
        ClientWork("set a value") { service in
            try await service.setValue("Ultrabook", of: "Description", try await laptop(service), in: "Products")
        },
        ClientWork("link and unlink") { service in
            let (laptop, category) = (try await laptop(service), try await category(service))
            try await service.link("Category", of: laptop, to: category, in: "Products", targetSet: "Categories")
            try await service.unlink("Category", of: laptop, in: "Products")
        },
    ]

    private static let streams = [
        ClientWork("create a medium") { service in
            try await service.createMedia(
                in: "MediaItems", ByteStream(bytes).chunked(), contentType: "image/png", slug: "fan.png")
        },
        ClientWork("set and read a stream") { service in
            let laptop = try await laptop(service)
            try await service.setMedia(
                of: laptop, property: "Photo", in: "Products", ByteStream(bytes).chunked(), contentType: "image/png",
                overwriting: true)
            let (stream, _) = try await service.media(of: laptop, property: "Photo", in: "Products")
            #expect(try await stream.collect(limit: 1 << 20) == bytes, "never a part of it as if it were all")
        },
        ClientWork("delete a stream") { service in
            let laptop = try await laptop(service)
            try await service.setMedia(
                of: laptop, property: "Photo", in: "Products", ByteStream([1]), contentType: "image/png",
                overwriting: true)
            try await service.deleteMedia(of: try await Self.laptop(service), property: "Photo", in: "Products")
        },
    ]

    private static let operations = [
        ClientWork("function") { service in _ = try await service.call("Calculate", ["value": 21]) },
        ClientWork("bound action") { service in
            try await service.call("ApplyDiscount", ["percentage": .double(50)], on: try await laptop(service))
        },
        ClientWork("action") { service in try await service.call("Process", ["percentage": .double(50)]) },
        ClientWork("batch") { service in
            let (kettle, laptop) = (try await kettle(service), try await laptop(service))
            var changed = laptop
            changed["Price"] = .double(2)
            let update = changed
            let results = try await service.batch {
                BatchOperation.read(ResourceQuery("Categories"), id: "categories")
                ChangeSet {
                    BatchOperation.create(kettle, in: "Products", id: "kettle")
                    BatchOperation.update(update, in: "Products", overwriting: true, id: "laptop")
                }
            }
            #expect(results.refusals.isEmpty)
        },
    ]

    private static let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    private static func laptop(_ service: DataService) async throws -> ODataEntity {
        try #require(try await service.first(ResourceQuery("Products").filter(.property("Name") == "Laptop")))
    }

    private static func category(_ service: DataService) async throws -> ODataEntity {
        try #require(try await service.first(ResourceQuery("Categories").filter(.property("Name") == "Kitchen")))
    }

    private static func kettle(_ service: DataService) async throws -> ODataEntity {
        ODataEntity(
            shape: try #require(try await service.provider.model.shape(ofSet: "Products")),
            ["Name": "Kettle", "Price": .double(10.5)])
    }
}
