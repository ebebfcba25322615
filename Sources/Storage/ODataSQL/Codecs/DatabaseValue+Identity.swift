import GRDB
import ODataModel

extension DatabaseValue {
    /// Returns whether SQLite distinguishes two values. Texts are compared by their bytes, but `==` compares them
    /// by canonical equivalence.
    package func isIdentical(to other: DatabaseValue) -> Bool {
        if case .string(let own) = storage, case .string(let text) = other.storage {
            return own.isIdentical(inUTF8To: text)
        }
        return self == other
    }
}

/// Values that identify rows, compared in the same way as by SQLite.
package struct StoredValues: Hashable {
    package let values: [DatabaseValue]

    package init(_ values: [DatabaseValue]) { self.values = values }

    package static func == (left: StoredValues, right: StoredValues) -> Bool {
        left.values.count == right.values.count
            && zip(left.values, right.values).allSatisfy { $0.isIdentical(to: $1) }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
