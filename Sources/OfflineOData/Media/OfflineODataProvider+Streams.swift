import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// Media entities and stream properties offline (OData Protocol 4.01, 11.4.7 and 11.4.8).
extension OfflineODataProvider {
    /// Whether a request may be about a stream, judged by its body and the last part of its path alone.
    private func mayBeStream(_ request: ODataRequest) -> Bool {
        if case .media = request.body { return true }
        switch request.url.path.segments.last {
        case .value?: return true
        case .name(let name, .none)? where request.url.path.segments.count > 1:
            return streamProperties.contains(name.text)
        default: return false
        }
    }

    /// Answers a request about a stream; `nil` for any other.
    func answerStream(_ request: ODataRequest) async throws -> ODataResponse? {
        let plain = try request.parsingLink()
        // Binding costs more than most reads do.
        guard mayBeStream(plain), let bound = try? Binder(model: model).bind(plain.url) else { return nil }
        if plain.method == .create, case .media(let bytes, let contentType) = plain.body,
            case .entities(let shape, let set?) = bound.resource.target, shape.hasStream,
            bound.resource.steps.count == 1
        {
            return try await createMedia(bytes, contentType, in: set.name, plain)
        }
        guard let property = bound.resource.target.streamProperty else { return nil }
        let redirected = try await followingAlias(plain) ?? plain
        let entity = try entityURL(of: redirected.url)
        switch plain.method {
        case .read: return try await readStream(entity, property)
        case .replace:
            guard case .media(let bytes, let contentType) = plain.body else {
                throw ODataError(status: 400, code: "InvalidBody", message: "The bytes of the stream were expected.")
            }
            return try await replaceStream(bytes, contentType, of: entity, property, redirected)
        default: throw ODataError.methodNotAllowed(plain.method, allowed: ["GET", "PUT"])
        }
    }

    /// The set and key that a stream's URL begins with; streams of related entities are asked for by their own URLs.
    private func entityURL(of url: ODataURL) throws -> (set: String, key: EntityKey) {
        let first = ODataURL(path: ResourcePath(Array(url.path.segments.prefix(1))))
        guard url.path.segments.count == 2, case .name(let set, .key)? = first.path.segments.first,
            case .key(let key)? = try Binder(model: model).bind(first).resource.steps.last
        else { throw ODataError.notImplemented("A stream by the path \(url)") }
        return (set.text, key)
    }

    private func readStream(_ entity: (set: String, key: EntityKey), _ property: String) async throws -> ODataResponse {
        let info = try await database.read { [mapping] database -> StreamTable.Info? in
            guard let rowID = try BulkLoader(set: entity.set, mapping: mapping, in: database).find(entity.key) else {
                throw ODataError.notFound(KeyURL.url(set: entity.set, key: entity.key).description)
            }
            return try StreamTable.info(.init(set: entity.set, rowID: rowID, property: property), in: database)
        }
        guard let info, info.isComplete else {
            throw ODataError(
                status: 404, code: "StreamNotLoaded",
                message: """
                    The stream of \(KeyURL.url(set: entity.set, key: entity.key)) is not in the store: load it, or let \
                    its defining query retrieve streams.
                    """)
        }
        return ODataResponse(body: .raw(streams.bytes(of: info), contentType: info.contentType), etag: info.etag)
    }

    // MARK: Changing

    /// Creates a media entity: its stream is sent first, then what is set of its properties (rule 9).
    private func createMedia(
        _ bytes: ByteStream, _ contentType: String, in set: String, _ request: ODataRequest
    ) async throws -> ODataResponse {
        guard let table = mapping.tables[set] else { throw ODataError.notFound(set) }
        // Taken in before the transaction begins: no transaction waits for a network.
        let stream = try await taken(bytes, contentType)
        let entity = try await database.write { [self] database -> Entity? in
            let rowID = try hook.createMedia(table, RequestDetail(stream: stream.id), request: request, in: database)
            try StreamTable.attach(
                stream.id, to: .init(set: set, rowID: rowID), length: stream.length, etag: nil, in: database)
            return try BulkLoader(table: table, in: database).read(rowID)
        }
        guard var entity, let key = entity.key else { return ODataResponse(status: 204) }
        let id = KeyURL.url(set: set, key: key).description
        entity.control.id = id
        entity.control.mediaContentType = contentType
        entity.control.mediaReadLink = "\(id)/$value"
        let isReturned = request.preferences.returns != .minimal
        var response = ODataResponse(
            status: isReturned ? 201 : 204, body: isReturned ? .entity(entity) : .none, etag: entity.control.etag)
        response.location = id
        return response
    }

    private func replaceStream(
        _ bytes: ByteStream, _ contentType: String, of entity: (set: String, key: EntityKey), _ property: String,
        _ request: ODataRequest
    ) async throws -> ODataResponse {
        let stream = try await taken(bytes, contentType)
        do {
            try await database.write { [self] database in
                guard
                    let row = try local.writer.read(key: entity.key, in: entity.set, database: database),
                    let rowID = row.rowID
                else { throw ODataError.notFound(KeyURL.url(set: entity.set, key: entity.key).description) }
                try hook.queueStream(
                    row, RequestDetail(stream: stream.id, property: property.isEmpty ? nil : property),
                    request: request, in: database)
                try StreamTable.attach(
                    stream.id, to: .init(set: entity.set, rowID: rowID, property: property), length: stream.length,
                    etag: nil, in: database)
            }
        } catch {
            let id = stream.id
            try? await database.write {
                try $0.execute(sql: "DELETE FROM outpost_stream WHERE id = ?", arguments: [id])
            }
            throw error
        }
        return ODataResponse(status: 204)
    }

    private func taken(_ bytes: ByteStream, _ contentType: String) async throws -> (id: Int64, length: Int64) {
        let id = try await streams.begin(contentType: contentType, isLocal: true)
        do {
            return (id, try await streams.append(bytes, to: id))
        } catch {
            try? await database.write {
                try $0.execute(sql: "DELETE FROM outpost_stream WHERE id = ?", arguments: [id])
            }
            throw error
        }
    }

    // MARK: Loading

    /// Loads a stream from the service, so that it can be read offline. One that was cut short goes on where it was.
    ///
    /// - Parameter stream: a media entity's stream or a stream property, such as `Photos(1)/$value`.
    /// - Returns: whether it was loaded; `false` when it was here already and has not changed.
    /// - Throws: ``OfflineError/notConnected``; `ODataError` 404 for what is not here or has no stream there;
    ///   `TransportError`.
    @discardableResult
    public func loadStream(_ stream: ODataURL) async throws -> Bool {
        let remote = try connection()
        guard let property = try Binder(model: model).bind(stream).resource.target.streamProperty else {
            throw OfflineError.unknown(kind: "stream", name: stream.description)
        }
        let entity = try entityURL(of: stream)
        let rowID = try await database.read { [mapping] database in
            try BulkLoader(set: entity.set, mapping: mapping, in: database).find(entity.key)
        }
        guard let rowID else { throw ODataError.notFound(stream.description) }
        return try await StreamLoader(streams: streams, remote: remote).load(
            stream, of: .init(set: entity.set, rowID: rowID, property: property))
    }
}

/// Loads streams from a service, resumably (rule 9).
struct StreamLoader: Sendable {
    let streams: StreamTable
    let remote: any ODataProvider

    /// - Returns: whether it was loaded; `false` when nothing is different.
    func load(_ url: ODataURL, of owner: StreamTable.Owner) async throws -> Bool {
        let (known, partial) = try await streams.database.read { database in
            (try StreamTable.info(owner, in: database), try StreamTable.partial(owner, in: database))
        }
        // What was changed here is what the app sees.
        guard known?.isLocal != true else { return false }
        var request = ODataRequest(.read, url)
        var offset: Int64 = 0
        if let partial, partial.etag != nil {
            offset = partial.length / Int64(StreamTable.chunkSize) * Int64(StreamTable.chunkSize)
        }
        if offset > 0, let etag = partial?.etag {
            request.headers["Range"] = "bytes=\(offset)-"
            request.headers["If-Range"] = etag
        } else if let known, known.isComplete {
            request.ifNoneMatch = known.etag
        }
        let response = try await remote.execute(request)
        guard response.status != 304 else { return false }
        guard case .raw(let bytes, let contentType) = response.body else {
            throw ODataError.notFound(url.description)
        }
        let id: Int64
        if response.status == 206, let partial {
            id = partial.id
        } else {
            offset = 0
            id = try await streams.begin(contentType: contentType, isLocal: false)
            try await streams.database.write { database in
                try database.execute(
                    sql: "UPDATE outpost_stream SET entity_set = ?, row_id = ?, property = ?, etag = ? WHERE id = ?",
                    arguments: [owner.set, owner.rowID, owner.property, response.etag, id])
            }
        }
        let length = try await streams.append(bytes, to: id, after: offset)
        let etag = response.etag ?? partial?.etag
        try await streams.database.write { database in
            try StreamTable.attach(id, to: owner, length: length, etag: etag, in: database)
        }
        return true
    }
}

extension BoundResource.Target {
    /// The stream addressed: the name of the property, empty for that of a media entity; `nil` for anything else.
    fileprivate var streamProperty: String? {
        switch self {
        case .rawValue(nil): ""
        case .rawValue(let property?) where property.type.primitive == .stream: property.name
        case .property(let property, _) where property.type.primitive == .stream: property.name
        default: nil
        }
    }
}
