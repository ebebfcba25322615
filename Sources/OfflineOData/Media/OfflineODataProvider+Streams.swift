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
        let steps = try entitySteps(of: redirected.url)
        switch plain.method {
        case .read: return try await readStream(of: steps, property, redirected.url)
        case .replace:
            guard case .media(let bytes, let contentType) = plain.body else {
                throw ODataError(status: 400, code: "InvalidBody", message: "The bytes of the stream were expected.")
            }
            return try await replaceStream(bytes, contentType, of: steps, property, redirected)
        case .delete where property.isEmpty:
            // A media entity goes with its stream (OData Protocol 4.01, 11.4.7.3).
            var entity = redirected
            entity.url.path.segments.removeLast()
            return try await execute(entity)
        case .delete: return try await deleteStream(of: steps, property, redirected)
        default: throw ODataError.methodNotAllowed(plain.method, allowed: ["GET", "PUT", "DELETE"])
        }
    }

    /// The way to the entity whose stream a URL leads to, by keys and containment; streams of related entities are asked
    /// for by their own URLs.
    private func entitySteps(of url: ODataURL) throws -> [BoundSegment] {
        let steps = try Binder(model: model).bind(url).resource.steps.prefix { step in
            switch step {
            case .entitySet, .singleton, .key, .navigation, .cast: true
            default: false
            }
        }.filter { step in
            if case .cast = step { false } else { true }
        }
        guard Containment.isAddress(steps) else { throw ODataError.notImplemented("A stream by the path \(url)") }
        return steps
    }

    /// The row of an entity that is there, and that of the one that contains it.
    ///
    /// - Throws: `ODataError` 404.
    private func streamOwner(
        _ steps: [BoundSegment], _ url: ODataURL, in database: Database
    ) throws -> (entity: RowWriter.WrittenRow, rowID: Int64) {
        let (containment, before) = (Containment(mapping: mapping), BeforeImages(snapshots: queue.snapshots))
        guard let found = try containment.row(at: steps, before, queue, in: database),
            let table = mapping.tables[found.set],
            let key = try BulkLoader(table: table, in: database).read(found.rowID)?.key,
            let entity = try local.writer.read(
                key: key, in: found.set, parent: containment.parent(of: found.rowID, table, in: database),
                database: database)
        else { throw ODataError.notFound(url.description) }
        return (entity, found.rowID)
    }

    private func readStream(
        of steps: [BoundSegment], _ property: String, _ url: ODataURL
    ) async throws -> ODataResponse {
        let (info, isDeleted) = try await database.read { [self] database in
            let (row, rowID) = try streamOwner(steps, url, in: database)
            let last = try queue.requests(set: row.set, rowID: rowID, in: database).last {
                $0.kind == .stream && ($0.detail.property ?? "") == property
            }
            let owner = StreamTable.Owner(set: row.set, rowID: rowID, property: property)
            return (try StreamTable.info(owner, in: database), last.map { $0.detail.stream == nil } ?? false)
        }
        if isDeleted { return ODataResponse(status: 204) }
        guard let info, info.isComplete else {
            throw ODataError(
                status: 404, code: "StreamNotLoaded",
                message: """
                    \(url) is not in the store: load it, or let its defining query retrieve streams.
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
        _ bytes: ByteStream, _ contentType: String, of steps: [BoundSegment], _ property: String,
        _ request: ODataRequest
    ) async throws -> ODataResponse {
        let stream = try await taken(bytes, contentType)
        do {
            try await database.write { [self] database in
                let (row, rowID) = try streamOwner(steps, request.url, in: database)
                try hook.queueStream(
                    row, RequestDetail(stream: stream.id, property: property.isEmpty ? nil : property),
                    request: request, in: database)
                try StreamTable.attach(
                    stream.id, to: .init(set: row.set, rowID: rowID, property: property), length: stream.length,
                    etag: nil, in: database)
            }
        } catch {
            let id = stream.id
            try? await database.write { try StreamTable.remove(id, in: $0) }
            throw error
        }
        return ODataResponse(status: 204)
    }

    /// Deletes the stream of a property (OData Protocol 4.01, 11.4.8.2).
    private func deleteStream(
        of steps: [BoundSegment], _ property: String, _ request: ODataRequest
    ) async throws -> ODataResponse {
        try await database.write { [self] database in
            let (row, rowID) = try streamOwner(steps, request.url, in: database)
            try hook.queueStream(row, RequestDetail(property: property), request: request, in: database)
            try StreamTable.remove(.init(set: row.set, rowID: rowID, property: property), in: database)
        }
        return ODataResponse(status: 204)
    }

    private func taken(_ bytes: ByteStream, _ contentType: String) async throws -> (id: Int64, length: Int64) {
        let id = try await streams.begin(contentType: contentType, isLocal: true)
        do {
            return (id, try await streams.append(bytes, to: id))
        } catch {
            try? await database.write { try StreamTable.remove(id, in: $0) }
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
        return try await StreamLoader(streams: streams, remote: remote).load(stream, of: try await owner(of: stream))
    }

    /// Whether a stream is here as a whole, so that it can be read without the service.
    ///
    /// - Parameter stream: a media entity's stream or a stream property, such as `Photos(1)/$value`.
    /// - Throws: `ODataError` 404 for what is not here or has no stream there; `StoreError`.
    public func isStreamLoaded(_ stream: ODataURL) async throws -> Bool {
        let owner = try await owner(of: stream)
        return try await database.read { try StreamTable.info(owner, in: $0)?.isComplete ?? false }
    }

    private func owner(of stream: ODataURL) async throws -> StreamTable.Owner {
        guard let property = try Binder(model: model).bind(stream).resource.target.streamProperty else {
            throw OfflineError.unknown(kind: "stream", name: stream.description)
        }
        let steps = try entitySteps(of: stream)
        return try await database.read { [self] database in
            let owner = try streamOwner(steps, stream, in: database)
            return StreamTable.Owner(set: owner.entity.set, rowID: owner.rowID, property: property)
        }
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
