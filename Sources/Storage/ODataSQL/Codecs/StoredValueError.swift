import ErrorCodes

/// Why a stored value cannot be read as its column declares, or a value cannot be stored in a column.
public struct StoredValueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The table; empty where only the column is known.
    public var table: String
    /// The column; empty where only the codec is known.
    public var column: String
    /// The row: its row id or key as text; `nil` where no row is concerned.
    public var row: String?
    /// What was found.
    public var found: String
    /// What was expected.
    public var expected: String

    /// Makes an error.
    public init(table: String = "", column: String = "", row: String? = nil, found: String, expected: String) {
        self.table = table
        self.column = column
        self.row = row
        self.found = found
        self.expected = expected
    }

    /// The same error with its place filled in where it was unknown.
    public func at(table: String? = nil, column: String? = nil, row: String? = nil) -> StoredValueError {
        var error = self
        if error.table.isEmpty, let table { error.table = table }
        if error.column.isEmpty, let column { error.column = column }
        if error.row == nil { error.row = row }
        return error
    }

    /// Place, finding and expectation in a sentence.
    public var description: String {
        let name = table.isEmpty ? column : "\(table).\(column)"
        let place = name.isEmpty ? "A stored value" : "Column \(name)\(row.map { " of row \($0)" } ?? "")"
        return "\(place) holds \(found) where \(expected) was expected."
    }
}

extension StoredValueError: CodedError {
    /// `store.value`.
    public var errorCode: ErrorCode { ErrorCode(rawValue: "store.value") }

    /// What is stored is not what it should be.
    public var failureKind: FailureKind { .damaged }
}
