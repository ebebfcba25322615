import GRDB
import ODataModel

extension DatabaseValue {
    /// Returns whether two values are identical for SQLite. Texts are compared by their bytes, whereas `==` uses
    /// canonical equivalence.
    package func isIdentical(to other: DatabaseValue) -> Bool {
        if case .string(let own) = storage, case .string(let text) = other.storage {
            return own.isIdentical(inUTF8To: text)
        }
        return self == other
    }
}

/// Values that identify rows, with the equality of SQLite.
package struct StoredValues: Hashable {
    package let values: [DatabaseValue]

    package init(_ values: [DatabaseValue]) { self.values = values }

    package static func == (left: StoredValues, right: StoredValues) -> Bool {
        left.values.count == right.values.count
            && zip(left.values, right.values).allSatisfy { $0.isIdentical(to: $1) }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
