import GRDB
import ODataModel

extension DatabaseValue {
    /// Whether SQLite tells two values apart: texts by their bytes, where `==` takes those for equal that Unicode holds to
    /// be written alike.
    package func isIdentical(to other: DatabaseValue) -> Bool {
        if case .string(let own) = storage, case .string(let text) = other.storage {
            return own.isIdentical(inUTF8To: text)
        }
        return self == other
    }
}

/// Values that rows are found by, told apart as SQLite does.
package struct StoredValues: Hashable {
    package let values: [DatabaseValue]

    package init(_ values: [DatabaseValue]) { self.values = values }

    package static func == (left: StoredValues, right: StoredValues) -> Bool {
        left.values.count == right.values.count
            && zip(left.values, right.values).allSatisfy { $0.isIdentical(to: $1) }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
