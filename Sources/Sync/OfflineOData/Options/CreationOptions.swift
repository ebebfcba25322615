import ODataModel

extension OfflineStore {
    /// The options that a store is made with. None of them changes while the store is open.
    ///
    /// The store keeps ``collation``, ``isCaseSensitive``, ``clientOnlyModel`` and ``localDrafts``: leave them
    /// out when the store is opened again. Indexes and defaults of queries only matter to a new store.
    ///
    /// ```swift
    /// var options = OfflineStore.Options()
    /// options.creation.isCaseSensitive = false
    /// options.creation.indexes = ["Orders": [["CustomerID"]]]
    /// ```
    public struct CreationOptions: Sendable {
        /// How queries order and compare texts. `nil`, the default, for the collation that the store was made
        /// with, which is by code points for a new store. Indexes depend on it, so opening with another value is
        /// refused.
        public var collation: TextCollation?
        /// Whether queries distinguish small and capital letters. `nil`, the default, for the value that the
        /// store was made with, which is `true` for a new store.
        ///
        /// If it is `false`, comparisons, `in`, `contains`, `startswith`, `endswith` and `$orderby` ignore case.
        /// Keys in paths, groups and members of undeclared types stay exact.
        public var isCaseSensitive: Bool?
        /// Entity sets that only the store has; `nil`, the default, for none. They are never sent and never
        /// downloaded, and their types must not lead to types of the service. Another model may be given later if
        /// every difference is compatible.
        public var clientOnlyModel: EntityDataModel?
        /// Whether the rows of client-only sets are removed if a change of ``clientOnlyModel`` is not compatible;
        /// `false` by default, and then opening the store is refused.
        public var purgesClientOnlyData = false
        /// The sets of drafts by name, each with the active entity set of the service; none by default.
        public var localDrafts: [String: String] = [:]
        /// The indexes of a new store by entity set, each a list of paths such as `Address/City desc`; none by default.
        public var indexes: [String: [[String]]] = [:]
        /// The indexes of a new store by type, one line for each: `Shop.Customer: City, CompanyName DESC`. Every
        /// entity set of the type gets the index. None by default.
        public var indexedTypes: [String] = []
        /// Whether keys of texts or bytes must declare a maximum length, as older engines require; `false` by default.
        public var requiresMaxLengthOfKeys = false
        /// Whether a new store without defining queries keeps every entity set; `true` by default. If it is
        /// `false`, the store stays empty until a query is added.
        public var downloadsEntitySetsByDefault = true
        /// Whether the queries of a new store without given defining queries load streams, too; `false` by default.
        public var downloadsStreamsByDefault = false

        /// Makes options with the defaults.
        public init() {}
    }
}
