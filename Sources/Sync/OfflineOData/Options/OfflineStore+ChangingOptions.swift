extension OfflineStore {
    /// The options that the store was opened with, as ``setOptions(_:)`` has changed them.
    public var options: Options { optionState.withLock { $0 } }

    /// Time and randomness.
    var environment: EngineEnvironment { options.runtime.environment }

    /// Changes options while the store is open. Uploads and downloads that are under way go on as they began.
    ///
    /// ``SyncOptions`` may be changed, except ``SyncOptions/undoesLocalCreation``, and so may
    /// ``ServiceOptions/contentIDLocation``. All other options are fixed at opening. Values that cannot be
    /// compared keep those of the opening: clock and random generator, notes of incarnations, trace, observer and
    /// the preparation of connections.
    ///
    /// ```swift
    /// var options = store.options
    /// options.sync.localChangeExpiry = .seconds(86_400)
    /// try store.setOptions(options)
    /// ```
    /// - Throws: ``OfflineError/optionFixed(name:)`` for an option that is fixed at opening; nothing is changed
    ///   then.
    public func setOptions(_ changed: Options) throws(OfflineError) {
        let known = options
        if let name = known.firstFixed(that: changed) { throw .optionFixed(name: name) }
        var changed = changed
        changed.runtime = known.runtime
        optionState.withLock { $0 = changed }
    }
}

extension OfflineStore.Options {
    /// The first option set at opening in which others differ.
    fileprivate func firstFixed(that others: Self) -> String? {
        creation.firstFixed(that: others.creation).map { "creation.\($0)" }
            ?? (sync.undoesLocalCreation != others.sync.undoesLocalCreation ? "sync.undoesLocalCreation" : nil)
            ?? service.firstFixed(that: others.service).map { "service.\($0)" }
            ?? runtime.firstFixed(that: others.runtime).map { "runtime.\($0)" }
    }
}

extension OfflineStore.CreationOptions {
    fileprivate func firstFixed(that others: Self) -> String? {
        let differences: [(String, Bool)] = [
            ("collation", collation != others.collation),
            ("isCaseSensitive", isCaseSensitive != others.isCaseSensitive),
            ("clientOnlyModel", clientOnlyModel !== others.clientOnlyModel),
            ("purgesClientOnlyData", purgesClientOnlyData != others.purgesClientOnlyData),
            ("localDrafts", localDrafts != others.localDrafts),
            ("indexes", indexes != others.indexes),
            ("indexedTypes", indexedTypes != others.indexedTypes),
            ("requiresMaxLengthOfKeys", requiresMaxLengthOfKeys != others.requiresMaxLengthOfKeys),
            ("downloadsEntitySetsByDefault", downloadsEntitySetsByDefault != others.downloadsEntitySetsByDefault),
            ("downloadsStreamsByDefault", downloadsStreamsByDefault != others.downloadsStreamsByDefault),
        ]
        return differences.first(where: \.1)?.0
    }
}

extension OfflineStore.ServiceOptions {
    fileprivate func firstFixed(that others: Self) -> String? {
        if capabilities != others.capabilities { return "capabilities" }
        return assumedOffset != others.assumedOffset ? "assumedOffset" : nil
    }
}

extension OfflineStore.RuntimeOptions {
    fileprivate func firstFixed(that others: Self) -> String? {
        let differences: [(String, Bool)] = [
            ("database.writerCacheBytes", database.writerCacheBytes != others.database.writerCacheBytes),
            ("database.readerCacheBytes", database.readerCacheBytes != others.database.readerCacheBytes),
            ("database.readerCount", database.readerCount != others.database.readerCount),
            ("database.busyTimeout", database.busyTimeout != others.database.busyTimeout),
            ("database.createsFile", database.createsFile != others.database.createsFile),
            ("localPageSize", localPageSize != others.localPageSize),
            ("meter", meter !== others.meter),
            ("trace", (trace == nil) != (others.trace == nil)),
        ]
        return differences.first(where: \.1)?.0
    }
}
