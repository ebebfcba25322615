import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Single entities as they appear in a response in the OData JSON format, with grouped paths as objects and
/// with expanded entities.
struct EntityJSON {
    private let writer: EntityPayloadWriter
    /// The type in the context of a response; `nil` if each entity has its own.
    private let declared: QualifiedName?

    init(model: EntityDataModel, url: ODataURL, _ language: QueryLanguage) {
        writer = EntityPayloadWriter(model: model, metadata: .minimal, version: .v401, isPrefixed: true)
        declared = (try? language.bind(url, model: model)).flatMap { ResultShape($0).shape?.name }
    }

    func write(_ entity: ODataEntity, to json: inout JSONWriter) {
        writer.write(Self.withoutState(entity), declared: declared ?? entity.shape.name, to: &json)
    }

    /// Returns the entity without the annotations that the store adds and no service has.
    private static func withoutState(_ entity: ODataEntity) -> ODataEntity {
        var entity = entity
        if !entity.control.annotations.isEmpty {
            entity.control.annotations = entity.control.annotations.filter { !$0.key.contains("Outpost.Offline.") }
        }
        guard !entity.related.isEmpty else { return entity }
        entity.related = entity.related.mapValues { related in
            switch related {
            case .one(let other): .one(withoutState(other))
            case .many(let others, let count, let nextLink):
                .many(others.map(withoutState), count: count, nextLink: nextLink)
            default: related
            }
        }
        return entity
    }
}
