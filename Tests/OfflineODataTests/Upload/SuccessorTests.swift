import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Testing

/// The second entity has its own row, but the key of the first one.
@Suite("A local creation under the key of a locally created and deleted entity")
struct SuccessorTests {
    private static let entity = "Customers('NEWCO')"

    /// Returns a store with a customer that was created, deleted and created again before an upload.
    private func made(
        _ shop: Shop, again name: String, through remote: (any ODataProvider)? = nil
    ) async throws -> OfflineStore {
        let store = try await shop.clone(through: remote)
        try await store.create("Customers", Self.customer("New"))
        try await store.delete(Self.entity)
        try await store.create("Customers", Self.customer(name))
        return store
    }

    private static func customer(_ name: String) -> [String: ODataValue] {
        ["CustomerID": "NEWCO", "CompanyName": .string(name), "Country": "Norway"]
    }

    @Test(
        "is sent once the first entity is deleted at the service",
        arguments: ["New", "Other"])
    func made(name: String) async throws {
        let shop = try await Shop()
        let store = try await made(shop, again: name)
        let report = try await store.upload()
        #expect(report.failed.map(\.description) == [])
        #expect(report.accepted.map(\.kind) == [.create, .delete, .create])
        #expect(try await store.rows(Self.entity).map { $0["CompanyName"] } == [.string(name)])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("is sent in one change set with the first entity and its deletion")
    func together() async throws {
        let shop = try await Shop()
        let store = try await shop.clone()
        try await store.changes.transaction { changes in
            try changes.create("Customers", Self.customer("New"))
            try changes.delete(Self.entity)
            try changes.create("Customers", Self.customer("Other"))
        }
        let report = try await store.upload()
        #expect(report.failed.map(\.description) == [])
        #expect(try await store.rows(Self.entity).map { $0["CompanyName"] } == ["Other"])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("waits while the service does not delete the first entity")
    func waits() async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard request.method == .delete else { return nil }
                throw ODataError(status: 403, code: "No", message: "It stays.")
            })
        let store = try await made(shop, again: "Other", through: service)
        let report = try await store.upload()
        #expect(report.accepted.map(\.kind) == [.create])
        #expect(report.failed.map(\.kind) == [.delete])
        #expect(report.waiting.map(\.kind) == [.create])
        #expect(try await store.rows(Self.entity).map { $0["CompanyName"] } == ["Other"])
        // Discarding the deletion also discards the creation that depends on it.
        try await store.changes.discard()
        #expect(try await store.rows(Self.entity).map { $0["CompanyName"] } == ["New"])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test(
        "is sent although the first creation was refused or folded with its deletion", arguments: [true, false])
    func firstNeverMade(isRefused: Bool) async throws {
        let shop = try await Shop()
        let service = Gateway(
            base: try shop.client(),
            before: { request in
                guard case .entity(let entity) = request.body, entity["CompanyName"] == "New" else { return nil }
                throw ODataError(status: 400, code: "No", message: "Not this name.")
            })
        let store = try await made(shop, again: "Other", through: service)
        let report = try await store.upload(options: UploadOptions(foldsRequests: !isRefused))
        #expect(report.accepted.map { $0.changes["CompanyName"] } == ["Other"])
        #expect(try await store.rows(Self.entity).map { $0["CompanyName"] } == ["Other"])
        try await store.download()
        try await shop.expectEqual(store)
    }

    @Test("stays if an upload ends between the three requests", arguments: 1...3)
    func cut(count: Int) async throws {
        let shop = try await Shop()
        let store = try await made(shop, again: "Other")
        await shop.wire.cut { number, _ in number == count ? .lostOnTheWay : nil }
        _ = try? await store.upload()
        await shop.wire.mend()
        try await store.download()
        #expect(try await store.rows(Self.entity).map { $0["CompanyName"] } == ["Other"])
        #expect(try await store.upload().failed.map(\.description) == [])
        try await store.download()
        try await shop.expectEqual(store)
    }
}
