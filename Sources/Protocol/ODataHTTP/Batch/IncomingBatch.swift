import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// A request of a received batch, readable or not.
struct IncomingPart: BatchMember, Sendable {
    /// The id of the request within the batch.
    var id: String
    /// The id that the client gave the request, which is returned in the response.
    var ownID: String?
    var atomicityGroup: String?
    var dependsOn: [String]
    /// The condition on earlier responses, which takes the place of their success.
    var condition: BatchCondition?
    /// The references to values in earlier responses.
    var values: [String: BatchValueReference]
    var result: Result<IncomingRequest, ODataError>

    /// The request for the provider; `nil` if it cannot be read.
    var item: BatchItem? {
        guard case .success(let incoming) = result else { return nil }
        return BatchItem(
            id: id, request: incoming.request, atomicityGroup: atomicityGroup, dependsOn: dependsOn,
            condition: condition, values: values)
    }
}

/// Reads the requests of a batch, each with the decoder of single requests (OData Protocol 4.01, 11.7).
struct IncomingBatch {
    let decoder: RequestDecoder
    /// The batch request. Its parts have the same host, and the same version unless they state another.
    let host: HTTPRequest

    func read(_ body: ByteStream) async throws -> [IncomingPart] {
        let parts = try await self.parts(body)
        var incoming: [IncomingPart] = []
        var references: [String: IncomingRequest] = [:]
        for (position, var part) in parts.enumerated() {
            // A repeated id refers to the first request with the id.
            let isRepeated = if case .duplicateID? = part.problem?.reason { true } else { false }
            let id = isRepeated ? nil : part.id
            let name = id ?? "part-\(position + 1)"
            let values: [String: BatchValueReference]
            (part.url, values) = BatchValueReference.replaced(in: part.url, ids: references.keys)
            var result: Result<IncomingRequest, ODataError>
            var condition: BatchCondition?
            do {
                if let problem = part.problem { throw ODataError(batch: problem) }
                condition = try part.condition.map { text throws(ODataError) in try self.condition(text) }
                let request = try await decoder.decode(
                    message(part), ByteStream(part.body), references: references)
                result = .success(request)
                references[name] = request
                if case .batch = request.bound.resource.target {
                    result = .failure(
                        ODataError(status: 400, code: "NestedBatch", message: "A batch cannot contain another batch."))
                }
            } catch let error as ODataError {
                result = .failure(error)
            }
            incoming.append(
                IncomingPart(
                    id: name, ownID: part.id, atomicityGroup: part.atomicityGroup, dependsOn: part.dependsOn,
                    condition: condition, values: values, result: result))
        }
        return incoming
    }

    private func condition(_ text: String) throws(ODataError) -> BatchCondition {
        do throws(QueryError) {
            return try BatchCondition(text)
        } catch {
            throw ODataError(status: 400, code: "InvalidBatch", message: "if: \(error.description)", target: "if")
        }
    }

    private func parts(_ body: ByteStream) async throws -> [BatchRequestPart] {
        let contentType = host.headerFields[.contentType] ?? ""
        guard let type = MediaType(contentType),
            type.matches("multipart", "mixed") || type.matches("application", "json")
        else {
            throw ODataError(
                status: 415, code: "UnsupportedMediaType",
                message: "A batch is multipart/mixed or application/json, not \(contentType.prefix(80)).",
                target: "Content-Type")
        }
        let tooLarge = ODataError(
            status: 413, code: "PayloadTooLarge", message: "The body exceeds \(decoder.maxBodySize) bytes.")
        guard body.length.map({ $0 <= decoder.maxBodySize }) ?? true else { throw tooLarge }
        do {
            var reader = try BatchRequestReader(contentType: contentType)
            var parts: [BatchRequestPart] = []
            var size = 0
            while let chunk = try await body.next() {
                size += chunk.count
                guard size <= decoder.maxBodySize else { throw tooLarge }
                reader.append(chunk)
                while let part = try reader.next() { parts.append(part) }
            }
            reader.finish()
            while let part = try reader.next() { parts.append(part) }
            return parts
        } catch let error as BatchError {
            throw ODataError(batch: error)
        }
    }

    /// The header fields that parts inherit from the batch unless they state them (OData Protocol 4.01, 8.1.5,
    /// 8.2.2, 8.2.3 and 8.2.7).
    private static let inherited: [HTTPField.Name] = [
        .odataVersion, .odataMaxVersion, .acceptCharset, .acceptLanguage, .isolation, .odataIsolation,
    ]

    private func message(_ part: BatchRequestPart) throws(ODataError) -> HTTPRequest {
        guard let method = HTTPRequest.Method(rawValue: part.method) else {
            throw ODataError(
                status: 400, code: "InvalidBatch", message: "\(part.method.prefix(40)) is not an HTTP method.")
        }
        // A reference to another request is not resolved as a relative URL.
        guard let relative = decoder.relative(part.url) else {
            throw ODataError(
                status: 404, code: "NotFound", message: "\(part.url.prefix(200)) is not an address of this service.")
        }
        var message = HTTPRequest(
            method: method, scheme: host.scheme, authority: host.authority, path: decoder.serviceRoot.path + relative)
        for name in Self.inherited { message.headerFields[name] = host.headerFields[name] }
        // `multipart/mixed` is requested for the batch, not for its parts.
        if let accept = host.headerFields[.accept], accept.contains("json") {
            message.headerFields[.accept] = accept
        }
        var fields = HTTPFields()
        for header in part.headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            fields.append(HTTPField(name: name, value: header.value))
        }
        for field in fields { message.headerFields[field.name] = nil }
        for field in fields { message.headerFields.append(field) }
        // JSON bodies in JSON batches need no media type (OData JSON Format 4.01, 19.1).
        if !part.body.isEmpty, message.headerFields[.contentType] == nil,
            part.body.first == UInt8(ascii: "{") || part.body.first == UInt8(ascii: "[")
        {
            message.headerFields[.contentType] = "application/json"
        }
        return message
    }
}

/// A URL that starts with the id of an earlier request in the batch, and thus with its entity (OData Protocol 4.01,
/// 11.7.3.1 *Referencing New Entities*).
///
/// The parsed URL starts with a segment named `$id`; the provider knows the result of the earlier request.
struct BatchReference {
    let id: String
    let model: EntityDataModel
    private let language: QueryLanguage
    private let standIn: ResourcePath

    init(id: String, to referenced: IncomingRequest, model: EntityDataModel, language: QueryLanguage) {
        self.id = id
        self.model = model
        self.language = language
        standIn = Self.path(
            of: referenced.resolved.url, referenced.request.method, referenced.bound.resource, model: model)
    }

    /// Splits a URL such as `$1/Items` after the id of the request.
    static func split(_ text: String) -> (id: String, rest: String)? {
        guard text.hasPrefix("$") else { return nil }
        let id = text.dropFirst().prefix { $0 != "/" && $0 != "?" }
        return (String(id), String(text.dropFirst(id.count + 1)))
    }

    /// Returns the path of the entity that a request creates or addresses. It suffices to determine types.
    static func path(
        of url: ODataURL, _ method: ODataRequest.Method, _ resource: BoundResource, model: EntityDataModel
    ) -> ResourcePath {
        var path = url.path
        guard method == .create, case .entities(let declared, _) = resource.target else { return path }
        let shape = model.shape(declared.name) ?? declared
        // The key is not known yet, but any key determines the type.
        let key = EntityKey(
            shape.key.map { EntityKey.Part(name: $0.name, value: anyValue(shape.property($0.path)?.type)) })
        if case .name(let name, .none)? = path.segments.last {
            path.segments.removeLast()
            path.segments.append(.name(name, .key(KeyPredicate(key, shape: shape, model: model))))
        } else {
            path.segments.append(.key(KeyPredicate(key, shape: shape, model: model)))
        }
        return path
    }

    /// Parses and resolves the text after the id.
    ///
    /// - Returns: the URL that starts with the id, and the URL with the referenced path in its place.
    func bind(_ rest: String) throws(QueryError) -> (reference: ODataURL?, resolved: ResolvedURL) {
        let text = rest.hasPrefix("/") ? String(rest.dropFirst()) : rest
        let parsed = try ODataURL(parsing: text)
        var resolved = parsed
        resolved.path.segments = standIn.segments + parsed.path.segments
        var url = parsed
        url.path.segments.insert(.name(Identifier("$" + id), .none), at: 0)
        return (url, ResolvedURL(url: resolved, bound: try language.bind(resolved, model: model), model: model))
    }

    private static func anyValue(_ type: TypeReference?) -> ODataValue {
        guard let primitive = type?.primitive else {
            if case .enumeration = type { return .enumeration(0) }
            return .string("")
        }
        for sample in ["0", "true", "2000-01-01", "00:00:00", "2000-01-01T00:00:00Z", "PT0S"]
        where primitive != .string {
            if let value = try? ODataValue(lexical: sample, type: primitive) { return value }
        }
        return primitive == .guid ? .guid(ODataGuid(high: 0, low: 0)) : .string("")
    }
}

extension ODataError {
    /// Creates the 400 error for a batch, or for a request in a batch, that cannot be read.
    init(batch error: BatchError) {
        self.init(status: 400, code: "InvalidBatch", message: error.description)
    }
}
