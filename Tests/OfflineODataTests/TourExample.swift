// The first Swift example of the tour, verbatim. A test compares them and runs the example.

import OutpostKit

struct Order: EntityRepresentable {
    static let typeName = QualifiedName("Database", "Order")
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

func workOffline(
    at root: String, over transport: some HTTPTransport, in directory: String, key: EncryptionKey
) async throws {
    let client = try ODataClient(serviceRoot: root, transport: transport)
    let store = try await OfflineStore.create(
        at: directory, protection: .encrypted(.key(key)), serviceRoot: root, remote: client,
        queries: [DefiningQuery("costly", "Orders?$filter=Freight gt 100"), DefiningQuery("people", "Customers")])
    try await store.download()

    let service = DataService(store)  // reads and changes need no network
    let orders = try await service.fetch(Order.self, ResourceQuery("Orders").filter(.property("Freight") > 250))
    let names = try await service.entities(ResourceQuery("Customers").orderBy(.property("CompanyName")).top(3))
    print("\(orders.count) costly orders; first customers:", names.compactMap { $0["CompanyName"] })

    if let first = orders.first, var order = try await service.entity("Orders", key: .integer(first.id)) {
        order["Freight"] = .decimal(ODataDecimal(300))
        _ = try await service.update(order, in: "Orders")  // queued in the transaction that changes the row
    }
    let report = try await store.upload()
    print("\(report.accepted.count) accepted, \(report.failed.count) refused")
    try await store.download()
}
