import ErrorCodes
import ODataModel
import ODataService

/// An error of an offline store. Other errors are refusals by the service (`ODataError`), transport failures
/// (`TransportError`) and errors of the database (`StoreError`).
///
/// ```swift
/// do {
///     try await store.sync()
/// } catch OfflineError.busy(let process) {
///     show("Process \(process ?? 0) is synchronizing this store.")
/// } catch OfflineError.notConnected {
///     show("The store was opened without a connection.")
/// }
/// ```
public enum OfflineError: Error, Sendable, CustomStringConvertible {
    /// The directory already contains a store.
    case storeExists(path: String)
    /// The directory contains no store.
    case noStore(path: String)
    /// Another process is synchronising this store.
    case busy(processID: Int32?)
    /// The store is open in this process or in another one, and was not removed.
    case stillOpen(path: String)
    /// A file cannot be opened or created.
    case fileAccess(path: String, reason: String)
    /// A defining query is invalid, or cannot be kept offline.
    case invalidDefiningQuery(name: String, reason: String)
    /// A defining query of this name already exists.
    case queryExists(name: String)
    /// The service refused some defining queries in a download. The rows of the others are in the store.
    case queriesRefused([QueryRefusal], brought: DownloadReport)
    /// The read of a defining query or stream exceeded a limit (``DownloadLimits``) and was ended. The stored
    /// rows stay.
    case endless(query: String, reason: String)
    /// No defining query, queued request or archived request has this name or number.
    case unknown(kind: String, name: String)
    /// A queued request has been sent and cannot be undone.
    case alreadySent(request: Int64)
    /// A change belongs to a change set with other requests, which would stay: the change set, and these
    /// requests.
    case inChangeSet(name: String, others: [Int64])
    /// A request with an unknown outcome created an entity without a known key, and other requests wait for the
    /// key.
    case keyNeeded(request: Int64)
    /// The app's own entity sets do not fit the service, or the existing store.
    case invalidClientModel(reason: String)
    /// The store has no connection to a service and cannot synchronise.
    case notConnected
    /// The service's model has changed, and the connection still uses the former model. Nothing was changed.
    case connectionOutdated
    /// Another process, or another provider of this one, has migrated the store to a new model since it was
    /// opened: it must be opened again. Nothing was changed.
    case modelOutdated
    /// Some stores cannot be read together.
    case cannotAttach(reason: String)
    /// The service's model has no place for the request any more. It can be read in the error archive, and
    /// discarded.
    case withoutPlace(request: Int64)
    /// A store was created with one value of an option, on which its indexes depend, and is opened with another.
    case optionDiffers(name: String, stored: String, given: String)
    /// An option is set when a store is opened, and cannot be changed while the store is open.
    case optionFixed(name: String)
    /// A damaged store has lost the root or the metadata of its service.
    case originLost(path: String)
    /// The engine's own tables are damaged. Nothing was changed.
    case damagedQueue(reason: String)
    /// The store was copied, restored or rolled back, so that its changes may have been sent already. Nothing was
    /// sent. Send them with ``UploadOptions/fromCopy``, or undo them.
    case queueHeld(QueueHold)

    /// The fault and its remedy.
    public var description: String {
        switch self {
        case .storeExists(let path): "\(path) already contains a store."
        case .noStore(let path): "\(path) contains no store."
        case .busy(let process?): "Another process (\(process)) is syncing this store."
        case .busy(nil): "Another process is syncing this store."
        case .stillOpen(let path):
            """
            \(path) was not removed, because the store is open in this process or in another one. Close the store \
            everywhere, then remove it again.
            """
        case .fileAccess(let path, let reason): "\(path): \(reason)"
        case .invalidDefiningQuery(let name, let reason): "The defining query \(name) cannot be kept offline: \(reason)"
        case .queryExists(let name): "There is a defining query \(name) already."
        case .queriesRefused(let refusals, _): refusals.map(\.description).joined(separator: "\n")
        case .endless(let query, let reason):
            "The download of \(query) was stopped, because it exceeds a limit: \(reason)."
        case .unknown(let kind, let name): "There is no \(kind) \(name)."
        case .alreadySent(let request): "Request \(request) has been sent and cannot be undone."
        case .inChangeSet(let name, let others):
            """
            The changes of the change set \(name) succeed or fail together. Undo the others too \
            (\(others.map { "request \($0)" }.joined(separator: ", "))), all at once or with `withAllOthers`.
            """
        case .keyNeeded(let request):
            "Other changes wait for the key of the entity that request \(request) created. Give the key, or discard them."
        case .invalidClientModel(let reason): "The app's own entity sets cannot be used: \(reason)"
        case .notConnected: "This store was opened without a connection to its service."
        case .connectionOutdated:
            """
            The connection still uses the former model of the service. Pass refreshMetadata(connect:) a connection with \
            the new model, or let the client read its metadata again first.
            """
        case .modelOutdated:
            "The store has a new model since it was opened. Open it again."
        case .cannotAttach(let reason): "The stores cannot be read together: \(reason)"
        case .withoutPlace(let request):
            "The service's model has no place for request \(request) any more. Read the request in the error archive, and discard it."
        case .optionDiffers(let name, let stored, let given):
            """
            The store was created with \(name) \(stored), and is opened with \(given). Leave the option out, or create a \
            new store with it.
            """
        case .optionFixed(let name):
            "\(name) is set when a store is opened. Close the store, and open it with the new value."
        case .originLost(let path):
            """
            \(path) does not contain its service any more. Give the root of the service, and its metadata from the time \
            when the store was last used.
            """
        case .damagedQueue(let reason): "The queue of changes is damaged: \(reason)"
        case .queueHeld(let hold): hold.description
        }
    }
}

extension OfflineError: CodedError {
    /// `offline.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .storeExists: "store-exists"
            case .noStore: "no-store"
            case .busy: "busy"
            case .stillOpen: "still-open"
            case .fileAccess: "file-access"
            case .invalidDefiningQuery: "invalid-query"
            case .queryExists: "query-exists"
            case .queriesRefused: "query-refused"
            case .endless: "endless"
            case .unknown: "unknown-name"
            case .alreadySent: "already-sent"
            case .inChangeSet: "in-change-set"
            case .keyNeeded: "key-needed"
            case .invalidClientModel: "invalid-client-model"
            case .notConnected: "not-connected"
            case .connectionOutdated: "connection-outdated"
            case .modelOutdated: "model-outdated"
            case .cannotAttach: "cannot-attach"
            case .withoutPlace: "without-place"
            case .optionDiffers: "option-differs"
            case .optionFixed: "option-fixed"
            case .originLost: "origin-lost"
            case .damagedQueue: "damaged-queue"
            case .queueHeld: "queue-held"
            }
        return ErrorCode(rawValue: "offline.\(name)")
    }

    /// The remedy depends on the operation.
    public var failureKind: FailureKind {
        switch self {
        case .noStore, .unknown: .missing
        case .queriesRefused(let refusals, _): refusals.first?.error.failureKind ?? .request
        case .busy, .stillOpen: .transient
        case .endless: .answer
        case .fileAccess: .device
        case .notConnected: .connection
        case .alreadySent, .keyNeeded, .queueHeld: .inDoubt
        case .withoutPlace: .unsupported
        case .originLost, .damagedQueue: .damaged
        default: .request
        }
    }
}
