import ODataSQL
import ODataService

extension OfflineStore {
    /// How a store is made, synchronized and used, in four groups.
    ///
    /// ```swift
    /// var options = OfflineStore.Options()
    /// options.creation.isCaseSensitive = false
    /// options.sync.downloadPageSize = 500
    /// options.service.capabilities.supportsPatch = false
    /// options.runtime.database.readerCount = 4
    /// ```
    public struct Options: Sendable {
        /// The options for creating the store: sets of its own, indexes, comparison of texts.
        public var creation = CreationOptions()
        /// How changes are queued and sent, and how rows are downloaded.
        public var sync = SyncOptions()
        /// The assumptions about the service.
        public var service = ServiceOptions()
        /// The parts that this process provides for the open store: connections, clock, observers.
        public var runtime = RuntimeOptions()

        /// Makes options with the defaults.
        public init() {}

        /// A connection that reads instants without an offset as ``ServiceOptions/assumedOffset`` says.
        func assumingOffset(of remote: any ODataProvider) -> any ODataProvider {
            guard let offset = service.assumedOffset, !(remote is OffsetAssumingProvider) else { return remote }
            return OffsetAssumingProvider(base: remote, offset: offset)
        }

        /// The options of the connections, each of which is traced and knows the forms of texts that indexes hold.
        func connections(createsFile: Bool) -> StoreDatabase.Options {
            var connections = runtime.database
            let (prepare, trace) = (connections.prepare, runtime.trace)
            connections.createsFile = createsFile
            connections.prepare = { database in
                try prepare?(database)
                TextComparison.register(in: database)
                trace?.begin(in: database)
            }
            return connections
        }
    }
}
