import ODataModel

/// The content of an entity set's rows under a model, in columns or within a value stored as JSON.
///
/// Content that is new in a model must be read again for all rows. A delta would bring it for changed rows only,
/// and a change of an incomplete value would overwrite the missing part.
struct StoredContent {
    private let parts: Set<Part>

    private enum Part: Hashable {
        case type(QualifiedName)
        case dynamicProperties(QualifiedName)
        case property(QualifiedName, String, TypeReference)
        /// A property of a foreign key, which queries always request.
        case foreignKey(QualifiedName, String)
    }

    /// - Parameter type: the type of the entity set.
    init(of type: QualifiedName, in model: EntityDataModel) {
        var parts: Set<Part> = []
        var waiting = [type]
        while let name = waiting.popLast() {
            guard parts.insert(.type(name)).inserted, let shape = model.shape(name) else { continue }
            if shape.isOpen { parts.insert(.dynamicProperties(name)) }
            for property in shape.properties {
                parts.insert(.property(name, property.name, property.type))
                if case .complex(let nested?) = property.type.element { waiting.append(nested) }
            }
            for navigation in shape.navigationProperties {
                for constraint in navigation.constraints { parts.insert(.foreignKey(name, constraint.property)) }
            }
            waiting += model.derivedTypes(of: name)
        }
        self.parts = parts
    }

    /// Whether another content includes all of this content.
    func isContained(in other: StoredContent) -> Bool { parts.isSubset(of: other.parts) }
}
