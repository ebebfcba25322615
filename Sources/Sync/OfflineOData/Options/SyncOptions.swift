extension OfflineStore {
    /// How changes are queued and sent, and how rows are downloaded. All but ``undoesLocalCreation`` can change
    /// while the store is open (``OfflineStore/setOptions(_:)``). ``UploadOptions`` are of a single upload.
    ///
    /// ```swift
    /// var options = OfflineStore.Options()
    /// options.sync.downloadPageSize = 500
    /// options.sync.conflictPolicies = ["Prices": .serverWins]
    /// ```
    public struct SyncOptions: Sendable {
        // MARK: Downloads

        /// The most rows that a download asks for in one page, 1 or more; 2,000 by default. A service may always
        /// give less.
        public var downloadPageSize = 2000
        /// The most that a download takes from the service.
        public var downloadLimits = DownloadLimits()
        /// The number of defining queries that are read at the same time, 1 or more; 3 by default.
        public var parallelQueries = 3
        /// Whether the first requests of all queries of a download share a batch, if the service has batches;
        /// `false` by default.
        public var batchesDefiningQueries = false
        /// The `Accept` field of requests for all rows of a query, such as
        /// `application/json;q=1,application/atom+xml;q=0.5`; `nil`, the default, for the field of the client.
        public var definingQueryFormat: String?
        /// The `Accept` field of requests for changed rows; `nil`, the default, for the field of the client.
        /// Services before V4 are then asked for Atom, since many of them omit deletions in JSON.
        public var deltaQueryFormat: String?
        /// Whether a response with an unreadable value is refused as a whole; `false` by default. Otherwise only
        /// the property with the value is not loaded: ``StoreStatus/unreadable`` names it, and uploads leave it
        /// alone.
        public var refusesUnreadableValues = false

        // MARK: Uploads

        /// The policy for conflicts by entity set; none by default. The other sets have the policy of the upload
        /// (``UploadOptions/conflictPolicy``). A contained collection is named by its path, such as `Albums/Pages`.
        public var conflictPolicies: [String: ConflictPolicy] = [:]
        /// The longest time that a change waits before an upload moves it to the error archive instead of sending
        /// it; `nil`, the default, for no limit. ``UploadOptions/expiresAfter`` of an upload comes first.
        public var localChangeExpiry: Duration?
        /// Whether an entity is read again after a change that the service accepted without returning the entity;
        /// `false` by default. Values that the service generates are then in the store before the next download,
        /// for one more request each.
        public var populatesGeneratedValuesEarly = false

        // MARK: Undoing

        /// Whether deleting an unsent created entity takes its creation back, instead of sending both; `false` by
        /// default.
        public var undoesLocalCreation = false
        /// Whether deleting an entity of the error archive discards all archived changes, as older products do;
        /// `false` by default, and then it discards that change with those that depend on it.
        public var revertsErrorsTogether = false

        /// Makes options with the defaults.
        public init() {}
    }
}
