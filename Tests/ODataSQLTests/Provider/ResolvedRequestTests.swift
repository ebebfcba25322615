import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataService
import ProviderChecks
import Testing

@testable import ODataSQL

@Suite("A URL is resolved once")
struct ResolvedRequestTests {
    @Test("by a store")
    func store() async throws {
        let traders = try Traders()
        let provider = StoreProvider(database: traders.queue, mapping: traders.mapping)
        #expect(try await ResolutionCheck(provider, set: "Orders").faults().isEmpty)
    }

    @Test("The pages of a result share one resolution and one statement")
    func pages() async throws {
        let traders = try Traders()
        var options = StoreProvider.Options()
        options.maxPageSize = 1
        let provider = StoreProvider(database: traders.queue, mapping: traders.mapping, options: options)
        var ids: [ODataValue?] = []
        var link: String? = "Orders?$orderby=OrderID"
        while let next = link {
            var request = ODataRequest(.read, try ODataURL(parsing: next))
            request.resolve(in: traders.model)
            guard case .page(let page) = try await provider.execute(request).body else { break }
            ids += page.entities.map { $0["OrderID"] }
            link = page.nextLink
        }
        let all = try await provider.entities(all: "Orders?$orderby=OrderID")
        #expect(ids == all.map { $0["OrderID"] } && ids.count > 2)
    }

    @Test("A batch is not resolved")
    func batch() async throws {
        let traders = try Traders()
        let provider = StoreProvider(database: traders.queue, mapping: traders.mapping)
        let error = await #expect(throws: ODataError.self) {
            _ = try await provider.execute(ODataRequest(.read, ODataURL(parsing: "$batch")))
        }
        #expect(error?.status == 405 && error?.allowedMethods == ["POST"])
    }

    @Test("The settings of a provider reach its reader")
    func settings() {
        var store = StoreProvider.Options()
        store.maxPageSize = 7
        store.maxExpandedRows = 3
        #expect(StoreReader.Configuration(store.serving).maxPageSize == 7)
        #expect(StoreReader.Configuration(store.serving).maxExpandedRows == 3)
    }
}

extension StoreProvider {
    fileprivate func entities(all text: String) async throws -> [ODataEntity] {
        let url = try ODataURL(parsing: text)
        return try await database.read { try self.entities(url, in: $0) }
    }
}
