private let capabilities = Vocabulary.capabilities

extension ODataSchema {
    /// The version of the schema within that of the service, which grows with each addition: `sap:schema-version`,
    /// `Core.SchemaVersion`.
    public var schemaVersion: String? { string(Vocabulary.schemaVersion) }
}

extension EntityContainer {
    /// The media types that the service answers in: `sap:supported-formats`, `Capabilities.SupportedFormats`; empty where
    /// nothing is said.
    public var supportedFormats: [String] {
        guard case .collection(let items)? = annotation(capabilities + "SupportedFormats")?.value else { return [] }
        return items.compactMap(\.string)
    }

    /// Whether every request is to be sent in a batch, so that no address shows what is asked for: `sap:use-batch`.
    public var requiresBatch: Bool { flag("use-batch") ?? false }

    /// Whether the service understands the header field `sap-message-scope`: `sap:message-scope-supported`.
    public var supportsMessageScope: Bool { flag("message-scope-supported") ?? false }
}

extension NavigationProperty {
    /// Whether related entities can be created through it: `sap:creatable`. The default is true.
    ///
    /// Where ``creatablePath`` is stated, each entity tells; where both attributes are, none can be created.
    public var isCreatable: Bool {
        guard let isCreatable = flag("creatable") else { return true }
        return isCreatable && creatablePath == nil
    }

    /// The path of the property that tells whether related entities can be created: `sap:creatable-path`.
    public var creatablePath: String? { sapAttribute("creatable-path") }

    /// Whether filters may go through it: `sap:filterable`. The default is true.
    public var isFilterable: Bool { flag("filterable") ?? true }
}

extension AssociationSet {
    /// Whether links can be made: `sap:creatable`. The default is true.
    public var isCreatable: Bool { flag("creatable") ?? true }

    /// Whether links can be changed: `sap:updatable`. The default is true.
    public var isUpdatable: Bool { flag("updatable") ?? true }

    /// Whether links can be removed: `sap:deletable`. The default is true.
    public var isDeletable: Bool { flag("deletable") ?? true }
}

extension OperationImport {
    /// The entity type whose entities it acts on: `sap:action-for`.
    public var actionFor: String? { sapAttribute("action-for") }

    /// The path of the property that tells whether it may be called: `sap:applicable-path`.
    public var applicablePath: String? { sapAttribute("applicable-path") }

    /// Whether it makes or changes plan data of other sets: `sap:planning-function`.
    public var isPlanningFunction: Bool { flag("planning-function") ?? false }
}

extension EntityDataModel {
    /// Whether filters over a set may name a property: `sap:filterable` of it, or `Capabilities.FilterRestrictions` of the
    /// set, whose `NonFilterableProperties` name it in V4.
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

    /// Whether entities of a set may be ordered by a property: `sap:sortable` of it, or `Capabilities.SortRestrictions` of
    /// the set, whose `NonSortableProperties` name it in V4.
    public func isSortable(_ path: String, in set: String) -> Bool {
        guard let found = entitySet(set) else { return true }
        if found.restriction(capabilities + "SortRestrictions", "Sortable") == false { return false }
        if found.names(path, capabilities + "SortRestrictions", list: "NonSortableProperties") { return false }
        return property(path, of: found.type)?.isSortable ?? true
    }

    /// Whether each filter over a set must name a property: `sap:required-in-filter` of it, or
    /// `Capabilities.FilterRestrictions` of the set, whose `RequiredProperties` name it in V4.
    public func isRequiredInFilter(_ path: String, in set: String) -> Bool {
        guard let found = entitySet(set) else { return false }
        return found.names(path, capabilities + "FilterRestrictions", list: "RequiredProperties")
            || property(path, of: found.type)?.isRequiredInFilter ?? false
    }

    /// Where the navigation properties of a set or singleton lead: the names of sets by those of the properties. A
    /// property whose set cannot be told is not there.
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
    /// Whether a list of paths in a restriction has a path.
    fileprivate func names(_ path: String, _ term: String, list: String) -> Bool {
        guard case .collection(let items)? = annotation(term)?.value?.recordProperty(list) else { return false }
        return items.contains { item in
            guard case .path(_, let text) = item else { return item.string == path }
            return text == path
        }
    }
}
