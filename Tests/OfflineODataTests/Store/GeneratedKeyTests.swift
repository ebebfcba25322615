import DataVault
import EncryptedSQLite
import Foundation
import ODataSQL
import ODataService
import OfflineOData
import Testing

@Suite("A store key that the API creates")
struct GeneratedKeyTests {
    private func create(_ shop: Shop, _ protection: StoreProtection) async throws -> OfflineStore {
        try await OfflineStore.create(
            at: shop.directory.appendingPathComponent("sealed").path, protection: protection,
            serviceRoot: Shop.serviceRoot, remote: try shop.client(), queries: [DefiningQuery(entitySet: "Products")])
    }

    private func open(_ shop: Shop, _ protection: StoreProtection) async throws -> OfflineStore {
        try await OfflineStore.open(
            at: shop.directory.appendingPathComponent("sealed").path, protection: protection)
    }

    private func secrets(_ shop: Shop, _ name: String = "secrets") throws -> FileSecretStore {
        try FileSecretStore(directory: shop.directory.appendingPathComponent(name).path)
    }

    @Test("is created with the store and found when it is opened again")
    func keeps() async throws {
        let shop = try await Shop()
        let secrets = try secrets(shop)
        let store = try await create(shop, .generated(in: secrets, named: SecretName("orders")))
        try await store.download()
        try store.close()
        let path = shop.directory.appendingPathComponent("sealed/store.db").path
        #expect(try EncryptedDatabase.isEncrypted(at: path))
        try EncryptedDatabase.lock(at: path)
        let key = try #require(try secrets.key(named: SecretName("orders")))
        let again = try await open(shop, .generated(in: try self.secrets(shop), named: SecretName("orders")))
        #expect(try await !again.rows("Products").isEmpty)
        try again.close()
        try EncryptedDatabase.lock(at: path)
        #expect(
            try await OfflineStore.verify(
                at: shop.directory.appendingPathComponent("sealed").path,
                protection: .generated(in: secrets, named: SecretName("orders"))
            ).isWhole)
        let same = try await open(shop, .encrypted(.key(key)))
        try same.close()
    }

    @Test("is not created for an existing store, whose key is missing")
    func missing() async throws {
        let shop = try await Shop()
        let store = try await create(shop, .generated(in: try secrets(shop), named: SecretName("orders")))
        try store.close()
        try EncryptedDatabase.lock(at: shop.directory.appendingPathComponent("sealed/store.db").path)
        let others = try secrets(shop, "others")
        let error = await #expect(throws: StoreError.self) {
            try await open(shop, .generated(in: others, named: SecretName("orders")))
        }
        guard case .keyUnavailable("orders", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try others.names().isEmpty)
    }

    @Test("serves several stores under one name, and each has its own under a separate name")
    func names() async throws {
        let shop = try await Shop()
        let secrets = try secrets(shop)
        let store = try await create(shop, .generated(in: secrets, named: SecretName("one")))
        try store.close()
        let two = try await OfflineStore.create(
            at: shop.directory.appendingPathComponent("two").path,
            protection: .generated(in: secrets, named: SecretName("one")),
            serviceRoot: Shop.serviceRoot, remote: try shop.client())
        try two.close()
        #expect(try secrets.names().map(\.text) == ["one"])
        let three = try await OfflineStore.create(
            at: shop.directory.appendingPathComponent("three").path,
            protection: .generated(in: secrets, named: SecretName("three")),
            serviceRoot: Shop.serviceRoot, remote: try shop.client())
        try three.close()
        #expect(try secrets.key(named: SecretName("one")) != secrets.key(named: SecretName("three")))
    }
}
