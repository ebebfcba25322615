import Foundation
import ODataClient
import ODataTransportURLSession
import ObjectAPI

/// Opens an empty database in a folder of its own.
func openCrm(_ root: String) async throws -> (CrmDatabase, folder: String) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("crm-\(UUID().uuidString)").path
    let crm = try await CrmDatabase.open(
        at: folder, DatabaseProfile(protection: .unencrypted),
        synchronization: SynchronizationProfile { model in
            try ODataClient(serviceRoot: root, transport: URLSessionTransport())
        })
    return (crm, folder)
}

/// Closes a database and removes it.
func close(_ crm: CrmDatabase, _ folder: String) throws {
    try crm.close()
    try CrmDatabase.delete(at: folder)
}
