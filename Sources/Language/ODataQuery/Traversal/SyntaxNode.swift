/// A part of the syntax tree of a query that may contain expressions.
///
/// ``children`` and ``mapChildren(_:)`` are the only recursion over the syntax tree besides the parser, printer and
/// binder. Each is an exhaustive switch, so that a new kind of node does not compile until its expressions are
/// listed.
package protocol SyntaxNode: Hashable {
    /// The nearest expressions below the node, in the order in which the node declares them.
    ///
    /// Expressions within a child are not included; they are children of the child.
    var children: [CommonExpression] { get }

    /// Returns the node with its ``children`` replaced.
    ///
    /// - Parameter transform: receives the children in order.
    func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> Self
}

extension SyntaxNode {
    /// All expressions below the node, each before the expressions within it.
    package var descendants: [CommonExpression] {
        children.flatMap { [$0] + $0.descendants }
    }

    /// Returns the node with some of its descendants replaced.
    ///
    /// - Parameter replacement: returns the replacement of an expression, or `nil` to keep the expression and visit
    ///   its children.
    package func mapDescendants<Failure: Error>(
        _ replacement: (CommonExpression) throws(Failure) -> CommonExpression?
    ) throws(Failure) -> Self {
        try mapChildren { child throws(Failure) in
            if let replaced = try replacement(child) { return replaced }
            return try child.mapDescendants(replacement)
        }
    }
}
