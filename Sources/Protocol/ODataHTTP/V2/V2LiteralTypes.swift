import ODataFormat
import ODataModel
import ODataQuery

/// Conversion of literals to the type of the property that they are compared with.
///
/// The notation of V2 literals depends on the type, and services refuse wrong ones (OData V2, *Overview*, 6).
struct V2LiteralTypes {
    let model: EntityDataModel

    /// Returns the same URL with typed literals in keys, filter and order.
    func adapted(_ url: ODataURL) -> ODataURL {
        var url = url
        var shape: TypeShape?
        for (index, segment) in url.path.segments.enumerated() {
            guard case .name(let name, let arguments) = segment else { continue }
            shape =
                index == 0
                ? model.shape(ofSet: name.text)
                : shape?.navigationProperty(name.text).flatMap { model.shape($0.target) } ?? shape
            guard let shape else { continue }
            switch arguments {
            case .key(.single(let value)):
                let type = shape.key.first.flatMap { shape.property($0.path)?.type }
                url.path.segments[index] = .name(name, .key(.single(adapted(value, to: type))))
            case .key(.compound(let parts)):
                url.path.segments[index] = .name(name, .key(.compound(adapted(parts, shape))))
            case .named(let parts): url.path.segments[index] = .name(name, .named(adapted(parts, shape)))
            default: break
            }
        }
        guard let shape else { return url }
        url.options.filter = url.options.filter.map { adapted($0, in: shape) }
        url.options.orderBy = url.options.orderBy.map {
            OrderItem(adapted($0.expression, in: shape), isDescending: $0.isDescending)
        }
        return url
    }

    private func adapted(_ parts: [CommonExpression.NamedArgument], _ shape: TypeShape) -> [CommonExpression
        .NamedArgument]
    {
        parts.map { .init(name: $0.name, value: adapted($0.value, to: shape.property($0.name.text)?.type)) }
    }

    private func adapted(_ expression: CommonExpression, in shape: TypeShape) -> CommonExpression {
        switch expression {
        case .binary(let operation, let left, let right):
            return .binary(
                operation, adapted(adapted(left, in: shape), to: right.pathType(in: shape, of: model)),
                adapted(adapted(right, in: shape), to: left.pathType(in: shape, of: model)))
        case .membership(let operand, .list(let items)):
            let type = operand.pathType(in: shape, of: model)
            return .membership(operand, in: .list(items.map { adapted($0, to: type) }))
        case .unary, .call, .typeTest: return expression.mapChildren { adapted($0, in: shape) }
        // The members of a collection have another type.
        case .path, .literal, .alias, .membership, .namedCall, .list, .json: return expression
        }
    }

    /// Returns a literal converted to a type if no information is lost; other expressions are unchanged.
    private func adapted(_ expression: CommonExpression, to type: TypeReference?) -> CommonExpression {
        guard case .literal(let literal) = expression, literal.enumeration == nil, let primitive = type?.primitive,
            let value = literal.value.legacyValue(of: primitive)
        else { return expression }
        return .literal(Literal(value, type: primitive, at: literal.offset))
    }
}

extension CommonExpression {
    /// Returns the type of a path over a shape; `nil` for other expressions.
    func pathType(in shape: TypeShape, of model: EntityDataModel) -> TypeReference? {
        guard case .path(let steps) = self else { return nil }
        var shape: TypeShape? = shape
        var type: TypeReference?
        for step in steps {
            guard case .name(let name) = step, let current = shape else { return nil }
            if let navigation = current.navigationProperty(name.text) {
                shape = model.shape(navigation.target)
                type = nil
            } else if let property = current.property(name.text) {
                type = property.type
                if case .complex(let name?) = property.type { shape = model.shape(name) } else { shape = nil }
            } else {
                return nil
            }
        }
        return type
    }
}
