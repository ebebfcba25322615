import ODataSQL
import OfflineOData

do {
    _ = try await OfflineStore.open(at: "/nonexistent", protection: .unencrypted)
} catch OfflineError.noStore(let path) {
    print("no store in \(path)")
}
