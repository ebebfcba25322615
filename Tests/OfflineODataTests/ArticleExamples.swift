import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData

// The examples of the articles, verbatim. A test compares them with the articles and runs them.

enum CommonTasks {
    static func deepInsert(
        _ service: DataService, orderShape: TypeShape, lineShape: TypeShape, now: ODataDateTimeOffset
    ) async throws -> ODataEntity {
        var order = ODataEntity(shape: orderShape, ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(now)])
        let line = ODataEntity(
            shape: lineShape, ["LineNumber": 1, "ProductID": 1, "Quantity": 2, "Price": .decimal(ODataDecimal(5))])
        order.related["Order_Lines"] = .many([line])
        order = try await service.create(order, in: "Orders")
        return order
    }

    static func changes(_ service: DataService, meanwhile: () async throws -> Void) async throws -> Int {
        var link: String?
        for try await page in service.pages(ResourceQuery("Customers"), preferences: Preferences(trackChanges: true)) {
            link = page.deltaLink ?? link
        }
        guard let link else { return 0 }  // the service tells no changes
        try await meanwhile()
        var changes = 0
        for try await page in service.changes(since: link) {
            changes += page.entities.count + page.removed.count
        }
        return changes
    }

    static func pages(_ service: DataService) async throws -> Int {
        var count = 0
        let orders = ResourceQuery("Orders").orderBy(.property("OrderID"))
        for try await page in service.pages(orders, preferences: Preferences(maxPageSize: 50)) {
            count += page.entities.count
        }
        return count
    }

    static func groups(_ service: DataService) async throws -> [(country: ODataValue?, count: ODataValue?)] {
        let groups = try await service.entities(
            ODataURL(parsing: "Customers?$apply=groupby((Country),aggregate($count as Customers))"))
        let customersIn = groups.map { group in (country: group["Country"], count: group["Customers"]) }
        return customersIn
    }

    static func members(_ service: DataService) async throws -> [ODataEntity] {
        let large = try await service.entities(
            ResourceQuery("Orders").filter(.property("Order_Lines").any { $0["Quantity"] > 5 }).expand("Order_Lines"))
        return large
    }

    static func batch(_ service: DataService) async throws -> (Int, refused: [String]) {
        let results = try await service.batch(continueOnError: true) {
            BatchOperation.read(ResourceQuery("Products").top(5), id: "products")
            BatchOperation.read(ResourceQuery("Orders").key(1), id: "order")
        }
        for (id, error) in results.refusals { print(id, error.status, error.message) }
        let products = try results.entities("products")
        return (products.count, results.refusals.map(\.id))
    }

    static func media(_ service: DataService, of photo: ODataEntity, into file: FileHandle) async throws -> String {
        let (bytes, contentType) = try await service.media(of: photo)
        for try await chunk in bytes { try file.write(contentsOf: chunk) }
        return contentType
    }

    static func longURLs(_ root: String, over transport: some HTTPTransport) async throws -> ODataClient {
        let client = try await ODataClient(root, transport: transport, configuration: .init(hidesURLs: true))
        return client
    }
}

enum OfflineTasks {
    static func together(_ store: OfflineODataProvider, now: ODataDateTimeOffset) async throws {
        try await store.transaction { changes in
            let order = try changes.create("Orders", ["CustomerID": "C0001", "OrderedAt": .dateTimeOffset(now)])
            try changes.create(
                "Order_Lines",
                [
                    "OrderID": order["OrderID"] ?? .null, "LineNumber": 1, "ProductID": 11, "Quantity": 2,
                    "Price": .decimal(ODataDecimal(5)),
                ])
        }
    }

    static func conflicts(_ store: OfflineODataProvider) async throws -> UploadReport {
        let policy = ConflictPolicy.custom { versions in
            guard let theirs = versions.theirs else { return .fail }  // they have deleted it: into the error archive
            var merged = versions.mine
            merged["City"] = theirs["City"]
            return .merged(merged)
        }
        let report = try await store.upload(options: UploadOptions(conflictPolicy: policy))
        return report
    }

    static func merge(_ store: OfflineODataProvider) async throws -> UploadReport {
        let report = try await store.upload(options: UploadOptions(conflictPolicy: .merge))
        return report
    }

    static func policies(_ store: OfflineODataProvider) throws {
        var options = store.options
        options.conflictPolicies = ["Customers": .merge, "Prices": .serverWins]
        try store.setOptions(options)
    }

    static func archive(_ store: OfflineODataProvider) async throws -> ODataResponse {
        let url = try ODataURL(parsing: "ErrorArchive?$filter=HTTPStatusCode eq 409&$expand=AffectedEntity")
        let response = try await store.execute(ODataRequest(.read, url))
        return response
    }

    static func parameter(_ store: OfflineODataProvider) async throws {
        try await store.add(DefiningQuery("mine", "Orders?$filter=EmployeeID eq @me"))
        try await store.setParameter("me", to: "2")  // a literal, as in a URL
        try await store.download()
    }

    static func missing(_ service: DataService, show: ([ODataEntity]) -> Void) async throws {
        do {
            show(try await service.entities(ODataURL(parsing: "Albums?$expand=Pages")))
        } catch let error as ODataError where error.isNotLoaded {
            print(error.target ?? "", error.definingQuery ?? "")  // Albums/Pages Albums?$expand=Pages
        }
    }

    static func observe(_ store: OfflineODataProvider, show: ([ODataEntity]) -> Bool) async throws {
        let query = try ODataURL(parsing: "Orders?$filter=Freight gt 100&$orderby=OrderID")
        for try await orders in store.observe(query) {
            guard show(orders) else { break }
        }
    }
}
