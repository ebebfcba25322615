import Foundation
import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The parts of the service that the defining queries of a store hold (rule 12). A read outside of them is
/// refused, and the error names a query that would bring it.
///
/// A set is held if a query reads it, even with a filter. A relation with a foreign key is held if a query reads
/// its target set. Any other relation, and contained entities, are held for the rows of the queries that expand
/// them, and for local creations.
struct HeldData: LoadedData {
    let version: Int
    let mapping: StorageMapping
    /// The sets with streams that queries load.
    private let streams: Set<String>
    /// The places in defining queries that bring rows, by the set of the rows.
    private let places: [String: [Place]]

    /// A place in a defining query that brings rows of a set: the query itself, or an item of its `$expand`.
    private struct Place {
        var query: Int64
        /// Whether the query reads the set itself, and not as the target of another set.
        var isOwnQuery: Bool
        /// Whether all rows of the set have been brought there.
        var hasAll: Bool
        /// The navigation properties that are expanded there.
        var expanded: Set<String>
    }

    /// - Parameters:
    ///   - queries: all defining queries of the store.
    ///   - version: a number that differs for each list of queries.
    init(_ queries: [StoredQuery], mapping: StorageMapping, version: Int) {
        self.version = version
        self.mapping = mapping
        streams = Set(queries.filter(\.retrievesStreams).flatMap { $0.sets(in: mapping) })
        var places: [String: [Place]] = [:]
        for query in queries {
            guard let options = try? ODataURL(parsing: query.text).options else { continue }
            let isOwn = query.parent == nil
            let isFiltered =
                options.filter != nil || options.search != nil || options.top != nil || options.skip != nil
            places[query.entitySet, default: []].append(
                Place(
                    query: query.id, isOwnQuery: isOwn, hasAll: isOwn && !isFiltered && query.isLoaded,
                    expanded: Set(options.expand.compactMap(\.relation))))
            Self.add(options.expand, of: query.entitySet, query: query.id, mapping: mapping, to: &places)
        }
        self.places = places
    }

    private static func add(
        _ items: [ExpandItem], of set: String, query: Int64, mapping: StorageMapping,
        to places: inout [String: [Place]]
    ) {
        for item in items {
            guard let name = item.relation, let target = mapping.tables[set]?.navigation[name]?.target else { continue }
            places[target, default: []].append(
                Place(
                    query: query, isOwnQuery: false, hasAll: false,
                    expanded: Set(item.options.expand.compactMap(\.relation))))
            add(item.options.expand, of: target, query: query, mapping: mapping, to: &places)
        }
    }

    // MARK: Sets

    func missing(_ set: String) -> MissingData? {
        guard !isHeld(set) else { return nil }
        return MissingData(error: .notLoaded(set, definingQuery: definingQuery(for: set)))
    }

    /// Whether a query loads the streams of a set.
    func bringsStreams(of set: String) -> Bool { streams.contains(set) }

    /// Whether a query brings rows of a set. Contained rows count as relations.
    private func isHeld(_ set: String) -> Bool { set.contains("/") || isClientOnly(set) || places[set] != nil }

    private func isClientOnly(_ set: String) -> Bool { mapping.model.entitySet(set)?.isClientOnly ?? false }

    private func isReadable(_ set: String) -> Bool {
        mapping.model.singleton(set) != nil || mapping.model.entitySet(set)?.isReadableAsWhole ?? false
    }

    // MARK: Relations

    func missing(_ relation: String, of set: String) -> MissingData? {
        guard let table = mapping.tables[set], let storage = table.navigation[relation] else { return nil }
        let isLocalKnown: Bool
        if let pairs = storage.foreignKey {
            // Rows that a query reads itself are held as far as its filter goes.
            if places[storage.target]?.contains(where: \.isOwnQuery) ?? false || isClientOnly(storage.target) {
                return nil
            }
            // The foreign key of any row may name an entity that no query has brought.
            isLocalKnown = !pairs.allSatisfy { pair in
                mapping.tables[storage.target]?.keyColumns.contains { $0.name == pair.target } ?? false
            }
        } else {
            guard !isClientOnly(set), !storage.leadsToContainer else { return nil }
            if let (other, opposite) = mapping.opposite(of: storage), expandsForAll(opposite, of: other) { return nil }
            isLocalKnown = true
        }
        if expandsForAll(relation, of: set) { return nil }
        let queries = Dictionary(grouping: places[set] ?? [], by: \.query)
        let always = queries.filter { $0.value.allSatisfy { $0.expanded.contains(relation) } }.map(\.key)
        if always.count == queries.count, !always.isEmpty { return nil }
        let sometimes = queries.filter { $0.value.contains { $0.expanded.contains(relation) } }.map(\.key)
        return MissingData(
            exceptRows: Self.known(
                relation, always, sometimes: sometimes.filter { !always.contains($0) }, local: isLocalKnown),
            error: .notLoaded("\(set)/\(relation)", definingQuery: definingQuery(for: relation, of: table, storage)))
    }

    /// Whether a query has brought all rows of a set with the targets of a navigation property.
    private func expandsForAll(_ relation: String, of set: String) -> Bool {
        places[set]?.contains { $0.hasAll && $0.expanded.contains(relation) } ?? false
    }

    /// The rows with a known relation.
    ///
    /// - Parameters:
    ///   - always: the queries that expand it for all their rows of the set.
    ///   - sometimes: the queries that expand it for some of these rows.
    ///   - local: whether it is known for local creations.
    private static func known(_ relation: String, _ always: [Int64], sometimes: [Int64], local: Bool)
        -> RowCondition?
    {
        func list(_ queries: [Int64]) -> String { queries.sorted().map(String.init).joined(separator: ", ") }
        var conditions: [String] = []
        if local {
            conditions.append(
                """
                :owner = 0 AND NOT EXISTS (SELECT 1 FROM outpost_before
                    WHERE entity_set = :set AND row_id = :row AND entity IS NOT NULL)
                """)
        }
        if !always.isEmpty {
            conditions.append(
                """
                :owner IN (\(list(always))) OR EXISTS (SELECT 1 FROM outpost_member
                    WHERE entity_set = :set AND row_id = :row AND query_id IN (\(list(always))))
                """)
        }
        if !sometimes.isEmpty {
            conditions.append(ExpandedRows.condition(relation, broughtBy: list(sometimes)))
        }
        return conditions.isEmpty ? nil : RowCondition(sql: conditions.map { "(\($0))" }.joined(separator: " OR "))
    }

    // MARK: Remedies

    /// The defining query that brings a set; `nil` if none can.
    private func definingQuery(for set: String) -> String? {
        if isReadable(set) { return set }
        if let entitySet = mapping.model.entitySet(set), entitySet.isAddressable { return "\(set)?$filter=…" }
        // A set that cannot be read by itself is read through others.
        for other in mapping.model.container.entitySets where other.isReadableAsWhole {
            guard let table = mapping.tables[other.name] else { continue }
            for navigation in table.shape.navigationProperties
            where table.navigation[navigation.name]?.target == set {
                return Self.definingQuery(expanding: navigation.name, of: other.name)
            }
        }
        return nil
    }

    /// The defining query that brings a relation; `nil` if none can.
    private func definingQuery(
        for relation: String, of table: TableStorage, _ storage: NavigationStorage
    ) -> String? {
        if storage.foreignKey != nil, isReadable(storage.target) { return storage.target }
        if table.shape.navigationProperty(relation) != nil {
            return Self.definingQuery(expanding: relation, of: table.set)
        }
        guard mapping.model.version >= .v4, let type = derivedType(with: relation, below: table.shape) else {
            return nil
        }
        return Self.definingQuery(expanding: "\(type)/\(relation)", of: table.set)
    }

    /// The type derived from another that has a navigation property.
    private func derivedType(with relation: String, below shape: TypeShape) -> QualifiedName? {
        for name in mapping.model.derivedTypes(of: shape.name) {
            guard let derived = mapping.model.shape(name) else { continue }
            if derived.navigationProperty(relation) != nil { return name }
            if let further = derivedType(with: relation, below: derived) { return further }
        }
        return nil
    }

    /// The query that expands a navigation property in a set, singleton or containment path.
    static func definingQuery(expanding relation: String, of set: String) -> String {
        var names = set.split(separator: "/").map(String.init)
        let first = names.removeFirst()
        let expand = (names + [relation]).reversed().reduce("") { inner, name in
            inner.isEmpty ? "$expand=\(name)" : "$expand=\(name)(\(inner))"
        }
        return "\(first)?\(expand)"
    }

    /// The refusal of a stream that is not in the store.
    static func missingStream(_ url: ODataURL, of steps: [BoundSegment]) -> ODataError {
        let set: String? =
            switch steps.first {
            case .entitySet(let set, _): set.name
            case .singleton(let singleton, _): singleton.name
            default: nil
            }
        return ODataError.notLoaded(url.description, definingQuery: set.map { "\($0) with its streams" })
    }
}

extension NavigationStorage {
    /// The columns of a foreign key; `nil` for a link table and for containment.
    var foreignKey: [ColumnPair]? {
        guard case .join(_, let pairs) = self, !isContainment, !leadsToContainer else { return nil }
        return pairs
    }

    /// Whether it leads from an entity to its contained entities.
    private var isContainment: Bool {
        if case .join(_, let pairs) = self { pairs.contains { $0.target == OfflineLayout.parentColumn } } else { false }
    }

    /// Whether it leads from a contained entity to its container, which always exists.
    fileprivate var leadsToContainer: Bool {
        if case .join(_, let pairs) = self { pairs.contains { $0.source == OfflineLayout.parentColumn } } else { false }
    }
}

extension ExpandItem {
    /// The name of the navigation property; `nil` for a property of a complex value, and for `*`.
    var relation: String? {
        guard let last = path.last?.text, last != "*", path.dropLast().allSatisfy({ $0.text.contains(".") }) else {
            return nil
        }
        return last
    }
}

/// The description of the store's held parts, renewed after any process has changed the defining queries.
final class HeldDataCache: Sendable {
    private let mapping: StorageMapping
    private let known = LockedState<(queries: String, held: HeldData)?>(nil)

    init(mapping: StorageMapping) { self.mapping = mapping }

    /// The currently held parts.
    func current(in database: Database) throws -> HeldData {
        let queries =
            try String.fetchOne(
                database.cachedStatement(
                    sql:
                        "SELECT group_concat(id || '.' || is_loaded) FROM (SELECT id, is_loaded FROM outpost_query ORDER BY id)"
                ))
            ?? ""
        if let known = known.withLock({ $0 }), known.queries == queries { return known.held }
        let all = try QueryTable.all(in: database)
        return known.withLock { known in
            let held = HeldData(all, mapping: mapping, version: (known?.held.version ?? 0) + 1)
            known = (queries, held)
            return held
        }
    }
}
