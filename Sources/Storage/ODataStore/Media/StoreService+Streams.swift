import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Media entities and stream properties (OData Protocol 4.01, 11.2.6, 11.4.7 and 11.4.8).
extension StoreService {
    // MARK: Reading

    /// Returns the response to a read of a stream; `nil` if the URL does not address a stream.
    func readStream(
        _ bound: BoundURL, _ request: ODataRequest, provider: StoreProvider
    ) async throws -> ODataResponse? {
        guard let property = bound.resource.target.stream else { return nil }
        let found = try await request.context.budget.reading(from: database) {
            [self] database -> (StreamInfo?, ODataEntity) in
            let (owner, row) = try owner(of: bound, property, provider, in: database)
            return (try streams.info(owner, in: database), row.entity)
        }
        guard let info = found.0 else {
            // A stream without a value (11.2.4.1). A media entity without bytes is treated alike.
            return ODataResponse(status: 204)
        }
        if let known = request.ifNoneMatch, RowWriter.matches(known, info.etag) {
            return ODataResponse(status: 304, etag: info.etag)
        }
        return ODataResponse(
            body: .raw(streams.bytes(of: info), contentType: info.contentType), etag: info.etag)
    }

    /// Returns the entity whose stream is addressed.
    private func owner(
        of bound: BoundURL, _ property: String, _ provider: StoreProvider, in database: Database
    ) throws -> (StreamStore.Owner, RowWriter.WrittenRow) {
        try checkParents(of: bound.resource.steps, provider.reader, in: database)
        let target = try WriteTarget(bound.resource, writer: provider.writer, database: database)
        let row = try target.row(writer: provider.writer, in: database)
        guard let rowID = row.rowID else { throw ODataError.notImplemented("Streams of \(row.set)") }
        if let filter = provider.reader.configuration.rowFilter, let condition = try filter(row.set),
            let table = core.mapping.tables[row.set],
            !(try condition.matches(
                AccessControl.CheckedRow(row), of: table, mapping: core.mapping, now: core.options.now(), in: database))
        {
            throw ODataError.notFound(row.id)
        }
        return (StreamStore.Owner(set: row.set, rowID: rowID, property: property), row)
    }

    // MARK: Writing

    /// A request with the stream that was already written to the store.
    struct Uploaded: Sendable {
        var request: ODataRequest
        var stream: StreamInfo?
    }

    /// Writes the stream of a request to the store before its transaction begins, so that no transaction waits
    /// for the network.
    func uploaded(_ request: ODataRequest, _ bound: BoundURL) async throws -> Uploaded {
        guard case .media(let stream, let contentType) = request.body else { return Uploaded(request: request) }
        let isStream: Bool
        switch (request.method, bound.resource.target) {
        case (.create, .entities(let shape, _)): isStream = shape.hasStream
        case (.replace, let target): isStream = target.stream != nil
        default: isStream = false
        }
        guard isStream else { return Uploaded(request: request) }
        guard !options.isReadOnly else { throw ODataError.methodNotAllowed(request.method, allowed: ["GET"]) }
        // Requests that will be refused are refused before the stream is read.
        if request.method == .create, let set = bound.resource.sets.last {
            _ = try core.writer.writable(set, "InsertRestrictions", property: "Insertable", request: request)
        }
        guard request.repeatability != nil else {
            return Uploaded(request: request, stream: try await streams.upload(stream, contentType: contentType))
        }
        let digest = StreamDigest()
        let info = try await streams.upload(digest.reading(stream), contentType: contentType)
        var request = request
        request.bodyDigest = digest.text(contentType: contentType)
        return Uploaded(request: request, stream: info)
    }

    /// Returns the response to a request that changes a stream or creates a media entity; `nil` for other
    /// requests.
    func changeStream(
        _ uploaded: Uploaded, _ bound: BoundURL, provider: StoreProvider, in database: Database
    ) throws -> ODataResponse? {
        let request = uploaded.request
        if request.method == .create, case .entities = bound.resource.target, let stream = uploaded.stream {
            return try createMedia(stream, request, bound: bound, provider: provider, in: database)
        }
        guard let property = bound.resource.target.stream else { return nil }
        guard !options.isReadOnly else { throw ODataError.methodNotAllowed(request.method, allowed: ["GET"]) }
        let (owner, row) = try owner(of: bound, property, provider, in: database)
        let current = try streams.info(owner, in: database)
        switch request.method {
        case .replace:
            guard let stream = uploaded.stream else {
                throw ODataError(status: 400, code: "InvalidBody", message: "The bytes of the stream were expected.")
            }
            try checkPrecondition(request, current, row: row, property: property)
            try streams.attach(stream, to: owner, in: database)
            try touch(row, stream, request: request, provider: provider, in: database)
            return ODataResponse(status: 204, etag: stream.etag)
        case .delete where property.isEmpty:
            // Deleting the media stream deletes the entity (11.4.7.3).
            try checkPrecondition(request, current, row: row, property: property)
            try provider.writer.delete(
                key: row.entity.key, in: row.set, parent: row.parent, request: request.unconditional,
                database: database)
            return ODataResponse(status: 204)
        case .delete:
            try checkPrecondition(request, current, row: row, property: property)
            if try streams.detach(owner, in: database) {
                try touch(row, nil, request: request, provider: provider, in: database)
            }
            return ODataResponse(status: 204)
        default:
            throw ODataError.methodNotAllowed(request.method, allowed: ["GET", "PUT", "DELETE"])
        }
    }

    /// Checks the precondition of a stream change. The ETag of the stream is accepted, as well as that of the
    /// entity, since many clients only know the latter.
    private func checkPrecondition(
        _ request: ODataRequest, _ current: StreamInfo?, row: RowWriter.WrittenRow, property: String
    ) throws {
        let name = property.isEmpty ? "\(row.id)/$value" : "\(row.id)/\(property)"
        try core.writer.requireCondition(request, etag: row.etag, of: row.set, resource: name)
        if let wanted = request.ifMatch, !RowWriter.matches(wanted, current?.etag),
            wanted == "*" || !RowWriter.matches(wanted, row.etag)
        {
            throw ODataError.preconditionFailed(name, current == nil ? .missing : .changed)
        }
        if let unwanted = request.ifNoneMatch, let current, RowWriter.matches(unwanted, current.etag) {
            throw ODataError.preconditionFailed(name, ifNoneMatch: unwanted)
        }
    }

    private func createMedia(
        _ stream: StreamInfo, _ request: ODataRequest, bound: BoundURL, provider: StoreProvider,
        in database: Database
    ) throws -> ODataResponse {
        guard case .entities(let shape, _) = bound.resource.target else { throw ODataError.notImplemented("This path") }
        var entity = ODataEntity(shape: shape)
        try give(stream, to: &entity, before: nil, request)
        var plain = request
        plain.body = .entity(entity)
        let response = try provider.perform(plain, bound, in: database)
        guard let id = response.location ?? response.entityID,
            let row = try row(withID: id, provider.writer, in: database), let rowID = row.rowID
        else { throw ODataError.notImplemented("Streams here") }
        try streams.attach(stream, to: StreamStore.Owner(set: row.set, rowID: rowID), in: database)
        return response
    }

    private func row(
        withID id: String, _ writer: RowWriter, in database: Database
    ) throws -> RowWriter.WrittenRow? {
        let url: ODataURL
        do throws(QueryError) { url = try ODataURL(parsing: id) } catch { throw ODataError(error) }
        let target = try WriteTarget(core.bind(url).resource, writer: writer, database: database)
        return try writer.read(key: target.key, in: target.set, parent: target.parent, database: database)
    }

    /// Sets the properties of the entity whose values depend on its stream.
    private func give(
        _ stream: StreamInfo, to entity: inout ODataEntity, before: ODataEntity?, _ request: ODataRequest
    ) throws {
        let context = ValueRule.Context(
            entity: entity, before: before, request: request, now: options.now(), stream: stream)
        for rule in core.definition.values where rule.moment == .upload && rule.applies(to: entity.shape, in: model) {
            if let value = try rule.value(context) { entity[rule.property] = value }
        }
    }

    /// Marks the entity as changed, since a new stream counts as a change of its entity.
    private func touch(
        _ row: RowWriter.WrittenRow, _ stream: StreamInfo?, request: ODataRequest, provider: StoreProvider,
        in database: Database
    ) throws {
        var patch = ODataEntity(shape: row.entity.shape)
        if let stream, row.entity.shape.hasStream { try give(stream, to: &patch, before: row.entity, request) }
        var writer = provider.writer
        // The service may change properties that are reserved for it.
        writer.rules.reserved = [:]
        var request = request
        request.method = .update
        request.ifMatch = "*"
        request.ifNoneMatch = nil
        _ = try writer.update(
            patch, key: row.entity.key, in: row.set, parent: row.parent, request: request, database: database)
    }

    // MARK: Control information

    /// Returns whether the rows in the response may have streams.
    func hasStreams(_ bound: BoundURL) async throws -> Bool {
        var sets: Set<String> = []
        switch bound.resource.target {
        case .entities(_, let set), .entity(_, let set):
            sets.formUnion([set?.name, bound.resource.sets.last, bound.resource.storedSet].compactMap { $0 })
        case .all: sets.formUnion(model.container.entitySets.map(\.name))
        default: return false
        }
        func add(_ query: BoundQuery, _ set: String?) {
            if let set { sets.insert(set) }
            for expand in query.expand where expand.form == .entities {
                let name = expand.navigation.name
                let contained = expand.navigation.isContainment ? set.map { "\($0)/\(name)" } : nil
                add(expand.query, contained ?? expand.query.set?.name)
            }
        }
        if let query = bound.query {
            if !query.apply.isEmpty { return false }
            add(query, bound.resource.storedSet ?? query.set?.name)
        }
        let candidates = sets.intersection(core.streamSets)
        guard !candidates.isEmpty else { return false }
        return try await RequestBudget.current.reading(from: database) { database in
            try candidates.contains { try StreamStore.hasAny($0, in: database) }
        }
    }

    /// Adds the media types, ETags and read links of streams to a response body (OData JSON Format 4.01, 4.6.12
    /// to 4.6.14).
    func withStreams(
        _ body: ResponseBody, _ selection: StreamSelection = StreamSelection(), root: String
    ) async throws -> ResponseBody {
        switch body {
        case .entity(let entity):
            return .entity(
                try await RequestBudget.current.reading(from: database) { [self] database in
                    try withStreams(entity, selection, in: database)
                })
        case .page(let page):
            var result = page
            result.entities = try await RequestBudget.current.reading(from: database) { [self] database in
                try page.entities.map { try withStreams($0, selection, in: database) }
            }
            if let next = page.nextLink, !next.hasPrefix(root) { result.nextLink = root + next }
            return .page(result)
        default: return body
        }
    }

    private func withStreams(
        _ entity: ODataEntity, _ selection: StreamSelection, in database: Database
    ) throws -> ODataEntity {
        var entity = entity
        for (name, related) in entity.related {
            let selection = selection.related[name] ?? StreamSelection()
            switch related {
            case .one(let other):
                entity.related[name] = .one(try withStreams(other, selection, in: database))
            case .many(let others, let count, let next):
                entity.related[name] = .many(
                    try others.map { try withStreams($0, selection, in: database) }, count: count, nextLink: next)
            case .none, .references: break
            }
        }
        guard entity.shape.hasStream || !entity.shape.streamProperties.isEmpty, let id = entity.control.id,
            let row = try row(withID: id, core.writer, in: database), let rowID = row.rowID
        else { return entity }
        if entity.shape.hasStream {
            let isInline = selection.inline.contains(StreamSelection.media)
            if isInline { entity.dynamicProperties[StreamSelection.media] = .null }
            entity.control.mediaReadLink = "\(id)/$value"
            if let info = try streams.info(.init(set: row.set, rowID: rowID), in: database) {
                entity.control.mediaContentType = info.contentType
                entity.control.mediaEtag = info.etag
                if isInline {
                    let name = StreamSelection.media
                    entity.dynamicProperties[name] = StreamStore.value(
                        of: try streams.whole(info, in: database), contentType: info.contentType, in: model)
                    entity.control.annotations["\(name)@odata.mediaContentType"] = .string(info.contentType)
                }
            }
        }
        for property in entity.shape.streamProperties where selection.includes(property.name) {
            let owner = StreamStore.Owner(set: row.set, rowID: rowID, property: property.name)
            let name = property.name
            let isInline = selection.inline.contains(name)
            guard let info = try streams.info(owner, in: database) else {
                if isInline { entity[name] = .null }
                continue
            }
            if isInline {
                entity[name] = StreamStore.value(
                    of: try streams.whole(info, in: database), contentType: info.contentType, in: model)
            }
            entity.control.annotations["\(name)@odata.mediaReadLink"] = .string("\(id)/\(name)")
            entity.control.annotations["\(name)@odata.mediaContentType"] = .string(info.contentType)
            entity.control.annotations["\(name)@odata.mediaEtag"] = .string(info.etag)
        }
        return entity
    }
}

extension BoundResource {
    /// The entity set or singleton in which the addressed rows are stored, or the path of a contained
    /// collection.
    fileprivate var storedSet: String? {
        steps.reduce(nil as String?) { place, step in
            switch step {
            case .entitySet(let set, _): set.name
            case .singleton(let singleton, _): singleton.name
            case .navigation(let navigation, let set, _):
                navigation.isContainment ? place.map { "\($0)/\(navigation.name)" } : set?.name
            default: place
            }
        }
    }
}

extension BoundResource.Target {
    /// The property of the addressed stream, empty for the stream of a media entity; `nil` if no stream is
    /// addressed.
    var stream: String? {
        switch self {
        case .rawValue(nil): ""
        case .rawValue(let property?) where property.type.primitive == .stream: property.name
        case .property(let property, _) where property.type.primitive == .stream: property.name
        default: nil
        }
    }
}
