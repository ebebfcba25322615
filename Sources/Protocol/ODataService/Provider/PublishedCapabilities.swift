import ODataModel

/// The capabilities of a service's entity sets, for publication in the metadata (OData Vocabularies 4.0,
/// `Org.OData.Capabilities.V1`; OData Protocol 4.01, 13.2.1 (13)).
///
/// ```swift
/// var capabilities = PublishedCapabilities()
/// capabilities.trackedSets = ["Orders"]
/// let published = try capabilities.annotating(model)
/// ```
///
/// Annotations in the model take precedence, unless ``supersedesModel`` is set.
public struct PublishedCapabilities: Hashable, Sendable {
    /// Whether all changes are refused.
    public var isReadOnly = false
    /// The sets that are read-only although others can be changed.
    public var readOnlySets: Set<String> = []
    /// The sets whose queries support delta links.
    public var trackedSets: Set<String> = []
    /// Whether the pages of a result can show a single snapshot of the data.
    public var supportsSnapshots = false
    /// Whether a repeated request is executed only once.
    public var supportsRepeatableRequests = false
    /// Whether collections can be changed as a whole, and related entities together with an entity.
    public var supportsDeepChanges = true
    /// Whether the model comes from another service. Its annotations about queries do not apply then, but its
    /// restrictions on changes do.
    public var supersedesModel = false

    /// Creates the capabilities of a service that supports the whole query language.
    public init() {}

    private static let capabilities = Vocabulary.capabilities
    private static let aggregation = Vocabulary.aggregation
    private static let repeatability = Vocabulary.repeatability
    private static let core = Vocabulary.core
    private static let vocabularies = "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/"

    /// Returns the model with annotations of the capabilities, and with references to their vocabularies.
    ///
    /// The annotations are added to the container, its sets and its singletons.
    ///
    /// - Parameter protocolAnnotations: annotations about the protocol implementation in front of the service.
    /// - Throws: ``ModelError`` if the annotated model is invalid.
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

    /// Returns the stated annotations and the additional ones whose terms are not among them.
    private func completed(_ stated: [Annotation], _ more: [Annotation]) -> [Annotation] {
        let own = Set(more.map(\.term)).subtracting(
            ["InsertRestrictions", "UpdateRestrictions", "DeleteRestrictions"].map { Self.capabilities + $0 })
        let stated = supersedesModel ? stated.filter { !own.contains($0.term) } : stated
        let known = Set(stated.map(\.term))
        return stated + more.filter { !known.contains($0.term) }
    }

    /// Returns the stated references and those to the used vocabularies.
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
