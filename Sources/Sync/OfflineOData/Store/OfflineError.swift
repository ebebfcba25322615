import ErrorCodes
import ODataModel
import ODataService

/// What can go wrong with an offline store besides refusals by the service (`ODataError`), the way to it
/// (`TransportError`) and the database (`StoreError`).
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
    /// There is a store in the directory already.
    case storeExists(path: String)
    /// There is no store in the directory.
    case noStore(path: String)
    /// Another process is syncing this store.
    case busy(processID: Int32?)
    /// A file cannot be opened or made.
    case fileAccess(path: String, reason: String)
    /// A defining query names something that cannot be kept offline.
    case invalidDefiningQuery(name: String, reason: String)
    /// There is a defining query of this name already.
    case queryExists(name: String)
    /// The service refused to answer some defining queries in a download; what the others brought is in the store.
    case queriesRefused([QueryRefusal], brought: DownloadReport)
    /// The read of a defining query, or of a stream, exceeded a limit (``DownloadLimits``) and was ended; what is in the store
    /// stays.
    case endless(query: String, reason: String)
    /// No defining query, or queued request, or archived request has this name or number.
    case unknown(kind: String, name: String)
    /// A queued request is on its way and cannot be taken back.
    case alreadySent(request: Int64)
    /// A change was made together with others, which would stay: the change set, and the requests of it that would.
    case inChangeSet(name: String, others: [Int64])
    /// A request in doubt created an entity whose key is not known here, and other requests wait for that key.
    case keyNeeded(request: Int64)
    /// The entity sets that the app has for itself do not fit the service, or the store as it was made.
    case invalidClientModel(reason: String)
    /// The store has never been connected to a service: it cannot sync.
    case notConnected
    /// The service's model has changed, and the connection to it still speaks the one of before; nothing was changed.
    case connectionOutdated
    /// Another process, or another provider of this one, has brought the store to a new model since it was opened: it must
    /// be opened again. Nothing was changed.
    case modelOutdated
    /// Some stores cannot be read together.
    case cannotAttach(reason: String)
    /// The service's model has no place for the request any more: it can be read in the error archive, and given up.
    case withoutPlace(request: Int64)
    /// A store was made with one value of an option, which its indexes depend on, and is opened with another.
    case optionDiffers(name: String, stored: String, given: String)
    /// An option is set when a store is opened, and cannot be changed while it is open.
    case optionFixed(name: String)
    /// A damaged store cannot tell any more which service it was made for, and what that has.
    case originLost(path: String)
    /// The engine's own tables do not hold what they must; nothing was changed.
    case damagedQueue(reason: String)
    /// The store was copied, restored or rolled back, so that its changes may have been sent already. Nothing was sent. Send
    /// them all the same with ``UploadOptions/fromCopy``, or take them back.
    case queueHeld(QueueHold)

    /// What is wrong and what to do.
    public var description: String {
        switch self {
        case .storeExists(let path): "\(path) holds a store already."
        case .noStore(let path): "\(path) holds no store."
        case .busy(let process?): "Another process (\(process)) is syncing this store."
        case .busy(nil): "Another process is syncing this store."
        case .fileAccess(let path, let reason): "\(path): \(reason)"
        case .invalidDefiningQuery(let name, let reason): "The defining query \(name) cannot be kept offline: \(reason)"
        case .queryExists(let name): "There is a defining query \(name) already."
        case .queriesRefused(let refusals, _): refusals.map(\.description).joined(separator: "\n")
        case .endless(let query, let reason): "The download of \(query) was ended, since it has no end: \(reason)."
        case .unknown(let kind, let name): "There is no \(kind) \(name)."
        case .alreadySent(let request): "Request \(request) has been sent and cannot be taken back."
        case .inChangeSet(let name, let others):
            """
            The changes of the change set \(name) are made together or not at all. Take the others back too \
            (\(others.map { "request \($0)" }.joined(separator: ", "))), all at once or with `withAllOthers`.
            """
        case .keyNeeded(let request):
            "Other changes wait for the key of what request \(request) created: give the key, or discard them."
        case .invalidClientModel(let reason): "The app's own entity sets cannot be used: \(reason)"
        case .notConnected: "This store was opened without a connection to its service."
        case .connectionOutdated:
            """
            The connection speaks the model that the service had before: give refreshMetadata(connect:) one that is made \
            with the new model, or have the client read its metadata again first.
            """
        case .modelOutdated:
            "The store has been brought to a new model of its service since it was opened: open it again."
        case .cannotAttach(let reason): "The stores cannot be read together: \(reason)"
        case .withoutPlace(let request):
            "The service has nothing any more that request \(request) could be sent to."
        case .optionDiffers(let name, let stored, let given):
            """
            The store was made with \(name) \(stored), and is opened with \(given): leave the option out, or make a new \
            store with it.
            """
        case .optionFixed(let name): "\(name) is set when a store is opened: close it, and open it with the new value."
        case .originLost(let path):
            """
            \(path) cannot tell any more what it was made for: give the root and the metadata of its service, as they were \
            when it was last used.
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

    /// What helps depends on what was asked for.
    public var failureKind: FailureKind {
        switch self {
        case .noStore, .unknown: .missing
        case .queriesRefused(let refusals, _): refusals.first?.error.failureKind ?? .request
        case .busy: .transient
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
