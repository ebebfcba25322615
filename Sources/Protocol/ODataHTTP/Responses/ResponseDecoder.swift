import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Decodes HTTP messages into responses for a client, tolerating unknown content (OData Protocol 4.01, 13.3).
///
/// ```swift
/// let decoder = ResponseDecoder(serviceRoot: root, model: model)
/// let response = try await decoder.decode(message, body: stream, to: request)
/// ```
public struct ResponseDecoder: Sendable {
    /// The default maximum size of a body that is decoded as a whole: 256 MiB.
    public static let defaultMaxBodySize = 256 << 20

    /// The root URL of the service.
    public let serviceRoot: ServiceRoot
    /// The model of the service.
    public let model: EntityDataModel
    /// The maximum size of a body that is decoded as a whole, in bytes.
    public let maxBodySize: Int
    /// The treatment of undeclared properties and unreadable values.
    public let strictness: Strictness

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - serviceRoot: the root URL of the service.
    ///   - model: the model of the service.
    ///   - maxBodySize: the maximum size of a body that is decoded as a whole, in bytes.
    ///   - strictness: the treatment of undeclared properties and unreadable values. With `forgiving`, an
    ///     unreadable value omits only its property.
    public init(
        serviceRoot: ServiceRoot, model: EntityDataModel, maxBodySize: Int = ResponseDecoder.defaultMaxBodySize,
        strictness: Strictness = .lenient
    ) {
        self.strictness = strictness
        self.serviceRoot = serviceRoot
        self.model = model
        self.maxBodySize = maxBodySize
    }

    /// Decodes a response.
    ///
    /// The request's URL determines the content of the body, or the context URL if a link was followed. A
    /// collection stays encoded if the request asks for a format.
    /// - Throws: ``ODataError`` if the service refuses the request or ends the body with an error object.
    ///   ``InvalidResponseError`` if the response cannot be read, and the errors of the stream.
    public func decode(
        _ message: HTTPResponse, body: ByteStream, to request: ODataRequest
    ) async throws -> ODataResponse {
        let status = message.status.code
        if status >= 400 {
            throw ErrorBody(await prefix(of: body, limit: ErrorBody.maxSize)).error(for: message)
        }
        var response = head(of: message)
        if (300..<400).contains(status), status != 304 {
            throw invalid(.redirect(to: message.headerFields[.location]), status, request)
        }
        // 202 announces an asynchronous response at Location (OData Protocol 4.01, 11.6).
        if status == 204 || status == 304 || status == 202, !isBatch(request) { return response }
        response.body = try await self.body(message, body, request)
        if case .encoded = response.body { response.baseURL = url(of: request) }
        if case .entity(var entity) = response.body {
            if entity.control.etag == nil {
                entity.control.etag = response.etag
                response.body = .entity(entity)
            }
            response.etag = response.etag ?? entity.control.etag
        }
        return response
    }

    // MARK: Head

    private func head(of message: HTTPResponse) -> ODataResponse {
        let fields = message.headerFields
        var response = ODataResponse(status: message.status.code)
        response.etag = fields[.eTag]
        response.location = fields[.location]
        response.entityID = fields[.odataEntityID]
        response.preferencesApplied = PreferenceFields.applied(fields[values: .preferenceApplied])
        response.repeatabilityResult = fields[.repeatabilityResult].flatMap {
            RepeatabilityResult(rawValue: HeaderTokens.trim($0).lowercased())
        }
        let known: Set<HTTPField.Name> = [
            .eTag, .location, .odataEntityID, .preferenceApplied, .repeatabilityResult, .contentType, .contentLength,
        ]
        for field in fields where !known.contains(field.name) { response.headers[field.name.rawName] = field.value }
        return response
    }

    private func isBatch(_ request: ODataRequest) -> Bool {
        if case .batch = request.body { true } else { false }
    }

    // MARK: Body

    private func body(
        _ message: HTTPResponse, _ stream: ByteStream, _ request: ODataRequest
    ) async throws -> ResponseBody {
        let contentType = message.headerFields[.contentType]
        let status = message.status.code
        if case .batch(let items) = request.body {
            let bytes = try await collect(stream, status, request)
            return .batch(try await BatchAnswers(decoder: self).read(bytes, contentType: contentType, to: items))
        }
        // Beside a link, the URL only shows that a stream is expected.
        if request.link == nil || request.url.path.segments.last == .value {
            switch request.url.path.segments.last {
            case .count?:
                let text = try await collect(stream, status, request, limit: Self.maxCountSize)
                return .count(try count(text, status, request))
            case .value? where request.method == .read:
                return .raw(stream, contentType: contentType ?? "application/octet-stream")
            case .metadata?:
                return .metadata(try await metadata(stream, status, request))
            default: break
            }
        }
        var kind = expectedContent(of: request)
        if case .stream = kind { return .raw(stream, contentType: contentType ?? "application/octet-stream") }
        guard let rest = try await withoutEmptiness(stream, contentType) else { return .none }
        let format = try format(message, rest.first, request)
        if case .json = format, request.format != nil, request.method == .read,
            kind?.isCollection ?? (request.link != nil)
        {
            return .encoded(rest.stream, contentType: contentType ?? ResponseFormat().mediaType)
        }
        let reader = PayloadDecoder(model: model, format: format, strictness: strictness)
        if case .collection(let shape, _)? = kind, shape === model.shape(shape.name) {
            return .page(try await page(rest.stream, shape, reader, status, request))
        }
        let bytes = try await collect(rest.stream, status, request)
        if kind == nil { kind = try content(toldBy: bytes, format, status, request) }
        return try await decode(bytes, as: kind, reader, status, request)
    }

    private func decode(
        _ bytes: [UInt8], as kind: ExpectedContent?, _ reader: PayloadDecoder, _ status: Int, _ request: ODataRequest
    ) async throws -> ResponseBody {
        do {
            switch kind {
            case .collection(let shape, let isResult):
                if isResult { return .page(try ResultRows.read(bytes, shape: shape, model: model)) }
                return .page(try await page(ByteStream(bytes), shape, reader, status, request))
            case .entity(let shape): return .entity(try reader.entity(bytes, type: shape.name).entity)
            case .value(let type): return .value(try reader.value(bytes, type: type).value, type)
            case .references:
                let payload = try reader.references(bytes)
                return .references(
                    payload.ids, isCollection: payload.isCollection, count: payload.count, nextLink: payload.nextLink)
            case .serviceDocument: return .serviceDocument
            case .stream, nil: throw invalid(.unknownContext(nil), status, request)
            }
        } catch let error as PayloadError {
            throw refusal(error, status, request)
        }
    }

    /// Decodes a metadata document as it arrives.
    private func metadata(
        _ stream: ByteStream, _ status: Int, _ request: ODataRequest
    ) async throws -> EntityDataModel {
        guard stream.length.map({ $0 <= maxBodySize }) ?? true else {
            throw invalid(.tooLarge(limit: maxBodySize), status, request)
        }
        do {
            return try await CSDLReader.read(chunks: stream, maxBytes: maxBodySize)
        } catch let error as CSDLError {
            if case .tooLarge(let limit) = error.reason { throw invalid(.tooLarge(limit: limit), status, request) }
            throw invalid(.malformed(error.description), status, request)
        }
    }

    /// Decodes a collection or delta as it arrives.
    private func page(
        _ stream: ByteStream, _ shape: TypeShape, _ decoder: PayloadDecoder, _ status: Int, _ request: ODataRequest
    ) async throws -> EntityPage {
        var reader = decoder.collection(type: shape.name)
        var page = EntityPage()
        var order = DeltaOrder()
        var isWhole = false
        var context: String?
        do {
            while let chunk = try await stream.next() {
                try reader.append(chunk)
                isWhole = try take(&reader, into: &page, &order, &context, request) || isWhole
            }
            try reader.finish()
            isWhole = try take(&reader, into: &page, &order, &context, request) || isWhole
        } catch let error as PayloadError {
            throw refusal(error, status, request)
        }
        // Rows that are missing from an incomplete collection must not be removed locally.
        guard isWhole else { throw invalid(.malformed("the collection has no end"), status, request) }
        if page.entities.contains(where: { !$0.related.isEmpty }) {
            for index in page.entities.indices {
                page.entities[index].resolveLinks { resolved($0, context, request) }
            }
        }
        order.settle(&page, keyInID: { KeyInID.key($0, shape: shape, model: model) })
        return page
    }

    /// Takes the complete elements; returns whether the end was among them.
    private func take(
        _ reader: inout EntityStreamReader, into page: inout EntityPage, _ order: inout DeltaOrder,
        _ context: inout String?, _ request: ODataRequest
    ) throws(PayloadError) -> Bool {
        var isWhole = false
        while let element = try reader.next() {
            switch element {
            case .entity(let entity): page.entities.append(entity)
            case .removed(let id, let entity, let reason):
                order.noteRemoval(behind: page.entities.count)
                page.removed.append(
                    RemovedEntity(
                        id: id ?? "", key: entity?.key, reason: RemovedEntity.Reason(rawValue: reason) ?? .changed))
            // Changed links also appear in the deltas of the entities, and a page does not store them.
            case .link, .deletedLink: break
            case .finished(let summary):
                isWhole = true
                context = summary.context
                page.count = summary.count
                page.nextLink = summary.nextLink.map { resolved($0, summary.context, request) }
                page.deltaLink = summary.deltaLink.map { resolved($0, summary.context, request) }
            }
        }
        return isWhole
    }

    // MARK: What the body is

    private func expectedContent(of request: ODataRequest) -> ExpectedContent? {
        // A followed link is opaque; a URL beside it shows the content that the link continues.
        guard !request.url.path.segments.isEmpty || request.link == nil else { return linkedContent(of: request) }
        guard let bound = try? request.bound(in: model) else { return nil }
        return ExpectedContent(bound, method: request.method, model: model)
    }

    /// Returns the content of a followed link. Bodies before V4 do not state their content, so it is derived from
    /// the path.
    private func linkedContent(of request: ODataRequest) -> ExpectedContent? {
        guard model.version < .v4, let link = request.link,
            let relative = serviceRoot.relative(LinkResolution.resolve(link, base: serviceRoot.description)),
            let url = try? ODataURL(
                parsing: String(relative.prefix { $0 != "?" }), options: ParsingOptions(dialect: .v2)),
            let bound = try? Binder(model: model).bind(url)
        else { return nil }
        return ExpectedContent(bound, method: request.method, model: model)
    }

    private func content(
        toldBy bytes: [UInt8], _ format: PayloadFormat, _ status: Int, _ request: ODataRequest
    ) throws -> ExpectedContent? {
        guard case .json = format else { throw invalid(.unknownContext(nil), status, request) }
        do {
            guard let text = try ContextMember.read(bytes) else { throw invalid(.unknownContext(nil), status, request) }
            guard let content = PayloadContext(text).content(in: model) else {
                throw invalid(.unknownContext(text), status, request)
            }
            return ExpectedContent(content)
        } catch let error as JSONError {
            throw invalid(.malformed(error.description), status, request)
        }
    }

    // MARK: Bytes

    /// The maximum size of a body that is a number.
    private static let maxCountSize = 4096

    private func collect(
        _ stream: ByteStream, _ status: Int, _ request: ODataRequest, limit: Int = .max
    ) async throws -> [UInt8] {
        let limit = min(limit, maxBodySize)
        do {
            return try await stream.collect(limit: limit)
        } catch let error as ODataError where error.status == 413 {
            throw invalid(.tooLarge(limit: limit), status, request)
        }
    }

    /// Returns the beginning of an error body, even if the body is incomplete.
    private func prefix(of stream: ByteStream, limit: Int) async -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit, let chunk = try? await stream.next() { bytes += chunk }
        return bytes
    }

    /// Returns the stream with the chunks that are needed to recognise its format, as UTF-8 if it is JSON; `nil` for an
    /// empty stream.
    private func withoutEmptiness(
        _ stream: ByteStream, _ contentType: String?
    ) async throws -> (stream: ByteStream, first: [UInt8])? {
        guard var first = try await stream.next() else { return nil }
        while first.count < 1024, start(of: first).count < Self.verboseStart.count, let chunk = try await stream.next()
        {
            first += chunk
        }
        let once = ByteStream(first)
        let joined = ByteStream(length: stream.length) {
            if let chunk = try await once.next() { return chunk }
            return try await stream.next()
        }
        let charset = contentType.flatMap { MediaType($0)?["charset"] }
        guard let encoding = BodyEncoding(of: first, charset: charset) else { return (joined, first) }
        var decoder = BodyDecoder(encoding)
        return (encoding.utf8(joined), decoder.decode(first))
    }

    private func count(_ bytes: [UInt8], _ status: Int, _ request: ODataRequest) throws -> Int64 {
        var text = HeaderTokens.trim(String(decoding: bytes.prefix(64), as: UTF8.self).filter { !$0.isNewline })
        // Some services write a byte order mark before the digits.
        if text.hasPrefix("\u{FEFF}") { text.removeFirst() }
        guard let count = Int64(text) else {
            throw invalid(.malformed("\"\(text.prefix(40))\" is no count"), status, request)
        }
        return count
    }

    /// Returns the format of a body from its media type, or from its beginning if the type is not specific.
    private func format(
        _ message: HTTPResponse, _ first: [UInt8], _ request: ODataRequest
    ) throws -> PayloadFormat {
        let contentType = message.headerFields[.contentType]
        let status = message.status.code
        let version = version(message)
        let start = start(of: first)
        let isObject = start.first == UInt8(ascii: "{") || start.first == UInt8(ascii: "[")
        if let contentType, let type = MediaType(contentType) {
            if type.matches("text", "html") || type.matches("application", "xhtml+xml") {
                let text = String(decoding: first.prefix(16_384), as: UTF8.self)
                throw invalid(.webPage(title: ErrorBody.title(of: text)), status, request)
            }
            if let format = PayloadFormat(contentType: contentType, version: version), case .atom = format, !isObject {
                return format
            }
            if type.isJSON || type.subtype == "json" { return json(version, start) }
        }
        // JSON with a wrong media type is accepted.
        guard isObject else { throw invalid(.mediaType(contentType), status, request) }
        return json(version, start)
    }

    /// Returns the beginning of a body without blanks and byte order mark.
    private func start(of bytes: [UInt8]) -> [UInt8] {
        Array(
            bytes.lazy.filter { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }.prefix(Self.verboseStart.count))
    }

    private static let verboseStart = Array("{\"d\"".utf8)

    /// Returns the JSON format of a version. V3 has two formats, of which the verbose one begins with `d`.
    private func json(_ version: ODataVersion, _ start: [UInt8]) -> PayloadFormat {
        if version >= .v4 { return .json(version) }
        let isVerbose = version < .v3 || start == Self.verboseStart
        return isVerbose ? .verboseJSON(version) : .json(version)
    }

    /// Returns the stated version of a response, limited to the versions that the metadata allow.
    private func version(_ message: HTTPResponse) -> ODataVersion {
        let fields = message.headerFields
        let stated = (fields[.odataVersion] ?? fields[.dataServiceVersion]).flatMap { text in
            ODataVersion(rawValue: HeaderTokens.trim(text.prefix { $0 != ";" }))
        }
        guard let stated else { return model.version }
        return model.version < .v4 ? min(stated, .v3) : max(stated, .v4)
    }

    // MARK: Errors

    private func resolved(_ link: String, _ context: String?, _ request: ODataRequest) -> String {
        LinkResolution.resolve(link, context: context, request: url(of: request))
    }

    private func url(of request: ODataRequest) -> String {
        serviceRoot.url(for: request.link ?? request.url.urlEncoded())
    }

    private func refusal(_ error: PayloadError, _ status: Int, _ request: ODataRequest) -> any Error {
        // An error object within a successful response is an error of the service (OData JSON Format 4.01, 21.2).
        if case .service(let payload) = error { return ODataError(payload, status: 500) }
        return invalid(.malformed(error.description), status, request)
    }

    func invalid(
        _ problem: InvalidResponseError.Problem, _ status: Int, _ request: ODataRequest
    ) -> InvalidResponseError {
        InvalidResponseError(status: status, problem: problem, url: String(url(of: request).prefix { $0 != "?" }))
    }
}

extension ODataEntity {
    /// Makes the next links of expanded collections absolute, at any depth.
    fileprivate mutating func resolveLinks(_ resolved: (String) -> String) {
        for (name, others) in related {
            switch others {
            case .many(var entities, let count, let link):
                for index in entities.indices { entities[index].resolveLinks(resolved) }
                related[name] = .many(entities, count: count, nextLink: link.map(resolved))
            case .one(var entity):
                entity.resolveLinks(resolved)
                related[name] = .one(entity)
            case .none, .references: continue
            }
        }
    }
}
