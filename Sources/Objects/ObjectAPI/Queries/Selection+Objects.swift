import ODataModel
import ODataQuery

/// Building of queries over objects by key paths.
extension Selection {
    /// Returns a query over the objects of a type.
    public static func from<Object>(_ alias: QueryAlias<Object>) -> Selection { Selection(alias.source()) }

    /// Joins the objects of a type.
    public func join<Object>(_ alias: QueryAlias<Object>, on condition: QueryTest? = nil) -> Selection {
        var result = self
        result.sources.append(alias.source(on: condition))
        return result
    }

    /// Adds columns to the result. An attribute has its own name; any other value needs one
    /// (``TypedQueryOperand/named(_:)``).
    public func select<each Item: SelectableColumn>(_ items: repeat each Item) -> Selection {
        var result = self
        repeat result.columns.append((each items).selectedColumn)
        return result
    }

    /// Adds attributes by which rows are grouped.
    public func groupBy<each Value>(_ attributes: repeat AttributeOperand<each Value>) -> Selection {
        var result = self
        repeat result.groups.append((each attributes).attribute)
        return result
    }

    /// Adds an item of the order, less significant than those before it.
    public func orderBy(_ operand: some TypedQueryOperand, descending: Bool = false) -> Selection {
        orderBy(.operand(operand.queryOperand), descending: descending)
    }

    /// Returns the only column of the query as a value: null if there are no rows, an error if there are several.
    public func value<Value>(as type: Value.Type) -> ResultOperand<Value> {
        ResultOperand(queryOperand: .selection(self))
    }
}

/// A column that a ``DynamicQuery`` can select.
public protocol SelectableColumn: Sendable {
    /// The column.
    var selectedColumn: Selection.Column { get }
}

extension Selection.Column: SelectableColumn {
    /// The column itself.
    public var selectedColumn: Selection.Column { self }
}

extension AttributeOperand: SelectableColumn {
    /// The column with the name of the attribute.
    public var selectedColumn: Selection.Column { Selection.Column(queryOperand) }
}
