import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Media entities and stream properties offline (OData Protocol 4.01, 11.4.7 and 11.4.8).
extension OfflineStore {
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
        // Binding is more expensive than most reads.
        guard mayBeStream(plain), let bound = try? Binder(model: model).bind(plain.url) else { return nil }
        if plain.method == .create, case .media(let bytes, let contentType) = plain.body,
            case .entities(let shape, _) = bound.resource.target, shape.hasStream
        {
            return try await createMedia(bytes, contentType, at: bound.resource.steps, request: plain)
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
            return try await replaceStream(bytes, contentType, of: steps, property: property, request: redirected)
        case .delete where property.isEmpty:
            // A media entity is deleted with its stream (OData Protocol 4.01, 11.4.7.3).
            var entity = redirected
            entity.url.path.segments.removeLast()
            return try await execute(entity)
        case .delete: return try await deleteStream(of: steps, property, redirected)
        default: throw ODataError.methodNotAllowed(plain.method, allowed: ["GET", "PUT", "DELETE"])
        }
    }

    /// The path to the entity of a stream's URL.
    private func entitySteps(of url: ODataURL) throws -> [BoundSegment] {
        let steps = try Binder(model: model).bind(url).resource.steps.prefix { step in
            switch step {
            case .entitySet, .singleton, .key, .navigation, .cast: true
            default: false
            }
        }
        return try address(steps, url)
    }

    /// The path to an entity, by keys and containment. Streams of related entities are requested by their own
    /// URLs.
    private func address(_ steps: some Sequence<BoundSegment>, _ url: ODataURL) throws -> [BoundSegment] {
        let steps = steps.filter { step in
            if case .cast = step { false } else { true }
        }
        guard Containment.isAddress(steps) else { throw ODataError.notImplemented("A stream by the path \(url)") }
        return steps
    }

    /// The row of an existing entity, and the row that contains it.
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

    /// The visible stream: the local one, else the downloaded one; none if it was deleted locally.
    fileprivate func seen(
        _ owner: StreamTable.Owner, in database: Database
    ) throws -> (info: StreamTable.Info?, isDeleted: Bool) {
        let last = try queue.requests(set: owner.set, rowID: owner.rowID, in: database).last {
            $0.kind == .stream && ($0.streamProperty ?? "") == owner.property
        }
        if let last, last.stream == nil { return (nil, true) }
        return (try StreamTable.info(owner, in: database), false)
    }

    private func readStream(
        of steps: [BoundSegment], _ property: String, _ url: ODataURL
    ) async throws -> ODataResponse {
        let (info, isDeleted) = try await database.read { [self] database in
            let (row, rowID) = try streamOwner(steps, url, in: database)
            return try seen(StreamTable.Owner(set: row.set, rowID: rowID, property: property), in: database)
        }
        if isDeleted { return ODataResponse(status: 204) }
        guard let info, info.isComplete else {
            throw HeldData.missingStream(url, of: steps)
        }
        return ODataResponse(body: .raw(streamTable.bytes(of: info), contentType: info.contentType), etag: info.etag)
    }

    // MARK: Changing

    /// The place at which a media entity is created.
    private struct MediaPlace {
        let table: TableStorage
        /// The row that contains it.
        var container: Int64?
        /// The entity to which it is related in addition, and the navigation property.
        var relation: (row: RowWriter.WrittenRow, navigation: String)?
    }

    /// Creates a media entity in a set, in a contained collection, or related to an entity. Its stream is sent
    /// first, then its changed properties, including the foreign key of such a relation.
    private func createMedia(
        _ bytes: ByteStream, _ contentType: String, at steps: [BoundSegment], request: ODataRequest
    ) async throws -> ODataResponse {
        let created = try await storing(bytes, contentType) {
            [self] stream, length, database -> (entity: ODataEntity?, id: String) in
            let place = try mediaPlace(steps, request.url, in: database)
            let set = place.table.set
            let rowID = try hook.createMedia(
                place.table, within: place.container, sending: stream, request: request, in: database)
            try StreamTable.attach(
                stream, to: .init(set: set, rowID: rowID), length: length, etag: nil, in: database)
            let loader = try BulkLoader(table: place.table, in: database)
            if let (row, navigation) = place.relation, let key = try loader.read(rowID)?.key {
                try relate(key, in: place.table, to: row, by: navigation, request, in: database)
            }
            let url = try Containment(mapping: mapping).url(of: rowID, place.table, in: database)
            return (entity: try loader.read(rowID), id: url.description)
        }
        guard var entity = created.entity else { return ODataResponse(status: 204) }
        entity.control.id = created.id
        entity.control.mediaContentType = contentType
        entity.control.mediaReadLink = "\(created.id)/$value"
        let isReturned = request.preferences.returns != .minimal
        var response = ODataResponse(
            status: isReturned ? 201 : 204, body: isReturned ? .entity(entity) : .none, etag: entity.control.etag)
        response.location = created.id
        return response
    }

    private func mediaPlace(
        _ steps: [BoundSegment], _ url: ODataURL, in database: Database
    ) throws -> MediaPlace {
        switch steps.last {
        case .entitySet(let set, _)?:
            if let table = mapping.tables[set.name] { return MediaPlace(table: table) }
        case .navigation(let navigation, _, _)?:
            let (row, rowID) = try streamOwner(address(steps.dropLast(), url), url, in: database)
            guard let target = mapping.tables[row.set]?.navigation[navigation.name]?.target,
                let table = mapping.tables[target]
            else { break }
            return navigation.isContainment
                ? MediaPlace(table: table, container: rowID)
                : MediaPlace(table: table, relation: (row, navigation.name))
        default: break
        }
        throw ODataError.notImplemented("A media entity by the path \(url)")
    }

    /// Relates the created entity to the entity on its path: by the foreign key, or by a link.
    private func relate(
        _ key: EntityKey, in table: TableStorage, to row: RowWriter.WrittenRow, by navigation: String,
        _ request: ODataRequest, in database: Database
    ) throws {
        var request = request
        request.method = .update
        request.ifMatch = nil
        guard let owner = mapping.tables[row.set], case .join(_, let pairs)? = owner.navigation[navigation] else {
            return try local.writer.link(
                row, navigation: navigation, to: KeyURL.url(set: table.set, key: key, mapping).description,
                request: request,
                in: database)
        }
        var patch = ODataEntity(shape: table.shape)
        for pair in pairs {
            guard let property = table.property(in: pair.target), let referenced = owner.property(in: pair.source)
            else { throw ODataError.notImplemented("A media entity of \(navigation)") }
            patch[property] = row.entity[referenced] ?? .null
        }
        _ = try local.writer.update(patch, key: key, in: table.set, request: request, database: database)
    }

    private func replaceStream(
        _ bytes: ByteStream, _ contentType: String, of steps: [BoundSegment], property: String,
        request: ODataRequest
    ) async throws -> ODataResponse {
        try await storing(bytes, contentType) { [self] stream, length, database in
            let (row, rowID) = try streamOwner(steps, request.url, in: database)
            try hook.queueStream(
                row, QueuedRequest.StreamChange(stream: stream, property: property.isEmpty ? nil : property),
                request: request, in: database)
            try StreamTable.attach(
                stream, to: .init(set: row.set, rowID: rowID, property: property), length: length, etag: nil,
                in: database)
        }
        return ODataResponse(status: 204)
    }

    /// Deletes the stream of a property (OData Protocol 4.01, 11.4.8.2).
    private func deleteStream(
        of steps: [BoundSegment], _ property: String, _ request: ODataRequest
    ) async throws -> ODataResponse {
        try await database.write { [self] database in
            let (row, rowID) = try streamOwner(steps, request.url, in: database)
            try hook.queueStream(row, QueuedRequest.StreamChange(property: property), request: request, in: database)
            try StreamTable.remove(
                .init(set: row.set, rowID: rowID, property: property), local: true, in: database)
        }
        return ODataResponse(status: 204)
    }

    /// Receives a stream, and makes its change afterwards: no transaction waits for a network. If either fails,
    /// nothing of it stays.
    ///
    /// - Parameter body: is called with the stream's number and length, in a transaction.
    private func storing<Value: Sendable>(
        _ bytes: ByteStream, _ contentType: String,
        body: @escaping @Sendable (Int64, Int64, Database) throws -> Value
    ) async throws -> Value {
        let id = try await streamTable.begin(contentType: contentType, isLocal: true)
        do {
            let length = try await streamTable.append(bytes, to: id)
            return try await database.write { try body(id, length, $0) }
        } catch {
            try? await database.write { try StreamTable.remove(id, in: $0) }
            throw error
        }
    }

    fileprivate func owner(of stream: ODataURL) async throws -> StreamTable.Owner {
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

extension OfflineStore {
    /// The streams of the store.
    public var streams: Streams { Streams(store: self) }

    /// The streams of media entities and of stream properties.
    ///
    /// ```swift
    /// let photo = try ODataURL(parsing: "Photos(1)/$value")
    /// if try await !store.streams.isLoaded(photo) { try await store.streams.load(photo) }
    /// ```
    public struct Streams: Sendable {
        let store: OfflineStore
    }
}

extension OfflineStore.Streams {
    /// Loads a stream from the service, so that it can be read offline. An interrupted load resumes. If the
    /// stream was replaced or deleted locally, the local state stays visible, and the loaded stream appears after
    /// an undo.
    ///
    /// - Parameter stream: a media entity's stream or a stream property, such as `Photos(1)/$value`.
    /// - Returns: whether it was loaded; `false` if the store has it already and it has not changed.
    /// - Throws: ``OfflineError/notConnected``; `ODataError` 404 if the entity is not in the store or has no such
    ///   stream; `TransportError`.
    @discardableResult
    public func load(_ stream: ODataURL) async throws -> Bool {
        let loader = StreamLoader(
            streams: store.streamTable, remote: try store.connection(), limits: store.options.sync.downloadLimits)
        // The service does not know a former local key of the entity.
        let present = try await store.followingAlias(ODataRequest(.read, stream))?.url ?? stream
        return try await loader.load(present, of: store.owner(of: present))
    }

    /// Returns whether the store has a stream as a whole, so that it can be read without the service.
    ///
    /// - Parameter stream: a media entity's stream or a stream property, such as `Photos(1)/$value`.
    /// - Throws: `ODataError` 404 if the entity is not in the store or has no such stream; `StoreError`.
    public func isLoaded(_ stream: ODataURL) async throws -> Bool {
        let owner = try await store.owner(of: stream)
        return try await store.database.read { [store] in try store.seen(owner, in: $0).info?.isComplete ?? false }
    }
}

extension BoundResource.Target {
    /// The addressed stream: the name of the property, empty for that of a media entity; `nil` for any other URL.
    fileprivate var streamProperty: String? {
        switch self {
        case .rawValue(nil): ""
        case .rawValue(let property?) where property.type.primitive == .stream: property.name
        case .property(let property, _) where property.type.primitive == .stream: property.name
        default: nil
        }
    }
}

extension TableStorage {
    /// The property of the set's own type that a column holds.
    fileprivate func property(in column: String) -> String? {
        shape.properties.first { self.column(at: $0.name)?.name == column }?.name
    }
}
