import GRDB
import ODataModel
import ODataSQL

/// Tells a store from its copies and from its own past (rule 10): the store has a random number and a count of its uploads,
/// and so has a note outside of its folder, with the identity of its file.
struct StoreIncarnation: Sendable {
    let database: StoreDatabase
    /// The file of the store.
    let path: String
    let notes: IncarnationNotes
    let environment: EngineEnvironment

    static let nameSetting = "store.incarnation"
    static let uploadsSetting = "store.uploads"

    /// What the note says of the store.
    enum Standing: Equatable, Sendable {
        /// Nothing was ever noted: the store is of an earlier version, or notes cannot be kept here.
        case unnoted
        /// It is the store that was noted, as it was left.
        case same
        /// It is a copy of that, or an earlier state.
        case doubtful(QueueHold.Reason)
    }

    /// Compares the store with its note.
    func standing(in database: Database) throws -> Standing {
        guard let name = try Settings.text(Self.nameSetting, in: database) else { return .unnoted }
        guard let note = notes.note(of: name) else { return .doubtful(.unknown) }
        guard note.file == notes.identity(of: path) else { return .doubtful(.otherFile) }
        // The store is counted first: where the process ends in between, it is ahead of its note.
        return try uploads(in: database) < note.uploads ? .doubtful(.rolledBack) : .same
    }

    private func uploads(in database: Database) throws -> Int64 {
        try Settings.text(Self.uploadsSetting, in: database).flatMap { Int64($0) } ?? 0
    }

    /// Gives the store an incarnation of its own where it has none, and where it is a copy with an empty queue: nothing of that
    /// can be sent twice.
    func settle() async throws {
        guard !database.isQuiet, try await database.read({ try needsOwn(in: $0) }) else { return }
        try await database.write { try settle(in: $0) }
    }

    /// The same within a transaction.
    func settle(in database: Database) throws {
        if try needsOwn(in: database) { try renew(in: database) }
    }

    private func needsOwn(in database: Database) throws -> Bool {
        switch try standing(in: database) {
        case .same: return false
        case .unnoted: return true
        case .doubtful:
            // What is archived may be sent again too.
            return try QueueTable.isEmpty(in: database)
        }
    }

    /// Makes the store one of its own. Where no note can be kept, it has none, and its copies are not known as such.
    func renew(in database: Database) throws {
        let (former, file) = (try Settings.text(Self.nameSetting, in: database), notes.identity(of: path))
        let (name, notes) = (environment.newGuid().description.lowercased(), notes)
        do {
            guard let file else { throw OfflineError.noStore(path: path) }
            try notes.write(IncarnationNotes.Note(uploads: 0, file: file), of: name)
            try Settings.set(Self.nameSetting, name, in: database)
            try Settings.set(Self.uploadsSetting, "0", in: database)
        } catch is OfflineError {
            try database.execute(
                sql: "DELETE FROM outpost_setting WHERE name IN (?, ?)",
                arguments: [Self.nameSetting, Self.uploadsSetting])
        }
        database.afterNextTransaction { _ in
            // By it, an earlier state of this store would look as if it were whole. The note of another store stays.
            if let former, notes.note(of: former)?.file == file { notes.remove(former) }
        } onRollback: { _ in
            notes.remove(name)
        }
    }

    /// Why the queue is held; `nil` if it is sent.
    ///
    /// - Parameter model: the model that the service has.
    func hold(_ queue: QueueTable, model: EntityDataModel, in database: Database) throws -> QueueHold? {
        guard case .doubtful(let reason) = try standing(in: database),
            try ServiceKnowledge.isRepeatable(model: model, in: database) != true
        else { return nil }
        let count = try queue.ids([.pending, .sending], in: nil, in: database).count
        return count == 0 ? nil : QueueHold(reason: reason, count: count)
    }

    // MARK: Counting

    /// Counts a request that is about to leave, in the transaction that marks it.
    ///
    /// - Returns: what is to be noted once that is committed.
    func count(in database: Database) throws -> Count? {
        guard let name = try Settings.text(Self.nameSetting, in: database) else { return nil }
        let uploads = try uploads(in: database) + 1
        try Settings.set(Self.uploadsSetting, String(uploads), in: database)
        return Count(name: name, uploads: uploads)
    }

    /// A count to be noted.
    struct Count: Sendable {
        fileprivate let name: String
        fileprivate let uploads: Int64
    }

    /// Notes a count, before the first byte of the request leaves.
    func note(_ count: Count) throws(OfflineError) { try notes.setUploads(count.uploads, of: count.name) }
}
