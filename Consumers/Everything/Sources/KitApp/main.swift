import AppleFrameworks
import OutpostKit

/// A screen of an app that imports SwiftUI and Outpost: no name stands for two types.
struct OrderScreen: View {
    @State var freight = ODataDecimal(300)

    var body: some View { Text("Freight: \(freight)") }
}

/// The number of orders of a service, online or offline.
func orders(of provider: some ODataProvider) async throws -> Int {
    try await DataService(provider).entities("Orders").count
}

do {
    _ = try await OfflineStore.open(at: "/nonexistent", protection: .unencrypted)
} catch OfflineError.noStore(let path) {
    print("no store in \(path), by one import")
}
_ = OrderScreen()
_ = URLSessionTransport()
