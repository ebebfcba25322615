import ODataModel
import ODataQuery
import ODataService

/// What a query finds, now and after each change, as an `AsyncSequence` of results.
///
/// The first element is the present result. Each later one differs from the one before it, in whatever way it came
/// about: an edit here, a download, another process. The query is read again only after changes of tables that it reads; after a
/// change by another process, whatever that was. Changes that follow each other while the last result is
/// still being used are one element; the newest state always comes. The sequence ends when the store is closed.
///
/// ```swift
/// let open = try ODataURL(parsing: "Orders?$filter=ShippedDate eq null&$orderby=OrderID")
/// for try await orders in store.observe.results(of: open) {
///     show(orders)
/// }
/// ```
public struct QueryObservation: AsyncSequence, Sendable {
    /// All entities that the query finds, in its order.
    public typealias Element = [ODataEntity]

    let source: ObservedQuery

    /// Reads again when something may have changed.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// How often a result is read in which others write meanwhile; the last one is taken, and read again right after.
        private static let maxTries = 10

        let source: ObservedQuery
        private var seen: UInt64?
        private var last: [ODataEntity]?

        init(source: ObservedQuery) { self.source = source }

        /// The next result; `nil` when the store was closed.
        ///
        /// - Throws: `ODataError` when the query is refused, `CancellationError`, `StoreError`.
        public mutating func next() async throws -> [ODataEntity]? {
            while true {
                if let seen, try await !source.changes.wait(for: source.observed, beyond: seen) { return nil }
                var result: [ODataEntity] = []
                do {
                    var tries = 0
                    // Values and the state of their changes are read one after the other: what came between them would be seen
                    // in the one and not in the other.
                    var version: UInt64
                    repeat {
                        tries += 1
                        version = await source.changes.version(observing: source.observed)
                        result = try await source.read()
                    } while await source.changes.hasChange(of: source.observed, beyond: version)
                        && tries < Self.maxTries
                    seen = version
                } catch {
                    guard !source.changes.isClosed else { return nil }
                    throw error
                }
                if let last, last.elementsEqual(result, by: Self.looksAlike) { continue }
                last = result
                return result
            }
        }
    }

    /// An iterator that begins with the present result.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }
}

extension QueryObservation.AsyncIterator {
    /// Whether two entities have the same values, and their changes are in the same state; so too what is expanded in
    /// them.
    static func looksAlike(_ one: ODataEntity, _ other: ODataEntity) -> Bool {
        one == other && areInSameState(one, other)
    }

    private static func areInSameState(_ one: ODataEntity, _ other: ODataEntity) -> Bool {
        guard one.offlineState == other.offlineState, one.changeFlags == other.changeFlags else { return false }
        return one.related.allSatisfy { name, related in
            switch (related, other.related[name]) {
            case (.one(let mine), .one(let theirs)?): areInSameState(mine, theirs)
            case (.many(let mine, _, _), .many(let theirs, _, _)?): mine.elementsEqual(theirs, by: areInSameState)
            default: true
            }
        }
    }
}

/// How the result of a query changes, as an `AsyncSequence`: what a list animates.
///
/// The first element has every entity of the present result as inserted. Applying each element to what was there
/// gives the present result (in no order). Rows that are no entities, as those of `$apply=groupby(...)`, are told apart by
/// their values: one with other values has left, and another has come.
///
/// ```swift
/// let open = try ODataURL(parsing: "Orders?$filter=ShippedDate eq null")
/// for try await changes in store.observe.changes(of: open) where !changes.isEmpty { show(changes.inserted) }
/// ```
public struct QueryChangeObservation: AsyncSequence, Sendable {
    /// What is different.
    public typealias Element = QueryChanges

    let source: ObservedQuery

    /// Compares entities that are the same one, by id or key.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var results: QueryObservation.AsyncIterator
        private var known: [Identity: Rows]?

        /// What makes a row the same one in two results.
        private enum Identity: Hashable {
            case id(String)
            case key(EntityKey)
            case values(ODataEntity)

            init(_ entity: ODataEntity) {
                if let id = entity.control.id {
                    self = .id(id)
                } else if let key = entity.key {
                    self = .key(key)
                } else {
                    self = .values(entity)
                }
            }
        }

        /// The rows of a result that cannot be told apart.
        private struct Rows {
            var entity: ODataEntity
            var count = 0
        }

        init(source: ObservedQuery) { results = QueryObservation.AsyncIterator(source: source) }

        /// The next differences; `nil` when the store was closed.
        ///
        /// - Throws: as ``QueryObservation``.
        public mutating func next() async throws -> QueryChanges? {
            while let result = try await results.next() {
                let old = known ?? [:]
                let isFirst = known == nil
                var now: [Identity: Rows] = [:]
                var changes = QueryChanges()
                for entity in result {
                    let identity = Identity(entity)
                    var rows = now[identity] ?? Rows(entity: entity)
                    rows.count += 1
                    now[identity] = rows
                    guard let before = old[identity], before.count >= rows.count else {
                        changes.inserted.append(entity)
                        continue
                    }
                    if !QueryObservation.AsyncIterator.looksAlike(before.entity, entity) {
                        changes.updated.append(entity)
                    }
                }
                for (identity, before) in old {
                    let left = before.count - (now[identity]?.count ?? 0)
                    if left > 0 { changes.removed += [ODataEntity](repeating: before.entity, count: left) }
                }
                known = now
                // Another order alone is no change of rows.
                if isFirst || !changes.isEmpty { return changes }
            }
            return nil
        }
    }

    /// An iterator that begins with the present result as inserted.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }
}

/// What is different between two results of a query.
///
/// ```swift
/// for try await changes in store.observe.changes(of: try ODataURL(parsing: "Orders")) {
///     show(changes.inserted.count, changes.updated.count, changes.removed.count)
/// }
/// ```
public struct QueryChanges: Hashable, Sendable {
    /// Entities that came into the result.
    public var inserted: [ODataEntity] = []
    /// Entities with other values, or whose changes are in another state, as they are now.
    public var updated: [ODataEntity] = []
    /// Entities that left the result, as they were.
    public var removed: [ODataEntity] = []

    /// Whether nothing is different.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && removed.isEmpty }
}

/// A query over a store, and what tells that its result may be another.
struct ObservedQuery: Sendable {
    let url: ODataURL
    let provider: OfflineStore
    let changes: StoreChanges
    /// What can change its result.
    let observed: ObservedTables

    init(url: ODataURL, provider: OfflineStore) {
        self.url = url
        self.provider = provider
        changes = provider.changeFeed
        observed = ObservedTables(of: url, provider.mapping)
    }

    private var isByKey: Bool {
        guard case .name(_, let arguments)? = url.path.segments.last else { return false }
        return arguments != .none
    }

    /// All entities that it finds now; of a single entity that one, or none. They are of one moment, however large the pages
    /// are that others are given.
    func read() async throws -> [ODataEntity] {
        do {
            switch try await provider.execute(ODataRequest(.read, url), isPaged: false).body {
            case .page(let page): return page.entities
            case .entity(let entity): return [entity]
            case .none: return []
            default:
                throw ODataError(
                    status: 400, code: "NotObservable", message: "\(url) is no entity or collection of entities.")
            }
        } catch let error as ODataError where error.status == 404 && isByKey {
            // It is deleted, or not there yet.
            return []
        }
    }
}

extension OfflineStore.Observation {
    /// Observes the result of a query.
    ///
    /// - Parameter query: a collection of entities with query options, or one entity by its key.
    public func results(of query: ODataURL) -> QueryObservation {
        QueryObservation(source: ObservedQuery(url: query, provider: store))
    }

    /// Observes the entities that enter the result of a query, change in it, or leave it.
    ///
    /// - Parameter query: a collection of entities with query options, or one entity by its key.
    public func changes(of query: ODataURL) -> QueryChangeObservation {
        QueryChangeObservation(source: ObservedQuery(url: query, provider: store))
    }
}
