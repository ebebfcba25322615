import ODataModel

/// A row of the result of a ``Selection``. Columns have names and positions from 0.
///
/// ```swift
/// for row in result {
///     print(try row.optional("City", as: String.self) ?? "-", try row.value("total", as: ODataDecimal.self))
/// }
/// ```
public struct SelectionRow: Hashable, Sendable {
    /// The columns of the result.
    public let columns: [SelectionColumn]
    /// The values, in the order of the columns.
    public let values: [ODataValue]

    /// Creates a row.
    ///
    /// - Parameter values: one value for each column.
    public init(columns: [SelectionColumn], values: [ODataValue]) {
        self.columns = columns
        self.values = values
    }

    /// The value of a column; `nil` if there is none of the name.
    public subscript(name: String) -> ODataValue? {
        columns.firstIndex { $0.name.isIdentical(inUTF8To: name) }.flatMap {
            values.indices.contains($0) ? values[$0] : nil
        }
    }

    /// The value of a column by its position from 0; `nil` if there is none.
    public subscript(index: Int) -> ODataValue? { values.indices.contains(index) ? values[index] : nil }

    /// Returns a value that is not null.
    ///
    /// - Throws: ``SelectionError`` of the kind `noSuchAttribute`, or `wrongType` for null and other types.
    public func value<Value: ODataValueConvertible>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(SelectionError) -> Value {
        try Self.required(self[name], of: name, as: type)
    }

    /// Returns a value that is not null, by the position of its column from 0.
    ///
    /// - Throws: as ``value(_:as:)-(String,_)``.
    public func value<Value: ODataValueConvertible>(
        _ index: Int, as type: Value.Type = Value.self
    ) throws(SelectionError) -> Value {
        try Self.required(self[index], of: "\(index)", as: type)
    }

    /// Returns a value; `nil` for null.
    ///
    /// - Throws: ``SelectionError`` of the kind `noSuchAttribute`, or `wrongType` for other types.
    public func optional<Value: ODataValueConvertible>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(SelectionError) -> Value? {
        try Self.converted(self[name], of: name, as: type)
    }

    /// Returns a value by the position of its column from 0; `nil` for null.
    ///
    /// - Throws: as ``optional(_:as:)-(String,_)``.
    public func optional<Value: ODataValueConvertible>(
        _ index: Int, as type: Value.Type = Value.self
    ) throws(SelectionError) -> Value? {
        try Self.converted(self[index], of: "\(index)", as: type)
    }

    private static func required<Value: ODataValueConvertible>(
        _ value: ODataValue?, of name: String, as type: Value.Type
    ) throws(SelectionError) -> Value {
        guard let value = try converted(value, of: name, as: type) else {
            throw SelectionError(.wrongType("The value is null. Read it as an optional value."), at: name)
        }
        return value
    }

    private static func converted<Value: ODataValueConvertible>(
        _ value: ODataValue?, of name: String, as type: Value.Type
    ) throws(SelectionError) -> Value? {
        guard let value else { throw SelectionError(.noSuchAttribute(name), at: name) }
        if value.isNull { return nil }
        guard let result = Value(odataValue: value) else {
            throw SelectionError(.wrongType("The value \(value) cannot be read as \(type)."), at: name)
        }
        return result
    }
}

/// The result of a ``Selection``: its columns and all its rows.
public struct SelectionResult: Hashable, Sendable, RandomAccessCollection {
    /// The columns.
    public let columns: [SelectionColumn]
    /// The rows.
    public let rows: [SelectionRow]

    /// Creates a result.
    public init(columns: [SelectionColumn], rows: [SelectionRow]) {
        self.columns = columns
        self.rows = rows
    }

    /// The names of the columns.
    public var columnNames: [String] { columns.map(\.name) }
    /// The position of the first row.
    public var startIndex: Int { rows.startIndex }
    /// The position after the last row.
    public var endIndex: Int { rows.endIndex }
    /// The row at a position from 0.
    public subscript(position: Int) -> SelectionRow { rows[position] }
}
