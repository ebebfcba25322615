import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import Secrets

/// The stores that are measured: encrypted, as those of an app are.
enum Stores {
    /// The key of all of them, the same in every process.
    private static func key() throws -> EncryptionKey {
        try EncryptionKey(hexadecimal: String(repeating: "0123456789abcdef", count: 4))
    }
    private static let host = "http://bench.test/"

    private static var options: OfflineStore.Options {
        var options = OfflineStore.Options()
        options.sync.downloadPageSize = RenderedService.pageSize
        return options
    }

    /// Makes an empty store.
    ///
    /// - Parameter root: `tracked/` for a service with delta links, `plain/` for one without; of an address, all of it.
    static func create(
        _ name: String, in folder: String, from service: any HTTPTransport, root: String = "tracked/"
    ) async throws -> OfflineStore {
        let root = root.contains(":") ? root : host + root
        return try await OfflineStore.create(
            at: folder + "/" + name, protection: .encrypted(.key(key())), serviceRoot: root,
            remote: ODataClient(serviceRoot: root, transport: service), options: options)
    }

    /// Opens one that was closed.
    static func open(_ name: String, in folder: String, from service: any HTTPTransport) async throws
        -> OfflineStore
    {
        try await OfflineStore.open(
            at: folder + "/" + name, protection: .encrypted(.key(key())), options: options
        ) { root, model in
            try ODataClient(serviceRoot: root, transport: service, model: model)
        }
    }
}

extension OfflineStore {
    /// Makes an order.
    func createOrder(_ id: Int) async throws {
        guard let shape = model.shape(ofSet: "Orders") else { return }
        _ = try await execute(
            ODataRequest(
                .create, ODataURL(parsing: "Orders"),
                body: .entity(ODataEntity(shape: shape, ["ID": .integer(Int64(id)), "Employee": .integer(1)]))))
    }

    /// Changes one property of an order.
    func setEmployee(_ employee: Int, of id: Int) async throws {
        guard let shape = model.shape(ofSet: "Orders") else { return }
        _ = try await execute(
            ODataRequest(
                .update, ODataURL(parsing: "Orders(\(id))"),
                body: .entity(ODataEntity(shape: shape, ["Employee": .integer(Int64(employee))]))))
    }
}
