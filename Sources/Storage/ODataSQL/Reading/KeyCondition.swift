import ODataModel
import ODataQuery

/// A condition that a row has one of the given keys.
package enum KeyCondition {
    /// Returns the condition on the current instance of a query.
    package static func any(of keys: [EntityKey], _ query: BoundQuery) -> BoundExpression {
        let boolean = TypeReference.primitive(.boolean)
        let shape = query.shape
        let parts = shape.key.compactMap { key -> (name: String, path: BoundExpression, type: TypeReference)? in
            guard let ordinal = shape.ordinal(of: key.path) else { return nil }
            let property = shape.properties[ordinal]
            let path = BoundPath(
                variable: query.variable, steps: [.property(property, ordinal: ordinal, of: shape)],
                type: property.type)
            return (key.name, .path(path), property.type)
        }
        if keys.isEmpty { return .constant(.boolean(false), boolean) }
        if parts.count == 1, let part = parts.first {
            return .membership(part.path, in: keys.map { .constant($0[part.name] ?? .null, part.type) })
        }
        let conditions = keys.map { key in
            let equal = parts.map { part in
                BoundExpression.binary(.equal, part.path, .constant(key[part.name] ?? .null, part.type), boolean)
            }
            return tree(equal, .and)
        }
        return tree(conditions, .or)
    }

    /// Returns the operands as a balanced tree. SQLite limits the depth of expressions, but not the number of
    /// operands.
    private static func tree(_ operands: [BoundExpression], _ operation: BinaryOperator) -> BoundExpression {
        guard operands.count > 1 else {
            return operands.first ?? .constant(.boolean(operation == .and), .primitive(.boolean))
        }
        let middle = operands.count / 2
        return .binary(
            operation, tree(Array(operands[..<middle]), operation), tree(Array(operands[middle...]), operation),
            .primitive(.boolean))
    }
}
