private let capabilities = Vocabulary.capabilities

extension ODataSchema {
    /// The version of the schema within the version of the service, which grows with each addition:
    /// `sap:schema-version`, `Core.SchemaVersion`.
    public var schemaVersion: String? { string(Vocabulary.schemaVersion) }
}

extension EntityContainer {
    /// The media types of responses: `sap:supported-formats`, `Capabilities.SupportedFormats`; empty if none are
    /// stated.
    public var supportedFormats: [String] {
        guard case .collection(let items)? = annotation(capabilities + "SupportedFormats")?.value else { return [] }
        return items.compactMap(\.string)
    }

    /// Whether every request must be sent in a batch, so that no URL reveals its content: `sap:use-batch`.
    public var requiresBatch: Bool { flag("use-batch") ?? false }

    /// Whether the service understands the header field `sap-message-scope`: `sap:message-scope-supported`.
    public var supportsMessageScope: Bool { flag("message-scope-supported") ?? false }
}

extension NavigationProperty {
    /// Whether related entities can be created through the property: `sap:creatable`. The default is true.
    ///
    /// If only ``creatablePath`` is stated, the property at that path decides for each entity. If both attributes
    /// are stated, no entity can be created.
    public var isCreatable: Bool {
        guard let isCreatable = flag("creatable") else { return true }
        return isCreatable && creatablePath == nil
    }

    /// The path of the property that controls whether related entities can be created: `sap:creatable-path`.
    public var creatablePath: String? { sapAttribute("creatable-path") }

    /// Whether filters may follow the property: `sap:filterable`. The default is true.
    public var isFilterable: Bool { flag("filterable") ?? true }
}

extension AssociationSet {
    /// Whether links can be created: `sap:creatable`. The default is true.
    public var isCreatable: Bool { flag("creatable") ?? true }

    /// Whether links can be changed: `sap:updatable`. The default is true.
    public var isUpdatable: Bool { flag("updatable") ?? true }

    /// Whether links can be removed: `sap:deletable`. The default is true.
    public var isDeletable: Bool { flag("deletable") ?? true }
}

extension OperationImport {
    /// The entity type that the operation acts on: `sap:action-for`.
    public var actionFor: String? { sapAttribute("action-for") }

    /// The path of the property that controls whether the operation may be called: `sap:applicable-path`.
    public var applicablePath: String? { sapAttribute("applicable-path") }

    /// Whether the operation creates or changes plan data of other sets: `sap:planning-function`.
    public var isPlanningFunction: Bool { flag("planning-function") ?? false }
}

extension EntityDataModel {
    /// Returns whether filters over a set may use a property.
    ///
    /// The answer comes from `sap:filterable` of the property, or `Capabilities.FilterRestrictions` of the set,
    /// whose `NonFilterableProperties` list the property in V4.
    ///
    /// - Parameters:
    ///   - path: the path of the property from the set's type, such as `Address/City`.
    ///   - set: the name of the set.
    public func isFilterable(_ path: String, in set: String) -> Bool {
        guard let found = entitySet(set) else { return true }
        if found.restriction(capabilities + "FilterRestrictions", "Filterable") == false { return false }
        if found.names(path, capabilities + "FilterRestrictions", list: "NonFilterableProperties") { return false }
        return property(path, of: found.type)?.isFilterable ?? true
    }

    /// Returns whether entities of a set may be ordered by a property.
    ///
    /// The answer comes from `sap:sortable` of the property, or `Capabilities.SortRestrictions` of the set, whose
    /// `NonSortableProperties` list the property in V4.
    public func isSortable(_ path: String, in set: String) -> Bool {
        guard let found = entitySet(set) else { return true }
        if found.restriction(capabilities + "SortRestrictions", "Sortable") == false { return false }
        if found.names(path, capabilities + "SortRestrictions", list: "NonSortableProperties") { return false }
        return property(path, of: found.type)?.isSortable ?? true
    }

    /// Returns whether each filter over a set must use a property.
    ///
    /// The answer comes from `sap:required-in-filter` of the property, or `Capabilities.FilterRestrictions` of the
    /// set, whose `RequiredProperties` list the property in V4.
    public func isRequiredInFilter(_ path: String, in set: String) -> Bool {
        guard let found = entitySet(set) else { return false }
        return found.names(path, capabilities + "FilterRestrictions", list: "RequiredProperties")
            || property(path, of: found.type)?.isRequiredInFilter ?? false
    }

    /// Returns the target sets of the navigation properties of a set or singleton, by property name.
    ///
    /// A property is omitted if its target set cannot be determined.
    public func targetSets(of source: String) -> [String: String] {
        guard let type = entitySet(source)?.type ?? singleton(source)?.type, let shape = shape(type) else { return [:] }
        let name = entitySet(source)?.name ?? source
        var result: [String: String] = [:]
        for property in shape.navigationProperties {
            result[property.name] = targetSet(of: name, path: property.name, target: property.target)?.name
        }
        return result
    }
}

extension EntitySet {
    /// Returns whether a list of paths in a restriction contains a path.
    fileprivate func names(_ path: String, _ term: String, list: String) -> Bool {
        guard case .collection(let items)? = annotation(term)?.value?.recordProperty(list) else { return false }
        return items.contains { item in
            guard case .path(_, let text) = item else { return item.string == path }
            return text == path
        }
    }
}
