import ODataModel

extension EntityDataModel {
    /// Returns the type of the entities that a context URL describes, such as `$metadata#Orders(1)/Items/$entity`
    /// or `$metadata#Orders/NS.Rush` (OData 4.01, 10 *Context URL*).
    ///
    /// - Returns: `nil` if the context describes something else, or the model does not declare its elements.
    func entityType(context: String) -> QualifiedName? {
        guard let fragment = context.halves(atLast: "#")?.behind else { return nil }
        let segments = Self.names(fragment)
        guard let first = segments.first else { return nil }
        var type = entitySet(first)?.type ?? singleton(first)?.type
        if type == nil, let name = QualifiedName(first), shape(name)?.kind == .entity { type = name }
        for name in segments.dropFirst() where !name.begins(with: "$") {
            guard let shape = type.flatMap({ shape($0) }) else { return nil }
            if let target = shape.navigationProperty(name)?.target {
                type = target
            } else if case .complex(let inner?)? = shape.property(name)?.type {
                type = inner
            } else if let cast = QualifiedName(name), self.shape(cast) != nil {
                type = cast
            } else {
                return nil
            }
        }
        return type.flatMap { shape($0)?.kind == .entity ? $0 : nil }
    }

    /// Returns the segments of a path without keys and lists of properties, which may contain slashes.
    private static func names(_ path: Substring) -> [String] {
        var names = [""]
        var depth = 0
        var isQuoted = false
        for scalar in path.unicodeScalars {
            switch scalar {
            case "'": isQuoted.toggle()
            case "(" where !isQuoted: depth += 1
            case ")" where !isQuoted: depth -= 1
            case "/" where depth <= 0 && !isQuoted: names.append("")
            default: if depth <= 0, !isQuoted { names[names.count - 1].unicodeScalars.append(scalar) }
            }
        }
        return names.filter { !$0.isEmpty }
    }
}
