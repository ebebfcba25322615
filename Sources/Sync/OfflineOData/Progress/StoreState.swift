/// What an open store is doing.
///
/// ```swift
/// for await report in store.observe.reports() {
///     if case .state(let state) = report { show(state == .open ? "ready" : "busy") }
/// }
/// ```
public enum StoreState: String, Hashable, Sendable, CaseIterable {
    /// It is being opened.
    case opening
    /// It is being made, or brought to new metadata.
    case initializing
    /// The first download of a query is under way.
    case populating
    /// A later download is under way.
    case downloading
    /// Changes are being sent.
    case uploading
    /// A copy of it is being made.
    case sendingStore
    /// It is open, and nothing is under way.
    case open
    /// It was closed.
    case closed
}

/// What a store tells of its work besides counts (``SyncProgress``).
///
/// ```swift
/// for await report in store.observe.reports() {
///     switch report {
///     case .state(let state): show(state)
///     case .step(let step): show(step.message)
///     case .interrupted(let event): show(event)
///     }
/// }
/// ```
public enum StoreReport: Hashable, Sendable {
    /// An operation that had not ended when the store was closed.
    public enum Interrupted: String, Hashable, Sendable {
        /// An upload: requests are on their way, and the next upload finds out what became of them.
        case upload
        /// A download: the next one goes on.
        case download
    }

    /// The store is doing something else.
    case state(StoreState)
    /// A step has begun.
    case step(OperationStep)
    /// The store was opened, and an operation was under way when it was last open.
    case interrupted(Interrupted)
}
