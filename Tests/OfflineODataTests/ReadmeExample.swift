import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import ODataStore
import OfflineOData

struct Order: EntityRepresentable {
    static let typeName = QualifiedName("shop", "Orders")
    var id: Int64
    var freight: ODataDecimal

    init(row: borrowing some PropertyReader) throws {
        id = try row.read("OrderID")
        freight = try row.read("Freight")
    }

    func write(to row: inout some PropertyWriter) throws {
        try row.write("OrderID", id)
        try row.write("Freight", freight)
    }
}

func takeOrdersOffline(
    from root: String, over transport: some HTTPTransport, to directory: String, key: StoreProtection
) async throws {
    let store = try await OfflineODataProvider.create(
        at: directory, protection: key, serviceRoot: root,
        remote: ODataClient(serviceRoot: root, transport: transport),
        queries: [DefiningQuery("orders", "Orders?$filter=Freight gt 100"), DefiningQuery("people", "Customers")])
    try await store.download()

    let service = DataService(store)  // no network from here on
    let costly = try await service.fetch(Order.self, Query("Orders").filter(.property("Freight") > 250))
    let customers = try await service.entities(Query("Customers").orderBy(.property("CompanyName")).top(3))
    print("\(costly.count) costly orders;", customers.compactMap { $0["CompanyName"] })

    if var order = try await service.entity("Orders", key: .integer(costly[0].id)) {
        order["Freight"] = .decimal(ODataDecimal(120))
        try await service.update(order, in: "Orders")  // queued in the same transaction
    }
    let report = try await store.upload()
    print("\(report.accepted.count) accepted, \(report.failed.count) refused")
    try await store.download()
}
