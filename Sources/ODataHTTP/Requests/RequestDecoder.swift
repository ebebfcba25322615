import HTTPTypes
import ODataModel
import ODataQuery
import ODataService

/// A request as a service understands it: the semantic request and what its answer must look like.
public struct IncomingRequest: Sendable {
    /// The request.
    public var request: ODataRequest
    /// The same URL resolved against the model.
    public var bound: BoundURL
    /// How the answer is written, links included.
    public var format: ResponseFormat
    /// `$batch`: whether the answer is JSON rather than multipart.
    public var answersBatchAsJSON: Bool
    /// `$batch`: the requests in it, those that cannot be read included.
    var parts: [IncomingPart] = []
    /// The URL with references to other requests of a batch put in: what ``bound`` comes from.
    var resolvedURL: ODataURL
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

    /// Where the service is.
    public let serviceRoot: ServiceRoot
    /// The service's model.
    public let model: EntityDataModel
    /// The most bytes of a body that is not media.
    public let maxBodySize: Int

    /// Makes a decoder.
    public init(
        serviceRoot: ServiceRoot, model: EntityDataModel, maxBodySize: Int = RequestDecoder.defaultMaxBodySize
    ) {
        self.serviceRoot = serviceRoot
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
        let fields = message.headerFields
        let version = try VersionHeaders(
            version: fields[.odataVersion], maxVersion: fields[.odataMaxVersion]
        ).responseVersion()
        if let isolation = fields[.odataIsolation] {
            throw ODataError(
                status: 412, code: "NoIsolation", message: "OData-Isolation \(isolation) cannot be given.",
                target: "OData-Isolation")
        }
        var method = try self.method(of: message)
        var text = try relativeURL(of: message)
        // A query in the body of a POST stands for one in the URL (OData URL Conventions 4.01, 4.17).
        if message.method == .post, let queried = try await queryInBody(text, fields, body) {
            text = queried
            method = .read
        }
        let (url, resolvedURL, bound) = try bind(text, references: references)
        try MethodRules(bound.resource).check(method)
        let agreement = try ContentNegotiation(
            accept: fields[values: .accept].isEmpty ? nil : fields[values: .accept].joined(separator: ","),
            formatOption: url.options.format, version: version
        ).agree(on: representation(of: bound.resource, method))
        var format = agreement.format
        format.serviceRoot = serviceRoot.resolved(for: message).description
        var request = ODataRequest(method, url, format: format)
        request.preferences = PreferenceFields.preferences(fields[values: .prefer])
        request.ifMatch = fields[.ifMatch]
        request.ifNoneMatch = fields[.ifNoneMatch]
        request.repeatability = try repeatability(fields)
        if let id = fields[.requestID] { request.headers["X-Request-ID"] = id }
        var incoming = IncomingRequest(
            request: request, bound: bound, format: format, answersBatchAsJSON: agreement.isJSON,
            resolvedURL: resolvedURL)
        if case .batch = bound.resource.target {
            incoming.parts = try await BatchRequestReader(decoder: self, host: message).read(body)
            incoming.request.body = .batch(incoming.parts.compactMap(\.item))
            // Without a wish in Accept, the answer is of the same kind as the question.
            if fields[.accept] == nil || fields[.accept] == "*/*" {
                incoming.answersBatchAsJSON =
                    fields[.contentType].flatMap { MediaType($0) }?.matches("application", "json") ?? false
            }
            return incoming
        }
        incoming.request.body = try await RequestBodyDecoder(
            decoder: self, method: method, bound: bound, fields: fields
        ).decode(body)
        return incoming
    }

    // MARK: Method and URL

    private func method(of message: HTTPRequest) throws(ODataError) -> ODataRequest.Method {
        if message.method == .head { return .read }
        guard let method = ODataRequest.Method(rawValue: message.method.rawValue) else {
            throw ODataError(
                status: 405, code: "MethodNotAllowed", message: "\(message.method.rawValue) is no method of OData.",
                allowedMethods: ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"])
        }
        return method
    }

    private func relativeURL(of message: HTTPRequest) throws(ODataError) -> String {
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

    private func queryInBody(_ text: String, _ fields: HTTPFields, _ body: ByteStream) async throws -> String? {
        let path = text.prefix { $0 != "?" }
        guard path.hasSuffix("/$query") else { return nil }
        guard let type = fields[.contentType].flatMap({ MediaType($0) }), type.matches("text", "plain") else {
            throw ODataError(
                status: 415, code: "UnsupportedMediaType", message: "The body of /$query must be text/plain.",
                target: "Content-Type")
        }
        let bytes = try await body.collect(limit: Self.maxURLLength)
        guard let query = String(validating: bytes, as: UTF8.self) else {
            throw ODataError(status: 400, code: "InvalidQuery", message: "The body of /$query is not UTF-8.")
        }
        let existing = text.dropFirst(path.count).dropFirst()
        let options = [String(existing), query].filter { !$0.isEmpty }.joined(separator: "&")
        return path.dropLast("/$query".count) + (options.isEmpty ? "" : "?" + options)
    }

    /// Reads and resolves a URL relative to the root.
    private func bind(
        _ text: String, references: [String: IncomingRequest]
    ) throws(ODataError) -> (ODataURL, resolved: ODataURL, BoundURL) {
        do throws(QueryError) {
            if let (id, rest) = reference(in: text), let referenced = references[id] {
                return try BatchReference(id: id, to: referenced, model: model).bind(rest)
            }
            var url = try ODataURL(parsing: text)
            if url.path.segments == [.entity], let id = url.options.id {
                url = try dereferenced(url, id)
            }
            return (url, url, try Binder(model: model).bind(url))
        } catch {
            throw ODataError(error)
        }
    }

    /// The request id at the start of a URL such as `$1/Items`.
    private func reference(in text: String) -> (id: String, rest: String)? {
        guard text.hasPrefix("$") else { return nil }
        let id = text.dropFirst().prefix { $0 != "/" && $0 != "?" }
        return (String(id), String(text.dropFirst(id.count + 1)))
    }

    /// The URL that `$entity?$id=…` stands for (OData URL Conventions 4.01, 4.8).
    private func dereferenced(_ url: ODataURL, _ id: String) throws(QueryError) -> ODataURL {
        guard let relative = serviceRoot.relative(id) else {
            throw QueryError(.unknownName, "\(id) is no entity of this service.", part: "$id")
        }
        var target = try ODataURL(parsing: relative)
        target.options = url.options
        target.options.id = nil
        return target
    }

    // MARK: Headers

    private func representation(
        of resource: BoundResource, _ method: ODataRequest.Method
    ) -> ContentNegotiation.Representation {
        switch resource.target {
        case .metadata: .metadata
        case .batch: .batch
        case .count: .text
        case .rawValue: method == .read ? .raw : .json
        case .property(let property, _) where property.type.primitive == .stream: .raw
        default: .json
        }
    }

    private func repeatability(_ fields: HTTPFields) throws(ODataError) -> Repeatability? {
        let id = fields[.repeatabilityRequestID]
        let sent = fields[.repeatabilityFirstSent]
        switch (id, sent) {
        case (nil, nil): return nil
        case (let id?, let sent?) where !id.isEmpty && HTTPDate.isValid(sent):
            return Repeatability(requestID: id, firstSent: sent, clientID: fields[.repeatabilityClientID])
        case (_?, let sent?) where !HTTPDate.isValid(sent):
            throw ODataError(
                status: 400, code: "InvalidHeader",
                message: "Repeatability-First-Sent is no HTTP date such as \"Sun, 06 Nov 1994 08:49:37 GMT\".",
                target: "Repeatability-First-Sent", repeatabilityResult: .rejected)
        default:
            throw ODataError(
                status: 400, code: "InvalidHeader",
                message: "Repeatability-Request-ID and Repeatability-First-Sent go together.",
                target: id == nil ? "Repeatability-Request-ID" : "Repeatability-First-Sent",
                repeatabilityResult: .rejected)
        }
    }
}

/// Which methods a resource has (OData Protocol 4.01, 11.1 to 11.5).
struct MethodRules {
    /// The methods allowed.
    let allowed: [ODataRequest.Method]

    init(_ resource: BoundResource) {
        let isEach = resource.steps.contains { if case .each = $0 { true } else { false } }
        switch resource.target {
        case .service, .metadata, .count, .all, .crossJoin: allowed = [.read]
        case .batch: allowed = [.create]
        case .entityByID: allowed = [.read, .update, .replace, .delete]
        case .entities: allowed = isEach ? [.update, .replace, .delete] : [.read, .create, .update, .replace, .delete]
        case .entity: allowed = [.read, .update, .replace, .delete, .create]
        case .property(let property, _):
            let isCollection = property.type.isCollection
            allowed = [.read, .update, .replace, .delete] + (isCollection ? [.create] : [])
        case .rawValue: allowed = [.read, .replace, .delete]
        case .references(_, _, _, let isCollection):
            allowed = isCollection ? [.read, .create, .replace, .delete] : [.read, .replace, .delete]
        case .operation(let operation): allowed = operation.kind == .action ? [.create] : [.read]
        }
    }

    func check(_ method: ODataRequest.Method) throws(ODataError) {
        guard allowed.contains(method) else {
            throw .methodNotAllowed(method, allowed: allowed.map(\.rawValue))
        }
    }
}

/// Dates in header fields (RFC 9110, 5.6.7), in the form that must be sent.
enum HTTPDate {
    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Whether a text is a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func isValid(_ text: String) -> Bool {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, parts[0].hasSuffix(","), days.contains(String(parts[0].dropLast())),
            let day = number(parts[1], 2), months.contains(parts[2]), number(parts[3], 4) != nil, parts[5] == "GMT"
        else { return false }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), 2) }
        guard time.count == 3, let hour = time[0], let minute = time[1], let second = time[2] else { return false }
        return (1...31).contains(day) && hour < 24 && minute < 60 && second <= 60
    }

    private static func number(_ text: String, _ digits: Int) -> Int? {
        text.utf8.count == digits && text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }
}
