// The Swift example of the README, verbatim. A test compares them and runs the example.

import OutpostKit

func raiseFreight(with client: ODataClient, in folder: String, key: EncryptionKey) async throws {
    let store = try await OfflineStore.create(
        at: folder, protection: .encrypted(.key(key)), serviceRoot: "\(client.serviceRoot)", remote: client,
        queries: [DefiningQuery("costly", "Orders?$filter=Freight gt 250")])
    try await store.download()
    for var order in try await DataService(store).entities("Orders") {  // no network from here on
        order["Freight"] = .decimal(ODataDecimal(300))
        try await DataService(store).update(order)  // queued in the transaction that changes the row
    }
    try await store.upload()
}
