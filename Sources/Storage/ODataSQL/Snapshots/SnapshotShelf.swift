import ODataService
import Synchronization

/// The snapshots of all callers, each within its share (``SnapshotLimits``).
package final class SnapshotShelf<Kept: Sendable>: Sendable {
    private struct Entry {
        var kept: Kept
        var owner: CallerID?
        var bytes: Int
        /// A number that increases with each use.
        var use: Int
        /// The time of the last use, in seconds.
        var time: Int64
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// The number and current size of unfinished snapshots.
        var writing: [CallerID?: (count: Int, bytes: Int)] = [:]
        var uses = 0

        func oldest(of owner: CallerID?) -> String? {
            entries.filter { $0.value.owner == owner }.min { $0.value.use < $1.value.use }?.key
        }

        func count(of owner: CallerID?) -> Int {
            entries.count { $0.value.owner == owner } + (writing[owner]?.count ?? 0)
        }

        func bytes(of owner: CallerID?) -> Int {
            entries.reduce(writing[owner]?.bytes ?? 0) { $0 + ($1.value.owner == owner ? $1.value.bytes : 0) }
        }

        /// The caller with the most finished snapshots.
        var greatest: CallerID?? {
            var counts: [CallerID?: Int] = [:]
            for entry in entries.values { counts[entry.owner, default: 0] += 1 }
            return counts.max { $0.value < $1.value }?.key
        }

        var totalCount: Int { writing.reduce(entries.count) { $0 + $1.value.count } }
    }

    let limits: SnapshotLimits
    private let state = Mutex(State())

    package init(_ limits: SnapshotLimits) { self.limits = limits }

    /// Makes room for a new snapshot. Every call must be followed by ``finish(_:)``.
    ///
    /// - Throws: ``ODataError`` 429 if the caller has reached the limit with unfinished snapshots.
    package func begin(_ owner: CallerID?) throws(ODataError) {
        // Removed snapshots close their files, which happens outside of the lock.
        var removed: [Entry?] = []
        let hasRoom = state.withLock { state in
            guard state.writing[owner]?.count ?? 0 < limits.count else { return false }
            while state.count(of: owner) >= limits.count, let oldest = state.oldest(of: owner) {
                removed.append(state.entries.removeValue(forKey: oldest))
            }
            while state.totalCount >= limits.totalCount, let greatest = state.greatest,
                let oldest = state.oldest(of: greatest)
            {
                removed.append(state.entries.removeValue(forKey: oldest))
            }
            state.writing[owner, default: (0, 0)].count += 1
            return true
        }
        _ = consume removed
        guard hasRoom else {
            throw ODataError(
                status: 429, code: "TooManySnapshots",
                message:
                    "\(limits.count) results are being kept for this caller already. Read them to their end first.",
                retryAfter: 1)
        }
    }

    /// Accounts for bytes of an unfinished snapshot, and removes other snapshots of the caller if necessary.
    ///
    /// - Throws: ``ODataError`` 413 if the caller's limit is exceeded.
    package func grow(_ bytes: Int, _ owner: CallerID?) throws(ODataError) {
        var removed: [Entry?] = []
        let hasRoom = state.withLock { state in
            state.writing[owner, default: (0, 0)].bytes += bytes
            while state.bytes(of: owner) > limits.bytes, let oldest = state.oldest(of: owner) {
                removed.append(state.entries.removeValue(forKey: oldest))
            }
            return state.bytes(of: owner) <= limits.bytes
        }
        _ = consume removed
        guard hasRoom else {
            throw ODataError(
                status: 413, code: "ResultTooLarge",
                message: "The results that are kept for this caller would take more than \(limits.bytes) bytes. "
                    + "Ask for less with $select, $filter or $top.")
        }
    }

    /// Ends the writing of a snapshot.
    package func finish(_ bytes: Int, _ owner: CallerID?) {
        state.withLock { state in
            guard var writing = state.writing[owner] else { return }
            writing.count -= 1
            writing.bytes -= bytes
            state.writing[owner] = writing.count > 0 ? writing : nil
        }
    }

    package func keep(_ kept: Kept, as id: String, bytes: Int, owner: CallerID?, at time: Int64) {
        state.withLock { state in
            state.uses += 1
            state.entries[id] = Entry(kept: kept, owner: owner, bytes: bytes, use: state.uses, time: time)
        }
    }

    /// Returns a snapshot and marks it as used; `nil` if it was removed.
    package func find(_ id: String, at time: Int64) -> Kept? {
        state.withLock { state in
            guard state.entries[id] != nil else { return nil }
            state.uses += 1
            state.entries[id]?.use = state.uses
            state.entries[id]?.time = time
            return state.entries[id]?.kept
        }
    }

    /// Removes the snapshots that were not read since a time.
    ///
    /// - Returns: Whether any snapshots remain.
    @discardableResult
    package func remove(unusedSince time: Int64) -> Bool {
        let (removed, isInUse) = state.withLock { state in
            let removed = state.entries.filter { $0.value.time < time }
            for id in removed.keys { state.entries[id] = nil }
            return (removed, !state.entries.isEmpty)
        }
        _ = consume removed
        return isInUse
    }

    package func removeAll() {
        let removed = state.withLock { state in
            defer { state.entries = [:] }
            return state.entries
        }
        _ = consume removed
    }
}
