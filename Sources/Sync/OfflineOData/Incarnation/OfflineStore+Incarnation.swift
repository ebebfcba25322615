import GRDB
import ODataSQL

extension OfflineStore {
    /// Distinguishes the store from its copies.
    var incarnation: StoreIncarnation {
        StoreIncarnation(
            database: database, path: StoreFiles.database(in: directory), notes: options.runtime.incarnations,
            environment: environment)
    }

    /// Finds out whether the queue may be sent.
    ///
    /// - Throws: ``OfflineError/queueHeld(_:)``.
    func origin(of uploadOptions: UploadOptions) async throws -> UploadOrigin {
        let incarnation = incarnation
        try await incarnation.settle()
        let (standing, hold) = try await database.read { [queue, mapping] database in
            (
                try incarnation.standing(in: database),
                try incarnation.hold(queue, model: mapping.model, in: database)
            )
        }
        guard case .doubtful(let reason) = standing else {
            return UploadOrigin(incarnation: incarnation, isCounted: standing == .same)
        }
        if uploadOptions.fromCopy {
            try await database.write { try incarnation.renew(in: $0) }
            return UploadOrigin(incarnation: incarnation, isCounted: true, isCopy: true)
        }
        if let hold { throw OfflineError.queueHeld(hold) }
        return UploadOrigin(incarnation: incarnation, isCounted: false, isCopy: true, holdReason: reason)
    }
}

extension OfflineStore.Changes {
    /// Returns the reason why the queue is held; `nil` if the next upload sends it.
    ///
    /// A store that was copied, restored or rolled back may have changes in its queue that were sent already.
    /// They are held until the service has confirmed that it recognises repeated requests, until the queue is
    /// empty, or until an upload is told to send them all the same (``UploadOptions/fromCopy``). A snapshot of
    /// the whole machine leaves no trace: it is not noticed.
    ///
    /// - Throws: `StoreError`.
    public func hold() async throws -> QueueHold? {
        for _ in 0..<2 {
            let hold = try await currentHold()
            // Another process may have counted an upload after the store was read and before its note was.
            if hold?.reason != .rolledBack { return hold }
        }
        return try await currentHold()
    }

    private func currentHold() async throws -> QueueHold? {
        try await store.database.read {
            [incarnation = store.incarnation, queue = store.queue, mapping = store.mapping] database in
            try incarnation.hold(queue, model: mapping.model, in: database)
        }
    }
}

/// The origin of the queue of an upload.
struct UploadOrigin: Sendable {
    let incarnation: StoreIncarnation
    /// Whether each request is counted before it leaves.
    let isCounted: Bool
    /// Whether another copy of the store may have sent the same requests before.
    var isCopy = false
    /// The reason for which the queue is held if the service is not known to recognise repeats; `nil` if it is
    /// sent in any case.
    var holdReason: QueueHold.Reason?

    /// Counts requests that are about to leave; see ``StoreIncarnation/count(in:)``.
    func count(in database: Database) throws -> StoreIncarnation.Count? {
        isCounted ? try incarnation.count(in: database) : nil
    }
}
