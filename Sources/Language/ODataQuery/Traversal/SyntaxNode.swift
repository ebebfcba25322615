/// A part of the syntax tree of a query that may hold expressions.
///
/// ``children`` and ``mapChildren(_:)`` are the only recursion over the syntax tree besides parser, printer and binder. Each is an
/// exhaustive switch, so that a new kind of node does not compile before it says which expressions it holds.
package protocol SyntaxNode: Hashable {
    /// The nearest expressions below the node, in the order in which the node declares them.
    ///
    /// What an expression holds is below that expression: it belongs to the children of the child.
    var children: [CommonExpression] { get }

    /// Returns the node with other expressions in the place of its ``children``.
    ///
    /// - Parameter transform: gets the children in order.
    func mapChildren<Failure: Error>(
        _ transform: (CommonExpression) throws(Failure) -> CommonExpression
    ) throws(Failure) -> Self
}

extension SyntaxNode {
    /// All expressions below the node, each before those below it.
    package var descendants: [CommonExpression] {
        children.flatMap { [$0] + $0.descendants }
    }

    /// Returns the node with some of the expressions below it replaced, at any depth.
    ///
    /// - Parameter replacement: the expression that takes the place of another one; `nil` to keep that and to go on below it.
    package func mapDescendants<Failure: Error>(
        _ replacement: (CommonExpression) throws(Failure) -> CommonExpression?
    ) throws(Failure) -> Self {
        try mapChildren { child throws(Failure) in
            if let replaced = try replacement(child) { return replaced }
            return try child.mapDescendants(replacement)
        }
    }
}
