import GRDB
import ODataModel
import ODataSQL

extension OfflineStore {
    /// The defining queries of the store.
    public var queries: Queries { Queries(store: self) }

    /// The defining queries of a store: the parts of the service that are kept offline.
    ///
    /// ```swift
    /// try await store.queries.add(DefiningQuery("mine", "Orders?$filter=EmployeeID eq @employee"))
    /// try await store.queries.setParameter("employee", to: "7")
    /// try await store.download(["mine"])
    /// for query in try await store.queries.all() { print(query.name) }
    /// ```
    public struct Queries: Sendable {
        let store: OfflineStore
    }
}

extension OfflineStore.Queries {
    /// Returns the defining queries in the order in which they were added.
    ///
    /// - Throws: `StoreError`; `QueryError` when a stored query cannot be read.
    public func all() async throws -> [DefiningQuery] {
        try await store.database.read { try QueryTable.all(in: $0) }.filter { $0.parent == nil }.map {
            try DefiningQuery(
                $0.name, $0.text, group: $0.group, retrievesStreams: $0.retrievesStreams, isShared: $0.isShared)
        }
    }

    /// Adds a defining query. The next download brings its rows; until all are here, those that no other query
    /// holds are not seen.
    ///
    /// ```swift
    /// try await store.queries.add(DefiningQuery("mine", "Orders?$filter=EmployeeID eq 7", group: "daily"))
    /// try await store.download(["mine"])
    /// ```
    /// - Throws: ``OfflineError/queryExists(name:)``; ``OfflineError/invalidDefiningQuery(name:reason:)``;
    ///   `QueryError` for names that the model does not have.
    public func add(_ query: DefiningQuery) async throws {
        let serviceModel = store.serviceModel
        let query = try query.overSet(of: serviceModel)
        let set = try DefiningQueryCheck.entitySet(of: query, model: serviceModel)
        if store.options.creation.requiresMaxLengthOfKeys {
            try DefiningQueryCheck.requireMaxLength(of: [query], [set], serviceModel)
        }
        try await store.database.write { [mapping = store.mapping, environment = store.environment] database in
            guard try !QueryTable.all(in: database).contains(where: { $0.name == query.name }) else {
                throw OfflineError.queryExists(name: query.name)
            }
            let others = try QueryTable.all(in: database).map(\.entitySet)
            try DefiningQueryCheck.requireKeyOrAlone(query, set, others: others, model: serviceModel)
            try QueryTable.add(query, entitySet: set, mapping: mapping, in: database)
            try Events.add("query added", query.name, environment: environment, in: database)
        }
    }

    /// Removes a defining query, with the rows that no other query holds. A row with changes of ours stays until
    /// these are through, as in a download.
    ///
    /// Rows go in small transactions, so that edits do not wait; the first of them hides all, so that a reader sees
    /// them all or none. After a crash, calling this again goes on.
    ///
    /// - Returns: how many rows went.
    /// - Throws: ``OfflineError/unknown(kind:name:)``; ``OfflineError/busy(processID:)``; `StoreError`.
    @discardableResult
    public func remove(_ name: String) async throws -> Int {
        // A download must not bring rows of a query that goes.
        let lock = try SyncLock(path: StoreFiles.lock(in: store.directory))
        defer { withExtendedLifetime(lock) {} }
        let (database, mapping) = (store.database, store.mapping)
        let all = try await database.read { try QueryTable.all(in: $0) }
        guard let query = all.first(where: { $0.name == name && $0.parent == nil }) else {
            throw OfflineError.unknown(kind: "defining query", name: name)
        }
        let removals = try QueryTable.withParts([query], of: all).flatMap { part in
            let links = try ExpandedRelations.links(of: part, mapping)
            return part.sets(in: mapping).compactMap { mapping.tables[$0] }.map {
                QueryRemoval(query: part.id, table: $0, mapping: mapping, links: links)
            }
        }
        try await database.write { database in for removal in removals { try removal.begin(in: database) } }
        var removed = 0
        for removal in removals {
            var last = Int64.min
            while true {
                let after = last
                guard let step = try await database.write({ try removal.removeSome(after: after, in: $0) }) else {
                    break
                }
                (removed, last) = (removed + step.count, step.last)
            }
        }
        let (environment, count) = (store.environment, removed)
        try await database.write { database in
            for removal in removals { try removal.finish(in: database) }
            try Events.add("query removed", "\(name), \(count) rows", environment: environment, in: database)
        }
        return removed
    }

    /// Forgets the delta links of all defining queries, so that the next download reads and compares all rows. Local
    /// changes stay.
    ///
    /// - Throws: ``OfflineError/busy(processID:)``; `StoreError`.
    public func forgetLinks() async throws {
        let lock = try SyncLock(path: StoreFiles.lock(in: store.directory))
        defer { withExtendedLifetime(lock) {} }
        try await store.database.write { [environment = store.environment] database in
            for query in try QueryTable.all(in: database) { try QueryTable.forgetLinks(of: query.id, in: database) }
            try Events.add(
                "links forgotten", "the next download reads all rows", environment: environment, in: database)
        }
    }
}
