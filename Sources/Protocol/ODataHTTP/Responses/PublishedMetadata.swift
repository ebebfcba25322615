import ODataModel
import ODataService
import Synchronization

/// The model for `$metadata`, with annotations for the capabilities of the provider and the protocol (OData
/// Protocol 4.01, 13.2.1 (13)).
///
/// Annotations of the model take precedence.
final class PublishedMetadata: Sendable {
    private struct Made {
        var model: EntityDataModel
        var capabilities: PublishedCapabilities
        var published: EntityDataModel
    }

    /// Whether requests may be answered asynchronously.
    private let isAsynchronous: Bool
    private let last = Mutex<Made?>(nil)

    init(isAsynchronous: Bool) { self.isAsynchronous = isAsynchronous }

    /// Returns the published model; the model itself if the provider states no capabilities.
    func model(_ model: EntityDataModel, _ capabilities: PublishedCapabilities?) throws -> EntityDataModel {
        guard let capabilities else { return model }
        if let made = last.withLock({ $0 }), made.model === model, made.capabilities == capabilities {
            return made.published
        }
        let published = try capabilities.annotating(model, protocolAnnotations: annotations)
        last.withLock { $0 = Made(model: model, capabilities: capabilities, published: published) }
        return published
    }

    private static let capabilities = Vocabulary.capabilities

    private var annotations: [Annotation] {
        [
            Annotation(term: Vocabulary.oDataVersions, value: Self.string("4.0,4.01")),
            Annotation(
                term: Self.capabilities + "ConformanceLevel",
                value: .constant(
                    kind: "EnumMember", text: Vocabulary.capabilities + "ConformanceLevelType/Advanced")),
            Self.collection("SupportedFormats", ["application/json;odata.metadata=full;odata.streaming=true"]),
            Self.collection("SupportedMetadataFormats", ["application/xml", "application/json"]),
            Self.flag("AsynchronousRequestsSupported", isAsynchronous),
            Self.flag("BatchContinueOnErrorSupported", true), Self.flag("KeyAsSegmentSupported", true),
            Self.flag("QuerySegmentSupported", true),
            Annotation(
                term: Self.capabilities + "BatchSupport",
                value: .record(
                    type: nil,
                    properties: [
                        "Supported", "ContinueOnErrorSupported", "ReferencesInRequestBodiesSupported",
                        "ReferencesAcrossChangeSetsSupported", "EtagReferencesSupported",
                        "RequestDependencyConditionsSupported",
                    ].map { .init(name: $0, value: Self.boolean(true)) } + [
                        .init(
                            name: "SupportedFormats",
                            value: .collection(["multipart/mixed", "application/json"].map(Self.string)))
                    ])),
        ]
    }

    private static func string(_ text: String) -> AnnotationExpression { .constant(kind: "String", text: text) }

    private static func boolean(_ flag: Bool) -> AnnotationExpression { .constant(kind: "Bool", text: "\(flag)") }

    private static func flag(_ term: String, _ value: Bool) -> Annotation {
        Annotation(term: capabilities + term, value: boolean(value))
    }

    private static func collection(_ term: String, _ texts: [String]) -> Annotation {
        Annotation(term: capabilities + term, value: .collection(texts.map(string)))
    }
}
