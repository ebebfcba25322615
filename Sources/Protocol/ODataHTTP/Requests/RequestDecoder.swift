import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

/// A decoded request and the required form of its response.
public struct IncomingRequest: Sendable {
    /// The request.
    public var request: ODataRequest
    /// The same URL resolved against the model.
    public var bound: BoundURL { resolved.bound }
    /// The format of the response, including links.
    public var format: ResponseFormat
    /// The `Content-Type` of a JSON response, in the notation of the client.
    public var contentType: String
    /// Whether the client requested a character set, which a text response then states.
    public var namesCharset: Bool
    /// Whether the response is JSON, if multipart (`$batch`) or XML (`$metadata`) is possible too.
    public var answersAsJSON: Bool
    /// The requests of a batch, including unreadable ones.
    var parts: [IncomingPart] = []
    /// Whether the client states `continue-on-error`.
    var statesContinueOnError = false
    /// The resolved URL, in which references to other requests of a batch are replaced.
    let resolved: ResolvedURL
}

/// Decodes HTTP messages into requests for a service, strictly as the standard requires (OData Protocol 4.01, 8.1,
/// 8.2, 11 and 13.1).
///
/// ```swift
/// let decoder = RequestDecoder(serviceRoot: root, model: model)
/// let incoming = try await decoder.decode(message, body: stream)
/// ```
public struct RequestDecoder: Sendable {
    /// The default maximum size of a body other than a stream: 64 MiB.
    public static let defaultMaxBodySize = 64 << 20
    /// The maximum length of a URL below the service root, in bytes.
    public static let maxURLLength = 65_536

    /// The service root in requests.
    public let serviceRoot: ServiceRoot
    /// The service root in links, which may be that of a proxy.
    public let publicRoot: ServiceRoot
    /// The model of the service.
    public let model: EntityDataModel
    /// The maximum size of a body other than a stream, in bytes.
    public let maxBodySize: Int
    /// The features of the service that are not part of its model.
    public let traits: ProviderTraits

    var queryLanguage: QueryLanguage { traits.queryLanguage }

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - serviceRoot: the service root in requests.
    ///   - publicRoot: the service root in links; the same unless there is a proxy.
    ///   - model: the model of the service.
    ///   - maxBodySize: the maximum size of a body other than a stream, in bytes.
    ///   - traits: the features of the service that are not part of its model. Decoders with the same query
    ///     language share the cache of resolved URLs.
    public init(
        serviceRoot: ServiceRoot, publicRoot: ServiceRoot? = nil, model: EntityDataModel,
        maxBodySize: Int = RequestDecoder.defaultMaxBodySize, traits: ProviderTraits = .standard
    ) {
        self.traits = traits
        self.serviceRoot = serviceRoot
        self.publicRoot = publicRoot ?? serviceRoot
        self.model = model
        self.maxBodySize = maxBodySize
    }

    /// Decodes a request.
    ///
    /// - Throws: ``ODataError`` with a status that describes the fault: 400 with the position in an unreadable
    ///   text, 405 with the allowed methods, or 404, 406, 412, 413, 414, 415, 501.
    public func decode(_ message: HTTPRequest, body: ByteStream) async throws -> IncomingRequest {
        try await decode(message, body, references: [:])
    }

    /// Decodes a request that may refer to earlier requests of the same batch.
    func decode(
        _ message: HTTPRequest, _ body: ByteStream, references: [String: IncomingRequest]
    ) async throws -> IncomingRequest {
        let fields = RequestFields(message.headerFields)
        let versions = VersionHeaders(fields)
        let version = try versions.responseVersion()
        let isolation = try isolation(fields)
        try requireIdentity(fields)
        let requested = try RequestedMethod(message.method, fields)
        var text = try relativeURL(of: message)
        let query = QueryInBody(text)
        if let query {
            guard requested == .data(.create) else {
                throw ODataError(
                    status: 405, code: "MethodNotAllowed", message: "A query in the body requires POST.",
                    allowedMethods: ["POST"])
            }
            text = try await query.url(message.headerFields, body)
        }
        if queryLanguage.hasAddresses, requested == .data(.read) || query != nil, BatchReference.split(text) == nil,
            let url = try? RequestURL(text).parsed(), let address = try await queryLanguage.address(of: url)
        {
            text = address.urlEncoded()
        }
        let (reference, resolved) = try bind(text, references: references)
        let bound = resolved.bound
        let url = reference ?? resolved.url
        if let schemaVersion = url.options.schemaVersion { try SchemaVersion(model).check(schemaVersion) }
        // No supported resource is ordered (11.4.9.4), and an option without effect must be refused (11.2.1).
        guard url.options.index == nil else { throw ODataError.notImplemented("$index") }
        var method: ODataRequest.Method
        switch requested {
        case .data(let stated): method = stated
        case .other(let name):
            throw ODataError(
                status: 405, code: "MethodNotAllowed", message: "\(name.prefix(40)) is not a method of OData.",
                allowedMethods: MethodRules(bound.resource).names)
        }
        if query != nil { method = .read }
        try MethodRules.check(method, of: bound.resource)
        let preferences = PreferenceFields.preferences(fields.prefer)
        let agreement = try ContentNegotiation(
            fields, formatOption: url.options.format, versions: versions, version: version
        )
        .agree(on: representation(of: bound.resource, method, preferences))
        var format = agreement.format
        format.serviceRoot = publicRoot.resolved(for: message).description
        // Only the provider knows the entity of a reference.
        var request =
            reference.map { ODataRequest(method, $0, format: format) } ?? ODataRequest(method, resolved, format: format)
        request.preferences = preferences
        // A text that is not a list of entity tags matches no resource.
        request.ifMatch = fields.ifMatch
        request.ifNoneMatch = fields.ifNoneMatch
        try requireSingleResource(request, bound.resource)
        request.repeatability = try Repeatability(fields)
        request.isolation = isolation
        if let id = fields.requestID { request.headers["X-Request-ID"] = id }
        if let slug = fields.slug { request.headers["Slug"] = slug }
        var incoming = IncomingRequest(
            request: request, format: format, contentType: agreement.contentType,
            namesCharset: agreement.namesCharset, answersAsJSON: agreement.isJSON, resolved: resolved)
        if case .batch = bound.resource.target {
            try requireNoReturn(request.preferences)
            let type = message.headerFields[.contentType].flatMap { MediaType($0) }
            let isJSON = type?.matches("application", "json") ?? false
            incoming.statesContinueOnError = PreferenceFields.statesContinueOnError(fields.prefer)
            if isJSON, !incoming.statesContinueOnError {
                // A JSON batch continues after an error by default (OData JSON Format 4.01, 19.4).
                incoming.request.preferences.continueOnError = true
            }
            incoming.parts = try await IncomingBatch(decoder: self, host: message).read(body)
            incoming.request.body = .batch(incoming.parts.compactMap(\.item))
            // Without Accept, the response has the format of the request.
            if fields.accept == nil || fields.accept == "*/*" {
                incoming.answersAsJSON = isJSON
            }
            return incoming
        }
        incoming.request.body = try await RequestBodyDecoder(
            decoder: self, method: method, bound: bound, fields: message.headerFields
        ).decode(body)
        if versions.payloadVersion >= .v401 {
            try Self.addCondition(ofBodyTo: &incoming.request, bound.resource)
        } else {
            try Self.requireNoInlineEntities(incoming.request)
            incoming.request.body.removeETags()
        }
        try checkReferences(of: incoming.request)
        return incoming
    }

    /// Treats an entity tag in the body of an update as a condition like `If-Match` (Protocol 4.01, 11.4.3).
    ///
    /// - Throws: 412 if it contradicts the field.
    private static func addCondition(
        ofBodyTo request: inout ODataRequest, _ resource: BoundResource
    ) throws(ODataError) {
        guard request.method == .update || request.method == .replace, case .entity = resource.target,
            case .entity(let entity) = request.body, let etag = entity.control.etag, etag != "*"
        else { return }
        guard Conditions.allowRead(request.ifMatch, of: etag) else {
            throw .preconditionFailed(request.url.urlEncoded())
        }
        request.ifMatch = etag
    }

    /// Refuses related entities in a 4.0 update.
    ///
    /// A client that returns an expanded entity does not intend to unlink all other related entities (Protocol
    /// 4.01, 11.4.3.1).
    ///
    /// - Throws: 400 with the navigation property as target.
    private static func requireNoInlineEntities(_ request: ODataRequest) throws(ODataError) {
        guard request.method == .update || request.method == .replace, let name = request.body.inlineNavigation else {
            return
        }
        throw ODataError(
            status: 400, code: "InlineEntities",
            message: "An update of OData 4.0 holds no related entities, as \(name) does. Relate entities by "
                + "\(name)@odata.bind, or send OData-Version: 4.01.", target: name)
    }

    /// Returns the methods of a request's resource, for `Allow` in the response to OPTIONS.
    ///
    /// - Throws: ``ODataError`` if the URL addresses no resource.
    func allowedMethods(_ message: HTTPRequest) throws(ODataError) -> [String] {
        let text = try relativeURL(of: message)
        if QueryInBody(text) != nil { return ["POST"] }
        return MethodRules(try bind(text, references: [:]).resolved.bound.resource).names
    }

    // MARK: URL

    /// Returns the part of a request's URL after the service root.
    func relativeURL(of message: HTTPRequest) throws(ODataError) -> String {
        let path = message.path ?? "/"
        guard path.utf8.count <= Self.maxURLLength else {
            throw ODataError(
                status: 414, code: "URITooLong", message: "The URL exceeds \(Self.maxURLLength) bytes.")
        }
        guard let relative = serviceRoot.relative(path) else {
            throw ODataError(
                status: 404, code: "NotFound", message: "\(path.prefix(200)) is not below \(serviceRoot.path).")
        }
        return relative
    }

    /// Returns the part of a URL in a body after the public or internal service root.
    func relative(_ url: String) -> String? { publicRoot.relative(url) ?? serviceRoot.relative(url) }

    /// Parses a URL relative to the service root, or finds it in the cache.
    ///
    /// - Throws: ``ODataError`` 400 with the position in an unreadable URL, 404 for names that the model does not
    ///   have.
    public func url(_ text: String) throws(ODataError) -> ODataURL { try bind(text, references: [:]).resolved.url }

    /// Parses and resolves a URL relative to the service root.
    ///
    /// - Returns: the parsed URL if it refers to another request of the batch, and the resolved URL.
    func bind(
        _ text: String, references: [String: IncomingRequest]
    ) throws(ODataError) -> (reference: ODataURL?, resolved: ResolvedURL) {
        do throws(QueryError) {
            if let (id, rest) = BatchReference.split(text), let referenced = references[id] {
                return try BatchReference(id: id, to: referenced, model: model, language: queryLanguage).bind(rest)
            }
            let resolved = try queryLanguage.urls.find(text, model) { () throws(QueryError) in try resolve(text) }
            return (nil, resolved)
        } catch {
            throw ODataError(error)
        }
    }

    private func resolve(_ text: String) throws(QueryError) -> ResolvedURL {
        var url = try RequestURL(text).parsed()
        let isByID = url.path.segments.first == .entity
        if isByID, let id = url.options.id { url = try dereferenced(url, id) }
        return ResolvedURL(url: url, bound: try queryLanguage.bind(url, model: model), model: model, isByID: isByID)
    }

    /// Returns the URL of the entity that `$entity?$id=…` identifies (OData URL Conventions 4.01, 4.8).
    private func dereferenced(_ url: ODataURL, _ id: String) throws(QueryError) -> ODataURL {
        guard let relative = relative(id) else {
            throw QueryError(.unknownName, "\(id) is no entity of this service.", part: "$id")
        }
        var target = try ODataURL(parsing: relative)
        // Collections, properties and documents have URLs but are no entities.
        guard case .entity = try queryLanguage.bind(ODataURL(path: target.path), model: model).resource.target else {
            throw QueryError(.unknownName, "\(id) is no entity of this service.", part: "$id")
        }
        target.path.segments += url.path.segments.dropFirst()
        target.options = url.options
        target.options.id = nil
        return target
    }

    // MARK: Headers

    /// Returns the requested isolation. An unsupported isolation must be refused (Protocol 8.2.6).
    private func isolation(_ fields: RequestFields) throws(ODataError) -> ODataRequest.Isolation? {
        // The 4.01 name takes precedence.
        let name: HTTPField.Name = fields.isolation == nil ? .odataIsolation : .isolation
        guard let text = fields.isolation ?? fields.odataIsolation else { return nil }
        guard traits.supportsIsolation, let isolation = ODataRequest.Isolation(rawValue: HeaderTokens.trim(text)) else {
            throw ODataError(
                status: 412, code: "NoIsolation", message: "\(name) \(text.prefix(40)) cannot be given.",
                target: name.rawName)
        }
        return isolation
    }

    /// Refuses encoded bodies, which would be stored compressed or could not be parsed (RFC 9110, 8.4.1).
    private func requireIdentity(_ fields: RequestFields) throws(ODataError) {
        guard let coding = fields.contentEncoding.map({ HeaderTokens.trim($0).lowercased() }),
            !coding.isEmpty, coding != "identity"
        else { return }
        throw ODataError(
            status: 415, code: "UnsupportedMediaType",
            message: "The body is compressed (\(coding)). Send it without Content-Encoding.",
            target: "Content-Encoding")
    }

    /// Refuses conditions on batches (Protocol 8.2.4) and collections, since an entity tag belongs to one resource.
    private func requireSingleResource(
        _ request: ODataRequest, _ resource: BoundResource
    ) throws(ODataError) {
        switch resource.target {
        case .batch:
            guard request.ifMatch == nil, request.ifNoneMatch == nil else {
                throw ODataError(
                    status: 400, code: "InvalidHeader",
                    message: "A batch has no conditions. State them on its requests.",
                    target: request.ifMatch == nil ? "If-None-Match" : "If-Match")
            }
        // `*` matches any tag, and the changed members of a collection exist.
        case .entities where request.ifMatch == "*" && [.update, .replace, .delete].contains(request.method): break
        case .entities where request.method != .read && request.ifMatch != nil:
            throw ODataError(
                status: 412, code: "PreconditionFailed", message: "A collection has no entity tag that could match.",
                target: "If-Match")
        default:
            guard let ifMatch = request.ifMatch, ifMatch != "*", resource.callsWithoutEntity else { return }
            throw ODataError(
                status: 412, code: "PreconditionFailed",
                message: "The operation is not bound to a single entity, so no entity tag can match.",
                target: "If-Match")
        }
    }

    /// Refuses `return` on a batch; it is a preference of single requests (Protocol 8.2.8.7).
    private func requireNoReturn(_ preferences: Preferences) throws(ODataError) {
        guard let returns = preferences.returns else { return }
        throw ODataError(
            status: 400, code: "InvalidHeader",
            message: "return=\(returns.rawValue) is preferred on the requests of a batch, not on the batch.",
            target: "Prefer")
    }

    private func representation(
        of resource: BoundResource, _ method: ODataRequest.Method, _ preferences: Preferences
    ) -> ContentNegotiation.Representation {
        switch resource.target {
        case .metadata: .metadata
        case .batch: .batch
        case _ where Self.hasNoBody(resource, method, preferences): .nothing
        case .count: .text
        case .rawValue: method == .read ? .raw : .json
        case .property(let property, _) where property.type.primitive == .stream: .raw
        default: .json
        }
    }
    /// Returns whether the response to a change has no body (OData Protocol 4.01, 11.4.2 to 11.4.9 and 8.2.8.7).
    ///
    /// The result ignores updates that create their entity, which may have a response body.
    private static func hasNoBody(
        _ resource: BoundResource, _ method: ODataRequest.Method, _ preferences: Preferences
    ) -> Bool {
        if method == .read { return false }
        switch resource.target {
        case .operation(let operation): return operation.returnType == nil
        case .references: return true
        default: break
        }
        return switch (method, preferences.returns) {
        case (.delete, _), (_, .minimal): true
        case (_, .representation), (.create, _): false
        default: true
        }
    }
}

extension BoundResource {
    /// Whether the path calls an operation that is unbound or bound to a collection.
    fileprivate var callsWithoutEntity: Bool {
        for case .operation(let operation, _) in steps {
            return !operation.isBound || operation.parameters.first?.type.isCollection == true
        }
        return false
    }
}
