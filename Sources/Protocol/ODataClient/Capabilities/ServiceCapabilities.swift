import ODataModel
import ODataQuery

/// The capabilities that a service states in its metadata: the Capabilities vocabulary of V4, or the `sap:`
/// attributes of V2.
///
/// A feature that the metadata does not mention counts as supported.
///
/// ```swift
/// let capabilities = try await client.capabilities
/// if capabilities.set("Orders").isInsertable { show("New") }
/// ```
public struct ServiceCapabilities: Sendable {
    let model: EntityDataModel

    /// Creates the capabilities that a model states.
    public init(_ model: EntityDataModel) { self.model = model }

    /// The highest version up to 4.01 that the service supports: the version of its metadata, or one that
    /// `Core.ODataVersions` lists (OData Protocol 4.01, 13.3).
    public var version: ODataVersion {
        guard model.version == .v4 else { return model.version }
        let listed = ([model.container.annotations] + model.schemas.map(\.annotations))
            .compactMap { $0.annotation(Vocabulary.oDataVersions)?.value }
        return listed.contains { $0.texts.contains("4.01") } ? .v401 : .v4
    }

    /// The conformance level that the service claims: `Minimal`, `Intermediate` or `Advanced`.
    public var conformanceLevel: String? {
        guard case .constant(_, let text)? = container("ConformanceLevel") else { return nil }
        return String(text.split(separator: "/").last ?? Substring(text))
    }

    /// Whether several requests can be combined into a batch (`BatchSupported`, `BatchSupport/Supported`).
    public var supportsBatch: Bool {
        container("BatchSupport")?.recordProperty("Supported")?.boolean ?? flag("BatchSupported") ?? true
    }

    /// Whether a batch continues after a refused request if the client prefers it.
    public var supportsContinueOnError: Bool {
        container("BatchSupport")?.recordProperty("ContinueOnErrorSupported")?.boolean
            ?? flag("BatchContinueOnErrorSupported") ?? true
    }

    /// Whether a response can be delivered later (`AsynchronousRequestsSupported`).
    public var supportsAsynchronousRequests: Bool { flag("AsynchronousRequestsSupported") ?? true }

    /// Whether keys can be path segments (`KeyAsSegmentSupported`).
    public var supportsKeyAsSegment: Bool { flag("KeyAsSegmentSupported") ?? false }

    /// The media types that the service supports (`SupportedFormats`); empty if the metadata does not list
    /// them.
    public var formats: [String] { strings(container("SupportedFormats")) }

    /// The functions that filters may call (`FilterFunctions`); `nil` if the metadata does not list them.
    public var filterFunctions: Set<String>? {
        container("FilterFunctions").map { Set(strings($0).map { String($0.prefix { $0 != "(" }).lowercased() }) }
    }

    /// Whether the service recognizes a repeated request (`Org.OData.Repeatability.V1.Supported`).
    public var supportsRepeatableRequests: Bool {
        let annotation = model.container.annotation(Vocabulary.supportsRepeatability)
        return annotation.map { $0.value?.boolean ?? true } ?? false
    }

    /// Returns the capabilities of an entity set. A set that the model does not contain has no restrictions.
    public func set(_ name: String) -> SetCapabilities { SetCapabilities(model.entitySet(name), in: self) }

    private func container(_ term: String) -> AnnotationExpression? {
        model.container.annotation(Vocabulary.capabilities + term)?.value
    }

    private func flag(_ term: String) -> Bool? {
        guard let annotation = model.container.annotation(Vocabulary.capabilities + term) else { return nil }
        return annotation.value?.boolean ?? (annotation.value == nil ? true : nil)
    }

    func strings(_ expression: AnnotationExpression?) -> [String] { expression?.texts ?? [] }
}

/// The capabilities that a service states for an entity set.
///
/// ```swift
/// let orders = try await client.capabilities.set("Orders")
/// show(orders.isInsertable, orders.isUpdatable, orders.isDeletable)
/// ```
public struct SetCapabilities: Sendable {
    let entitySet: EntitySet?
    let service: ServiceCapabilities

    init(_ entitySet: EntitySet?, in service: ServiceCapabilities) {
        self.entitySet = entitySet
        self.service = service
    }

    // MARK: Changes

    /// Whether entities can be created.
    public var isInsertable: Bool { entitySet?.isCreatable ?? true }
    /// Whether entities can be updated.
    public var isUpdatable: Bool { entitySet?.isUpdatable ?? true }
    /// Whether entities can be deleted.
    public var isDeletable: Bool { entitySet?.isDeletable ?? true }
    /// Whether an update creates an entity that does not exist (`UpdateRestrictions/Upsertable`); `nil` if the
    /// metadata does not say so.
    public var isUpsertable: Bool? { restriction("UpdateRestrictions", "Upsertable") }
    /// Whether related entities can be created together with an entity (`DeepInsertSupport`).
    public var supportsDeepInsert: Bool { restriction("DeepInsertSupport", "Supported") ?? true }
    /// Whether related entities can be updated together with an entity (`DeepUpdateSupport`).
    public var supportsDeepUpdate: Bool { restriction("DeepUpdateSupport", "Supported") ?? true }
    /// The supported update methods, `PATCH` and `PUT` (`UpdateRestrictions/UpdateMethod`); `nil` if the
    /// metadata does not list them.
    public var updateMethods: Set<String>? {
        record("UpdateRestrictions")?.recordProperty("UpdateMethod").map { Set($0.texts) }
    }
    /// The properties that must not be stated when an entity is created.
    public var nonInsertableProperties: Set<String> {
        paths("InsertRestrictions", "NonInsertableProperties").union(properties { !$0.isCreatable })
    }
    /// The properties that must not be stated in an update.
    public var nonUpdatableProperties: Set<String> {
        paths("UpdateRestrictions", "NonUpdatableProperties").union(properties { !$0.isUpdatable })
    }
    /// The navigation properties that do not support a deep insert.
    public var nonInsertableNavigationProperties: Set<String> {
        paths("InsertRestrictions", "NonInsertableNavigationProperties")
    }

    // MARK: Queries

    /// Whether the set can be read directly and not only by navigation.
    public var isReadable: Bool { entitySet?.isAddressable ?? true }
    /// Whether `$filter` is supported.
    public var isFilterable: Bool { restriction("FilterRestrictions", "Filterable") ?? true }
    /// Whether `$filter` is required.
    public var requiresFilter: Bool { entitySet?.requiresFilter ?? false }
    /// The properties that each filter must contain.
    public var requiredInFilter: Set<String> {
        paths("FilterRestrictions", "RequiredProperties").union(properties(\.isRequiredInFilter))
    }
    /// The properties that no filter may contain.
    public var nonFilterableProperties: Set<String> {
        paths("FilterRestrictions", "NonFilterableProperties").union(properties { !$0.isFilterable })
    }
    /// The allowed filter expressions by property path. Other properties are not restricted.
    public var filterExpressionTypes: [String: FilterExpressionType] {
        guard let entitySet else { return [:] }
        var types = entitySet.filterExpressionRestrictions
        for property in service.model.shape(entitySet.type)?.properties ?? [] where types[property.name] == nil {
            types[property.name] = property.filterExpressionType
        }
        return types
    }
    /// The maximum number of entities in one response; `nil` if the metadata does not state it.
    public var maxPageSize: Int? { entitySet?.maxPageSize }
    /// Whether `$orderby` is supported.
    public var isSortable: Bool { restriction("SortRestrictions", "Sortable") ?? true }
    /// The properties that `$orderby` must not contain.
    public var nonSortableProperties: Set<String> {
        paths("SortRestrictions", "NonSortableProperties").union(properties { !$0.isSortable })
    }
    /// The properties that can be sorted only in ascending order.
    public var ascendingOnlyProperties: Set<String> { paths("SortRestrictions", "AscendingOnlyProperties") }
    /// The properties that can be sorted only in descending order.
    public var descendingOnlyProperties: Set<String> { paths("SortRestrictions", "DescendingOnlyProperties") }
    /// Whether `$expand` is supported.
    public var isExpandable: Bool { restriction("ExpandRestrictions", "Expandable") ?? true }
    /// The navigation properties that cannot be expanded.
    public var nonExpandableProperties: Set<String> { paths("ExpandRestrictions", "NonExpandableProperties") }
    /// The maximum number of expanded levels; `nil` for any.
    public var maxExpandLevels: Int? {
        guard case .constant(_, let text)? = record("ExpandRestrictions")?.recordProperty("MaxLevels"),
            let levels = Int(text), levels >= 0
        else { return nil }
        return levels
    }
    /// Whether `$count` is supported.
    public var isCountable: Bool { entitySet?.isCountable ?? true }
    /// Whether `$search` is supported. If the metadata does not say so, it is supported in V4 but not in V2.
    public var isSearchable: Bool {
        guard let entitySet else { return true }
        if service.model.version < .v4 { return entitySet.isSearchable }
        return restriction("SearchRestrictions", "Searchable") ?? true
    }
    /// Whether `$top` is supported.
    public var isTopSupported: Bool { entitySet?.isTopable ?? true }
    /// Whether `$skip` is supported.
    public var isSkipSupported: Bool { entitySet?.isPageable ?? true }
    /// Whether `$select` is supported (`SelectSupport/Supported`).
    public var isSelectSupported: Bool { restriction("SelectSupport", "Supported") ?? true }
    /// Whether `$compute` is supported (`ComputeSupported`).
    public var isComputeSupported: Bool { tag("ComputeSupported") ?? true }
    /// Whether the service tracks changes of the set; `nil` if the metadata does not say so.
    public var isChangeTracked: Bool? {
        restriction("ChangeTracking", "Supported")
            ?? entitySet?.sapAttribute("change-tracking").map { _ in entitySet?.supportsChangeTracking ?? false }
    }
    /// The functions that filters of the set may call; `nil` if the metadata does not list them.
    public var filterFunctions: Set<String>? {
        guard let value = entitySet?.annotation(Vocabulary.capabilities + "FilterFunctions")?.value else {
            return service.filterFunctions
        }
        return Set(value.texts.map { String($0.prefix { $0 != "(" }).lowercased() })
    }

    // MARK: Reading

    private func record(_ term: String) -> AnnotationExpression? {
        entitySet?.annotation(Vocabulary.capabilities + term)?.value
    }

    private func restriction(_ term: String, _ property: String) -> Bool? {
        record(term)?.recordProperty(property)?.boolean
    }

    private func tag(_ term: String) -> Bool? {
        guard let annotation = entitySet?.annotation(Vocabulary.capabilities + term) else { return nil }
        return annotation.value?.boolean ?? (annotation.value == nil ? true : nil)
    }

    private func paths(_ term: String, _ property: String) -> Set<String> {
        Set(record(term)?.recordProperty(property)?.texts ?? [])
    }

    private func properties(_ test: (Property) -> Bool) -> Set<String> {
        guard let entitySet, let shape = service.model.shape(entitySet.type) else { return [] }
        return Set(shape.properties.lazy.filter(test).map(\.name))
    }
}

extension AnnotationExpression {
    /// The texts of a constant or a path, or of the members of a collection.
    var texts: [String] {
        switch self {
        case .constant(_, let text):
            text.split(whereSeparator: { $0 == " " || $0 == "," }).map { String($0.split(separator: "/").last ?? $0) }
        case .path(_, let text): [text]
        case .collection(let members): members.flatMap(\.collected)
        default: []
        }
    }

    /// The unsplit text of a collection's member.
    private var collected: [String] {
        switch self {
        case .constant(_, let text), .path(_, let text): [text]
        default: []
        }
    }
}
