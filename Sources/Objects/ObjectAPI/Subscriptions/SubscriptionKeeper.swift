import ODataModel
import OfflineOData

/// The subscriptions of a database: its defining queries and the notes about them, which are parameters of the store.
struct SubscriptionKeeper: Sendable {
    /// The notes that the store keeps as parameters, which no defining query may name.
    private enum Note {
        static let subscribed = "Outpost_subscribed"
        /// The first download after the package was subscribed is complete.
        static let isDownloaded = "Outpost_downloaded"
        static let suspended = "Outpost_suspended"
        /// The default subscription of a set that the app asked for by name.
        static func wanted(_ set: String) -> String { "Outpost_wanted_\(set)" }
    }

    let store: OfflineStore
    let package: PackageModel

    func query(of set: PackageModel.SynchronizedSet) -> SubscriptionQuery {
        SubscriptionQuery(set: set, keys: package.keys)
    }

    // MARK: Notes

    private func note(_ name: String) async throws -> Bool { try await store.queries.parameters()[name] != nil }

    private func setNote(_ name: String, _ isSet: Bool) async throws {
        try await store.queries.setParameter(name, to: isSet ? "true" : nil)
    }

    var isSubscribed: Bool { get async throws { try await note(Note.subscribed) } }
    var isSuspended: Bool { get async throws { try await note(Note.suspended) } }

    func setSubscribed(_ isSubscribed: Bool) async throws { try await setNote(Note.subscribed, isSubscribed) }
    /// Notes that a download is complete.
    ///
    /// - Returns: whether it is the first one since the package was subscribed.
    func noteDownload() async throws -> Bool {
        guard try await !note(Note.isDownloaded) else { return false }
        try await setNote(Note.isDownloaded, true)
        return true
    }

    func setSuspended(_ isSuspended: Bool) async throws { try await setNote(Note.suspended, isSuspended) }

    // MARK: Subscriptions

    /// The default queries of a new database, by their sets: whole sets, and those whose arguments are all known.
    static func defaultQueries(_ package: PackageModel) throws -> [DefiningQuery] {
        try package.sets.values.sorted { $0.name < $1.name }.compactMap { set in
            try SubscriptionQuery(set: set, keys: package.keys).defaultQuery()
        }
    }

    /// All subscriptions of a set, of all sets if none is named, each with its query.
    func all(of set: String? = nil) async throws -> [(subscription: PackageSubscription, query: DefiningQuery)] {
        let queries = try await store.queries.all()
        return queries.compactMap { query in
            guard case .name(let name, _)? = query.url.path.segments.first, set == nil || set == name.text,
                let known = package.sets[name.text],
                let arguments = self.query(of: known).arguments(ofQuery: query.name)
            else { return nil }
            return (PackageSubscription(entitySet: known.name, group: known.group, arguments: arguments), query)
        }
    }

    /// Adds a subscription. One that is there already stays. The first one that the app names takes the place of the
    /// default subscription of its set, if nothing was downloaded yet.
    func add(_ arguments: [SubscriptionArgument], to set: PackageModel.SynchronizedSet) async throws {
        let query = try self.query(of: set).query(arguments)
        let known = try await store.queries.all()
        if query.name == set.name { try await setNote(Note.wanted(set.name), true) }
        if !known.contains(where: { $0.name == query.name }) { try await store.queries.add(query) }
        guard query.name != set.name, known.contains(where: { $0.name == set.name }),
            try await !isSubscribed, try await !note(Note.wanted(set.name))
        else { return }
        try await store.queries.remove(set.name)
    }

    /// Removes a subscription with its rows. Rows of other subscriptions and rows with changes stay.
    ///
    /// - Returns: whether there was such a subscription.
    func remove(_ arguments: [SubscriptionArgument], of set: PackageModel.SynchronizedSet) async throws -> Bool {
        let query = try self.query(of: set).query(arguments)
        if query.name == set.name { try await setNote(Note.wanted(set.name), false) }
        guard try await store.queries.all().contains(where: { $0.name == query.name }) else { return false }
        try await store.queries.remove(query.name)
        return true
    }

    /// Gives each set without a subscription its default subscription, and marks the package as subscribed, unless it is
    /// subscribed.
    func subscribe() async throws {
        guard try await !isSubscribed else { return }
        let held = Set(try await all().map { $0.subscription.entitySet })
        for set in package.sets.values.sorted(by: { $0.name < $1.name }) where !held.contains(set.name) {
            if let query = try query(of: set).defaultQuery() { try await store.queries.add(query) }
        }
        try await setSubscribed(true)
    }

    /// Removes all subscriptions with their rows.
    func unsubscribe() async throws {
        for (subscription, query) in try await all() {
            try await store.queries.remove(query.name)
            try await setNote(Note.wanted(subscription.entitySet), false)
        }
        try await setSubscribed(false)
        try await setNote(Note.isDownloaded, false)
        try await setSuspended(false)
    }

    /// The queries that a download of groups reads, and the sets without any.
    ///
    /// - Parameter groups: the groups; all if empty.
    func wanted(_ groups: Set<String>) async throws -> (queries: [DefiningQuery], missing: [String]) {
        let values = try await store.queries.parameters()
        var queries: [DefiningQuery] = []
        var held: Set<String> = []
        for (subscription, query) in try await all() {
            guard let set = package.sets[subscription.entitySet] else { continue }
            // A key that has no value yet leaves the rows unknown.
            let keys = self.query(of: set).followedKeys(subscription.arguments)
            guard keys.allSatisfy({ values[$0] != nil }) else { continue }
            held.insert(set.name)
            if groups.isEmpty || groups.contains(set.group) { queries.append(query) }
        }
        // Queries that the app added to the store itself.
        let own = Set(try await all().map { $0.query.name })
        for query in try await store.queries.all() where !own.contains(query.name) {
            if groups.isEmpty || groups.contains(query.group ?? package.defaultGroup) { queries.append(query) }
        }
        let missing = package.sets.values.filter { set in
            !held.contains(set.name) && (groups.isEmpty || groups.contains(set.group))
        }.map(\.name)
        return (queries, missing.sorted())
    }
}
