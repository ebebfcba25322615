import ODataModel

/// Binding of key values to the names and types that the model declares (OData URL Conventions 4.01, 4.3).
extension BindingSession {
    /// Resolves a key predicate against the key of a shape, with the parts in declared order.
    func key(_ predicate: KeyPredicate, of shape: TypeShape, at offset: Int?) throws(QueryError) -> EntityKey {
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
        _ property: StructuredType.KeyProperty, _ value: CommonExpression, of shape: TypeShape, at offset: Int?
    ) throws(QueryError) -> EntityKey.Part {
        let type = keyType(property, of: shape)
        let scope = Scope(shape: TypeShape(dynamic: QualifiedName("Edm", "Untyped"), properties: []), source: nil)
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

    /// Resolves a predicate with the properties of an alternate key that the type or set declares
    /// (`Core.AlternateKeys`; OData URL Conventions 4.01, 4.3.5); `nil` for other predicates.
    func alternateKey(
        _ predicate: KeyPredicate, of shape: TypeShape, set: EntitySet?, at offset: Int?
    ) throws(QueryError) -> (key: EntityKey, condition: BoundExpression, variable: RangeVariable)? {
        guard case .compound(let values) = predicate else { return nil }
        let names = Set(values.map(\.name.text))
        if names == Set(shape.key.map(\.name)) { return nil }
        let declared = (annotations(of: shape) + (set?.annotations ?? [])).filter {
            $0.term.hasSuffix("Core.V1.AlternateKeys")
        }
        for alternate in declared.flatMap(\.alternateKeys) where Set(alternate.map(\.alias)) == names {
            let scope = Scope(shape: shape, source: set?.name)
            var parts: [EntityKey.Part] = []
            var conditions: [BoundExpression] = []
            for part in alternate {
                guard let value = values.first(where: { $0.name.text == part.alias }) else { continue }
                let property = StructuredType.KeyProperty(path: part.path, alias: part.alias)
                let bound = try self.part(property, value.value, of: shape, at: offset)
                let path = try bind(
                    path: part.path.split(separator: "/").map { .name(Identifier(String($0))) }, in: scope)
                parts.append(bound)
                conditions.append(
                    .binary(.equal, path, .constant(bound.value, path.type), .primitive(.boolean)))
            }
            guard let condition = Self.all(conditions) else { continue }
            return (EntityKey(parts), condition, scope.current)
        }
        return nil
    }

    /// Returns a key value from the text of a path segment.
    func keyValue(
        _ text: String, for property: StructuredType.KeyProperty, of shape: TypeShape, at offset: Int?
    ) throws(QueryError) -> ODataValue {
        let type = keyType(property, of: shape)
        if type.primitive == .string { return .string(text) }
        if case .enumeration = type, let value = TypePromotion.adapt(.string(text), to: type, model: model) {
            return value
        }
        if type.primitive == .duration, let value = ODataDuration(text) { return .duration(value) }
        if let expression = try? CommonExpression(parsing: text), case .literal(let literal) = expression,
            literal.type != .string, !literal.value.isNull,
            let value = TypePromotion.adapt(literal.value, to: type, model: model)
        {
            return value
        }
        // The segment is neither a key nor another name that is allowed here.
        throw QueryError(
            .unknownName,
            "\u{201C}\(text.prefix(40))\u{201D} is no value of the key \(property.name) of \(shape.name), which is of type \(type).",
            offset: offset, suggestions: text.hasPrefix("$") ? nearest(to: text, among: PathSegment.systemNames) : [])
    }

    /// Returns the names and types of a key, for messages.
    func describeKey(of shape: TypeShape) -> String {
        shape.key.map { "\($0.name) (\(keyType($0, of: shape)))" }.joined(separator: ", ")
    }

    /// Returns the type at the end of a key property's path.
    private func keyType(_ property: StructuredType.KeyProperty, of shape: TypeShape) -> TypeReference {
        var current: TypeShape? = shape
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

extension Annotation {
    /// The alternate keys in a value of `Core.AlternateKeys`, with the path and name of each property.
    fileprivate var alternateKeys: [[(path: String, alias: String)]] {
        guard case .collection(let keys)? = value else { return [] }
        return keys.map { key in
            guard case .record(_, let properties) = key,
                case .collection(let parts)? = properties.first(where: { $0.name == "Key" })?.value
            else { return [] }
            return parts.compactMap { part in
                guard case .record(_, let properties) = part else { return nil }
                var path: String?
                var alias = ""
                for property in properties {
                    switch (property.name, property.value) {
                    case ("Name", .path(_, let text)?), ("Name", .constant(_, let text)?): path = text
                    case ("Alias", .constant(_, let text)?): alias = text
                    default: break
                    }
                }
                return path.map { ($0, alias.isEmpty ? $0 : alias) }
            }
        }
    }
}
