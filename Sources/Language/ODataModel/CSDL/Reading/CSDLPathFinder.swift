/// Follows the paths of a metadata document through the types of its model (OData CSDL 4.01, 14.4.1).
struct CSDLPathFinder {
    /// The target of a path.
    enum End {
        /// A structural property.
        case property(Property)
        /// A navigation property, possibly followed by casts.
        case navigationProperty(NavigationProperty)
        /// The start type itself, or a cast of it.
        case type(QualifiedName)
        /// An element that the documents do not describe.
        case unknown
        /// No element.
        case nothing
    }

    let model: EntityDataModel

    /// Returns the target of a path from a type.
    ///
    /// - Parameters:
    ///   - path: the path, without aliases.
    ///   - type: the type at which the path starts.
    func end(of path: some StringProtocol, from type: QualifiedName) -> End {
        var current: QualifiedName? = type
        var end = End.type(type)
        for segment in CSDLNameMap.segments(String(path)) {
            // Annotations, and segments such as `$count`, are not resolved.
            if segment.utf8.first == UInt8(ascii: "@") || segment.utf8.first == UInt8(ascii: "$") { return .unknown }
            guard let owner = current else { return .nothing }
            if let cast = QualifiedName(segment) {
                guard model.structuredType(cast) != nil else { return .nothing }
                current = cast
                if case .type = end { end = .type(cast) }
                continue
            }
            guard let shape = model.shape(owner) else { return .unknown }
            if let property = shape.property(String(segment)) {
                end = .property(property)
                switch property.type.element {
                case .complex(let name), .entity(let name): current = name
                case .untyped: return .unknown
                default: current = nil
                }
                if current == nil, property.type.element.isAbstract { return .unknown }
            } else if let property = shape.navigationProperty(String(segment)) {
                end = .navigationProperty(property)
                current = property.target
            } else {
                return isWhole(owner) ? .nothing : .unknown
            }
        }
        return end
    }

    /// Returns whether a type and all its base types are declared.
    private func isWhole(_ type: QualifiedName) -> Bool {
        var current: QualifiedName? = type
        while let name = current {
            guard let type = model.structuredType(name), type.undeclaredBaseType == nil else { return false }
            current = type.baseType
        }
        return true
    }
}

extension TypeReference {
    /// Whether the type is the abstract type of all entities or complex values.
    fileprivate var isAbstract: Bool { self == .complex(nil) || self == .entity(nil) }
}

extension CSDLPathFinder.End {
    /// Whether the target can be a structural property.
    var mayBeProperty: Bool {
        switch self {
        case .property, .unknown: true
        case .navigationProperty, .type, .nothing: false
        }
    }

    /// Whether the target can be a navigation property.
    var mayBeNavigationProperty: Bool {
        switch self {
        case .navigationProperty, .unknown: true
        case .property, .type, .nothing: false
        }
    }

    /// Whether the path leads to no element.
    var isNothing: Bool {
        if case .nothing = self { true } else { false }
    }
}
