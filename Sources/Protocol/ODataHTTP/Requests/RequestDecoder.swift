import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

/// A request as a service understands it: the semantic request and what its answer must look like.
public struct IncomingRequest: Sendable {
    /// The request.
    public var request: ODataRequest
    /// The same URL resolved against the model.
    public var bound: BoundURL { resolved.bound }
    /// How the answer is written, links included.
    public var format: ResponseFormat
    /// What `Content-Type` says of an answer in JSON, spelled as the client spelled it.
    public var contentType: String
    /// Whether the client asked for a character set, which text then names.
    public var namesCharset: Bool
    /// Whether the answer is JSON, where it can be something else: multipart of `$batch`, XML of `$metadata`.
    public var answersAsJSON: Bool
    /// `$batch`: the requests in it, those that cannot be read included.
    var parts: [IncomingPart] = []
    /// Whether the client said if a batch goes on behind an error.
    var statesContinueOnError = false
    /// The URL with references to other requests of a batch put in, resolved.
    let resolved: ResolvedURL
}

/// Turns HTTP messages into semantic requests: the receiving half of a service, strict by purpose
/// (OData Protocol 4.01, 8.1, 8.2 and 11, and 13.1 on what a service must refuse).
///
/// ```swift
/// let decoder = RequestDecoder(serviceRoot: root, model: model)
/// let incoming = try await decoder.decode(message, body: stream)
/// ```
public struct RequestDecoder: Sendable {
    /// The most bytes of a body that is not media, unless another limit is set.
    public static let defaultMaxBodySize = 64 << 20
    /// The most bytes of a URL below the service root.
    public static let maxURLLength = 65_536

    /// Where the service is: what requests name.
    public let serviceRoot: ServiceRoot
    /// Where clients see the service, through a proxy perhaps: what links start with.
    public let publicRoot: ServiceRoot
    /// The service's model.
    public let model: EntityDataModel
    /// The most bytes of a body that is not media.
    public let maxBodySize: Int
    /// The features of the service besides its model.
    public let traits: ProviderTraits

    var queryLanguage: QueryLanguage { traits.queryLanguage }

    /// Makes a decoder.
    ///
    /// - Parameters:
    ///   - serviceRoot: where the service is.
    ///   - publicRoot: where clients see it; the same place unless a proxy stands between.
    ///   - model: the service's model.
    ///   - maxBodySize: the most bytes of a body that is not media.
    ///   - traits: the features of the service besides its model. All decoders of one query language share the URLs that
    ///     were read before.
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

    /// Reads a request.
    ///
    /// - Throws: ``ODataError`` with the status that says what is wrong: 400 with the place for what cannot be
    ///   read, 404 for what does not exist, 405 with what is allowed, 406, 412, 413, 414, 415, 501.
    public func decode(_ message: HTTPRequest, body: ByteStream) async throws -> IncomingRequest {
        try await decode(message, body, references: [:])
    }

    /// Reads a request that may refer to earlier ones of the same batch by their ids.
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
                    status: 405, code: "MethodNotAllowed", message: "A query in the body comes with POST.",
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
        // Nothing that is served keeps an order of its own that members could be put into (11.4.9.4): an option that has
        // no effect must not be taken as if it had one (11.2.1).
        guard url.options.index == nil else { throw ODataError.notImplemented("$index") }
        var method: ODataRequest.Method
        switch requested {
        case .data(let stated): method = stated
        case .other(let name):
            throw ODataError(
                status: 405, code: "MethodNotAllowed", message: "\(name.prefix(40)) is no method of OData.",
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
        // A reference leads to an entity that only the provider knows.
        var request =
            reference.map { ODataRequest(method, $0, format: format) } ?? ODataRequest(method, resolved, format: format)
        request.preferences = preferences
        // What is no list of entity tags is the tag of nothing: a request that depends on it is not processed, and one that
        // is not to happen for it, happens.
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
                // A batch in JSON goes on unless it is told not to (OData JSON Format 4.01, 19.4).
                incoming.request.preferences.continueOnError = true
            }
            incoming.parts = try await IncomingBatch(decoder: self, host: message).read(body)
            incoming.request.body = .batch(incoming.parts.compactMap(\.item))
            // Without a wish in Accept, the answer is of the same kind as the question.
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

    /// Takes an entity tag within the body of an update for a condition, as `If-Match` is one (Protocol 4.01, 11.4.3).
    ///
    /// - Throws: 412 where the field asks for another one.
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

    /// Refuses related entities within an update of 4.0. A client that sends back what it has read expanded does not mean that all
    /// others are to be related no more (Protocol 4.01, 11.4.3.1).
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

    /// The methods that the resource of a request has, as `Allow` lists them: what OPTIONS asks for.
    ///
    /// - Throws: ``ODataError`` when the URL names nothing.
    func allowedMethods(_ message: HTTPRequest) throws(ODataError) -> [String] {
        let text = try relativeURL(of: message)
        if QueryInBody(text) != nil { return ["POST"] }
        return MethodRules(try bind(text, references: [:]).resolved.bound.resource).names
    }

    // MARK: URL

    /// What of a request's URL stands below the service root.
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

    /// What of a URL within a body stands below the root, as clients see it or as it is.
    func relative(_ url: String) -> String? { publicRoot.relative(url) ?? serviceRoot.relative(url) }

    /// Reads a URL relative to the service root, as requests name it; one that was read before is found by its text.
    ///
    /// - Throws: ``ODataError`` 400 with the place for what cannot be read, 404 for names that the model does not have.
    public func url(_ text: String) throws(ODataError) -> ODataURL { try bind(text, references: [:]).resolved.url }

    /// Reads and resolves a URL relative to the root.
    ///
    /// - Returns: the URL as it was read if it refers to another request of the batch, and the URL resolved.
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

    /// The URL that `$entity?$id=…` stands for (OData URL Conventions 4.01, 4.8).
    private func dereferenced(_ url: ODataURL, _ id: String) throws(QueryError) -> ODataURL {
        guard let relative = relative(id) else {
            throw QueryError(.unknownName, "\(id) is no entity of this service.", part: "$id")
        }
        var target = try ODataURL(parsing: relative)
        target.path.segments += url.path.segments.dropFirst()
        target.options = url.options
        target.options.id = nil
        return target
    }

    // MARK: Headers

    /// The isolation that is asked for; what cannot be given must not be left out (Protocol 8.2.6).
    private func isolation(_ fields: RequestFields) throws(ODataError) -> ODataRequest.Isolation? {
        // Where both stand, the name of 4.01 counts.
        let name: HTTPField.Name = fields.isolation == nil ? .odataIsolation : .isolation
        guard let text = fields.isolation ?? fields.odataIsolation else { return nil }
        guard traits.supportsIsolation, let isolation = ODataRequest.Isolation(rawValue: HeaderTokens.trim(text)) else {
            throw ODataError(
                status: 412, code: "NoIsolation", message: "\(name) \(text.prefix(40)) cannot be given.",
                target: name.rawName)
        }
        return isolation
    }

    /// Bodies are taken as they are: a packed one would be stored packed, or be no JSON (RFC 9110, 8.4.1).
    private func requireIdentity(_ fields: RequestFields) throws(ODataError) {
        guard let coding = fields.contentEncoding.map({ HeaderTokens.trim($0).lowercased() }),
            !coding.isEmpty, coding != "identity"
        else { return }
        throw ODataError(
            status: 415, code: "UnsupportedMediaType", message: "Request bodies come unpacked, not in \(coding).",
            target: "Content-Encoding")
    }

    /// Conditions state the tag of one resource: a batch has none (Protocol 8.2.4), nor has a collection.
    private func requireSingleResource(
        _ request: ODataRequest, _ resource: BoundResource
    ) throws(ODataError) {
        switch resource.target {
        case .batch:
            guard request.ifMatch == nil, request.ifNoneMatch == nil else {
                throw ODataError(
                    status: 400, code: "InvalidHeader",
                    message: "Conditions are stated on the requests of a batch, not on the batch.",
                    target: request.ifMatch == nil ? "If-None-Match" : "If-Match")
            }
        // `*` asks for no tag in particular, and what is changed of a collection are members that exist.
        case .entities where request.ifMatch == "*" && [.update, .replace, .delete].contains(request.method): break
        case .entities where request.method != .read && request.ifMatch != nil:
            throw ODataError(
                status: 412, code: "PreconditionFailed", message: "A collection has no entity tag that could match.",
                target: "If-Match")
        default:
            guard let ifMatch = request.ifMatch, ifMatch != "*", resource.callsWithoutEntity else { return }
            throw ODataError(
                status: 412, code: "PreconditionFailed",
                message: "The operation is bound to no single entity whose entity tag could match.", target: "If-Match")
        }
    }

    /// `return` is a preference of single requests (Protocol 8.2.8.7).
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
    /// Whether the response of a change has no body (OData Protocol 4.01, 11.4.2 to 11.4.9 and 8.2.8.7), unless the change
    /// creates an entity that was to be updated.
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
    /// Whether an operation is called that is bound to nothing or to a collection.
    fileprivate var callsWithoutEntity: Bool {
        for case .operation(let operation, _) in steps {
            return !operation.isBound || operation.parameters.first?.type.isCollection == true
        }
        return false
    }
}
