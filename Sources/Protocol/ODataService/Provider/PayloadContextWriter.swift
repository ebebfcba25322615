import ODataModel
import ODataQuery

/// Writes the context URL of the response to a request (OData Protocol 4.01, 10.1 to 10.18).
struct PayloadContextWriter {
    let url: ODataURL
    let bound: BoundURL
    /// The id of the entity that a property belongs to, if the URL does not contain it.
    let owner: String?
    /// The type of a single entity in the payload; `nil` for other payloads.
    let instance: QualifiedName?
    let version: ODataVersion

    private var resource: BoundResource { bound.resource }

    /// Returns the text after `$metadata#`: empty for the service document, `nil` for payloads without a context.
    func fragment(isDelta: Bool) -> String? {
        switch resource.target {
        case .service, .metadata: return ""
        case .batch, .rawValue, .count: return nil
        case .entityByID:
            guard case .cast(let shape)? = resource.steps.last else { return nil }
            return "\(shape.name)\(selection)"
        case .entities(let shape, let set):
            return entities(canonicalPath, shape, set) + selection + (isDelta ? "/$delta" : "")
        case .entity(let shape, let set):
            if case .singleton(let singleton, _)? = resource.steps.last { return "\(singleton.name)\(selection)" }
            if set == nil, hasOperation { return "\(shape.name)\(selection)" }
            return entities(withoutLastKey, shape, set) + selection + "/$entity"
        case .property(let property, _): return self.property(property)
        case .all:
            if case .cast(let shape)? = resource.steps.last { return "Collection(\(shape.name))" }
            return "Collection(Edm.EntityType)"
        case .crossJoin: return "Collection(Edm.ComplexType)\(selection)"
        case .references(_, _, _, let isCollection): return isCollection ? "Collection($ref)" : "$ref"
        case .operation(let operation):
            guard let type = operation.returnType else { return nil }
            guard case .entity(let name?) = type.element, let set = bound.query?.set else { return "\(type)" }
            // Entities of a set have the same context wherever they are read (10.14).
            let own = instance ?? name
            let cast = own == set.type ? "" : "/\(own)"
            return set.name + cast + selection + (type.isCollection ? "" : "/$entity")
        }
    }

    /// Returns the fragment of one entity in a collection of several sets and singletons (10.19).
    func fragment(of entity: ODataEntity, in model: EntityDataModel) -> String? {
        guard let name = entity.control.id?.prefix(while: { $0 != "(" }) else { return nil }
        let declared = model.entitySet(String(name))?.type ?? model.singleton(String(name))?.type
        guard let declared else { return nil }
        let cast = declared == entity.shape.name ? "" : "/\(entity.shape.name)"
        return name + cast + selection + (model.entitySet(String(name)) == nil ? "" : "/$entity")
    }

    /// Returns the fragment of a property: its path below an entity set or singleton, otherwise only its type
    /// (10.15).
    private func property(_ property: Property) -> String {
        if let owner { return "\(owner)/\(propertyPath)" + selection }
        return switch resource.steps.first {
        case .entitySet?, .singleton?: hasOperation ? "\(property.type)" : path(canonicalPath) + selection
        default: "\(property.type)"
        }
    }

    /// The properties and casts after the last entity.
    private var propertyPath: String {
        var names: [String] = []
        for step in resource.steps {
            switch step {
            case .property(let property, _, _): names.append(property.name)
            case .cast(let shape): names.append("\(shape.name)")
            default: names = []
            }
        }
        return names.joined(separator: "/")
    }

    private var hasOperation: Bool {
        resource.steps.contains { if case .operation = $0 { true } else { false } }
    }

    private func path(_ path: ResourcePath) -> String { ODataURL(path: path).urlEncoded() }

    // MARK: Entities

    private func entities(_ path: ResourcePath, _ shape: TypeShape, _ set: EntitySet?) -> String {
        if let set {
            // Keys and filters do not change the type.
            let last = resource.steps.last { step in
                switch step {
                case .key, .alternateKey, .filter, .each: false
                default: true
                }
            }
            let cast: QualifiedName? = if case .cast(let shape)? = last { shape.name } else { nil }
            // An entity of a derived type states its type, even if the URL does not (10.6).
            guard let type = instance ?? cast, type != set.type else { return set.name }
            return "\(set.name)/\(type)"
        }
        if hasOperation { return "Collection(\(shape.name))" }
        // Contained entities are identified by their path.
        return self.path(path)
    }

    /// The canonical path: keys in parentheses and in declared order, without aliases or filters (10).
    private var canonicalPath: ResourcePath {
        var path = ResourcePath()
        for step in resource.steps {
            switch step {
            case .entitySet(let set, _): path.segments.append(.name(Identifier(set.name), .none))
            case .singleton(let singleton, _): path.segments.append(.name(Identifier(singleton.name), .none))
            case .navigation(let navigation, _, _): path.segments.append(.name(Identifier(navigation.name), .none))
            case .property(let property, _, _): path.segments.append(.name(Identifier(property.name), .none))
            case .cast(let shape): path.segments.append(.name(Identifier("\(shape.name)"), .none))
            case .operation(let operation, _): path.segments.append(.name(Identifier("\(operation.name)"), .none))
            case .key(let key), .alternateKey(let key, _, _):
                if case .name(let name, .none)? = path.segments.last {
                    path.segments[path.segments.count - 1] = .name(name, .key(KeyPredicate(key)))
                } else {
                    path.segments.append(.key(KeyPredicate(key)))
                }
            case .filter, .each: break
            }
        }
        return path
    }

    private var withoutLastKey: ResourcePath {
        var path = canonicalPath
        switch path.segments.last {
        case .key?: path.segments.removeLast()
        case .name(let name, .key)?: path.segments[path.segments.count - 1] = .name(name, .none)
        default: break
        }
        return path
    }

    // MARK: Selection

    /// The select list of rows that have no property in common.
    private static let anyStructure = "(@Core.AnyStructure)"

    private var selection: String {
        // Only properties that all rows have are listed (OData Data Aggregation 4.0, 3.1.1).
        let partial = bound.query.map { $0.apply.isEmpty ? [] : $0.apply.partialNames } ?? []
        if let query = bound.query, !query.apply.isEmpty, url.options.select.isEmpty, url.options.expand.isEmpty {
            let names =
                Self.grouped(query.resultShape.properties.map(\.name).filter { !partial.contains($0) }, of: query.shape)
                + query.resultShape.navigationProperties.filter { !partial.contains($0.name) }.map { "\($0.name)()" }
            if query.resultShape == query.shape { return "" }
            guard !names.isEmpty else { return partial.isEmpty ? "" : Self.anyStructure }
            return "(\(names.joined(separator: ",")))"
        }
        let items = items(url.options, bound.query?.expand ?? []).filter { !partial.contains($0) }
        if items.isEmpty, !partial.isEmpty { return Self.anyStructure }
        return items.isEmpty ? "" : "(\(items.joined(separator: ",")))"
    }

    /// Groups paths through a related entity in parentheses after its name, like the properties of an expanded
    /// entity (OData Data Aggregation 4.0, 3.2.3).
    private static func grouped(_ names: [String], of shape: TypeShape) -> [String] {
        var result: [String] = []
        var done: Set<Substring> = []
        for name in names {
            let first = name.prefix { $0 != "/" }
            guard first.count < name.count, let navigation = shape.navigationProperty(String(first)) else {
                result.append(name)
                continue
            }
            guard done.insert(first).inserted else { continue }
            let inner = names.filter { $0.hasPrefix("\(first)/") }.map { String($0.dropFirst(first.count + 1)) }
            result.append("\(navigation.name)(\(inner.joined(separator: ",")))")
        }
        return result
    }

    private func items(_ options: QueryOptions, _ expands: [BoundExpand]) -> [String] {
        var items: [String] = []
        // A selected stream stays in the list even if its bytes are expanded too.
        let related = Set(expands.map(\.navigation.name))
        let expanded = Set(
            options.expand.filter { related.contains(Self.property($0.path)) }.map { Self.text($0.path) })
        for item in options.select {
            switch item.kind {
            case .all: items.append("*")
            case .operations(let namespace): items.append("\(namespace).*")
            case .operation(let path, _): items.append(Self.text(path))
            case .path(let path):
                let name = Self.text(path)
                // The entry of the expanded item covers the selected property.
                if expanded.contains(name) { continue }
                // Properties selected within a complex value are listed as paths, as in 4.0 (10.7).
                let nested = self.items(item.options, [])
                items += nested.isEmpty ? [name] : nested.map { "\(name)/\($0)" }
            }
        }
        // Without a selection, the response has all declared properties and the computed ones.
        if options.select.isEmpty, !options.compute.isEmpty { items = ["*"] + options.compute.map(\.name.text) }
        for expand in expands where expand.form == .entities {
            let stated = options.expand.first { item in
                Self.property(item.path) == expand.navigation.name || item.path.last?.text == "*"
            }
            let nested = self.items(stated?.options ?? QueryOptions(), expand.query.expand)
            // Version 4.01 lists every expanded property, version 4.0 only those with a selection of their own.
            guard version >= .v401 || !nested.isEmpty else { continue }
            let isStar = stated?.path.last?.text == "*"
            let name = isStar ? expand.navigation.name : stated.map { Self.text($0.path) } ?? expand.navigation.name
            let recursion = stated?.options.levels == nil ? "" : "+"
            items.append("\(name)\(recursion)(\(nested.joined(separator: ",")))")
        }
        // A name that is selected twice is listed once.
        var seen: Set<ExactText> = []
        return items.filter { seen.insert(ExactText($0)).inserted }
    }

    /// Returns the name of the property at the end of a path, without a type cast.
    private static func property(_ path: [Identifier]) -> String {
        path.last { !$0.text.contains(".") }?.text ?? ""
    }

    private static func text(_ path: [Identifier]) -> String { path.map(\.text).joined(separator: "/") }
}
