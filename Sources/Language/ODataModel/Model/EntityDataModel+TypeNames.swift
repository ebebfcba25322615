extension EntityDataModel {
    /// Returns the type with a name in metadata notation, such as `Edm.Int64`, `NS.Color` or
    /// `Collection(NS.Address)` (OData CSDL 4.01, 4.1).
    ///
    /// - Returns: ``TypeReference/untyped(_:)`` with the name if the model does not declare the type.
    public func typeReference(_ name: some StringProtocol) -> TypeReference {
        guard let element = name.collectionElement else { return elementType(String(name)) }
        // Collections of collections do not exist; a nested collection is treated as an undeclared name.
        return .collection(elementType(String(element)))
    }

    private func elementType(_ text: String) -> TypeReference {
        if let abstract = TypeReference(builtIn: text) { return abstract }
        guard let qualified = QualifiedName(resolvingAlias(in: text)) else { return .untyped(text) }
        if let shape = shape(qualified) {
            return shape.kind == .entity ? .entity(qualified) : .complex(qualified)
        }
        if enumType(qualified) != nil { return .enumeration(qualified) }
        if let definition = typeDefinition(qualified) { return .typeDefinition(qualified, definition.underlyingType) }
        return .untyped(text)
    }

    /// Returns the type named by `@odata.type` in a payload: a fragment of the metadata URL, in which built-in
    /// types may omit `Edm.` (OData JSON Format 4.01, 4.6.3).
    public func typeReference(fragment text: String) -> TypeReference {
        let stated = text.halves(atLast: "#")?.behind ?? text[...]
        let name = stated.collectionElement ?? stated
        let element = typeReference(name.utf8.contains(UInt8(ascii: ".")) ? name : "Edm." + name)
        return stated.collectionElement == nil ? element : .collection(element)
    }

    /// Returns a dotted name with a schema's alias replaced by its namespace.
    private func resolvingAlias(in name: String) -> String {
        guard let (prefix, rest) = name.halves(atLast: "."),
            let schema = schemas.first(where: { $0.alias.map { $0 == prefix } ?? false })
        else { return name }
        return "\(schema.namespace).\(rest)"
    }
}

extension TypeReference {
    /// Creates a type of the namespace `Edm`; `nil` for other names.
    init?(builtIn name: String) {
        if let primitive = PrimitiveType(rawValue: name) {
            self = .primitive(primitive)
            return
        }
        switch name {
        case "Edm.ComplexType": self = .complex(nil)
        case "Edm.EntityType": self = .entity(nil)
        case "Edm.Untyped", "Edm.PrimitiveType", "Edm.PropertyPath", "Edm.NavigationPropertyPath",
            "Edm.AnyPropertyPath", "Edm.ModelElementPath", "Edm.AnnotationPath":
            self = .untyped(name)
        default: return nil
        }
    }
}
