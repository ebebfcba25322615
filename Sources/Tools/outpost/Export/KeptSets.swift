import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// The entity sets of which a clone keeps rows.
struct KeptSets {
    /// The entity sets with an incomplete first download.
    let incomplete: [String]
    private let kept: Set<String>
    private let provider: OfflineStore

    init(_ provider: OfflineStore) async throws {
        let queries = try await provider.observe.status().queries
        incomplete = Set(queries.filter { !$0.isLoaded }.map(\.entitySet)).sorted()
        kept = Set(queries.map(\.entitySet))
        self.provider = provider
    }

    /// Returns whether the clone has rows of a set: by its queries, by those of other sets, or created here.
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
