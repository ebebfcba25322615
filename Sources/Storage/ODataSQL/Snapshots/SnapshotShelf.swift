import ODataService
import Synchronization

/// The results that are kept for their callers, each within its share (``SnapshotLimits``).
package final class SnapshotShelf<Kept: Sendable>: Sendable {
    private struct Entry {
        var kept: Kept
        var owner: CallerID?
        var bytes: Int
        /// Grows with each use.
        var use: Int
        /// The time of the last use, in seconds.
        var time: Int64
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// The results that are being written, and their bytes so far.
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

        /// The caller with the most results among those that have one to give up.
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

    /// Makes room for a result that is to be written; ``finish(_:)`` ends that, whatever comes.
    ///
    /// - Throws: ``ODataError`` 429 while the caller has as many written as it may keep.
    package func begin(_ owner: CallerID?) throws(ODataError) {
        // What is removed closes its file, outside the lock.
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

    /// Accounts for bytes of a result that is being written. Other results of the caller make room.
    ///
    /// - Throws: ``ODataError`` 413 when the caller has no more room.
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

    /// Ends the writing of a result.
    package func finish(_ bytes: Int, _ owner: CallerID?) {
        state.withLock { state in
            guard var writing = state.writing[owner] else { return }
            writing.count -= 1
            writing.bytes -= bytes
            state.writing[owner] = writing.count > 0 ? writing : nil
        }
    }

    /// Keeps a result.
    package func keep(_ kept: Kept, as id: String, bytes: Int, owner: CallerID?, at time: Int64) {
        state.withLock { state in
            state.uses += 1
            state.entries[id] = Entry(kept: kept, owner: owner, bytes: bytes, use: state.uses, time: time)
        }
    }

    /// A result, which is used by that; `nil` when it is no longer kept.
    package func find(_ id: String, at time: Int64) -> Kept? {
        state.withLock { state in
            guard state.entries[id] != nil else { return nil }
            state.uses += 1
            state.entries[id]?.use = state.uses
            state.entries[id]?.time = time
            return state.entries[id]?.kept
        }
    }

    /// Removes the results that nobody has read since a time.
    ///
    /// - Returns: whether any are left.
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

    /// Removes all results.
    package func removeAll() {
        let removed = state.withLock { state in
            defer { state.entries = [:] }
            return state.entries
        }
        _ = consume removed
    }
}
