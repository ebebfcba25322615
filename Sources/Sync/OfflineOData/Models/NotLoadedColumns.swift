import Foundation
import ODataSQL

/// Brings what a row says of its columns that are not loaded from the columns of one table to those of another.
struct NotLoadedColumns {
    private let old: [String]
    private let new: [String]
    /// The columns that the new table has and the old one had not, or stored otherwise.
    private let added: [Int]

    /// - Parameter alike: the columns that both tables have, and store alike.
    init(from before: TableStorage, to after: TableStorage, alike: Set<String>) {
        old = before.columns.map(\.name)
        new = after.columns.map(\.name)
        added = after.columns.indices.filter {
            !alike.contains(after.columns[$0].name) && after.columns[$0].isOptionallyLoaded
        }
    }

    /// - Parameter stored: a bit for each column of the old table; `nil` where all were loaded.
    /// - Returns: a bit for each column of the new table; `nil` where all are loaded.
    func remapped(_ stored: Data?) -> Data? {
        let stored = stored ?? Data()
        let missing = Set(
            old.indices.filter { $0 / 8 < stored.count && stored[stored.startIndex + $0 / 8] & (1 << ($0 % 8)) != 0 }
                .map { old[$0] })
        var bytes = Data(count: (new.count + 7) / 8)
        for index in added + new.indices.filter({ missing.contains(new[$0]) }) {
            bytes[index / 8] |= 1 << (index % 8)
        }
        return bytes.contains { $0 != 0 } ? bytes : nil
    }
}
