import ODataModel

/// What a service can do with its entity sets, to be said in its metadata
/// (OData Vocabularies 4.0, `Org.OData.Capabilities.V1`; OData Protocol 4.01, 13.2.1 (13)).
///
/// ```swift
/// var capabilities = PublishedCapabilities()
/// capabilities.trackedSets = ["Orders"]
/// let published = try capabilities.annotating(model)
/// ```
///
/// What the model states already, stays as it is, unless the model is that of another service.
public struct PublishedCapabilities: Hashable, Sendable {
    /// Whether everything that changes something is refused.
    public var isReadOnly = false
    /// The sets that cannot be changed although others can.
    public var readOnlySets: Set<String> = []
    /// The sets whose queries can have delta links.
    public var trackedSets: Set<String> = []
    /// Whether the pages of a result can show one state of the data.
    public var supportsSnapshots = false
    /// Whether a request that is sent again acts once.
    public var supportsRepeatableRequests = false
    /// Whether collections can be changed as a whole and related entities within one another.
    public var supportsDeepChanges = true
    /// Whether the model speaks of another service: what that can be asked says nothing of what this one answers. What
    /// may be changed, it does say.
    public var supersedesModel = false

    /// Makes the capabilities of a service that answers the whole query language.
    public init() {}

    private static let capabilities = Vocabulary.capabilities
    private static let aggregation = Vocabulary.aggregation
    private static let repeatability = Vocabulary.repeatability
    private static let core = Vocabulary.core
    private static let vocabularies = "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/"

    /// The model with the capabilities as annotations on the container and its sets and singletons, and references to
    /// the vocabularies that define them.
    ///
    /// - Parameter protocolAnnotations: what whoever speaks the protocol for the service adds about itself.
    /// - Throws: ``ModelError`` where the model cannot be made again.
    public func annotating(
        _ model: EntityDataModel, protocolAnnotations: [Annotation] = []
    ) throws(ModelError) -> EntityDataModel {
        var schemas = model.schemas
        guard let index = schemas.firstIndex(where: { $0.container != nil }), var container = schemas[index].container
        else { return model }
        container.annotations = completed(container.annotations, containerAnnotations + protocolAnnotations)
        for position in container.entitySets.indices {
            let set = container.entitySets[position]
            container.entitySets[position].annotations = completed(set.annotations, annotations(of: set.name))
        }
        for position in container.singletons.indices {
            let singleton = container.singletons[position]
            container.singletons[position].annotations = completed(
                singleton.annotations, updateRestrictions(of: singleton.name))
        }
        schemas[index].container = container
        return try EntityDataModel(
            schemas: schemas, version: model.version, includedSchemas: model.includedSchemas,
            references: Self.references(model.references))
    }

    /// Annotations with those added whose terms are not among them.
    private func completed(_ stated: [Annotation], _ more: [Annotation]) -> [Annotation] {
        let own = Set(more.map(\.term)).subtracting(
            ["InsertRestrictions", "UpdateRestrictions", "DeleteRestrictions"].map { Self.capabilities + $0 })
        let stated = supersedesModel ? stated.filter { !own.contains($0.term) } : stated
        let known = Set(stated.map(\.term))
        return stated + more.filter { !known.contains($0.term) }
    }

    /// References to the vocabularies used, beside those that are there.
    private static func references(_ stated: [CSDLReference]) -> [CSDLReference] {
        let known = Set(stated.flatMap { $0.includes.map(\.namespace) })
        let used = [capabilities, aggregation, repeatability, core].map { String($0.dropLast()) }
        return stated
            + used.filter { !known.contains($0) }.map { namespace in
                let alias = namespace.split(separator: ".").dropLast().last.map(String.init)
                return CSDLReference(
                    uri: "\(vocabularies)\(namespace).xml", includes: [.init(namespace: namespace, alias: alias)])
            }
    }

    // MARK: Annotations

    private var containerAnnotations: [Annotation] {
        var annotations = [
            Self.tag(Self.capabilities + "CrossJoinSupported"),
            Annotation(
                term: Self.capabilities + "FilterFunctions", value: .collection(Self.filterFunctions.map(Self.string))),
            Annotation(
                term: Self.aggregation + "ApplySupported",
                value: .record(
                    type: nil,
                    properties: [
                        .init(name: "Transformations", value: .collection(Self.transformations.map(Self.string)))
                    ])),
        ]
        if supportsSnapshots {
            annotations.append(
                Annotation(
                    term: Self.capabilities + "IsolationSupported",
                    value: .constant(
                        kind: "EnumMember", text: Vocabulary.capabilities + "IsolationLevel/Snapshot")))
        }
        if supportsRepeatableRequests {
            annotations.append(
                Annotation(
                    term: Self.repeatability + "Supported",
                    value: .constant(
                        kind: "EnumMember", text: Vocabulary.repeatability + "RepeatabilityVersion/V1")))
        }
        return annotations
    }

    private func annotations(of set: String) -> [Annotation] {
        var annotations = [
            Self.record("FilterRestrictions", ["Filterable": true, "RequiresFilter": false]),
            Self.record("SortRestrictions", ["Sortable": true]),
            Self.record("SearchRestrictions", ["Searchable": true]),
            Self.record("ExpandRestrictions", ["Expandable": true, "StreamsExpandable": false]),
            Self.record("CountRestrictions", ["Countable": true]),
            Self.record("SelectSupport", ["Supported": true, "Expandable": true, "ComputeSupported": false]),
            Self.tag(Self.capabilities + "TopSupported"), Self.tag(Self.capabilities + "SkipSupported"),
            Self.tag(Self.capabilities + "ComputeSupported"), Self.tag(Self.capabilities + "IndexableByKey"),
            Self.record("ChangeTracking", ["Supported": trackedSets.contains(set)]),
        ]
        let isChangeable = !isReadOnly && !readOnlySets.contains(set)
        annotations.append(Self.record("InsertRestrictions", ["Insertable": isChangeable]))
        annotations += updateRestrictions(of: set)
        annotations.append(
            Self.record("DeleteRestrictions", ["Deletable": isChangeable, "FilterSegmentSupported": isChangeable]))
        if isChangeable, supportsDeepChanges {
            annotations.append(Self.record("DeepInsertSupport", ["Supported": true, "ContentIDSupported": true]))
            annotations.append(Self.record("DeepUpdateSupport", ["Supported": true, "ContentIDSupported": false]))
        }
        return annotations
    }

    private func updateRestrictions(of set: String) -> [Annotation] {
        let isChangeable = !isReadOnly && !readOnlySets.contains(set)
        return [
            Self.record(
                "UpdateRestrictions",
                [
                    "Updatable": isChangeable, "Upsertable": isChangeable,
                    "DeltaUpdateSupported": isChangeable && supportsDeepChanges, "FilterSegmentSupported": isChangeable,
                ])
        ]
    }

    /// The canonical functions that filters may call (OData URL Conventions 4.01, 5.1.1.5 to 5.1.1.14).
    private static let filterFunctions = [
        "concat", "contains", "endswith", "indexof", "length", "startswith", "substring", "matchesPattern", "tolower",
        "toupper", "trim", "hassubset", "hassubsequence", "date", "day", "fractionalseconds", "hour", "maxdatetime",
        "mindatetime", "minute", "month", "now", "second", "time", "totaloffsetminutes", "totalseconds", "year",
        "ceiling", "floor", "round", "cast", "isof", "geo.distance", "geo.intersects", "geo.length", "case", "any",
        "all",
    ]

    /// The transformations of `$apply`.
    private static let transformations = [
        "aggregate", "groupby", "filter", "compute", "concat", "identity", "search", "orderby", "top", "skip",
        "topcount", "toppercent", "topsum", "bottomcount", "bottompercent", "bottomsum",
    ]

    private static func string(_ text: String) -> AnnotationExpression { .constant(kind: "String", text: text) }

    private static func tag(_ term: String) -> Annotation {
        Annotation(term: term, value: .constant(kind: "Bool", text: "true"))
    }

    private static func record(_ term: String, _ flags: KeyValuePairs<String, Bool>) -> Annotation {
        Annotation(
            term: capabilities + term,
            value: .record(
                type: nil,
                properties: flags.map { name, flag in
                    .init(name: name, value: .constant(kind: "Bool", text: "\(flag)"))
                }))
    }
}
