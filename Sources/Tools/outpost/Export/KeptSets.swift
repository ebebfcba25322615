import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// Which entity sets a clone keeps something of.
struct KeptSets {
    /// Those whose first download is not complete.
    let incomplete: [String]
    private let kept: Set<String>
    private let provider: OfflineStore

    init(_ provider: OfflineStore) async throws {
        let queries = try await provider.observe.status().queries
        incomplete = Set(queries.filter { !$0.isLoaded }.map(\.entitySet)).sorted()
        kept = Set(queries.map(\.entitySet))
        self.provider = provider
    }

    /// Whether a query keeps the set, or others brought rows of it, or some were made here.
    func hasSomething(of set: String) async throws -> Bool {
        if kept.contains(set) { return true }
        var url = ODataURL(set: set)
        url.options.top = 1
        do {
            guard case .page(let page) = try await provider.execute(ODataRequest(.read, url)).body else { return false }
            return !page.entities.isEmpty
        } catch let error as ODataError where error.isNotLoaded {
            return false
        }
    }
}
