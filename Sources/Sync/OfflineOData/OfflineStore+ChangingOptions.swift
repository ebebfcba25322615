extension OfflineStore {
    /// How the store works: as it was opened, or as ``setOptions(_:)`` has changed that.
    public var options: Options { optionState.withLock { $0 } }

    /// Changes options while the store is open. Uploads and downloads that are under way go on as they began.
    ///
    /// Pages and formats of downloads, what becomes of old changes and archived errors, and how requests are sent may be
    /// changed. Caches, connections, pages of local reads and whatever else the store was built with may not. The clock and
    /// the random generator of the environment, the notes of incarnations, the trace, the observer and what prepares connections
    /// stay those it was opened with.
    ///
    /// ```swift
    /// var options = store.options
    /// options.localChangeExpiry = .seconds(86_400)
    /// try store.setOptions(options)
    /// ```
    /// - Throws: ``OfflineError/optionFixed(name:)`` for one that is set at opening; nothing is changed then.
    public func setOptions(_ changed: Options) throws(OfflineError) {
        let known = options
        if let name = known.firstFixed(that: changed) { throw .optionFixed(name: name) }
        var changed = changed
        changed.environment = known.environment
        changed.incarnations = known.incarnations
        changed.trace = known.trace
        changed.observer = known.observer
        changed.database.prepare = known.database.prepare
        optionState.withLock { $0 = changed }
    }
}

extension OfflineStore.Options {
    /// The first option set at opening in which others differ.
    fileprivate func firstFixed(that others: Self) -> String? {
        let differences: [(String, Bool)] = [
            ("database.writerCacheBytes", database.writerCacheBytes != others.database.writerCacheBytes),
            ("database.readerCacheBytes", database.readerCacheBytes != others.database.readerCacheBytes),
            ("database.readerCount", database.readerCount != others.database.readerCount),
            ("database.busyTimeout", database.busyTimeout != others.database.busyTimeout),
            ("database.createsFile", database.createsFile != others.database.createsFile),
            ("localPageSize", localPageSize != others.localPageSize),
            ("collation", collation != others.collation),
            ("isCaseSensitive", isCaseSensitive != others.isCaseSensitive),
            ("assumedOffset", assumedOffset != others.assumedOffset),
            ("undoesLocalCreation", undoesLocalCreation != others.undoesLocalCreation),
            ("clientOnlyModel", clientOnlyModel !== others.clientOnlyModel),
            ("localDrafts", localDrafts != others.localDrafts),
            ("indexes", indexes != others.indexes),
            ("indexedTypes", indexedTypes != others.indexedTypes),
            ("meter", meter !== others.meter),
            ("service", service != others.service),
            ("trace", (trace == nil) != (others.trace == nil)),
            ("purgesClientOnlyData", purgesClientOnlyData != others.purgesClientOnlyData),
            ("requiresMaxLengthOfKeys", requiresMaxLengthOfKeys != others.requiresMaxLengthOfKeys),
            ("downloadsEntitySetsByDefault", downloadsEntitySetsByDefault != others.downloadsEntitySetsByDefault),
            ("downloadsStreamsByDefault", downloadsStreamsByDefault != others.downloadsStreamsByDefault),
        ]
        return differences.first(where: \.1)?.0
    }
}
