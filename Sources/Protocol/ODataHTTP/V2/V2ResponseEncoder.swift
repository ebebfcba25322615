import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Encodes responses as messages to V2 clients (MS-ODATA, 2.2.6 and 2.2.7).
struct V2ResponseEncoder {
    let addresses: V2Addresses

    private var model: V2Model { addresses.model }
    private static let version = "2.0"

    func encode(_ response: ODataResponse, to request: V2Request) async throws -> (HTTPResponse, ByteStream) {
        var message = HTTPResponse(status: .init(code: response.status))
        message.headerFields[.dataServiceVersion] = Self.version
        var etag = response.etag
        if case .entity(let entity) = response.body { etag = etag ?? entity.control.etag }
        if let etag { message.headerFields[.eTag] = etag }
        if let result = response.repeatabilityResult { message.headerFields[.repeatabilityResult] = result.rawValue }
        if response.preferencesApplied.contains("track-changes") {
            message.headerFields[.preferenceApplied] = "odata.track-changes"
        }
        if let location = response.location { message.headerFields[.location] = addresses.link(location) }
        if request.request.method == .read, let etag, request.request.alreadyHas(etag) { message.status = .notModified }
        guard ![204, 304].contains(message.status.code), let body = try self.body(response, request) else {
            if message.status == .ok || message.status == .created { message.status = .noContent }
            return (message, ByteStream([]))
        }
        message.headerFields[.contentType] = body.contentType
        if case .raw = response.body { StreamProtection.add(to: &message) }
        return (message, body.stream)
    }

    /// Encodes an error as JSON or XML of V2 (MS-ODATA, 2.2.6.3.5 and 2.2.6.2.11).
    static func encode(_ error: ODataError, _ format: PayloadFormat) -> (HTTPResponse, ByteStream) {
        var message = ErrorResponse.head(error, ResponseFormat())
        message.headerFields[.odataVersion] = nil
        message.headerFields[.dataServiceVersion] = version
        message.headerFields[.contentType] = format.contentType()
        let payload = ODataErrorPayload(
            code: error.code, message: error.message, target: error.target,
            details: error.details.map { .init(code: $0.code, message: $0.message, target: $0.target) },
            innerError: error.innerError, language: "en")
        if case .atom(let version) = format { return (message, ByteStream(payload.writeXML(version: version))) }
        var json = JSONWriter()
        payload.write(to: &json, dialect: .verbose)
        return (message, ByteStream(json.bytes))
    }

    // MARK: Bodies

    private func body(
        _ response: ODataResponse, _ request: V2Request
    ) throws -> (stream: ByteStream, contentType: String)? {
        let encoder = PayloadEncoder(
            model: model.visible, format: request.format, updated: .current)
        func data(_ bytes: [UInt8], _ content: PayloadFormat.Content = .other) throws -> (ByteStream, String) {
            (try HeldBody.stream(bytes, request.request.context.budget), request.format.contentType(content))
        }
        let isAtom = if case .atom = request.format { true } else { false }
        let entities = V2Entities(addresses, showsActions: isAtom)
        switch response.body {
        case .none: return nil
        case .entity(let entity):
            let address =
                request.request.method == .create
                ? response.location : ODataURL(path: request.request.url.path).urlEncoded()
            return try data(encoder.entity(entities.visible(entity, at: address)), .entry)
        case .page(let page):
            // Only verbose JSON can contain the number of complex values.
            if case .operation(let operation) = request.bound.resource.target, isAtom,
                let type = operation.returnType, case .complex = type.element
            {
                var values = response
                values.body = .value(.collection(page.entities.map { .complex($0) }), type)
                return try body(values, request)
            }
            return try data(feed(page, request, encoder, entities), .feed)
        case .value(let value, let type):
            if case .rawValue = request.bound.resource.target {
                return (ByteStream(try RawValue(value, type, model: model.service).bytes), RawValue.contentType(type))
            }
            let visible = entities.values.visible(value, from: type, to: type)
            return try data(
                encoder.value(ValuePayload(visible), named: name(request), type: visibleType(type, request)))
        case .count(let count): return (ByteStream(Array(String(count).utf8)), "text/plain")
        case .raw(let stream, let contentType), .encoded(let stream, let contentType): return (stream, contentType)
        case .references(let ids, let isCollection, _, _):
            if !isCollection, ids.isEmpty { return nil }
            let links = ids.map { addresses.link($0) }
            return try data(encoder.references(ReferencePayload(ids: links, isCollection: isCollection)))
        case .metadata: return (ByteStream(model.metadata), "application/xml")
        case .serviceDocument:
            if case .atom = request.format {
                return try data(V2Search(addresses: addresses).serviceDocument(), .serviceDocument)
            }
            return try data(
                encoder.serviceDocument(baseURL: addresses.serviceRoot.description, context: nil), .serviceDocument)
        case .batch: return nil
        }
    }

    private func feed(
        _ page: EntityPage, _ request: V2Request, _ encoder: PayloadEncoder, _ entities: V2Entities
    ) throws -> [UInt8] {
        var type = page.entities.first?.shape.name ?? QualifiedName("Edm", "Untyped")
        var title = name(request)
        if case .entities(let shape, let set) = request.bound.resource.target {
            type = shape.name
            title = set?.name ?? title
        }
        var writer = encoder.collection(type: type)
        let address = addresses.link(ODataURL(path: request.request.url.path).urlEncoded())
        let isOwn = !request.relativeURL.hasPrefix("$")
        writer.begin(
            url: address, set: title, context: nil, count: page.count,
            selfLink: isOwn ? addresses.serviceRoot.url(for: request.relativeURL) : nil)
        let budget = request.request.context.budget
        let room = budget?.heldBytesLeft ?? .max
        for entity in page.entities {
            writer.entity(entities.visible(entity))
            if writer.count > room, let budget { throw budget.tooLarge }
        }
        for removed in page.removed {
            writer.removed(id: addresses.link(removed.id), reason: removed.reason.rawValue)
        }
        writer.end(
            nextLink: page.nextLink.map { addresses.link($0) }, deltaLink: page.deltaLink.map { addresses.link($0) })
        return writer.takeBytes()
    }

    /// Returns the name of a value: the last name of the path.
    private func name(_ request: V2Request) -> String {
        if case .operation(let operation) = request.bound.resource.target,
            let name = model.boundOperations.name(calling: operation)
        {
            return name
        }
        for segment in request.request.url.path.segments.reversed() {
            if case .name(let name, _) = segment { return name.text }
        }
        return "value"
    }

    /// Returns the V2 type of a property or result.
    private func visibleType(_ type: TypeReference, _ request: V2Request) -> TypeReference {
        switch request.bound.resource.target {
        case .property(let property, let shape):
            model.visible.shape(shape.name)?.property(property.name)?.type ?? type
        case .operation(let operation):
            model.visible.operations(
                model.boundOperations.name(calling: operation).map { QualifiedName(operation.name.namespace, $0) }
                    ?? operation.name
            ).first?.returnType ?? type
        default: type
        }
    }
}
