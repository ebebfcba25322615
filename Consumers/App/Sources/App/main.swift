import ODataSQL
import OfflineOData

do {
    _ = try await OfflineODataProvider.open(at: "/nonexistent", protection: .unencrypted)
} catch OfflineError.noStore(let path) {
    print("no store in \(path)")
}
