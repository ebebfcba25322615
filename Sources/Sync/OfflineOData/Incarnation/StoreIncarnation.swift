import GRDB
import ODataModel
import ODataSQL

/// Distinguishes a store from its copies and from its own earlier states (rule 10): the store has a random number
/// and a count of its uploads. A note outside of its folder has the same, with the identity of its file.
struct StoreIncarnation: Sendable {
    let database: StoreDatabase
    /// The file of the store.
    let path: String
    let notes: IncarnationNotes
    let environment: EngineEnvironment

    static let nameSetting = "store.incarnation"
    static let uploadsSetting = "store.uploads"

    /// The result of a comparison of the store with its note.
    enum Standing: Equatable, Sendable {
        /// There is no note: the store is of an earlier version, or notes cannot be kept here.
        case unnoted
        /// It is the noted store in its last state.
        case same
        /// It is a copy, or an earlier state.
        case doubtful(QueueHold.Reason)
    }

    /// Compares the store with its note.
    func standing(in database: Database) throws -> Standing {
        guard let name = try Settings.text(Self.nameSetting, in: database) else { return .unnoted }
        guard let note = notes.note(of: name) else { return .doubtful(.unknown) }
        guard note.file == notes.identity(of: path) else { return .doubtful(.otherFile) }
        // The store is counted before its note: after a crash in between, it is ahead of the note.
        return try uploads(in: database) < note.uploads ? .doubtful(.rolledBack) : .same
    }

    private func uploads(in database: Database) throws -> Int64 {
        try Settings.text(Self.uploadsSetting, in: database).flatMap { Int64($0) } ?? 0
    }

    /// Gives the store an incarnation of its own if it has none, or if it is a copy with an empty queue: nothing
    /// can be sent twice then.
    func settle() async throws {
        guard !database.isQuiet, try await database.read({ try needsOwn(in: $0) }) else { return }
        try await database.write { try settle(in: $0) }
    }

    /// Does the same within a transaction.
    func settle(in database: Database) throws {
        if try needsOwn(in: database) { try renew(in: database) }
    }

    private func needsOwn(in database: Database) throws -> Bool {
        switch try standing(in: database) {
        case .same: return false
        case .unnoted: return true
        case .doubtful:
            // Archived changes may be sent again, too.
            return try QueueTable.isEmpty(in: database)
        }
    }

    /// Gives the store a new incarnation. Without a note, it gets none, and its copies are not recognised.
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
            // With the former note, an earlier state of this store would look valid. The note of another store
            // stays.
            if let former, notes.note(of: former)?.file == file { notes.remove(former) }
        } onRollback: { _ in
            notes.remove(name)
        }
    }

    /// The reason for which the queue is held; `nil` if it is sent.
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
    /// - Returns: the count for the note, to be written after the commit.
    func count(in database: Database) throws -> Count? {
        guard let name = try Settings.text(Self.nameSetting, in: database) else { return nil }
        let uploads = try uploads(in: database) + 1
        try Settings.set(Self.uploadsSetting, String(uploads), in: database)
        return Count(name: name, uploads: uploads)
    }

    /// A count for the note.
    struct Count: Sendable {
        fileprivate let name: String
        fileprivate let uploads: Int64
    }

    /// Writes a count into the note, before the first byte of the request leaves.
    func note(_ count: Count) throws(OfflineError) { try notes.setUploads(count.uploads, of: count.name) }
}
