import GRDB
import ODataModel

/// A refused request that is mended by an edit. The edit joins it in its place, so that the requests behind it
/// keep their dependency.
struct Mending {
    let refused: QueuedRequest
    /// Requests behind the refused one that join it too. Sent later, they would undo the edit.
    let joining: [QueuedRequest]

    /// All of them, in order.
    private var requests: [QueuedRequest] { [refused] + joining }

    /// Mends a request by itself. An unsent request may be edited in the same way.
    init(of refused: QueuedRequest) {
        self.refused = refused
        joining = []
    }

    /// Puts an edit into the last held creation or update of an entity, behind which nothing was submitted.
    ///
    /// - Parameter earlier: the requests of the entity, in order.
    init?(ofHeld earlier: [QueuedRequest]) {
        let held = earlier.reversed().prefix { $0.state == .held && !$0.options.isUnmodifiable }
        guard
            let last = held.first(where: { ($0.kind == .create || $0.kind == .update) && $0.stream == nil })
        else { return nil }
        self.init(of: last)
    }

    /// Mends the creation or update of an entity.
    ///
    /// - Parameters:
    ///   - earlier: the requests of the entity, in order.
    ///   - names: the properties that the edit changes.
    /// - Returns: `nil` if there is no refused request, or if a later unmodifiable request would undo the edit.
    init?(of earlier: [QueuedRequest], changing names: Set<String>) {
        self.init(
            of: earlier, mends: { ($0.kind == .create || $0.kind == .update) && $0.stream == nil },
            joins: { $0.kind == .update },
            undoes: { request in names.contains { request.changes[$0] != nil } })
    }

    /// Mends a request that replaces or deletes a stream.
    ///
    /// - Parameters:
    ///   - earlier: the requests of the entity, in order.
    ///   - property: the stream property; `nil` for the stream of a media entity.
    /// - Returns: as ``init(of:changing:)``.
    init?(of earlier: [QueuedRequest], replacingStream property: String?) {
        self.init(
            of: earlier, mends: { $0.isAbout(streamOf: property) }, joins: { $0.isAbout(streamOf: property) },
            undoes: { _ in true })
    }

    private init?(
        of earlier: [QueuedRequest], mends: (QueuedRequest) -> Bool, joins: (QueuedRequest) -> Bool,
        undoes: (QueuedRequest) -> Bool
    ) {
        guard
            let refused = earlier.first(where: { $0.state == .refused && !$0.options.isUnmodifiable && mends($0) })
        else { return nil }
        let behind = earlier.filter { $0.id > refused.id && joins($0) }
        let joining = behind.prefix {
            ($0.isUnsent || $0.state == .refused) && !$0.options.isUnmodifiable
                && $0.options.mayJoin(refused.options, refused.kind)
        }
        guard !behind.dropFirst(joining.count).contains(where: undoes) else { return nil }
        self.refused = refused
        self.joining = Array(joining)
    }

    /// Whether an edit may become a part of the refused request.
    func takes(_ edit: ChangeOptions) -> Bool { edit.mayJoin(refused.options, refused.kind) }

    /// Puts the refused request back into the queue, together with the requests that join it. The options of all
    /// of them are combined, and so are their change sets, because each change set must succeed as a whole.
    ///
    /// - Parameters:
    ///   - edit: the options of the edit.
    ///   - others: the new dependencies: creations of entities that the edit refers to, and changes that release
    ///     a value it takes.
    ///   - instant: the time of the edit.
    /// - Returns: whether the request was put back. It is not if a new dependency waits for the request itself,
    ///   since both would wait forever. If only requests of a change set wait for it, it joins that change set.
    func putBack(
        joining edit: ChangeOptions, waitingFor others: Set<Int64>, at instant: String, _ queue: QueueTable,
        in database: Database
    ) throws -> Bool {
        let options = joining.reduce(refused.options) { $0.joined(with: $1.options) }.joined(with: edit)
        let needed = try queue.creations(namedIn: options.headers, in: database).union(others)
            .subtracting([refused.id])
        let dependencies = QueueDependencies(queue: queue)
        guard try !dependencies.anyWaits(needed, for: refused.id, together: false, in: database) else { return false }
        let isInCircle = try dependencies.anyWaits(needed, for: refused.id, in: database)
        for request in joining {
            try queue.remove(request.id, in: database)
            try queue.replaceDependency(on: request.id, by: refused.id, in: database)
        }
        if options != refused.options { try queue.setOptions(options, of: refused.id, in: database) }
        // The user has seen the server version with the archive entry. A stream has its ETag already.
        if let theirs = refused.failure?.theirs, refused.kind != .stream {
            try queue.setETag(theirs.control.etag, of: refused.id, in: database)
        }
        try queue.renew(refused.id, at: instant, isHeld: edit.isHeld, in: database)
        for request in requests { try queue.reviveChangeSet(of: request, by: edit, at: instant, in: database) }
        try queue.setDependencies(needed.union(refused.dependsOn), of: refused.id, in: database)
        let changeSets = requests.map(\.options.changeSet) + [edit.changeSet]
        try queue.unite(changeSets.compactMap { $0 }, with: refused.id, in: database)
        if isInCircle { try queue.takeIntoCircle(refused.id, in: database) }
        return true
    }

    /// The changes that are sent after an edit has joined the refused request and the requests behind it.
    func joined(with changes: ODataEntity) -> ODataEntity {
        joining.reduce(refused.changes) { $0.merging($1.changes) }.merging(changes)
    }

    /// Puts the values of the edit, and of the joined requests, into the refused request.
    ///
    /// - Parameter base: the values before the edit.
    func rewrite(with changes: ODataEntity, base: ODataEntity, _ queue: QueueTable, in database: Database) throws {
        let merged = joined(with: changes)
        // The values before the first of them are the server version.
        let known = requests.reversed().reduce(base) { $1.base(beneath: $0) }
        let theirs = refused.failure?.theirs
        try queue.rewrite(
            refused.id, key: ODataEntity(shape: merged.shape, key: refused.key), changes: merged,
            base: refused.kind == .create ? nil : theirs?.only(where: { merged[$0] != nil }) ?? known, in: database)
    }
}

extension QueuedRequest {
    /// Whether the request replaces or deletes a stream: of a property, or of the media entity for `nil`.
    fileprivate func isAbout(streamOf property: String?) -> Bool {
        switch kind {
        case .stream: streamProperty == property
        case .create: stream != nil && property == nil
        default: false
        }
    }
}
