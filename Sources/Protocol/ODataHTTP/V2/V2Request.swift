import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// A decoded V2 request.
struct V2Request: Sendable {
    var request: ODataRequest
    /// The URL resolved against the service's model, in which a reference to another request of a batch is
    /// replaced.
    let resolved: ResolvedURL
    var bound: BoundURL { resolved.bound }
    /// The URL of the client, relative to the root.
    var relativeURL: String
    /// The format of the response.
    var format: PayloadFormat
    /// The requests of a batch in order, including unreadable ones.
    var parts: [Part] = []

    /// A request of a batch.
    struct Part: Sendable {
        var id: String
        var hasOwnID: Bool
        var changeSet: String?
        var result: Result<V2Request, ODataError>
    }
}

/// Decodes messages of V2 clients into requests (MS-ODATA, 2.2.7 and 3.2).
struct V2RequestDecoder {
    let addresses: V2Addresses
    /// The service root in requests.
    let serviceRoot: ServiceRoot
    let maxBodySize: Int

    private var model: V2Model { addresses.model }

    /// The maximum number of entities on a page, independent of the service. The following entities are behind next
    /// links (MS-ODATA, 2.2.6.3.2.1).
    static let maxPageSize = 1000

    /// Decodes a request.
    ///
    /// - Parameter references: the earlier requests of a batch by content id; `nil` outside a batch.
    /// - Throws: ``ODataError`` with a status that describes the fault.
    func decode(
        _ message: HTTPRequest, _ body: ByteStream, references: [String: V2Request]? = nil
    ) async throws -> V2Request {
        let fields = message.headerFields
        try requireVersion(fields)
        let text = try relativeURL(of: message)
        let (reference, resolved) = try bind(text, references: references ?? [:])
        let bound = resolved.bound
        let url = reference ?? resolved.url
        guard case .data(let method) = try RequestedMethod(message) else {
            throw ODataError(
                status: 405, code: "MethodNotAllowed", message: "\(message.method.rawValue) is not a method of OData.",
                allowedMethods: allowedMethods(bound))
        }
        let isBatch = bound.resource.target == .batch
        guard !isBatch || references == nil else {
            throw ODataError(status: 400, code: "NestedBatch", message: "A batch cannot contain another batch.")
        }
        let format = try V2Negotiation.format(fields, formatOption: url.options.format, representation(bound, method))
        let allowed = try self.method(method, bound)
        var request = reference.map { ODataRequest(allowed, $0) } ?? ODataRequest(allowed, resolved)
        request.ifMatch = Conditions.tags(fields[values: .ifMatch])
        request.ifNoneMatch = Conditions.tags(fields[values: .ifNoneMatch])
        request.repeatability = try Repeatability(RequestFields(fields))
        // A creation returns the entity, a change returns no content (MS-ODATA, 2.2.7.1.1 and 2.2.7.3).
        request.preferences.returns = request.method == .create ? .representation : .minimal
        // A feed is written from decoded entities, so its pages are limited even if V4 pages are streamed.
        if request.method == .read {
            request.preferences.maxPageSize = Self.maxPageSize
            let preferences = PreferenceFields.preferences(RequestFields(fields).prefer)
            request.preferences.trackChanges = preferences.trackChanges
        }
        if let id = fields[.requestID] { request.headers["X-Request-ID"] = id }
        var result = V2Request(
            request: request, resolved: resolved, relativeURL: text, format: format)
        if isBatch {
            result.parts = try await V2Batch(decoder: self, host: message).parts(body)
            result.request.body = .batch(result.parts.compactMap(Self.item))
        } else {
            result.request.body = try await self.body(body, bound, request, fields)
            result.request.body.removeETags()
        }
        return result
    }

    /// Returns the methods of a message's resource, for `Allow`.
    func allowedMethods(_ message: HTTPRequest) throws(ODataError) -> [String] {
        allowedMethods(try bind(try relativeURL(of: message), references: [:]).resolved.bound)
    }

    private func allowedMethods(_ bound: BoundURL) -> [String] {
        let names = MethodRules(bound.resource).names
        return names.contains("PATCH") ? names + ["MERGE"] : names
    }

    // MARK: URL

    func relativeURL(of message: HTTPRequest) throws(ODataError) -> String {
        let path = message.path ?? "/"
        guard path.utf8.count <= RequestDecoder.maxURLLength else {
            throw ODataError(status: 414, code: "URITooLong", message: "The URL is too long.")
        }
        guard let relative = serviceRoot.relative(path) ?? addresses.serviceRoot.relative(path) else {
            throw ODataError(
                status: 404, code: "NotFound", message: "\(path.prefix(200)) is not below \(serviceRoot.path).")
        }
        return relative
    }

    /// Parses and resolves a URL relative to the root.
    ///
    /// A URL that starts with `$1` continues at the entity of the request in the batch with this content id
    /// (MS-ODATA, 2.2.7.6.1).
    private func bind(
        _ text: String, references: [String: V2Request]
    ) throws(ODataError) -> (reference: ODataURL?, resolved: ResolvedURL) {
        do throws(QueryError) {
            if let (id, rest) = BatchReference.split(text), let referenced = references[id] {
                let parsed = try ODataURL(
                    parsing: rest.hasPrefix("/") ? String(rest.dropFirst()) : rest,
                    options: ParsingOptions(dialect: .v2))
                let base = BatchReference.path(
                    of: referenced.resolved.url, referenced.request.method, referenced.bound.resource,
                    model: model.visible)
                var joined = parsed
                joined.path.segments = base.segments + parsed.path.segments
                let resolved = try addresses.url(joined)
                var url = resolved
                url.path.segments.replaceSubrange(..<base.segments.count, with: [.name(Identifier("$" + id), .none)])
                return (url, try self.resolved(resolved))
            }
            return (nil, try resolved(V2Search.applying(to: try addresses.url(text))))
        } catch {
            throw ODataError(error)
        }
    }

    private func resolved(_ url: ODataURL) throws(QueryError) -> ResolvedURL {
        ResolvedURL(url: url, bound: try addresses.language.bind(url, model: model.service), model: model.service)
    }

    /// Returns the method. A function import for an action uses the method that its metadata state.
    private func method(_ stated: ODataRequest.Method, _ bound: BoundURL) throws(ODataError) -> ODataRequest.Method {
        let rules = MethodRules(bound.resource)
        guard rules.isAllowed(stated) else {
            throw .methodNotAllowed(stated, allowed: allowedMethods(bound))
        }
        return stated
    }

    private func requireVersion(_ fields: HTTPFields) throws(ODataError) {
        for name in [HTTPField.Name.dataServiceVersion, .maxDataServiceVersion] {
            guard let text = fields[name] else { continue }
            let number = text.prefix { $0 != ";" }.filter { $0 != " " }
            let isKnown = number == "1.0" || number == "2.0" || number == "3.0"
            guard isKnown, name == .maxDataServiceVersion || number != "3.0" else {
                throw ODataError(
                    status: 400, code: "UnsupportedVersion",
                    message: "\(name) is \(text.prefix(40)); 1.0 and 2.0 are understood.", target: name.rawName)
            }
        }
    }

    private func representation(_ bound: BoundURL, _ method: ODataRequest.Method) -> V2Negotiation.Representation {
        switch bound.resource.target {
        case .metadata: .metadata
        case .batch, .count, .rawValue: .fixed
        // The response to updates, deletions and link changes is 204 (MS-ODATA, 2.2.7.3 to 2.2.7.5).
        case .references where method != .read: .fixed
        case .operation(let operation) where operation.returnType == nil: .fixed
        case .entity, .property: [.update, .replace, .delete].contains(method) ? .fixed : .data
        default: .data
        }
    }

    // MARK: Bodies

    private func body(
        _ body: ByteStream, _ bound: BoundURL, _ request: ODataRequest, _ fields: HTTPFields
    ) async throws -> RequestBody {
        if case .operation(let operation) = bound.resource.target, operation.kind == .action {
            return .parameters(try parameters(operation, request.url.options))
        }
        switch (bound.resource.target, request.method) {
        case (_, .read), (_, .delete): return .none
        case (.entities(let shape, _), .create):
            let format = self.format(fields)
            if shape.hasStream, format == nil {
                return .media(body, contentType: fields[.contentType] ?? "application/octet-stream")
            }
            return .entity(try await entity(body, shape, fields))
        case (.entity(let shape, _), _): return .entity(try await entity(body, shape, fields))
        case (.rawValue(nil), _):
            return .media(body, contentType: fields[.contentType] ?? "application/octet-stream")
        case (.rawValue(let property?), _):
            let bytes = try await body.collect(limit: maxBodySize)
            return .value(try RawValue.read(bytes, property.type, model: model.service), property.type)
        case (.property(let property, let shape), _):
            let visible = model.visible.shape(shape.name)?.property(property.name) ?? property
            let bytes = try await content(body, fields)
            let decoder = try payloadDecoder(fields)
            let value = try Self.read { () throws(PayloadError) in
                try decoder.value(bytes, type: visible.type).value
            }
            return .value(
                try V2Values(model: model).stored(value, as: property.type, target: property.name), property.type)
        case (.references, _):
            let bytes = try await content(body, fields)
            let decoder = try payloadDecoder(fields)
            let ids = try Self.read { () throws(PayloadError) in try decoder.references(bytes).ids }
            guard let id = ids.first else {
                throw ODataError(status: 400, code: "InvalidReference", message: "The body has no uri.")
            }
            return .reference(try addresses.entityID(id))
        default: throw ODataError.notImplemented("this change")
        }
    }

    private func entity(_ body: ByteStream, _ shape: TypeShape, _ fields: HTTPFields) async throws -> ODataEntity {
        let bytes = try await content(body, fields)
        let decoder = try payloadDecoder(fields)
        let entity = try Self.read { () throws(PayloadError) in try decoder.entity(bytes, type: shape.name).entity }
        guard model.visible.isType(entity.shape.name, shape.name) else {
            throw ODataError(
                status: 400, code: "InvalidType", message: "\(entity.shape.name) does not derive from \(shape.name).")
        }
        return try V2Entities(addresses).stored(entity)
    }

    /// Reads a body; throws 400 with the position if it cannot be read.
    private static func read<Content>(_ body: () throws(PayloadError) -> Content) throws(ODataError) -> Content {
        do throws(PayloadError) {
            return try body()
        } catch {
            throw ODataError(body: error)
        }
    }

    private func format(_ fields: HTTPFields) -> PayloadFormat? {
        fields[.contentType].flatMap { PayloadFormat(contentType: $0, version: .v2) }
    }

    private func payloadDecoder(_ fields: HTTPFields) throws(ODataError) -> PayloadDecoder {
        guard let format = format(fields) else {
            throw ODataError(
                status: 415, code: "UnsupportedMediaType",
                message: "\(fields[.contentType]?.prefix(80) ?? "A body without Content-Type") cannot be read here; "
                    + "application/json and application/atom+xml can.", target: "Content-Type")
        }
        return PayloadDecoder(model: model.visible, format: format, strictness: .strict)
    }

    private func content(_ body: ByteStream, _ fields: HTTPFields) async throws -> [UInt8] {
        _ = try payloadDecoder(fields)
        let bytes = try await body.collect(limit: maxBodySize)
        guard !bytes.isEmpty else {
            throw ODataError(status: 400, code: "MissingBody", message: "The request has no body.")
        }
        return bytes
    }

    /// Returns the parameters of a function import, which are query options (MS-ODATA, 2.2.3.6.1).
    private func parameters(_ operation: ODataOperation, _ options: QueryOptions) throws -> [String: ODataValue] {
        var values: [String: ODataValue] = [:]
        let overload = model.service.overload(of: operation, taking: Set(options.custom.map(\.name)))
        for parameter in overload.ownParameters {
            guard let option = options.custom.first(where: { $0.name == parameter.name }) else {
                guard parameter.isNullable else {
                    throw ODataError(
                        status: 400, code: "MissingParameter",
                        message: "\(operation.name) needs the parameter \(parameter.name).", target: parameter.name)
                }
                continue
            }
            guard
                case .literal(let literal)? = try? CommonExpression(
                    parsing: option.value, options: ParsingOptions(dialect: .v2))
            else {
                throw ODataError(
                    status: 400, code: "InvalidValue", message: "\(parameter.name) is no literal.",
                    target: parameter.name)
            }
            values[parameter.name] = try V2Values(model: model).stored(
                literal.value, as: parameter.type, target: parameter.name)
        }
        return values
    }

    private static func item(_ part: V2Request.Part) -> BatchItem? {
        guard case .success(let read) = part.result else { return nil }
        return BatchItem(id: part.id, request: read.request, atomicityGroup: part.changeSet)
    }
}
