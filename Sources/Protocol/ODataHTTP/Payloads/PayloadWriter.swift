import ODataFormat
import ODataModel
import ODataService

/// A writer of bodies in one format, shared by the two encoders (OData JSON Format 4.01).
struct PayloadWriter {
    let model: EntityDataModel
    let format: ResponseFormat
    private let entities: EntityPayloadWriter

    init(model: EntityDataModel, format: ResponseFormat) {
        self.model = model
        self.format = format
        entities = EntityPayloadWriter(
            model: model, metadata: MetadataLevel(format.metadata), version: format.version,
            isIEEE754Compatible: format.isIEEE754Compatible, isPrefixed: format.isPrefixed)
    }

    /// Returns the JSON of an entity in a request. The type is written only if it differs from the type of the URL.
    func requestEntity(_ entity: ODataEntity) -> [UInt8] {
        var outgoing = entity
        outgoing.control = entity.control.ofRequest
        var json = JSONWriter()
        entities.write(outgoing, declared: entity.control.type == nil ? entity.shape.name : nil, to: &json)
        return json.bytes
    }

    func entity(_ entity: ODataEntity, declared: QualifiedName?, context: String?) -> [UInt8] {
        var json = JSONWriter()
        entities.write(entity, declared: declared, context: context, to: &json)
        return json.bytes
    }

    /// Returns the JSON of a collection or a delta.
    ///
    /// - Parameters:
    ///   - budget: the budget of the request, whose memory limits the JSON.
    ///   - own: returns the context URL of a single entity if it differs from the page's.
    /// - Throws: ``ODataError`` 413 if the JSON needs more memory than the request has.
    func page(
        _ page: EntityPage, shape: TypeShape, context: String?, set: String, budget: RequestBudget? = nil,
        own: ((ODataEntity) -> String?)? = nil
    ) throws(ODataError) -> [UInt8] {
        var writer = CollectionPayloadWriter(entities, type: shape.name)
        let room = budget?.heldBytesLeft ?? .max
        writer.begin(context: context, count: page.count)
        for item in page.items {
            switch item {
            case .entity(let entity): writer.entity(entity, context: own?(entity))
            case .removed(let removed):
                writer.removed(id: removed.id, reason: removed.reason.rawValue, set: set, etag: removed.etag)
            case .link(let link):
                writer.link(
                    DeltaLink(source: link.source, relationship: link.relationship, target: link.target),
                    isDeleted: link.isDeleted, set: set, annotations: link.annotations)
            }
            if writer.json.bytes.count > room, let budget { throw budget.tooLarge }
        }
        writer.end(nextLink: page.nextLink, deltaLink: page.deltaLink)
        return writer.json.bytes
    }

    func value(_ value: ODataValue, type: TypeReference, context: String?) -> [UInt8] {
        var json = JSONWriter()
        ValuePayload(value, context: context).write(type: type, using: entities, to: &json)
        return json.bytes
    }

    /// Returns the parameters of an action as a JSON object (OData Protocol 4.01, 11.5.5.1).
    func parameters(_ parameters: [String: ODataValue], of operation: ODataOperation?) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            json.key(name)
            let type = operation?.parameters.first { $0.name == name }?.type
            entities.writeValue(value, type: type, to: &json)
        }
        json.endObject()
        return json.bytes
    }

    /// Returns the JSON of references to entities (OData JSON Format 4.01, 14).
    func references(
        _ ids: [String], isCollection: Bool, context: String?, count: Int64? = nil, nextLink: String? = nil
    ) -> [UInt8] {
        var json = JSONWriter()
        ReferencePayload(ids: ids, isCollection: isCollection, context: context, count: count, nextLink: nextLink)
            .write(using: entities, to: &json)
        return json.bytes
    }

    /// Returns the JSON of the service document (OData JSON Format 4.01, 5).
    func serviceDocument() -> [UInt8] {
        let context = format.metadata == .none ? nil : format.serviceRoot + "$metadata"
        let document = ServiceDocument(model: model, context: context)
        var json = JSONWriter()
        document.write(version: format.version, isPrefixed: format.isPrefixed, to: &json)
        return json.bytes
    }
}

/// The JSON of an error object (OData JSON Format 4.01, 21.1).
enum ErrorObject {
    static func bytes(_ error: ODataError) -> [UInt8] {
        var json = JSONWriter()
        ODataErrorPayload(
            code: error.code, message: error.message, target: error.target,
            details: error.details.map { .init(code: $0.code, message: $0.message, target: $0.target) },
            innerError: error.innerError
        ).write(to: &json)
        return json.bytes
    }
}

extension ODataError {
    /// Creates the error from an error object.
    init(_ payload: ODataErrorPayload, status: Int) {
        self.init(
            status: status, code: payload.code, message: payload.message, target: payload.target,
            details: payload.details.map { Detail(code: $0.code, message: $0.message, target: $0.target) },
            innerError: payload.innerError)
    }
}

extension MetadataLevel {
    init(_ metadata: ResponseFormat.Metadata) {
        switch metadata {
        case .none: self = .none
        case .minimal: self = .minimal
        case .full: self = .full
        }
    }
}
