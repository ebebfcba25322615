import ODataModel
import ODataQuery

/// What a service says in its metadata that it can and cannot do: the Capabilities vocabulary of V4, the `sap:`
/// attributes of V2.
///
/// What nothing is said about is possible.
///
/// ```swift
/// let capabilities = try await client.capabilities
/// if capabilities.set("Orders").isInsertable { showNewButton() }
/// ```
public struct ServiceCapabilities: Sendable {
    let model: EntityDataModel

    /// Reads the capabilities of a model.
    public init(_ model: EntityDataModel) { self.model = model }

    /// The greatest version up to 4.01 that the service takes: that of its metadata, or what `Core.ODataVersions`
    /// lists (OData Protocol 4.01, 13.3).
    public var version: ODataVersion {
        guard model.version == .v4 else { return model.version }
        let listed = ([model.container.annotations] + model.schemas.map(\.annotations))
            .compactMap { $0.annotation(Vocabulary.oDataVersions)?.value }
        return listed.contains { $0.texts.contains("4.01") } ? .v401 : .v4
    }

    /// The level of conformance that the service claims: `Minimal`, `Intermediate`, `Advanced`.
    public var conformanceLevel: String? {
        guard case .constant(_, let text)? = container("ConformanceLevel") else { return nil }
        return String(text.split(separator: "/").last ?? Substring(text))
    }

    /// Whether several requests can go as one (`BatchSupported`, `BatchSupport/Supported`).
    public var supportsBatch: Bool {
        container("BatchSupport")?.recordProperty("Supported")?.boolean ?? flag("BatchSupported") ?? true
    }

    /// Whether a batch goes on after a refusal where the client prefers so.
    public var supportsContinueOnError: Bool {
        container("BatchSupport")?.recordProperty("ContinueOnErrorSupported")?.boolean
            ?? flag("BatchContinueOnErrorSupported") ?? true
    }

    /// Whether requests can be answered later (`AsynchronousRequestsSupported`).
    public var supportsAsynchronousRequests: Bool { flag("AsynchronousRequestsSupported") ?? true }

    /// Whether keys can be segments of the path (`KeyAsSegmentSupported`).
    public var supportsKeyAsSegment: Bool { flag("KeyAsSegmentSupported") ?? false }

    /// The media types that the service has (`SupportedFormats`); none where it does not say.
    public var formats: [String] { strings(container("SupportedFormats")) }

    /// The functions that filters may call (`FilterFunctions`); `nil` where nothing is said.
    public var filterFunctions: Set<String>? {
        container("FilterFunctions").map { Set(strings($0).map { String($0.prefix { $0 != "(" }).lowercased() }) }
    }

    /// Whether a repeat of a request is recognised (`Org.OData.Repeatability.V1.Supported`).
    public var supportsRepeatableRequests: Bool {
        let annotation = model.container.annotation(Vocabulary.supportsRepeatability)
        return annotation.map { $0.value?.boolean ?? true } ?? false
    }

    /// What can be done with a set; with a set that the model does not have, everything.
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

/// What a service says can be done with an entity set.
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
    /// Whether entities can be changed.
    public var isUpdatable: Bool { entitySet?.isUpdatable ?? true }
    /// Whether entities can be deleted.
    public var isDeletable: Bool { entitySet?.isDeletable ?? true }
    /// Whether an entity that does not exist is created by a change (`UpdateRestrictions/Upsertable`); `nil` where
    /// nothing is said.
    public var isUpsertable: Bool? { restriction("UpdateRestrictions", "Upsertable") }
    /// Whether related entities can be created with an entity (`DeepInsertSupport`).
    public var supportsDeepInsert: Bool { restriction("DeepInsertSupport", "Supported") ?? true }
    /// Whether related entities can be changed with an entity (`DeepUpdateSupport`).
    public var supportsDeepUpdate: Bool { restriction("DeepUpdateSupport", "Supported") ?? true }
    /// The method that changes entities, `PATCH` or `PUT` (`UpdateRestrictions/UpdateMethod`); `nil` where nothing is
    /// said.
    public var updateMethods: Set<String>? {
        record("UpdateRestrictions")?.recordProperty("UpdateMethod").map { Set($0.texts) }
    }
    /// The properties that a creation must not state.
    public var nonInsertableProperties: Set<String> {
        paths("InsertRestrictions", "NonInsertableProperties").union(properties { !$0.isCreatable })
    }
    /// The properties that a change must not state.
    public var nonUpdatableProperties: Set<String> {
        paths("UpdateRestrictions", "NonUpdatableProperties").union(properties { !$0.isUpdatable })
    }
    /// The navigation properties that related entities cannot be created by.
    public var nonInsertableNavigationProperties: Set<String> {
        paths("InsertRestrictions", "NonInsertableNavigationProperties")
    }

    // MARK: Queries

    /// Whether the set can be read as such, not by navigation alone.
    public var isReadable: Bool { entitySet?.isAddressable ?? true }
    /// Whether there can be a filter.
    public var isFilterable: Bool { restriction("FilterRestrictions", "Filterable") ?? true }
    /// Whether there must be a filter.
    public var requiresFilter: Bool { entitySet?.requiresFilter ?? false }
    /// The properties that each filter must name.
    public var requiredInFilter: Set<String> {
        paths("FilterRestrictions", "RequiredProperties").union(properties(\.isRequiredInFilter))
    }
    /// The properties that no filter may name.
    public var nonFilterableProperties: Set<String> {
        paths("FilterRestrictions", "NonFilterableProperties").union(properties { !$0.isFilterable })
    }
    /// How filters may compare properties, by path; any way for those that are not there.
    public var filterExpressionTypes: [String: FilterExpressionType] {
        guard let entitySet else { return [:] }
        var types = entitySet.filterExpressionRestrictions
        for property in service.model.shape(entitySet.type)?.properties ?? [] where types[property.name] == nil {
            types[property.name] = property.filterExpressionType
        }
        return types
    }
    /// The greatest number of entities in one answer; `nil` where nothing is said.
    public var maxPageSize: Int? { entitySet?.maxPageSize }
    /// Whether entities can be ordered.
    public var isSortable: Bool { restriction("SortRestrictions", "Sortable") ?? true }
    /// The properties that entities cannot be ordered by.
    public var nonSortableProperties: Set<String> {
        paths("SortRestrictions", "NonSortableProperties").union(properties { !$0.isSortable })
    }
    /// The properties that entities can be ordered by upwards only.
    public var ascendingOnlyProperties: Set<String> { paths("SortRestrictions", "AscendingOnlyProperties") }
    /// The properties that entities can be ordered by downwards only.
    public var descendingOnlyProperties: Set<String> { paths("SortRestrictions", "DescendingOnlyProperties") }
    /// Whether related entities can be expanded.
    public var isExpandable: Bool { restriction("ExpandRestrictions", "Expandable") ?? true }
    /// The navigation properties that cannot be expanded.
    public var nonExpandableProperties: Set<String> { paths("ExpandRestrictions", "NonExpandableProperties") }
    /// How many levels can be expanded; `nil` for any.
    public var maxExpandLevels: Int? {
        guard case .constant(_, let text)? = record("ExpandRestrictions")?.recordProperty("MaxLevels"),
            let levels = Int(text), levels >= 0
        else { return nil }
        return levels
    }
    /// Whether the number of entities can be asked for.
    public var isCountable: Bool { entitySet?.isCountable ?? true }
    /// Whether there can be a search. Where nothing is said: in V4 yes, in V2 no.
    public var isSearchable: Bool {
        guard let entitySet else { return true }
        if service.model.version < .v4 { return entitySet.isSearchable }
        return restriction("SearchRestrictions", "Searchable") ?? true
    }
    /// Whether the number of entities wanted can be stated.
    public var isTopSupported: Bool { entitySet?.isTopable ?? true }
    /// Whether entities can be left out at the start.
    public var isSkipSupported: Bool { entitySet?.isPageable ?? true }
    /// Whether the properties wanted can be stated (`SelectSupport/Supported`).
    public var isSelectSupported: Bool { restriction("SelectSupport", "Supported") ?? true }
    /// Whether values can be computed (`ComputeSupported`).
    public var isComputeSupported: Bool { tag("ComputeSupported") ?? true }
    /// Whether changes can be asked for; `nil` where nothing is said.
    public var isChangeTracked: Bool? {
        restriction("ChangeTracking", "Supported")
            ?? entitySet?.sapAttribute("change-tracking").map { _ in entitySet?.supportsChangeTracking ?? false }
    }
    /// The functions that filters may call; `nil` where nothing is said.
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
    /// The texts of constants and paths, alone or in a collection.
    var texts: [String] {
        switch self {
        case .constant(_, let text):
            text.split(whereSeparator: { $0 == " " || $0 == "," }).map { String($0.split(separator: "/").last ?? $0) }
        case .path(_, let text): [text]
        case .collection(let members): members.flatMap(\.collected)
        default: []
        }
    }

    /// A member of a collection, whole.
    private var collected: [String] {
        switch self {
        case .constant(_, let text), .path(_, let text): [text]
        default: []
        }
    }
}
