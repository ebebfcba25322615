import ODataModel
import ODataQuery
import Synchronization

/// The requests that were resolved and compiled before, by their URLs without `$skiptoken`.
///
/// Values are only ever bound, so that SQL text is the shape of a query: requests that differ in their literals alone
/// are compiled anew but share SQLite's prepared statement (``StatementCache``).
final class QueryCache: Sendable {
    /// How many requests are kept; half of them go when there are more.
    static let capacity = 256

    /// One request.
    final class Entry: Sendable {
        /// The request resolved.
        let url: BoundURL
        /// The compiled query, with and without rows that are hidden.
        private let compiled = Mutex<[Bool: CompiledQuery]>([:])

        init(_ url: BoundURL) { self.url = url }

        /// What was kept; nothing for a caller who sees only some rows, whose statements are for this caller alone.
        func find(_ options: SQLCompiler.Options) -> CompiledQuery? {
            guard options.rowFilter == nil else { return nil }
            return compiled.withLock { $0[options.hasHiddenOwners] }
        }

        /// Keeps a compiled query that depends on nothing else.
        func keep(_ query: CompiledQuery, _ options: SQLCompiler.Options) {
            guard options.rowFilter == nil else { return }
            compiled.withLock { $0[options.hasHiddenOwners] = query }
        }
    }

    private struct State {
        var entries: [ODataURL: (entry: Entry, use: UInt64)] = [:]
        var use: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The entry of a URL, made when there is none.
    func entry(_ url: ODataURL, _ bind: () throws -> BoundURL) rethrows -> Entry {
        let known = state.withLock { state -> Entry? in
            state.use += 1
            state.entries[url]?.use = state.use
            return state.entries[url]?.entry
        }
        if let known { return known }
        let made = Entry(try bind())
        state.withLock { state in
            if state.entries.count >= Self.capacity {
                let uses = state.entries.values.map(\.use).sorted()
                let middle = uses[uses.count / 2]
                state.entries = state.entries.filter { $0.value.use > middle }
            }
            state.entries[url] = (made, state.use)
        }
        return made
    }
}
