import ODataModel

/// Key values with the names and types that the model declares (OData URL Conventions 4.01, 4.3).
extension BindingSession {
    /// Resolves a key predicate against the key of a shape, parts in declared order.
    func key(_ predicate: KeyPredicate, of shape: Shape, at offset: Int?) throws(QueryError) -> EntityKey {
        guard !shape.key.isEmpty else { throw typeError("\(shape.name) has no key.", at: offset) }
        switch predicate {
        case .single(let value):
            guard shape.key.count == 1 else {
                throw typeError(
                    "The key of \(shape.name) has several parts: expected \(describeKey(of: shape)).", at: offset)
            }
            return EntityKey([try part(shape.key[0], value, of: shape, at: offset)])
        case .compound(let values):
            for value in values where !shape.key.contains(where: { $0.name == value.name.text }) {
                throw QueryError(
                    .unknownName, "\(value.name) is no key of \(shape.name); expected \(describeKey(of: shape)).",
                    offset: value.name.offset, suggestions: nearest(to: value.name.text, among: shape.key.map(\.name)))
            }
            var parts: [EntityKey.Part] = []
            for property in shape.key {
                guard let given = values.first(where: { $0.name.text == property.name }) else {
                    throw typeError("The key lacks \(property.name): expected \(describeKey(of: shape)).", at: offset)
                }
                parts.append(try part(property, given.value, of: shape, at: offset))
            }
            return EntityKey(parts)
        }
    }

    private func part(
        _ property: StructuredType.KeyProperty, _ value: Expression, of shape: Shape, at offset: Int?
    ) throws(QueryError) -> EntityKey.Part {
        let type = keyType(property, of: shape)
        let scope = Scope(shape: Shape(dynamic: QualifiedName("Edm", "Untyped"), properties: []), source: nil)
        guard case .constant(let constant, let given) = try bind(value, in: scope) else {
            throw typeError(
                "A key is made of literals: expected \(describeKey(of: shape)).", at: value.offset ?? offset)
        }
        guard !constant.isNull, let adapted = TypePromotion.adapt(constant, to: type, model: model) else {
            let found = constant.isNull ? "null" : "\(given)"
            throw typeError(
                "The key \(property.name) of \(shape.name) is of type \(type), not \(found).",
                at: value.offset ?? offset)
        }
        return EntityKey.Part(name: property.name, value: adapted)
    }

    /// A key value from the text of a path segment.
    func keyValue(
        _ text: String, for property: StructuredType.KeyProperty, of shape: Shape, at offset: Int?
    ) throws(QueryError) -> ODataValue {
        let type = keyType(property, of: shape)
        if type.primitive == .string { return .string(text) }
        if case .enumeration = type, let value = TypePromotion.adapt(.string(text), to: type, model: model) {
            return value
        }
        if type.primitive == .duration, let value = ODataDuration(text) { return .duration(value) }
        if let expression = try? Expression(parsing: text), case .literal(let literal) = expression,
            literal.type != .string, !literal.value.isNull,
            let value = TypePromotion.adapt(literal.value, to: type, model: model)
        {
            return value
        }
        throw typeError(
            "\u{201C}\(text.prefix(40))\u{201D} is no value of the key \(property.name) of \(shape.name), which is of type \(type).",
            at: offset)
    }

    /// The key's names and types for messages.
    func describeKey(of shape: Shape) -> String {
        shape.key.map { "\($0.name) (\(keyType($0, of: shape)))" }.joined(separator: ", ")
    }

    /// The type at the end of a key property's path.
    private func keyType(_ property: StructuredType.KeyProperty, of shape: Shape) -> TypeReference {
        var current: Shape? = shape
        var type: TypeReference = .untyped("Edm.Untyped")
        for name in property.path.split(separator: "/").map(String.init) {
            if let found = current?.property(name) {
                type = found.type
                current = self.shape(of: found.type)
            } else if let navigation = current?.navigationProperty(name) {
                current = model.shape(navigation.target)
            }
        }
        return type
    }
}
