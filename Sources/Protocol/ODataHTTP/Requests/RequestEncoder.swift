import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

/// The format of batch requests (OData Protocol 4.01, 11.7).
public enum BatchFormat: Hashable, Sendable {
    /// The format `multipart/mixed`, which every OData 4 service supports.
    case multipart
    /// JSON, which many services of 4.01 support (OData JSON Format 4.01, 19).
    case json
}

/// Encodes requests of a client as HTTP messages (OData Protocol 4.01, 8.1, 8.2 and 11).
///
/// ```swift
/// let encoder = RequestEncoder(serviceRoot: root, model: model)
/// let (message, body) = try encoder.encode(ODataRequest(.read, ODataURL(set: "Orders")))
/// ```
public struct RequestEncoder: Sendable {
    /// The root URL of the service.
    public let serviceRoot: ServiceRoot
    /// The model of the service.
    public let model: EntityDataModel
    /// The notation of messages.
    public let dialect: MessageDialect

    /// Creates an encoder for the version of the metadata.
    public init(serviceRoot: ServiceRoot, model: EntityDataModel, batchFormat: BatchFormat = .multipart) {
        self.init(
            serviceRoot: serviceRoot, model: model,
            dialect: MessageDialect(version: model.version, batchFormat: batchFormat))
    }

    /// Creates an encoder.
    public init(serviceRoot: ServiceRoot, model: EntityDataModel, dialect: MessageDialect) {
        self.serviceRoot = serviceRoot
        self.model = model
        self.dialect = dialect
    }

    /// The format of batch requests.
    public var batchFormat: BatchFormat { dialect.batchFormat }

    /// The version of request bodies, from the metadata of the service.
    var version: ODataVersion { dialect.version < .v401 ? .v4 : .v401 }

    /// The encoder for services before V4; `nil` for V4.
    var older: V2RequestEncoder? {
        dialect.version < .v4 ? V2RequestEncoder(serviceRoot: serviceRoot, model: model, dialect: dialect) : nil
    }

    /// Encodes a request.
    ///
    /// - Returns: the head with an absolute URL, and the body; `nil` if there is none.
    /// - Throws: ``TransportError/invalidURL(_:)`` for an invalid link. ``ODataError`` with status 400 if a body
    ///   cannot be encoded, such as a value without a type or a stream in a batch.
    public func encode(_ request: ODataRequest) throws -> (HTTPRequest, ByteStream?) {
        if let older {
            let parts = try older.parts(request)
            var message = try message(parts.method, parts.url)
            message.headerFields.append(contentsOf: parts.fields)
            return (message, parts.stream ?? parts.body.map { ByteStream($0) })
        }
        let relative = request.link ?? request.url.urlEncoded()
        var message = try message(dialect.methodName(request.method), relative)
        message.headerFields.append(contentsOf: fields(of: request))
        let body = try body(of: request)
        if let body {
            message.headerFields[.contentType] = body.contentType
            message.headerFields[.odataVersion] = version.rawValue
        }
        for (name, value) in request.headers {
            guard let name = HTTPField.Name(name) else { continue }
            message.headerFields[name] = value
        }
        return (message, body?.stream)
    }

    private func message(_ method: String, _ relative: String) throws(TransportError) -> HTTPRequest {
        let (method, override) = dialect.method(method)
        var message = try serviceRoot.request(method, url: serviceRoot.url(for: relative))
        if let override { message.headerFields[.httpMethod] = override }
        return message
    }

    /// Encodes a request of a batch, whose URL may refer to another request of the batch.
    ///
    /// - Returns: the method in a head without a URL, the fields, and the bytes of the body.
    func encodePart(_ request: ODataRequest) throws -> (HTTPRequest, HTTPFields, [UInt8]) {
        var fields = fields(of: request)
        let body = try body(of: request)
        if let body {
            fields[.contentType] = body.contentType
            fields[.odataVersion] = version.rawValue
        }
        for (name, value) in request.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields[name] = value
        }
        let (method, override) = dialect.method(dialect.methodName(request.method))
        if let override { fields[.httpMethod] = override }
        return (HTTPRequest(method: method, scheme: nil, authority: nil, path: nil), fields, body?.bytes ?? [])
    }

    /// Returns the header fields that do not depend on the body, in the order of the specification.
    private func fields(of request: ODataRequest) -> HTTPFields {
        var fields = HTTPFields()
        fields[.accept] = accept(of: request)
        fields[.odataMaxVersion] = ODataVersion.v401.rawValue
        if let etag = request.ifMatch { fields[.ifMatch] = etag }
        if let etag = request.ifNoneMatch { fields[.ifNoneMatch] = etag }
        // Services of 4.0 and 4.01 understand the names with the prefix.
        var preferences = request.preferences
        if case .batch = request.body, batchFormat == .json, !preferences.continueOnError {
            // A JSON batch continues after an error by default (OData JSON Format 4.01, 19.4).
            preferences.others.append(Preference.continueOnError(false).description(prefixed: version == .v4))
        }
        if let prefer = PreferenceFields.field(preferences, prefixed: version == .v4) { fields[.prefer] = prefer }
        // Services of 4.0 and 4.01 understand this name.
        if let isolation = request.isolation { fields[.odataIsolation] = isolation.rawValue }
        if let repeatability = request.repeatability { repeatability.write(to: &fields) }
        return fields
    }

    private func accept(of request: ODataRequest) -> String {
        let json = (request.format ?? ResponseFormat(isIEEE754Compatible: dialect.isIEEE754Compatible))
            .acceptedMediaType
        if request.link != nil { return json }
        if case .batch = request.body { return batchFormat == .json ? json : "multipart/mixed" }
        switch request.url.path.segments.last {
        case .metadata?: return "application/xml"
        case .count?: return "text/plain"
        case .value?: return request.method == .read ? "*/*" : json
        default: return json
        }
    }

    private struct Body {
        /// The bytes of the body, unless it is a stream.
        let bytes: [UInt8]
        var stream: ByteStream
        var contentType: String

        init(_ bytes: [UInt8], _ contentType: String = "application/json") {
            self.bytes = bytes
            stream = ByteStream(bytes)
            self.contentType = contentType
        }
    }

    private func body(of request: ODataRequest) throws -> Body? {
        let writer = PayloadWriter(
            model: model, format: ResponseFormat(metadata: .minimal, version: version))
        switch request.body {
        case .none: return nil
        case .entity(let entity): return Body(writer.requestEntity(entity))
        case .value(let value, let type):
            if case .value? = request.url.path.segments.last {
                return try Body(RawValue(value, type, model: model).bytes, RawValue.contentType(type))
            }
            return Body(writer.value(value, type: type, context: nil))
        case .parameters(let parameters):
            return Body(writer.parameters(parameters, of: operation(request)))
        case .reference(let id): return Body(writer.references([id], isCollection: false, context: nil))
        case .references(let ids): return Body(writer.references(ids, isCollection: true, context: nil))
        case .delta(let page): return try Body(delta(page, request))
        case .media(let stream, let contentType):
            var body = Body([], contentType)
            body.stream = stream
            return body
        case .batch(let items):
            let (bytes, contentType) = try BatchRequestWriter(encoder: self).write(items, format: batchFormat)
            return Body(bytes, contentType)
        }
    }

    /// Encodes changes to the members of a collection (OData Protocol 4.01, 11.4.12), a payload of 4.01 only.
    private func delta(_ page: EntityPage, _ request: ODataRequest) throws -> [UInt8] {
        let bound = try request.bound(in: model)
        guard case .entities(let shape, let set) = bound.resource.target else {
            throw ODataError(status: 400, code: "InvalidBody", message: "Changes are sent to a collection.")
        }
        return try PayloadWriter(model: model, format: ResponseFormat(version: .v401))
            .page(page, shape: shape, context: "#$delta", set: set?.name ?? "")
    }

    /// Returns the action that a request calls, whose parameter types determine the notation of values.
    private func operation(_ request: ODataRequest) -> ODataOperation? {
        guard request.link == nil, let bound = try? request.bound(in: model) else { return nil }
        guard case .operation(let operation, _)? = bound.resource.steps.last else { return nil }
        return operation
    }
}
