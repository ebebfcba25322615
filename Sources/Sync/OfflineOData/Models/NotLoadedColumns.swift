import Foundation
import ODataSQL

/// Converts the list of columns that are not loaded from one table to another.
struct NotLoadedColumns {
    private let old: [String]
    private let new: [String]
    /// The columns of the new table that are new or have another storage form.
    private let added: [Int]

    /// - Parameter alike: the columns of both tables with the same storage form.
    init(from before: TableStorage, to after: TableStorage, alike: Set<String>) {
        old = before.columns.map(\.name)
        new = after.columns.map(\.name)
        added = after.columns.indices.filter {
            !alike.contains(after.columns[$0].name) && after.columns[$0].isOptionallyLoaded
        }
    }

    /// - Parameter stored: a bit for each column of the old table; `nil` if all were loaded.
    /// - Returns: a bit for each column of the new table; `nil` if all are loaded.
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
