/// Follows the paths of a metadata document through the types of its model (OData CSDL 4.01, 14.4.1).
struct CSDLPathFinder {
    /// Where a path leads.
    enum End {
        /// To a structural property.
        case property(Property)
        /// To a navigation property, perhaps with casts behind it.
        case navigationProperty(NavigationProperty)
        /// To the type itself, or to a cast of it.
        case type(QualifiedName)
        /// Somewhere that the documents say nothing of.
        case unknown
        /// To nothing.
        case nothing
    }

    let model: EntityDataModel

    /// The element behind a path from a type.
    ///
    /// - Parameters:
    ///   - path: the path, without aliases.
    ///   - type: the type where it starts.
    func end(of path: some StringProtocol, from type: QualifiedName) -> End {
        var current: QualifiedName? = type
        var end = End.type(type)
        for segment in CSDLNameMap.segments(String(path)) {
            // Annotations, and `$count` and the like.
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

    /// Whether everything that a type inherits is declared.
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
    /// Whether this is the abstract type of all entities or complex values.
    fileprivate var isAbstract: Bool { self == .complex(nil) || self == .entity(nil) }
}

extension CSDLPathFinder.End {
    /// Whether a structural property may be there.
    var mayBeProperty: Bool {
        switch self {
        case .property, .unknown: true
        case .navigationProperty, .type, .nothing: false
        }
    }

    /// Whether a navigation property may be there.
    var mayBeNavigationProperty: Bool {
        switch self {
        case .navigationProperty, .unknown: true
        case .property, .type, .nothing: false
        }
    }

    /// Whether there is nothing.
    var isNothing: Bool {
        if case .nothing = self { true } else { false }
    }
}
