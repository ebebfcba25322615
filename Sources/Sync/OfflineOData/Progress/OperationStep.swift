import ODataModel

/// A step of an operation on a store: of opening it, of an upload, a download or a copy.
///
/// The operations have these steps, in order:
/// - creating a store: ``Kind/loadingMetadata``, ``Kind/buildingEntityStore``,
///   ``Kind/creatingRequestQueueDatabase``;
/// - opening a store: ``Kind/loadingMetadata``;
/// - upload: ``Kind/performingRequestQueueMerge`` and ``Kind/performingCreateDeleteMerge`` if requests are
///   folded, ``Kind/erasingExpiredRequests``, ``Kind/uploadPreprocessing``, then ``Kind/processingRequests`` and
///   ``Kind/sendingDataToServer`` for each request, ``Kind/removingRemoveAfterUploadRequests``;
/// - download: for each query ``Kind/processingDefiningQueries``, ``Kind/receivingDataFromServer``, and after the
///   first download ``Kind/analyzingReceivedData``, ``Kind/reapplyingChanges``,
///   ``Kind/removingDeletedRelationships``;
/// - upload and download in one: those of the upload, ``Kind/waitingForDownload``, those of the download;
/// - copying the store: ``Kind/sendingEntityStoreDatabase``.
///
/// Queries are downloaded concurrently, so that the steps of one query come in their order, between those of
/// others.
///
/// ```swift
/// for await report in store.observe.reports() {
///     if case .step(let step) = report { show(step.number, step.total, step.message) }
/// }
/// ```
public struct OperationStep: Hashable, Sendable {
    /// The kind of step. The names are those of the older products, and so are the known raw values.
    public enum Kind: Int, Hashable, Sendable, CaseIterable {
        /// The tables of the entity sets are created.
        case buildingEntityStore = 1
        /// A server prepares the store. A store that is filled by queries has no such step.
        case creatingBootStrapDatabase
        /// The tables of queue and archive are created.
        case creatingRequestQueueDatabase
        /// A prepared store is loaded: received bytes, total bytes. A store that is filled by queries has no such step.
        case downloadingEntityStore
        /// Expired changes go to the error archive.
        case erasingExpiredRequests
        /// The metadata of the service, or those kept with the store, are read.
        case loadingMetadata
        /// Requests for one entity are folded into one.
        case performingRequestQueueMerge
        /// Transactions are folded. Change sets stay unchanged, so that this engine has no such step.
        case performingTransactionMerge
        /// Entities that were created and deleted before either was sent leave the queue.
        case performingCreateDeleteMerge
        /// A defining query is asked: its name, its URL.
        case processingDefiningQueries
        /// A request is sent: its number among those of the upload, their total.
        case processingRequests
        /// Pending changes are put on top of the downloaded rows.
        case reapplyingChanges
        /// The downloaded rows are compared with the local rows.
        case analyzingReceivedData
        /// Rows arrive: the bytes received since the store was opened, if they are counted (`TransferMeter`).
        case receivingDataFromServer
        /// Relations and rows that the service has removed are removed.
        case removingDeletedRelationships
        /// Created entities that were to stay only until they are sent are removed.
        case removingRemoveAfterUploadRequests
        /// A request was sent: the bytes sent since the store was opened, if they are counted (`TransferMeter`).
        case sendingDataToServer
        /// The store is copied.
        case sendingEntityStoreDatabase
        /// The queue is sent as a file. Requests are sent one by one, so that this engine has no such step.
        case sendingRequestQueueDatabase
        /// The requests of an upload are chosen.
        case uploadPreprocessing
        /// The upload is done, and the download of the same call begins.
        case waitingForDownload
    }

    /// The number of the operation, which grows while the store is open.
    public let operation: Int
    /// The kind of step.
    public let kind: Kind
    /// The number of the step within its operation, from 1.
    public let number: Int
    /// The number of steps of the operation.
    public let total: Int
    /// The parameters of the step, as described for its ``kind``; most have none.
    public let parameters: [String]
    /// The time when the step began.
    public let at: ODataDateTimeOffset

    /// The step in words, for the log: an app shows its own.
    public var message: String {
        func parameter(_ index: Int) -> String { parameters.indices.contains(index) ? parameters[index] : "" }
        return switch kind {
        case .buildingEntityStore: "Making the tables of the entity sets."
        case .creatingBootStrapDatabase: "The server prepares the store."
        case .creatingRequestQueueDatabase: "Making the tables of the queue."
        case .downloadingEntityStore: "Loading the store: \(parameter(0)) of \(parameter(1)) bytes."
        case .erasingExpiredRequests: "Looking for changes that have waited too long."
        case .loadingMetadata: "Reading the metadata of the service."
        case .performingRequestQueueMerge: "Folding requests for one entity."
        case .performingTransactionMerge: "Folding transactions."
        case .performingCreateDeleteMerge: "Removing what was created and deleted."
        case .processingDefiningQueries: "Asking for \(parameter(0)): \(parameter(1))"
        case .processingRequests: "Sending request \(parameter(0)) of \(parameter(1))."
        case .reapplyingChanges: "Putting waiting changes on top."
        case .analyzingReceivedData: "Comparing what was received."
        case .receivingDataFromServer:
            parameters.isEmpty ? "Receiving rows." : "Receiving rows: \(parameter(0)) bytes so far."
        case .removingDeletedRelationships: "Removing what the service has no more."
        case .removingRemoveAfterUploadRequests: "Removing what was to stay only until it is sent."
        case .sendingDataToServer: parameters.isEmpty ? "Sending changes." : "Sent \(parameter(0)) bytes so far."
        case .sendingEntityStoreDatabase: "Copying the store."
        case .sendingRequestQueueDatabase: "Sending the queue."
        case .uploadPreprocessing: "Choosing the requests to send."
        case .waitingForDownload: "Waiting for the download."
        }
    }
}

/// An operation with reported steps, and its possible steps.
enum StoreOperation {
    case creation
    case opening
    case upload(folds: Bool)
    case download
    case synchronisation(folds: Bool)
    case metadata
    case copy

    var kinds: [OperationStep.Kind] {
        switch self {
        case .creation: [.loadingMetadata, .buildingEntityStore, .creatingRequestQueueDatabase]
        case .opening, .metadata: [.loadingMetadata]
        case .upload(let folds):
            (folds ? [.performingRequestQueueMerge, .performingCreateDeleteMerge] : []) + [
                .erasingExpiredRequests, .uploadPreprocessing, .processingRequests, .sendingDataToServer,
                .removingRemoveAfterUploadRequests,
            ]
        case .download:
            [
                .processingDefiningQueries, .receivingDataFromServer, .analyzingReceivedData, .reapplyingChanges,
                .removingDeletedRelationships,
            ]
        case .synchronisation(let folds):
            Self.upload(folds: folds).kinds + [.waitingForDownload] + Self.download.kinds
        case .copy: [.sendingEntityStoreDatabase]
        }
    }
}
