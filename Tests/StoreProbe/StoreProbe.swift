import Foundation
import ODataModel
import ODataQuery
import ODataSQL
import ODataService
import OfflineOData
import Secrets

/// A service that never answers: a synchronisation with it holds the store's lock until the end.
private struct SilentService: ODataProvider {
    var model: EntityDataModel { get async throws { throw CancellationError() } }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        print("syncing")
        fflush(nil)
        try await Task.sleep(for: .seconds(3600))
        throw CancellationError()
    }
}

// Works on a store from a process of its own. It is not encrypted where - stands in the place of the key file.
//
//     StoreProbe DIRECTORY KEYFILE edit TAG COUNT    makes customers, the keys of which begin with TAG
//     StoreProbe DIRECTORY KEYFILE sync              synchronises with a service that never answers
@main
enum StoreProbe {
    nonisolated static func main() async throws {
        let arguments = CommandLine.arguments
        let protection: StoreProtection =
            try arguments[2] == "-" ? .unencrypted : .encrypted(KeySource(keyFile: arguments[2], allowsExposed: true))
        let store = try await OfflineStore.open(
            at: arguments[1], protection: protection, connect: { @Sendable _, _ in SilentService() })
        if arguments[3] == "sync" {
            try await store.sync()
            return
        }
        guard let shape = store.model.shape(ofSet: "Customers"), let count = Int(arguments[5]) else { exit(2) }
        for number in 1...count {
            let customer = ODataEntity(
                shape: shape,
                [
                    "CustomerID": .string("\(arguments[4])\(number)"), "CompanyName": "Made in a process",
                    "Country": "Norway",
                ])
            _ = try await store.execute(
                ODataRequest(.create, try ODataURL(parsing: "Customers"), body: .entity(customer)))
            // A reader of this number knows that the edit is committed.
            print(number)
            fflush(nil)
        }
        try store.close()
    }
}
