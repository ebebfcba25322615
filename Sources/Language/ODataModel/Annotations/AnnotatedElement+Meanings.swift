private let common = Vocabulary.common
private let core = Vocabulary.core
private let capabilities = Vocabulary.capabilities
private let analytics = Vocabulary.analytics
private let measures = Vocabulary.measures

extension AnnotatedElement {
    /// The name of the element in a user interface: `sap:label`, `Common.Label`.
    public var label: String? { string(common + "Label") }

    /// A short explanation, as for a tool tip: `sap:quickinfo`, `Common.QuickInfo`.
    public var quickInfo: String? { string(common + "QuickInfo") }

    /// The heading of a column: `sap:heading`, `Common.Heading`.
    public var heading: String? { string(common + "Heading") }

    /// A description of the element in one sentence: `Core.Description`, `Documentation` in V2 and V3.
    public var summary: String? { string(core + "Description") }

    /// A long description of the element: `Core.LongDescription`, `Documentation` in V2 and V3.
    public var longDescription: String? { string(core + "LongDescription") }

    /// The meaning of the values, such as `tel`, `email` or `currency-code`: the unchanged text of `sap:semantics`.
    public var semantics: String? { sapAttribute("semantics") }

    /// The version of the element's content: `sap:content-version`.
    public var contentVersion: String? { sapAttribute("content-version") }

    /// The roles of the element in hierarchies, such as (`node`, `CostCenter`) for `sap:hierarchy-node-for`.
    public var hierarchyRoles: [(role: String, target: String)] {
        rawAttributes.compactMap { attribute in
            guard attribute.name.hasPrefix("hierarchy-"), attribute.name.hasSuffix("-for") else { return nil }
            return (String(attribute.name.dropFirst(10).dropLast(4)), attribute.value)
        }
    }

    /// The JavaScript regular expression that values match: `sap:validation-regexp`, `Validation.Pattern`.
    public var validationPattern: String? { string(Vocabulary.pattern) }

    /// Returns the value of a boolean SAP attribute.
    func flag(_ name: String) -> Bool? { sapAttribute(name).map(SAPAttributes.isTrue) }
}

/// The role of a property in an analysis.
public enum AggregationRole: String, Hashable, Sendable {
    /// Values are grouped by the property.
    case dimension
    /// Values of the property are aggregated.
    case measure
    /// The values of all measures are rolled up along the property.
    case totaledPropertiesList = "totaled-properties-list"
}

extension Property {
    /// Whether a new entity may contain a value: `sap:creatable`, `Core.Computed`. The default is true.
    public var isCreatable: Bool { flag("creatable") ?? (tag(core + "Computed") != true) }

    /// Whether the value may be changed: `sap:updatable`, `Core.Immutable`, `Core.Computed`. The default is true.
    public var isUpdatable: Bool {
        flag("updatable") ?? (tag(core + "Immutable") != true && tag(core + "Computed") != true)
    }

    /// Whether the service computes the value: `sap:server-generated`, `Core.Computed`.
    public var isServerGenerated: Bool { flag("server-generated") ?? (tag(core + "Computed") == true) }

    /// Whether filters may use the property: `sap:filterable`. The default is true.
    public var isFilterable: Bool { flag("filterable") ?? true }

    /// Whether entities may be ordered by the property: `sap:sortable`. The default is true.
    public var isSortable: Bool { flag("sortable") ?? true }

    /// Whether a search includes the property: `sap:searchable`, `gp:use-in-search`. The default is false.
    public var isSearchable: Bool { flag("searchable") ?? flag("use-in-search") ?? false }

    /// Whether each filter must use the property: `sap:required-in-filter`.
    public var isRequiredInFilter: Bool { flag("required-in-filter") ?? false }

    /// The kind of comparison that filters may use, such as `single-value` or `interval`: `sap:filter-restriction`.
    public var filterRestriction: String? { sapAttribute("filter-restriction") }

    /// Whether the property is visible: `sap:visible`, `UI.Hidden`. The default is true.
    public var isVisible: Bool { flag("visible") ?? (tag(Vocabulary.hidden) != true) }

    /// Whether lists show the property: `sap:visible-in-list`; `nil` if the attribute is absent.
    public var isVisibleInList: Bool? { flag("visible-in-list") }

    /// Whether pages of one entity show the property: `sap:visible-in-detail`; `nil` if the attribute is absent.
    public var isVisibleInDetail: Bool? { flag("visible-in-detail") }

    /// The position in lists: `sap:list-display-order`, `sap:display-order`.
    public var listDisplayOrder: Int? {
        (sapAttribute("list-display-order") ?? sapAttribute("display-order")).flatMap { Int($0) }
    }

    /// The position on pages of one entity: `sap:detail-display-order`, `sap:display-order`.
    public var detailDisplayOrder: Int? {
        (sapAttribute("detail-display-order") ?? sapAttribute("display-order")).flatMap { Int($0) }
    }

    /// The display format of values, such as `Date` or `UpperCase`: `sap:display-format`.
    public var displayFormat: String? { sapAttribute("display-format") }

    /// The path of the property that contains the unit or currency: `sap:unit`, `Measures.Unit`,
    /// `Measures.ISOCurrency`.
    public var unitPath: String? {
        sapAttribute("unit") ?? path(measures + "Unit") ?? path(measures + "ISOCurrency")
    }

    /// The path of the property that contains a text for the value: `sap:text`, `Common.Text`.
    public var textPath: String? { path(common + "Text") }

    /// The path of the property that controls whether this property can be edited: `sap:field-control`,
    /// `Common.FieldControl`.
    public var fieldControlPath: String? { path(common + "FieldControl") }

    /// The kind of value list, `standard` or `fixed-values`: `sap:value-list`.
    public var valueList: String? { sapAttribute("value-list") }

    /// The role in an analysis: `sap:aggregation-role`, `Analytics.Dimension`, `Analytics.Measure`.
    public var aggregationRole: AggregationRole? {
        if let role = sapAttribute("aggregation-role").flatMap(AggregationRole.init) { return role }
        if tag(analytics + "Dimension") == true { return .dimension }
        return tag(analytics + "Measure") == true ? .measure : nil
    }

    /// The path of the property that this property is an attribute of: `sap:attribute-for`.
    public var attributeFor: String? { sapAttribute("attribute-for") }

    /// The path of the property whose compound value contains this property: `sap:super-ordinate`.
    public var superOrdinate: String? { sapAttribute("super-ordinate") }

    /// The paths of the properties that bound an interval together with this property: `sap:lower-boundary` and
    /// `sap:upper-boundary`.
    public var intervalBoundaries: (lower: String?, upper: String?) {
        (sapAttribute("lower-boundary"), sapAttribute("upper-boundary"))
    }

    /// The path of the property that contains the number of decimal places to show: `sap:precision`,
    /// `Measures.Scale`.
    public var scalePath: String? { path(measures + "Scale") }

    /// The path of the property that controls whether this property can be changed: `sap:updatable-path`.
    public var updatablePath: String? { sapAttribute("updatable-path") }

    /// The kind of parameter of the entity type, `mandatory` or `optional`: `sap:parameter`.
    public var parameterKind: String? { sapAttribute("parameter") }

    /// The property that this flag protects from side effects: `sap:preserve-flag-for`.
    public var preserveFlagFor: String? { sapAttribute("preserve-flag-for") }

    /// The entity type that this filter value applies to: `sap:filter-for`.
    public var filterFor: String? { sapAttribute("filter-for") }

    /// The property that this property is another text for: `sap:text-for`, `Common.TextFor`.
    public var textFor: String? { path(common + "TextFor") }

    /// Whether decimal values have floating points, for which V2 has no facet: `sap:variable-scale`.
    public var hasVariableScale: Bool { flag("variable-scale") ?? (facets.scale == .variable) }

    /// Whether the property contains an annotation on the entity instead of data: `sap:is-annotation`.
    public var isAnnotation: Bool { flag("is-annotation") ?? (tag(common + "IsAnnotation") == true) }

    /// Whether a customer added the property to the service: `sap:is-extension-field`, `Common.IsExtensionField`.
    public var isExtensionField: Bool { flag("is-extension-field") ?? (tag(common + "IsExtensionField") == true) }

    /// Returns the default value, parsed as a value of the property's type.
    ///
    /// - Returns: `nil` if no default value is stated, or the type is not primitive.
    /// - Throws: ``LexicalError`` if the text is not a value of the type.
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
    /// If only ``updatablePath`` is stated, the property at that path decides for each entity. If both attributes
    /// are stated, the metadata is invalid and nothing can be changed (SAP Annotations for OData Version 2.0,
    /// *Combined meaning*).
    public var isUpdatable: Bool {
        if flag("updatable") != nil, sapAttribute("updatable-path") != nil { return false }
        return flag("updatable") ?? restriction(capabilities + "UpdateRestrictions", "Updatable") ?? true
    }

    /// Whether entities can be deleted: `sap:deletable`, `Capabilities.DeleteRestrictions`. The default is true.
    ///
    /// If only ``deletablePath`` is stated, the property at that path decides for each entity. If both attributes
    /// are stated, nothing can be deleted.
    public var isDeletable: Bool {
        if flag("deletable") != nil, sapAttribute("deletable-path") != nil { return false }
        return flag("deletable") ?? restriction(capabilities + "DeleteRestrictions", "Deletable") ?? true
    }

    /// The path of the property that controls whether an entity can be changed: `sap:updatable-path`,
    /// `Capabilities.UpdateRestrictions`.
    public var updatablePath: String? { restrictionPath(capabilities + "UpdateRestrictions", "Updatable") }

    /// The path of the property that controls whether an entity can be deleted: `sap:deletable-path`,
    /// `Capabilities.DeleteRestrictions`.
    public var deletablePath: String? { restrictionPath(capabilities + "DeleteRestrictions", "Deletable") }

    /// The maximum number of entities in one response, at least 1: `sap:maxpagesize`.
    ///
    /// `nil` if the attribute is absent or invalid.
    public var maxPageSize: Int? { sapAttribute("maxpagesize").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } }

    /// The validity of a delta link in seconds: `sap:delta-link-validity`.
    public var deltaLinkValidity: Int? { sapAttribute("delta-link-validity").flatMap { Int($0) } }

    /// Whether `$search`, or `search` in V2, is supported: `sap:searchable`, whose default is false, or
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

    /// Whether `$count` is supported: `sap:countable`, `Capabilities.CountRestrictions`. The default is true.
    public var isCountable: Bool {
        flag("countable") ?? restriction(capabilities + "CountRestrictions", "Countable") ?? true
    }

    /// Whether the set can be read directly, not only by navigation: `sap:addressable`. The default is true.
    public var isAddressable: Bool {
        flag("addressable") ?? restriction(capabilities + "ReadRestrictions", "Readable") ?? true
    }

    /// Whether each request must have a filter: `sap:requires-filter`, `Capabilities.FilterRestrictions`.
    public var requiresFilter: Bool {
        flag("requires-filter") ?? restriction(capabilities + "FilterRestrictions", "RequiresFilter") ?? false
    }

    /// Whether the service tracks changes of the set: `sap:change-tracking`, `Capabilities.ChangeTracking`.
    public var supportsChangeTracking: Bool {
        flag("change-tracking") ?? restriction(capabilities + "ChangeTracking", "Supported") ?? false
    }
}
