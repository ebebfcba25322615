import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import ToolLanguage

/// The entity sets and singletons of a clone as a table, with the number of rows that are kept.
struct ServiceTable {
    private let provider: OfflineStore

    init(_ provider: OfflineStore) { self.provider = provider }

    func show() async throws {
        let kept = try await KeptSets(provider)
        var table = Table(["Name", "Kind", "Type", "Rows"])
        for set in provider.model.container.entitySets {
            let rows: String
            if kept.incomplete.contains(set.name) {
                rows = translated("incomplete")
            } else {
                rows = try await self.rows(of: set.name).map { Terminal.number($0) } ?? translated("not kept")
            }
            table.add([set.name, translated("entity set"), set.type.description, rows])
        }
        for singleton in provider.model.container.singletons {
            table.add([singleton.name, translated("singleton"), singleton.type.description, ""])
        }
        Terminal.write(table.rendered())
    }

    /// The number of rows of a set; `nil` for a set of which the clone keeps nothing.
    private func rows(of set: String) async throws -> Int64? {
        var url = ODataURL(set: set)
        url.path.segments.append(.count)
        do {
            guard case .count(let count) = try await provider.execute(ODataRequest(.read, url)).body else { return nil }
            return count
        } catch let error as ODataError where error.isNotLoaded || error.status == 501 {
            return nil
        }
    }
}
