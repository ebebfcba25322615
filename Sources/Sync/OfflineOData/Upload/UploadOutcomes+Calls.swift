import GRDB
import ODataModel
import ODataSQL

/// The effects of an action on the entity to which it is bound, if that entity is in the store. The effects are
/// work of this client, and pending changes of the entity are based on them (rule 5).
extension UploadOutcomes {
    /// The next change of the entity to which an action is bound.
    func next(behind call: QueuedRequest, in database: Database) throws -> QueuedRequest? {
        guard let bound = call.boundRow else { return nil }
        return try queue.requests(set: bound.set, rowID: bound.rowID, in: database).first {
            $0.id > call.id && ($0.kind == .update || $0.kind == .delete)
        }
    }

    /// Whether an action is bound to an entity.
    func isBound(_ call: QueuedRequest, to entity: ODataEntity, in database: Database) throws -> Bool {
        guard let bound = call.boundRow, let table = mapping.tables[bound.set], let key = entity.key,
            isOfType(entity.shape, table.shape.name)
        else { return false }
        return try version(of: bound, table, in: database)?.key == key
    }

    private func isOfType(_ shape: TypeShape, _ name: QualifiedName) -> Bool {
        var type: TypeShape? = shape
        while let current = type {
            if current.name == name { return true }
            type = current.baseType.flatMap { mapping.model.shape($0) }
        }
        return false
    }

    /// The server version of a row, as far as the store knows it.
    private func version(
        of row: RowReference, _ table: TableStorage, in database: Database
    ) throws -> ODataEntity? {
        try before.image(set: row.set, rowID: row.rowID, shape: table.shape, in: database)?.entity
            ?? BulkLoader(set: row.set, mapping: mapping, in: database).read(row.rowID)
    }

    /// Stores the effect of an action on the entity to which it is bound. Other requests are ignored.
    ///
    /// - Parameters:
    ///   - theirs: the current server version. If it is not known, neither is its ETag: values decide whether the
    ///     next change still meets its base version (rule 8).
    ///   - seen: the server version before the action.
    ///   - isRepeated: whether the action may have run long before. Its effects cannot be told from those of
    ///     other clients then.
    func accept(
        call request: QueuedRequest, theirs: ODataEntity?, seen: ODataEntity?, isRepeated: Bool, in database: Database
    ) throws {
        guard let bound = request.boundRow, let table = mapping.tables[bound.set],
            var version = try version(of: bound, table, in: database),
            // Another entity may have replaced it meanwhile.
            theirs == nil || theirs?.key == version.key
        else { return }
        let next = try next(behind: request, in: database)
        guard let theirs else {
            try queue.setETag(nil, ofCallsBoundTo: bound, in: database)
            if let next { try queue.setETag(nil, of: next.id, in: database) }
            return
        }
        version = version.merging(try storable(theirs, table, in: database))
        version.control.etag = theirs.control.etag
        try queue.setETag(version.control.etag, ofCallsBoundTo: bound, in: database)
        // Without an ETag, only the values of pending changes were compared before. Other clients may have
        // changed the same values for changes in the archive.
        let isMade = !isRepeated || next?.base.map(theirs.matches) ?? true
        if let next, isMade, request.etag != nil || !QueuedRequest.State.ofArchive.contains(next.state) {
            try put(next, on: version, table, in: database)
        }
        let rest = try queue.requests(set: bound.set, rowID: bound.rowID, in: database)
        if let next, request.etag == nil {
            try advance(rest, behind: next, of: request, seen: seen, to: version, table, in: database)
        }
        let image = try before.image(set: bound.set, rowID: bound.rowID, shape: table.shape, in: database)
        guard rest.isEmpty || image != nil else { return }
        try keep(version, table, rowID: bound.rowID, beneath: rest, owner: image?.owner ?? 0, in: database)
    }

    /// Prepares an action that was refused because of a change by another client, or whose outcome is unknown,
    /// for a repeat on the current server version. An action of unknown outcome may have changed the entity.
    /// Pending changes of it go on top, unless the server values differ from their base version.
    func fail(
        call request: QueuedRequest, _ state: QueuedRequest.State, _ theirs: ODataEntity, in database: Database
    ) throws {
        let etag = theirs.control.etag
        guard state == .inDoubt, let bound = request.boundRow else {
            return try queue.setETag(etag, of: request.id, in: database)
        }
        try queue.setETag(etag, of: request.id, in: database)
        // Other calls are bound to the version that was seen: they continue only if the service still has it.
        if let table = mapping.tables[bound.set],
            try version(of: bound, table, in: database).map(theirs.matches) ?? false
        {
            try queue.setETag(etag, ofCallsBoundTo: bound, in: database)
        }
        guard let next = try next(behind: request, in: database), next.base.map(theirs.matches) ?? true else { return }
        try queue.setETag(etag, of: next.id, in: database)
    }

    /// Puts a call on top of the server version, to be sent again. Without an ETag, the next change revealed the
    /// conflict, and is put on top as well.
    func rebase(call request: QueuedRequest, onto theirs: ODataEntity, in database: Database) throws {
        try queue.setETag(theirs.control.etag, of: request.id, in: database)
        try queue.markPending(request.id, forgetsIdentification: true, in: database)
        guard request.etag == nil, let next = try next(behind: request, in: database),
            let table = mapping.tables[next.entitySet]
        else { return }
        try put(next, on: theirs, table, in: database)
    }

    /// Makes a server version the base version of a pending change.
    func put(
        _ next: QueuedRequest, on version: ODataEntity, _ table: TableStorage, in database: Database
    ) throws {
        let base = next.kind == .update ? version.only(where: { next.changes[$0] != nil }) : version
        try queue.rewrite(
            next.id, key: ODataEntity(shape: table.shape, key: next.key), changes: next.changes, base: base,
            in: database)
        try queue.setETag(version.control.etag, of: next.id, in: database)
    }

    /// Makes the current server version the base version of pending changes behind an unguarded change, as far as
    /// it is work of this client: the properties changed by the request, and the properties that still had their
    /// base values before it (rule 8). Changes by other clients differ from the base version and become conflicts
    /// when the pending change is sent.
    ///
    /// - Parameters:
    ///   - rest: the requests of the row, in order.
    ///   - next: the request whose base version is already current; the requests behind it follow.
    ///   - request: the accepted request. For a creation, all values are work of this client.
    ///   - seen: the server version before the request; `nil` if the service was not asked.
    func advance(
        _ rest: [QueuedRequest], behind next: QueuedRequest? = nil, of request: QueuedRequest, seen: ODataEntity?,
        to version: ODataEntity, _ table: TableStorage, in database: Database
    ) throws {
        var isFirst = next == nil
        // The value that a pending change gives a property is the base value of the changes behind it.
        var changed = next?.changes.loadedProperties ?? []
        for waiting in rest where waiting.kind == .update || waiting.kind == .delete {
            if let next, waiting.id <= next.id { continue }
            defer {
                isFirst = false
                changed.formUnion(waiting.changes.loadedProperties)
            }
            guard let old = waiting.base else { continue }
            var base = old
            for name in old.loadedProperties where !changed.contains(name) {
                guard let value = version[name] else { continue }
                let before = request.changes[name] ?? seen?[name]
                if request.kind == .create || (before != nil && before == old[name]) { base[name] = value }
            }
            if base != old {
                try queue.rewrite(
                    waiting.id, key: ODataEntity(shape: table.shape, key: waiting.key), changes: waiting.changes,
                    base: base, in: database)
            }
            guard isFirst, let etag = version.control.etag, version.matches(base) else { continue }
            try queue.setETag(etag, of: waiting.id, in: database)
        }
    }

    /// Stores the current server version of a row, with its pending changes on top.
    func keep(
        _ version: ODataEntity, _ table: TableStorage, rowID: Int64, beneath rest: [QueuedRequest], owner: Int64,
        in database: Database
    ) throws {
        let etag = version.control.etag
        let loader = try BulkLoader(set: table.set, mapping: mapping, in: database)
        guard !rest.isEmpty else {
            try before.remove(set: table.set, rowID: rowID, in: database)
            try loader.update(rowID, version)
            return try Rows.setETag(etag, table, rowID: rowID, in: database)
        }
        try before.save(
            BeforeImages.Image(entity: version, etag: etag, owner: owner), set: table.set, rowID: rowID, in: database)
        guard try Rows.owner(table, rowID: rowID, in: database) != nil else { return }
        try loader.update(rowID, rest.reduce(version) { $0.merging($1.changes) })
    }
}
