import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

/// Encodes responses of a service as HTTP messages (OData Protocol 4.01, 8.3, 9 and 10; OData JSON Format 4.01).
///
/// ```swift
/// let encoder = ResponseEncoder(model: model)
/// let (message, body) = try await encoder.encode(response, to: incoming)
/// let (refusal, text) = encoder.encode(error, format: incoming.format)
/// ```
public struct ResponseEncoder: Sendable {
    /// The model of the service.
    public let model: EntityDataModel

    /// Creates an encoder.
    public init(model: EntityDataModel) { self.model = model }

    /// Encodes a response.
    ///
    /// - Throws: ``ODataError`` with status 500 if the response does not fit the request.
    public func encode(
        _ response: ODataResponse, to incoming: IncomingRequest
    ) async throws(ODataError) -> (HTTPResponse, ByteStream) {
        var response = response
        let isStream = if case .raw = response.body { true } else { false }
        if case .metadata(let model) = response.body {
            let document = metadataDocument(model, incoming)
            // The ETag lets clients cache the document and revalidate it.
            response.etag = response.etag ?? Self.etag(of: document.bytes)
            response.body = .raw(ByteStream(document.bytes), contentType: document.contentType)
        }
        if incoming.request.method == .read {
            response = RequestedContent(incoming.request).apply(to: try unchanged(response, incoming))
        }
        var message = HTTPResponse(status: .init(code: response.status))
        message.headerFields = fields(of: response, incoming)
        guard response.status != 304, response.status != 204 else { return (message, ByteStream([])) }
        guard let body = try await body(of: response, incoming) else {
            // An empty response with 200 or 201 becomes 204 (OData Protocol 4.01, 9.1.4).
            if response.status == 200 || response.status == 201 { message.status = .noContent }
            return (message, ByteStream([]))
        }
        message.headerFields[.contentType] = body.contentType
        if isStream { StreamProtection.add(to: &message) }
        return (message, body.stream)
    }

    /// Encodes an error as an error object (OData JSON Format 4.01, 21.1).
    public func encode(_ error: ODataError, format: ResponseFormat = ResponseFormat()) -> (HTTPResponse, ByteStream) {
        ErrorResponse.write(error, format)
    }

    /// Returns a 304 response if the client already has the representation (RFC 9110, 13.1.2).
    ///
    /// The check is needed if the provider does not evaluate the condition.
    ///
    /// - Throws: 412 if `If-Match` requires another state (OData Protocol 4.01, 8.2.4).
    private func unchanged(
        _ response: ODataResponse, _ incoming: IncomingRequest
    ) throws(ODataError) -> ODataResponse {
        let request = incoming.request
        guard response.status == 200 else { return response }
        var etag = response.etag
        if case .entity(let entity) = response.body { etag = etag ?? entity.control.etag }
        guard let etag else { return response }
        // The condition of a bound function refers to its entity, which the provider checks (11.5.4.1).
        let isResult = incoming.bound.resource.steps.contains { if case .operation = $0 { true } else { false } }
        guard isResult || Conditions.allowRead(request.ifMatch, of: etag) else {
            throw .preconditionFailed(request.url.urlEncoded())
        }
        guard request.alreadyHas(etag) else { return response }
        var unchanged = ODataResponse(status: 304, etag: etag)
        unchanged.headers = response.headers
        return unchanged
    }

    // MARK: Headers

    private func fields(of response: ODataResponse, _ incoming: IncomingRequest) -> HTTPFields {
        let format = incoming.format
        var fields = HTTPFields()
        fields[.odataVersion] = format.version.rawValue
        var etag = response.etag
        if case .entity(let entity) = response.body { etag = etag ?? entity.control.etag }
        let isBare = if case .none = response.body { true } else { false }
        if let etag, response.isETagForeseeable || !isBare { fields[.eTag] = etag }
        if let location = response.location { fields[.location] = absolute(location, format) }
        if let id = response.entityID ?? createdID(response, incoming) {
            fields[.odataEntityID] = absolute(id, format)
        }
        if !response.preferencesApplied.isEmpty {
            fields[.preferenceApplied] = response.preferencesApplied
                .map { format.version < .v401 ? prefixed($0) : $0 }.joined(separator: ", ")
        }
        if let result = response.repeatabilityResult { fields[.repeatabilityResult] = result.rawValue }
        if incoming.request.method == .read { fields[.vary] = Self.vary }
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields[name] = value
        }
        return fields
    }

    /// Returns the id of a created entity that the response does not contain (OData Protocol 4.01, 8.3.4). The
    /// default is its URL.
    private func createdID(_ response: ODataResponse, _ incoming: IncomingRequest) -> String? {
        guard incoming.request.method == .create, case .none = response.body else { return nil }
        return response.location
    }

    /// The request fields on which a response depends, for caches (OData Protocol 4.01, 8.3.8).
    private static let vary = "Accept, OData-MaxVersion, Prefer"

    /// Adds the prefix that 4.0 requires for its own preferences (OData Protocol 4.0, 8.2.8).
    private func prefixed(_ preference: String) -> String {
        let name = preference.prefix { $0 != "=" }
        let standard = ["return", "respond-async", "wait", "omit-values"]
        return standard.contains(String(name)) || preference.hasPrefix("odata.") ? preference : "odata.\(preference)"
    }

    private func absolute(_ url: String, _ format: ResponseFormat) -> String {
        guard let root = try? ServiceRoot(format.serviceRoot) else { return url }
        return root.url(for: url)
    }

    // MARK: Bodies

    private struct Body {
        var stream: ByteStream
        var contentType: String

        init(_ bytes: [UInt8], _ contentType: String, of incoming: IncomingRequest) throws(ODataError) {
            self.init(try HeldBody.stream(bytes, incoming.request.context.budget), contentType)
        }

        init(_ stream: ByteStream, _ contentType: String) {
            self.stream = stream
            self.contentType = contentType
        }
    }

    private func body(
        of response: ODataResponse, _ incoming: IncomingRequest
    ) async throws(ODataError) -> Body? {
        let format = incoming.format
        let writer = PayloadWriter(model: model, format: format)
        switch response.body {
        case .none: return nil
        case .entity(let entity):
            let declared = declaredType(incoming)
            // The context only states types that derive from the declared type.
            let isOfType = declared.map { model.isType(entity.shape.name, $0) } ?? true
            let instance = isOfType ? entity.shape.name : declared
            let bytes = writer.entity(entity, declared: declared, context: context(incoming, of: instance))
            return try Body(bytes, incoming.contentType, of: incoming)
        case .page(let page):
            return try Body(self.page(page, incoming, writer), incoming.contentType, of: incoming)
        case .encoded(let stream, let contentType):
            return Body(stream, contentType.hasPrefix("application/json") ? incoming.contentType : contentType)
        case .value(let value, let type):
            if value.isNull { return nil }
            if case .rawValue = incoming.bound.resource.target {
                return try Body(
                    RawValue(value, type, model: model).bytes, text(RawValue.contentType(type), incoming), of: incoming)
            }
            let context = context(incoming, owner: response.owner)
            return try Body(writer.value(value, type: type, context: context), incoming.contentType, of: incoming)
        case .count(let count): return Body(ByteStream(Array(String(count).utf8)), text("text/plain", incoming))
        case .raw(let stream, let contentType): return Body(stream, contentType)
        case .references(let ids, let isCollection, let count, let nextLink):
            if !isCollection, ids.isEmpty { return nil }
            let bytes = writer.references(
                ids, isCollection: isCollection, context: context(incoming), count: count, nextLink: nextLink)
            return try Body(bytes, incoming.contentType, of: incoming)
        case .metadata(let model):
            let document = metadataDocument(model, incoming)
            return Body(ByteStream(document.bytes), document.contentType)
        case .serviceDocument: return Body(ByteStream(writer.serviceDocument()), incoming.contentType)
        case .batch(let results):
            let (stream, contentType) = BatchResponseWriter(encoder: self).write(results, to: incoming)
            return Body(stream, contentType)
        }
    }

    private func metadataDocument(
        _ model: EntityDataModel, _ incoming: IncomingRequest
    ) -> (bytes: [UInt8], contentType: String) {
        let charset = incoming.namesCharset ? ";charset=utf-8" : ""
        if incoming.answersAsJSON { return (CSDLWriter.json(model), "application/json" + charset) }
        return (CSDLWriter.xml(model, version: incoming.format.version), "application/xml" + charset)
    }

    /// Returns an ETag from the number of bytes and a digest (FNV-1a). Collisions need not be prevented, since
    /// nobody would gain by them.
    private static func etag(of bytes: [UInt8]) -> String {
        let digest = bytes.withUnsafeBufferPointer { buffer in
            buffer.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        }
        return "\"\(bytes.count)-\(String(digest, radix: 16))\""
    }

    /// Returns the media type of text, with the character set if the client requested one (OData Protocol 4.01,
    /// 8.2.1).
    private func text(_ type: String, _ incoming: IncomingRequest) -> String {
        type == "text/plain" && incoming.namesCharset ? "text/plain;charset=utf-8" : type
    }

    private func page(
        _ page: EntityPage, _ incoming: IncomingRequest, _ writer: PayloadWriter
    ) throws(ODataError) -> [UInt8] {
        let shape: TypeShape?
        var setName = ""
        switch incoming.bound.resource.target {
        case .entities(let declared, let set):
            shape = incoming.bound.query?.resultShape ?? declared
            setName = set?.name ?? ""
        case .crossJoin(_, let declared): shape = incoming.bound.query?.resultShape ?? declared
        // Each entity of any type states its own type.
        case .all:
            if case .cast(let cast)? = incoming.bound.resource.steps.last { shape = cast } else { shape = .untyped }
        case .operation(let operation):
            switch operation.returnType?.element {
            case .entity(let name?)?, .complex(let name?)?: shape = model.shape(name)
            default: shape = page.entities.first?.shape
            }
        default: shape = page.entities.first?.shape
        }
        guard let shape = shape ?? page.entities.first?.shape else {
            throw ODataError(
                status: 500, code: "InternalError", message: "A collection is no answer to this request.")
        }
        // The response to a delta request is also a delta (OData Protocol 4.01, 11.4.12).
        var isDelta = !page.removed.isEmpty || incoming.request.url.options.deltaToken != nil
        if case .delta = incoming.request.body, incoming.request.method == .update { isDelta = true }
        let context = context(incoming, isDelta: isDelta)
        let budget = incoming.request.context.budget
        guard case .all = incoming.bound.resource.target, writer.format.metadata != .none else {
            return try writer.page(page, shape: shape, context: context, set: setName, budget: budget)
        }
        // Each entity states its set or singleton (OData Protocol 4.01, 10.19).
        return try writer.page(page, shape: shape, context: context, set: setName, budget: budget) { entity in
            let url = incoming.resolved.url
            let own = PayloadContext(
                ofMember: entity, for: url, bound: incoming.bound, model: model, version: incoming.format.version)
            return own.map { incoming.format.serviceRoot + $0.text }
        }
    }

    private func declaredType(_ incoming: IncomingRequest) -> QualifiedName? {
        switch incoming.bound.resource.target {
        case .entities(let shape, _), .entity(let shape, _): return shape.name
        case .operation(let operation):
            guard case .entity(let name)? = operation.returnType else { return nil }
            return name
        default: return nil
        }
    }

    private func context(
        _ incoming: IncomingRequest, of instance: QualifiedName? = nil, isDelta: Bool = false, owner: String? = nil
    ) -> String? {
        guard
            let context = PayloadContext(
                for: incoming.resolved.url, bound: incoming.bound, isDelta: isDelta, owner: owner,
                instance: instance, version: incoming.format.version)
        else {
            return nil
        }
        // A POST to a collection creates one of its entities.
        let isInCollection = if case .entities = incoming.bound.resource.target { true } else { false }
        return incoming.format.serviceRoot + context.text + (instance != nil && isInCollection ? "/$entity" : "")
    }
}
