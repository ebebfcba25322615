import ODataModel

/// A dynamic query over the rows of a store: sources with aliases, tests, columns, groups, order and a range.
///
/// It can do more than the query options of a URL: join an entity set with itself or with the result of another
/// query, and combine results. It is therefore never part of a URL and never sent to a service.
///
/// ```swift
/// let totals = Selection.from("Customers", as: "c")
///     .join("SalesOrders", as: "o", on: .attribute("o.CustomerID", .equal, .attribute("c.ID")))
///     .where(.attribute("c.Region", .in, ["North", "West"]))
///     .groupBy("c.City").having(.test(.sum("o.Amount"), .greaterThan, 1000))
///     .select("c.City", .column(.sum("o.Amount"), as: "total"))
///     .orderBy(.name("total"), descending: true).take(10)
/// ```
///
/// Names are resolved and types are checked when the query is bound (``Binder/bind(_:)-(Selection)``). Values are never
/// part of a text of SQL.
public struct Selection: Hashable, Sendable {
    /// The sources, joined from left to right. The first one has no condition.
    public var sources: [Source]
    /// The condition on the joined rows; `nil` if all rows are wanted.
    public var test: QueryTest?
    /// The columns of the result; empty for all attributes of all sources, except large ones.
    public var columns: [Column]
    /// Whether equal rows of the result are returned once. Nulls are equal.
    public var isDistinct: Bool
    /// The attributes by which rows are grouped.
    public var groups: [QueryAttribute]
    /// The condition on the groups; `nil` if all groups are wanted.
    public var having: QueryTest?
    /// The queries whose results are combined with this one, from left to right.
    public var combinations: [Combination]
    /// The order of the result, most significant first. Nulls come first in ascending order.
    public var order: [Order]
    /// The number of rows of the result that are left out at its start, 0 or more.
    public var skip: Int?
    /// The maximum number of rows of the result, 0 or more.
    public var take: Int?

    /// Creates a query over one source without conditions.
    public init(_ source: Source) {
        sources = [source]
        columns = []
        isDistinct = false
        groups = []
        combinations = []
        order = []
    }

    /// A source of rows with its alias.
    public struct Source: Hashable, Sendable {
        /// The rows of a source.
        public enum Rows: Hashable, Sendable {
            /// The rows of an entity set, by the name of the set, or by the name of a type that has one set.
            case entities(String)
            /// The result of another query. Its columns are the attributes of the source. It cannot refer to the
            /// other sources.
            indirect case selection(Selection)
        }

        /// The rows.
        public var rows: Rows
        /// The name by which the query refers to the rows: a letter or underscore, then letters, digits and
        /// underscores.
        public var alias: String
        /// The condition of an inner join with the sources before this one; `nil` for the first source, and for all
        /// pairs of rows.
        public var condition: QueryTest?

        /// Creates a source.
        public init(_ rows: Rows, as alias: String, on condition: QueryTest? = nil) {
            self.rows = rows
            self.alias = alias
            self.condition = condition
        }
    }

    /// A column of the result.
    public struct Column: Hashable, Sendable {
        /// The value.
        public var operand: QueryOperand
        /// The name; `nil` for the name of the attribute. Any other value needs a name.
        public var name: String?

        /// Creates a column.
        public init(_ operand: QueryOperand, as name: String? = nil) {
            self.operand = operand
            self.name = name
        }
    }

    /// An item of the order.
    public struct Order: Hashable, Sendable {
        /// The value by which rows are ordered.
        public enum Key: Hashable, Sendable {
            /// The value of a column of the result.
            case column(String)
            /// Another value. It must be a column of the result if rows are distinct or results are combined.
            case operand(QueryOperand)
        }

        /// The value by which rows are ordered.
        public var key: Key
        /// Whether the order is descending.
        public var isDescending: Bool

        /// Creates an item.
        public init(_ key: Key, isDescending: Bool = false) {
            self.key = key
            self.isDescending = isDescending
        }
    }

    /// A combination of the result so far with the result of another query, whose columns have the same number and
    /// types. The names of the first query stay.
    public struct Combination: Hashable, Sendable {
        /// The operator of a combination. Except in ``unionAll``, equal rows are returned once, and nulls are equal.
        public enum Operator: String, Hashable, Sendable, CaseIterable {
            /// The rows of either result.
            case union
            /// The rows of both results, each as often as it occurs.
            case unionAll
            /// The rows of the first result that the second one lacks.
            case except
            /// The rows that both results have.
            case intersect
        }

        /// The operator.
        public var symbol: Operator
        /// The other query.
        public var selection: Selection

        /// Creates a combination.
        public init(_ symbol: Operator, _ selection: Selection) {
            self.symbol = symbol
            self.selection = selection
        }
    }
}
