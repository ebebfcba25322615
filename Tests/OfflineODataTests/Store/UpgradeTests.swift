import Foundation
import ODataModel
import ODataStore
import OfflineOData
import Secrets
import Testing

@Suite("A store of an earlier version")
struct UpgradeTests {
    @Test("opens with its rows and its queue, and is used on", arguments: ["store-1", "store-2", "store-3", "store-4"])
    func opens(fixture: String) async throws {
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures").appendingPathComponent(fixture)
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: fixtures, to: directory)
        defer { try? FileManager.default.removeItem(at: directory) }
        let key = try KeySource(keyFile: directory.appendingPathComponent("key").path)
        for _ in 1...2 {
            let store = try await OfflineODataProvider.open(at: directory.path, protection: .encrypted(key))
            #expect(try await store.rows("Categories").count == 6)
            #expect(try await store.rows("Products").count == 4)
            let pending = try await store.status().pending
            #expect(
                pending.prefix(3).map(\.description) == [
                    "#1 update Products(1) (pending)", "#2 create Categories(-1) (pending)",
                    "#3 delete Products(2) (pending)",
                ])
            try await store.changing(ChangeOptions(tag: "new")).update("Products(3)", ["Name": .string("\(UUID())")])
            #expect(try await store.status().pending.last?.options.tag == "new")
            try store.close()
        }
    }
}
