import ErrorCodes

/// An error about a stored value that does not match its column, or a value that cannot be stored in a column.
public struct StoredValueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The table; empty if unknown.
    public var table: String
    /// The column; empty if only the codec is known.
    public var column: String
    /// The row id or key of the row as text; `nil` if the error concerns no row.
    public var row: String?
    /// A description of the actual value.
    public var found: String
    /// A description of the expected values.
    public var expected: String

    /// Creates an error.
    public init(table: String = "", column: String = "", row: String? = nil, found: String, expected: String) {
        self.table = table
        self.column = column
        self.row = row
        self.found = found
        self.expected = expected
    }

    /// Returns the error with unknown parts of its place filled in.
    public func at(table: String? = nil, column: String? = nil, row: String? = nil) -> StoredValueError {
        var error = self
        if error.table.isEmpty, let table { error.table = table }
        if error.column.isEmpty, let column { error.column = column }
        if error.row == nil { error.row = row }
        return error
    }

    /// A sentence with the place, the actual value and the expected values.
    public var description: String {
        let name = table.isEmpty ? column : "\(table).\(column)"
        let place = name.isEmpty ? "A stored value" : "Column \(name)\(row.map { " of row \($0)" } ?? "")"
        return "\(place) holds \(found) where \(expected) was expected."
    }
}

extension StoredValueError: CodedError {
    /// The code `store.value`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "store.value") }

    /// The stored data are damaged.
    public var failureKind: FailureKind { .damaged }
}
