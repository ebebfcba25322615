import GRDB
import ODataHTTP
import ODataModel
import ODataSQL
import ODataService

extension OfflineStore {
    /// How a store is opened.
    public struct Options: Sendable {
        /// The most rows that a download asks for in one page.
        public var downloadPageSize = 2000
        /// How much a download takes from the service at most.
        public var downloadLimits = DownloadLimits()
        /// Whether an answer with a value that cannot be read is refused as a whole; `false` unless given: such a value then
        /// costs its property alone, which is not loaded, named in ``StoreStatus/unreadable`` and left alone by uploads.
        public var refusesUnreadableValues = false
        /// How many defining queries are read from the service at once, 1 or more.
        public var parallelQueries = 3
        /// The most rows in one page of a local read; `nil` for no limit.
        public var localPageSize: Int?
        /// Whether deleting an entity that was made here and never sent takes its making back, instead of sending
        /// both.
        public var undoesLocalCreation = false
        /// Whether deleting one entity of the error archive gives all archived changes up, as the older products do,
        /// and not that one with what depends on it.
        public var revertsErrorsTogether = false
        /// Counts the bytes that go over the wire, for the event log; see `TransferMeter`.
        public var meter: TransferMeter?
        /// Entity sets that only the store has: full reading and changing, never sent and never downloaded. Their types
        /// may not lead to the service's. Changing them is possible as long as every difference is compatible.
        public var clientOnlyModel: EntityDataModel?
        /// Sets of drafts by name, each with the service's entity set that it has drafts of.
        public var localDrafts: [String: String] = [:]
        /// Whether what the app has for itself goes where a change of ``clientOnlyModel`` is not compatible.
        public var purgesClientOnlyData = false
        /// Indexes that a new store gets, by entity set: each a list of paths such as `Address/City desc`.
        public var indexes: [String: [[String]]] = [:]
        /// The same by type, a line for each: `Shop.Customer: City, CompanyName DESC`. Every entity set of the type gets
        /// the index.
        public var indexedTypes: [String] = []
        /// How queries order and compare texts; `nil` for how the store was made, by code points where it is new. What a
        /// store was made with stays: its indexes depend on it.
        public var collation: TextCollation?
        /// Whether queries tell small letters from capital ones; `nil` for how the store was made, where it is new yes. Else
        /// comparisons, `in`, `contains`, `startswith`, `endswith` and `$orderby` go by the letters alone. Keys in paths are
        /// exact in any case, and so are groups, and members whose type nobody declared.
        public var isCaseSensitive: Bool?
        /// The offset in minutes that instants in JSON count as written with where the service leaves it out, as it must
        /// not; `nil` for instants that cannot be read then (``refusesUnreadableValues``). 0 is UTC.
        public var assumedOffset: Int?
        /// Whether keys that are texts or bytes must state how long they may get, as older engines want it.
        public var requiresMaxLengthOfKeys = false
        /// How long a change may wait before an upload puts it into the error archive instead of sending it,
        /// where that upload's ``UploadOptions/expiresAfter`` says nothing else; `nil` for no limit.
        public var localChangeExpiry: Duration?
        /// By entity set, what happens to a change of an entity that somebody else has changed meanwhile. The other sets have the
        /// policy of the upload (``UploadOptions/conflictPolicy``). A contained collection is named by its path, such as
        /// `Albums/Pages`.
        public var conflictPolicies: [String: ConflictPolicy] = [:]
        /// Whether an entity is read again after each change that the service accepted without telling what it made of
        /// it, so that values which it gives are here before the next download. One more request for each such change.
        public var populatesGeneratedValuesEarly = false
        /// The `Accept` field of requests for all of a query, such as `application/json;q=1,application/atom+xml;q=0.5`;
        /// `nil` for what the client asks for.
        public var definingQueryFormat: String?
        /// The `Accept` field of requests for what changed; `nil` for what the client asks for, and for Atom where the service
        /// is older than V4: in JSON, many of those leave out what is gone.
        public var deltaQueryFormat: String?
        /// Whether the first requests of all queries of a download go in one batch, unless the service has none.
        public var batchesDefiningQueries = false
        /// Where the requests of a change set have their `Content-ID`.
        public var contentIDLocation = ContentIDLocation.mime
        /// Whether a new store for which no queries are given keeps every entity set; else none, until queries are
        /// added.
        public var downloadsEntitySetsByDefault = true
        /// Whether the queries of a new store for which none are given load the streams of their entities too.
        public var downloadsStreamsByDefault = false
        /// What is known of the service.
        public var service = StatedCapabilities()
        /// Hears what the store is doing and each step of that, opening included. It is called on the tasks that do it, and must
        /// return soon.
        public var observer: (@Sendable (StoreReport) -> Void)?
        /// Who is told of each SQL statement; nobody by default.
        public var trace: SQLTrace?
        /// Caches and connections.
        public var database = StoreDatabase.Options()
        /// Time and randomness.
        public var environment = EngineEnvironment.system
        /// Where this device notes which file each store is in, so that a copied, restored or rolled-back store is known as one.
        public var incarnations = IncarnationNotes.standard

        /// Makes options with the defaults.
        public init() {}

        /// A connection whose instants have the offset that they are to be read with where the service leaves it out.
        func assumingOffset(of remote: any ODataProvider) -> any ODataProvider {
            guard let assumedOffset, !(remote is OffsetAssumingProvider) else { return remote }
            return OffsetAssumingProvider(base: remote, offset: assumedOffset)
        }

        /// The options of the connections, each of which is traced and knows the forms of texts that indexes hold.
        func connections(createsFile: Bool) -> StoreDatabase.Options {
            var connections = database
            let (prepare, trace) = (connections.prepare, trace)
            connections.createsFile = createsFile
            connections.prepare = { database in
                try prepare?(database)
                TextComparison.register(in: database)
                trace?.begin(in: database)
            }
            return connections
        }
    }

    /// Where a request in a multipart batch has its `Content-ID`.
    public enum ContentIDLocation: Hashable, Sendable {
        /// Among the fields of the part, as OData 4 has it.
        case mime
        /// Among the fields of the request within it, where some older services look for it.
        case operation
    }
}
