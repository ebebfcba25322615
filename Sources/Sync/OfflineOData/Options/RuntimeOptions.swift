import ODataHTTP
import ODataSQL

extension OfflineStore {
    /// The parts that a process provides for the store that it opens: connections, clock, observers. None of them
    /// is kept with the store, and none changes while the store is open.
    ///
    /// ```swift
    /// var options = OfflineStore.Options()
    /// options.runtime.observer = { report in show(report) }
    /// ```
    public struct RuntimeOptions: Sendable {
        /// Caches and connections of the database.
        public var database = StoreDatabase.Options()
        /// The most rows in one page of a local read, 1 or more; `nil`, the default, for no limit.
        public var localPageSize: Int?
        /// Time and randomness.
        public var environment = EngineEnvironment.system
        /// The place where this device notes the file of each store, so that a copied, restored or rolled-back store is
        /// recognised.
        public var incarnations = IncarnationNotes.standard
        /// Counts transferred bytes for the event log (`TransferMeter`); `nil`, the default, to count none.
        public var meter: TransferMeter?
        /// Receives the states and steps of the store, including those of opening; `nil`, the default, for
        /// nobody. It is called on the tasks that do the work, and must return soon.
        public var observer: (@Sendable (StoreReport) -> Void)?
        /// Receives each SQL statement; `nil`, the default, for nobody.
        public var trace: SQLTrace?

        /// Makes options with the defaults.
        public init() {}
    }
}
