import ODataModel

/// What the rows of an entity set hold by a model, in columns or within a value that is kept as JSON.
///
/// What a newer model has besides must be read again for all rows: a delta would bring it of changed rows alone, and whoever
/// changes a value that lacks it would overwrite what he has not seen.
struct StoredContent {
    private let parts: Set<Part>

    private enum Part: Hashable {
        case type(QualifiedName)
        case dynamicProperties(QualifiedName)
        case property(QualifiedName, String, TypeReference)
        /// A property that a relation hangs on, which queries always ask for.
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

    /// Whether all that there is is in other content, too.
    func isContained(in other: StoredContent) -> Bool { parts.isSubset(of: other.parts) }
}
