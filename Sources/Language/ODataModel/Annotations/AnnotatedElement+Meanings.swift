private let common = Vocabulary.common
private let core = Vocabulary.core
private let capabilities = Vocabulary.capabilities
private let analytics = Vocabulary.analytics
private let measures = Vocabulary.measures

extension AnnotatedElement {
    /// What the element is called in a user interface: `sap:label`, `Common.Label`.
    public var label: String? { string(common + "Label") }

    /// A short explanation, as for a tool tip: `sap:quickinfo`, `Common.QuickInfo`.
    public var quickInfo: String? { string(common + "QuickInfo") }

    /// The heading of a column: `sap:heading`, `Common.Heading`.
    public var heading: String? { string(common + "Heading") }

    /// What the element is, in a sentence: `Core.Description`, `Documentation` in V2 and V3.
    public var summary: String? { string(core + "Description") }

    /// What the element is, at length: `Core.LongDescription`, `Documentation` in V2 and V3.
    public var longDescription: String? { string(core + "LongDescription") }

    /// What the values stand for, such as `tel`, `email` or `currency-code`: `sap:semantics` as it stands.
    public var semantics: String? { sapAttribute("semantics") }

    /// Which version of the content the element has: `sap:content-version`.
    public var contentVersion: String? { sapAttribute("content-version") }

    /// What it is in a hierarchy, by name, such as (`node`, `CostCenter`) for `sap:hierarchy-node-for`.
    public var hierarchyRoles: [(role: String, target: String)] {
        rawAttributes.compactMap { attribute in
            guard attribute.name.hasPrefix("hierarchy-"), attribute.name.hasSuffix("-for") else { return nil }
            return (String(attribute.name.dropFirst(10).dropLast(4)), attribute.value)
        }
    }

    /// The regular expression of JavaScript that values match: `sap:validation-regexp`, `Validation.Pattern`.
    public var validationPattern: String? { string(Vocabulary.pattern) }

    /// An attribute of SAP's that is true or false.
    func flag(_ name: String) -> Bool? { sapAttribute(name).map(SAPAttributes.isTrue) }
}

/// Which part a property has in an analysis.
public enum AggregationRole: String, Hashable, Sendable {
    /// Values are grouped by it.
    case dimension
    /// Values of it are aggregated.
    case measure
    /// The values of all measures are rolled up along it.
    case totaledPropertiesList = "totaled-properties-list"
}

extension Property {
    /// Whether a new entity may state a value: `sap:creatable`, `Core.Computed`. The default is true.
    public var isCreatable: Bool { flag("creatable") ?? (tag(core + "Computed") != true) }

    /// Whether the value may be changed: `sap:updatable`, `Core.Immutable`, `Core.Computed`. The default is true.
    public var isUpdatable: Bool {
        flag("updatable") ?? (tag(core + "Immutable") != true && tag(core + "Computed") != true)
    }

    /// Whether the service makes the value: `sap:server-generated`, `Core.Computed`.
    public var isServerGenerated: Bool { flag("server-generated") ?? (tag(core + "Computed") == true) }

    /// Whether filters may name it: `sap:filterable`. The default is true.
    public var isFilterable: Bool { flag("filterable") ?? true }

    /// Whether entities may be ordered by it: `sap:sortable`. The default is true.
    public var isSortable: Bool { flag("sortable") ?? true }

    /// Whether a search looks into it: `sap:searchable`, `gp:use-in-search`. The default is false.
    public var isSearchable: Bool { flag("searchable") ?? flag("use-in-search") ?? false }

    /// Whether each filter must name it: `sap:required-in-filter`.
    public var isRequiredInFilter: Bool { flag("required-in-filter") ?? false }

    /// How much a filter may say of it, such as `single-value` or `interval`: `sap:filter-restriction`.
    public var filterRestriction: String? { sapAttribute("filter-restriction") }

    /// Whether it is shown at all: `sap:visible`, `UI.Hidden`. The default is true.
    public var isVisible: Bool { flag("visible") ?? (tag(Vocabulary.hidden) != true) }

    /// Whether lists show it: `sap:visible-in-list`; `nil` where nothing is said.
    public var isVisibleInList: Bool? { flag("visible-in-list") }

    /// Whether pages of one entity show it: `sap:visible-in-detail`; `nil` where nothing is said.
    public var isVisibleInDetail: Bool? { flag("visible-in-detail") }

    /// Its place in lists: `sap:list-display-order`, `sap:display-order`.
    public var listDisplayOrder: Int? {
        (sapAttribute("list-display-order") ?? sapAttribute("display-order")).flatMap { Int($0) }
    }

    /// Its place on pages of one entity: `sap:detail-display-order`, `sap:display-order`.
    public var detailDisplayOrder: Int? {
        (sapAttribute("detail-display-order") ?? sapAttribute("display-order")).flatMap { Int($0) }
    }

    /// How values are shown, such as `Date` or `UpperCase`: `sap:display-format`.
    public var displayFormat: String? { sapAttribute("display-format") }

    /// The path of the property with the unit or currency: `sap:unit`, `Measures.Unit`, `Measures.ISOCurrency`.
    public var unitPath: String? {
        sapAttribute("unit") ?? path(measures + "Unit") ?? path(measures + "ISOCurrency")
    }

    /// The path of the property with a text for the value: `sap:text`, `Common.Text`.
    public var textPath: String? { path(common + "Text") }

    /// The path of the property that tells whether this one can be edited: `sap:field-control`,
    /// `Common.FieldControl`.
    public var fieldControlPath: String? { path(common + "FieldControl") }

    /// Which values there are to choose from, `standard` or `fixed-values`: `sap:value-list`.
    public var valueList: String? { sapAttribute("value-list") }

    /// Which part it has in an analysis: `sap:aggregation-role`, `Analytics.Dimension`, `Analytics.Measure`.
    public var aggregationRole: AggregationRole? {
        if let role = sapAttribute("aggregation-role").flatMap(AggregationRole.init) { return role }
        if tag(analytics + "Dimension") == true { return .dimension }
        return tag(analytics + "Measure") == true ? .measure : nil
    }

    /// The path of the property that this one is an attribute of: `sap:attribute-for`.
    public var attributeFor: String? { sapAttribute("attribute-for") }

    /// The path of the property that this one is part of the compound value of: `sap:super-ordinate`.
    public var superOrdinate: String? { sapAttribute("super-ordinate") }

    /// The paths of the properties that bound the interval this one begins or ends: `sap:lower-boundary` and
    /// `sap:upper-boundary`.
    public var intervalBoundaries: (lower: String?, upper: String?) {
        (sapAttribute("lower-boundary"), sapAttribute("upper-boundary"))
    }

    /// The path of the property with the number of decimal places to show: `sap:precision`, `Measures.Scale`.
    public var scalePath: String? { path(measures + "Scale") }

    /// The path of the property that tells whether this one can be changed: `sap:updatable-path`.
    public var updatablePath: String? { sapAttribute("updatable-path") }

    /// What it is as a parameter of its entity type, `mandatory` or `optional`: `sap:parameter`.
    public var parameterKind: String? { sapAttribute("parameter") }

    /// The property whose value this one, a flag, keeps from side effects: `sap:preserve-flag-for`.
    public var preserveFlagFor: String? { sapAttribute("preserve-flag-for") }

    /// The entity type that the value, a filter, is for: `sap:filter-for`.
    public var filterFor: String? { sapAttribute("filter-for") }

    /// The property that this one is a further text for: `sap:text-for`, `Common.TextFor`.
    public var textFor: String? { path(common + "TextFor") }

    /// Whether decimal values have floating points, which V2 has no facet for: `sap:variable-scale`.
    public var hasVariableScale: Bool { flag("variable-scale") ?? (facets.scale == .variable) }

    /// Whether it holds an annotation on the entity rather than part of it: `sap:is-annotation`.
    public var isAnnotation: Bool { flag("is-annotation") ?? (tag(common + "IsAnnotation") == true) }

    /// Whether a customer of the service added it: `sap:is-extension-field`, `Common.IsExtensionField`.
    public var isExtensionField: Bool { flag("is-extension-field") ?? (tag(common + "IsExtensionField") == true) }

    /// The default value, as a value of the property's type.
    ///
    /// - Returns: `nil` where none is stated, or the type is not primitive.
    /// - Throws: ``LexicalError`` where the text stated is no value of the type.
    public func parsedDefaultValue() throws(LexicalError) -> ODataValue? {
        guard let defaultValue, let primitive = type.primitive else { return nil }
        return defaultValue == "null" ? .null : try ODataValue(lexical: defaultValue, type: primitive)
    }
}

extension AnnotatedElement {
    fileprivate func insertable() -> Bool {
        flag("creatable") ?? restriction(capabilities + "InsertRestrictions", "Insertable") ?? true
    }
}

extension EntitySet {
    /// Whether entities can be created: `sap:creatable`, `Capabilities.InsertRestrictions`. The default is true.
    public var isCreatable: Bool { insertable() }

    /// Whether entities can be changed: `sap:updatable`, `Capabilities.UpdateRestrictions`. The default is true.
    ///
    /// Where ``updatablePath`` is stated, each entity tells; where both attributes are, the service is broken and
    /// nothing can be changed (SAP Annotations for OData Version 2.0, *Combined meaning*).
    public var isUpdatable: Bool {
        if flag("updatable") != nil, sapAttribute("updatable-path") != nil { return false }
        return flag("updatable") ?? restriction(capabilities + "UpdateRestrictions", "Updatable") ?? true
    }

    /// Whether entities can be deleted: `sap:deletable`, `Capabilities.DeleteRestrictions`. The default is true.
    ///
    /// Where ``deletablePath`` is stated, each entity tells; where both attributes are, nothing can be deleted.
    public var isDeletable: Bool {
        if flag("deletable") != nil, sapAttribute("deletable-path") != nil { return false }
        return flag("deletable") ?? restriction(capabilities + "DeleteRestrictions", "Deletable") ?? true
    }

    /// The path of the property that tells whether an entity can be changed: `sap:updatable-path`,
    /// `Capabilities.UpdateRestrictions`.
    public var updatablePath: String? { restrictionPath(capabilities + "UpdateRestrictions", "Updatable") }

    /// The path of the property that tells whether an entity can be deleted: `sap:deletable-path`,
    /// `Capabilities.DeleteRestrictions`.
    public var deletablePath: String? { restrictionPath(capabilities + "DeleteRestrictions", "Deletable") }

    /// The greatest number of entities in one answer: `sap:maxpagesize`.
    ///
    /// - Returns: `nil` if none is stated, or one below 1.
    public var maxPageSize: Int? { sapAttribute("maxpagesize").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } }

    /// How long a delta link holds, in seconds: `sap:delta-link-validity`.
    public var deltaLinkValidity: Int? { sapAttribute("delta-link-validity").flatMap { Int($0) } }

    /// Whether `$search`, or `search` in V2, is supported: `sap:searchable`, whose default is false;
    /// `Capabilities.SearchRestrictions`, whose default is true.
    public var isSearchable: Bool {
        if let flag = flag("searchable") { return flag }
        guard let annotation = annotation(capabilities + "SearchRestrictions") else { return false }
        return annotation.value?.recordProperty("Searchable")?.boolean ?? true
    }

    /// Whether `$top` is supported: `sap:topable`, `sap:pageable`, `Capabilities.TopSupported`. The default is true.
    public var isTopable: Bool { flag("topable") ?? flag("pageable") ?? tag(capabilities + "TopSupported") ?? true }

    /// Whether `$top` and `$skip` are supported: `sap:pageable`, `Capabilities.SkipSupported`. The default is true.
    public var isPageable: Bool { flag("pageable") ?? tag(capabilities + "SkipSupported") ?? true }

    /// Whether the number of entities can be asked for: `sap:countable`, `Capabilities.CountRestrictions`. The
    /// default is true.
    public var isCountable: Bool {
        flag("countable") ?? restriction(capabilities + "CountRestrictions", "Countable") ?? true
    }

    /// Whether the set can be read by itself, not by navigation alone: `sap:addressable`. The default is true.
    public var isAddressable: Bool {
        flag("addressable") ?? restriction(capabilities + "ReadRestrictions", "Readable") ?? true
    }

    /// Whether it can be read with a filter alone: `sap:requires-filter`, `Capabilities.FilterRestrictions`.
    public var requiresFilter: Bool {
        flag("requires-filter") ?? restriction(capabilities + "FilterRestrictions", "RequiresFilter") ?? false
    }

    /// Whether changes can be asked for: `sap:change-tracking`, `Capabilities.ChangeTracking`.
    public var supportsChangeTracking: Bool {
        flag("change-tracking") ?? restriction(capabilities + "ChangeTracking", "Supported") ?? false
    }
}
