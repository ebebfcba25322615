import ODataModel
import ODataQuery
import ODataService

/// The result of a query, now and after each change, as an `AsyncSequence`.
///
/// The first element is the present result. Each later one differs from the one before it, whether because of a
/// local edit, a download or another process. The query is read again only after changes of its tables; after a
/// change by another process, in any case. Changes during the use of the last result are combined into one
/// element, and the newest state always follows. The sequence ends when the store is closed.
///
/// ```swift
/// let open = try ODataURL(parsing: "Orders?$filter=ShippedDate eq null&$orderby=OrderID")
/// for try await orders in store.observe.results(of: open) {
///     show(orders)
/// }
/// ```
public struct QueryObservation: AsyncSequence, Sendable {
    /// All entities of the result, in its order.
    public typealias Element = [ODataEntity]

    let source: ObservedQuery

    /// Reads again when something may have changed.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The number of attempts to read a result without concurrent writes. The last one is used, and read
        /// again right after.
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
                    // Values and the state of their changes are read one after the other. A write in between
                    // would be visible in only one of them.
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
    /// Whether two entities have the same values and states of changes, including their expanded entities.
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

/// The changes of a query's result, as an `AsyncSequence`, for example for an animated list.
///
/// The first element has every entity of the present result as inserted. Applying each element to the former
/// result gives the present one, without its order. Rows that are no entities, as those of `$apply=groupby(...)`,
/// are identified by their values: a row with other values counts as a new one.
///
/// ```swift
/// let open = try ODataURL(parsing: "Orders?$filter=ShippedDate eq null")
/// for try await changes in store.observe.changes(of: open) where !changes.isEmpty { show(changes.inserted) }
/// ```
public struct QueryChangeObservation: AsyncSequence, Sendable {
    /// The differences.
    public typealias Element = QueryChanges

    let source: ObservedQuery

    /// Compares entities with the same id or key.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var results: QueryObservation.AsyncIterator
        private var known: [Identity: Rows]?

        /// The identity of a row in two results.
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

        /// The rows of a result with the same identity.
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

/// The differences between two results of a query.
///
/// ```swift
/// for try await changes in store.observe.changes(of: try ODataURL(parsing: "Orders")) {
///     show(changes.inserted.count, changes.updated.count, changes.removed.count)
/// }
/// ```
public struct QueryChanges: Hashable, Sendable {
    /// Entities that entered the result.
    public var inserted: [ODataEntity] = []
    /// Entities with other values or another state of their changes, in their new version.
    public var updated: [ODataEntity] = []
    /// Entities that left the result, in their former version.
    public var removed: [ODataEntity] = []

    /// Whether nothing is different.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && removed.isEmpty }
}

/// A query over a store, with the source of its changes.
struct ObservedQuery: Sendable {
    let url: ODataURL
    let provider: OfflineStore
    let changes: StoreChanges
    /// The tables that can affect its result.
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

    /// Reads all entities of the result; for a single entity, this one or none. They are a consistent snapshot,
    /// whatever the page size of other reads is.
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
            // It is deleted, or does not exist yet.
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
