import ODataModel

/// A ``Selection`` with resolved names and typed operands, from which the SQL compiler and the evaluator work.
public struct BoundSelection: Hashable, Sendable {
    /// The sources, joined from left to right.
    public var sources: [Source]
    /// The condition on the joined rows.
    public var filter: BoundExpression?
    /// The groups of the rows; `nil` if they are not grouped.
    public var grouping: Grouping?
    /// The columns of the result. Their expressions start at the sources, or at the row of a group.
    public var columns: [Column]
    /// Whether equal rows of the result are returned once.
    public var isDistinct: Bool
    /// The queries whose results are combined with this one, from left to right.
    public var combinations: [Combination]
    /// The order of the result. If rows are distinct or combined, the expressions start at ``result``.
    public var order: [BoundOrder]
    /// The number of rows that are left out at the start.
    public var skip: Int?
    /// The maximum number of rows.
    public var take: Int?
    /// The row of the result, with one property for each column.
    public var result: RangeVariable

    /// A source of rows.
    public struct Source: Hashable, Sendable {
        /// The rows of a source.
        public enum Rows: Hashable, Sendable {
            /// The entities of a set.
            case entities(EntitySet, TypeShape)
            /// The result of another query.
            indirect case selection(BoundSelection)
        }

        /// The rows.
        public var rows: Rows
        /// The row at which expressions start.
        public var variable: RangeVariable
        /// The condition of the join with the sources before.
        public var condition: BoundExpression?
    }

    /// The groups of rows.
    public struct Grouping: Hashable, Sendable {
        /// The values by which rows are grouped; without any, all rows are one group.
        public var keys: [BoundExpression]
        /// The aggregates of each group. A count with an expression counts the values that are not null.
        public var aggregates: [BoundAggregate]
        /// The row of a group: one property for each key, then one for each aggregate.
        public var variable: RangeVariable
        /// The condition on the groups.
        public var having: BoundExpression?
    }

    /// A column of the result.
    public struct Column: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var expression: BoundExpression
    }

    /// A combination with the result of another query.
    public struct Combination: Hashable, Sendable {
        /// The operator.
        public var symbol: Selection.Combination.Operator
        /// The other query.
        public var selection: BoundSelection
    }

    /// Whether equal rows are returned once, so that instants are compared without their offsets and returned in UTC.
    package var comparesRows: Bool { isDistinct || !combinations.isEmpty }

    /// The columns of the result with their types.
    public var resultColumns: [SelectionColumn] {
        columns.map { SelectionColumn(name: $0.name, type: $0.expression.type) }
    }
}

/// A query within an expression of a ``BoundSelection``. It may refer to the variables of the enclosing queries.
public indirect enum BoundSubquery: Hashable, Sendable {
    /// Whether the query has rows.
    case exists(BoundSelection)
    /// Whether a value equals the only column of a row of the query. The second expression starts at the row.
    case contains(BoundExpression, equals: BoundExpression, in: BoundSelection)
    /// The only column of the only row; null if there is no row.
    case value(BoundSelection)

    /// The type of the value.
    public var type: TypeReference {
        switch self {
        case .exists, .contains: .primitive(.boolean)
        case .value(let selection): selection.columns.first?.expression.type ?? .untyped("Edm.Untyped")
        }
    }
}
