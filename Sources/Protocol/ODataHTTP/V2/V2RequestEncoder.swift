import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Encodes requests of a client as messages to services of OData 1.0 to 3.0 (MS-ODATA, 2.2; OData 3.0 Core).
///
/// It translates V4 requests to the notation of V2. A feature that V2 cannot express is refused with status 501 and
/// its name, before the request is sent.
struct V2RequestEncoder {
    let serviceRoot: ServiceRoot
    let model: EntityDataModel
    let dialect: MessageDialect

    /// An encoded request, in a batch or alone.
    struct Parts {
        var method: String
        /// The URL relative to the service root, or an absolute link.
        var url: String
        var fields: HTTPFields
        var body: [UInt8]?
        var stream: ByteStream?
    }

    private var version: ODataVersion { min(dialect.version, .v3) }

    // MARK: Requests

    /// Encodes a request.
    ///
    /// - Throws: ``ODataError`` with status 501 for features that V2 cannot express, 400 for a body that cannot be
    ///   encoded.
    func parts(_ request: ODataRequest) throws -> Parts {
        let call = try functionImport(request)
        let url = try request.link ?? call?.url ?? self.url(request.url)
        var parts = Parts(
            method: call?.method ?? dialect.methodName(request.method), url: url, fields: fields(of: request))
        if call == nil { try write(request, to: &parts) }
        if parts.body != nil || parts.stream != nil {
            parts.fields[.dataServiceVersion] = version == .v3 ? "3.0" : "2.0"
        }
        for (name, value) in request.headers {
            guard let name = HTTPField.Name(name) else { continue }
            parts.fields[name] = value
        }
        return parts
    }

    private func fields(of request: ODataRequest) -> HTTPFields {
        var fields = HTTPFields()
        fields[.accept] = accept(of: request)
        fields[.maxDataServiceVersion] = version == .v3 ? "3.0" : "2.0"
        if let etag = request.ifMatch { fields[.ifMatch] = etag }
        if let etag = request.ifNoneMatch { fields[.ifNoneMatch] = etag }
        // V3 has one preference, V2 none (OData 3.0 Core, 8.4).
        if version == .v3, request.method != .read, let returns = request.preferences.returns {
            fields[.prefer] = returns == .minimal ? "return-no-content" : "return-content"
        }
        // Some services support the V4 preference for V2 clients too; others ignore it (RFC 7240, 2).
        if request.method == .read, request.preferences.trackChanges { fields[.prefer] = "odata.track-changes" }
        if let repeatability = request.repeatability { repeatability.write(to: &fields) }
        return fields
    }

    private func accept(of request: ODataRequest) -> String {
        if case .batch = request.body { return "multipart/mixed" }
        if request.link == nil {
            switch request.url.path.segments.last {
            case .metadata?: return "application/xml"
            case .count?: return "text/plain"
            case .value? where request.method == .read: return "*/*"
            default: break
            }
        }
        switch dialect.entityFormat {
        case .json: return version == .v3 ? "application/json;odata=verbose" : "application/json"
        case .atom: return "application/atom+xml,application/xml"
        }
    }

    // MARK: URLs

    /// Returns the URL of a request in the V2 dialect, relative to the service root.
    func url(_ url: ODataURL) throws(ODataError) -> String {
        do throws(QueryError) {
            var translated = try V2LiteralTypes(model: model).adapted(withLinkTarget(withSearchOption(url)))
                .translatedToV2()
            if case .name(let name, let key)? = translated.path.segments.first,
                let qualified = model.entitySet(name.text)?.qualifiedName
            {
                translated.path.segments[0] = .name(Identifier(qualified), key)
            }
            return translated.urlEncoded(dialect: .v2)
        } catch {
            throw ODataError(error)
        }
    }

    /// Replaces `$search` by the option `search` of SAP services (SAP Annotations for OData Version 2.0,
    /// `sap:searchable`).
    private func withSearchOption(_ url: ODataURL) -> ODataURL {
        guard let search = url.options.search, let text = Self.plainText(search) else { return url }
        guard case .name(let set, _)? = url.path.segments.first, let set = model.entitySet(set.text), set.isSearchable
        else { return url }
        var url = url
        url.options.search = nil
        url.options.custom.append(.init(name: "search", value: text))
        return url
    }

    /// Moves the target of a link into the path, as V2 requires: `Orders(1)/Items/$ref?$id=Items(2)` becomes
    /// `Orders(1)/$links/Items(2)` (MS-ODATA, 2.2.7.4.3).
    ///
    /// An id without a key is not moved, and is refused later.
    private func withLinkTarget(_ url: ODataURL) -> ODataURL {
        let property = url.path.segments.count - 2
        guard let id = url.options.id, property > 0, url.path.segments.last == .reference,
            case .name(let name, .none) = url.path.segments[property],
            case .name(_, let key)? = parsed(id)?.path.segments.last, key != .none, key != .empty
        else { return url }
        var url = url
        url.path.segments[property] = .name(name, key)
        url.options.id = nil
        return url
    }

    private static func plainText(_ search: SearchExpression) -> String? {
        switch search {
        case .word(let text), .phrase(let text): return text
        case .and(let left, let right):
            guard let left = plainText(left), let right = plainText(right) else { return nil }
            return "\(left) \(right)"
        case .or, .not: return nil
        }
    }

    /// Encodes a call of a function import, whose parameters are query options (MS-ODATA, 2.2.3.6.1).
    private func functionImport(_ request: ODataRequest) throws -> (method: String, url: String)? {
        guard request.link == nil, case .name(let name, let arguments)? = request.url.path.segments.first,
            model.entitySet(name.text) == nil, !model.operationImports(name.text).isEmpty
        else { return nil }
        var values: [String: ODataValue] = [:]
        if case .named(let named) = arguments {
            for argument in named { values[argument.name.text] = try value(argument.value, request.url.options) }
        }
        if case .parameters(let parameters) = request.body {
            values.merge(parameters) { _, given in given }
        }
        let call: FunctionImportCall
        let text: String
        do {
            call = try FunctionImportCall(name.text, model: model)
            text = try call.url(arguments: values)
        } catch {
            throw ODataError(status: 400, code: "InvalidCall", message: error.description, target: name.text)
        }
        let pieces = text.split(separator: "?", maxSplits: 1)
        var rest = request.url
        rest.path.segments.removeFirst()
        rest.options.aliases = [:]
        let tail = try url(rest).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let qualified = model.operationImports(name.text).first?.qualifiedName
        let path = (qualified ?? String(pieces[0])) + (tail.first.map { $0.isEmpty ? "" : "/\($0)" } ?? "")
        let query = (pieces.dropFirst() + tail.dropFirst()).joined(separator: "&")
        return (call.httpMethod, query.isEmpty ? path : "\(path)?\(query)")
    }

    private func value(_ expression: CommonExpression, _ options: QueryOptions) throws(ODataError) -> ODataValue {
        switch expression {
        case .literal(let literal): return literal.value
        case .alias(let name):
            if let aliased = options.aliases[name.text] { return try value(aliased, QueryOptions()) }
        default: break
        }
        throw ODataError(status: 400, code: "InvalidCall", message: "\(expression) is no literal.")
    }

    // MARK: Bodies

    private func write(_ request: ODataRequest, to parts: inout Parts) throws {
        let format = dialect.entityFormat == .atom ? PayloadFormat.atom(version) : .verboseJSON(version)
        func set(_ bytes: [UInt8], _ content: PayloadFormat.Content = .other) {
            parts.body = bytes
            parts.fields[.contentType] = format.contentType(content)
        }
        let encoder = PayloadEncoder(
            model: model, format: format, purpose: request.method == .create ? .create : .update)
        switch request.body {
        case .none: break
        case .entity(let entity):
            try check(entity.textBeyondXML, format)
            // The entity of a Swift type may have the shape of another model version.
            set(encoder.entity(absolute(entity)), .entry)
        case .value(let value, let type):
            if case .value? = request.url.path.segments.last {
                parts.body = try RawValue(value, type, model: model).bytes
                parts.fields[.contentType] = RawValue.contentType(type)
            } else {
                try check(value.textBeyondXML, format)
                set(encoder.value(ValuePayload(value), named: lastName(request.url) ?? "value", type: type))
            }
        case .reference(let id):
            set(encoder.references(ReferencePayload(ids: [absolute(id)], isCollection: false)))
        case .media(let stream, let contentType):
            parts.stream = stream
            parts.fields[.contentType] = contentType
        case .batch(let items):
            let boundary = "batch_\(ODataGuid.random())"
            parts.body = MultipartBatch.writeRequest(try batch(items), boundary: boundary)
            parts.fields[.contentType] = "multipart/mixed;boundary=\(boundary)"
        case .parameters: throw ODataError.notImplemented("a call of anything but a function import in OData 2.0")
        case .references: throw ODataError.notImplemented("replacing all links of a collection in OData 2.0")
        case .delta: throw ODataError.notImplemented("changing a collection as a whole in OData 2.0")
        }
    }

    /// Refuses a text that cannot be represented in Atom.
    private func check(_ path: String?, _ format: PayloadFormat) throws(ODataError) {
        guard let path, case .atom = format else { return }
        throw ODataError(
            status: 400, code: "UnsupportedCharacter",
            message: "Atom cannot say a control character, U+FFFE or U+FFFF in a text; JSON can.",
            target: path.isEmpty ? nil : path)
    }

    private func lastName(_ url: ODataURL) -> String? {
        for segment in url.path.segments.reversed() {
            if case .name(let name, _) = segment { return name.text }
        }
        return nil
    }

    /// Makes the references among related entities absolute, as V2 requires.
    private func absolute(_ entity: ODataEntity) -> ODataEntity {
        guard !entity.related.isEmpty else { return entity }
        var entity = entity
        entity.related = entity.related.mapValues { related in
            switch related {
            case .references(let ids): .references(ids.map(absolute))
            case .one(let other): .one(absolute(other))
            case .many(let others, let count, let next): .many(others.map(absolute), count: count, nextLink: next)
            case .none: .none
            }
        }
        return entity
    }

    /// Returns the absolute V2 URL of an entity. A reference to another request of a batch is unchanged.
    private func absolute(_ id: String) -> String {
        if id.hasPrefix("$") { return id }
        if serviceRoot.relative(id) == id, let parsed = parsed(id), let text = try? url(parsed) {
            return serviceRoot.url(for: text)
        }
        return serviceRoot.url(for: id)
    }

    /// Parses an id into a URL below the service root: a relative one in V4 notation, otherwise in the notation of
    /// the service.
    private func parsed(_ id: String) -> ODataURL? {
        guard let relative = serviceRoot.relative(id) else { return nil }
        if relative == id, let url = try? ODataURL(parsing: id) { return url }
        return try? ODataURL(parsing: relative, options: ParsingOptions(dialect: .v2))
    }

    // MARK: Batches

    /// Encodes the parts of a batch: changes in change sets, reads outside of them (MS-ODATA, 2.2.7.6.1).
    func batch(_ items: [BatchItem]) throws -> [BatchRequestPart] {
        try items.map { item in
            var parts = try self.parts(item.request)
            guard parts.stream == nil else { throw BatchRequestWriter.mediaRefusal(item) }
            let isRead = parts.method == "GET"
            if isRead, let group = item.atomicityGroup {
                throw ODataError(
                    status: 400, code: "ReadInChangeSet", message: "A read cannot be in a change set.", target: group)
            }
            let (method, override) = dialect.method(parts.method)
            if let override { parts.fields[.httpMethod] = override }
            return BatchRequestPart(
                id: item.id, method: method.rawValue, url: parts.url,
                headers: parts.fields.map { BatchHeader($0.name.rawName, $0.value) }, body: parts.body ?? [],
                atomicityGroup: isRead ? nil : item.atomicityGroup ?? "single-\(item.id)")
        }
    }
}
