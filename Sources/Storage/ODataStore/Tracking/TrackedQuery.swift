import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The rows on which the result of a query depends: those of its own table, and those reached by filters and
/// expands.
package struct TrackedQuery: Sendable {
    /// A table and the tables reached from it.
    package struct Node: Sendable {
        package var set: String
        /// The tables reached by navigation, by the path of the navigation property.
        package var related: [String: Node] = [:]
        /// The columns that affect the result, in addition to those of joins; `nil` for all.
        var shownColumns: Set<String>?

        /// The sets of the node and its descendants.
        package var sets: Set<String> { related.values.reduce([set]) { $0.union($1.sets) } }
    }

    package private(set) var root: Node
    /// The membership of the root table's rows in the collection.
    private(set) var membership = Membership.all

    /// The membership of a table's rows in an addressed collection.
    enum Membership: Sendable {
        /// All rows are members.
        case all
        /// Rows linked to a parent entity by a link table are members. The log of the link table reports added
        /// and removed members.
        case linked(table: String, rowIsSource: Bool, holder: Holder)
        /// Rows whose columns have the key values of a parent entity are members.
        case joined([(column: String, value: DatabaseValue)])
    }

    /// The parent entity of a collection.
    struct Holder: Sendable {
        var set: String
        var key: EntityKey
    }

    private let mapping: StorageMapping

    /// Creates the tracked query of a request.
    ///
    /// - Returns: `nil` if the result cannot be tracked. Aggregations, searches, limits and expressions that
    ///   depend on the time cannot be tracked, nor sets of which the caller sees only some rows.
    init?(_ bound: BoundURL, core: ServiceCore, principal: Principal?) throws {
        mapping = core.mapping
        guard let query = bound.query, query.apply.isEmpty, query.search == nil, query.top == nil, query.skip == nil
        else { return nil }
        let steps = bound.resource.steps
        guard case .entitySet(let first, _)? = steps.first else { return nil }
        var set = first.name
        for (position, step) in steps.enumerated().dropFirst() {
            switch step {
            case .key, .cast, .filter: continue
            case .navigation(let navigation, _, _):
                // The parent must be named by its key. If it is missing, the response is an error, and not a
                // change.
                guard navigation.isCollection, case .key(let key) = steps[position - 1], case .all = membership,
                    let storage = mapping.tables[set]?.navigation[navigation.name]
                else { return nil }
                switch storage {
                case .join(let target, let pairs):
                    guard let values = Self.values(pairs, of: key, in: mapping.tables[set]), !storage.leadsToParts
                    else {
                        return nil
                    }
                    membership = .joined(values)
                    set = target
                case .link(let target, let table, _, let column):
                    membership = .linked(
                        table: table, rowIsSource: column == "source", holder: Holder(set: set, key: key))
                    set = target
                }
            default: return nil
            }
        }
        guard case .entities = bound.resource.target, mapping.tables[set] != nil, !set.contains("/"),
            core.mapping.model.tracksChanges(of: set), core.definition.virtualSets[set] == nil
        else { return nil }
        root = Node(set: set)
        for case .filter(let condition, _) in steps {
            guard add(condition, to: \.root) else { return nil }
        }
        guard add(query, to: \.root) else { return nil }
        let conditions = steps.compactMap { if case .filter(let condition, _) = $0 { condition } else { nil } }
        root.shownColumns = Self.shownColumns(query, conditions, of: set, core: core)
        // A row that became invisible to the caller cannot be reported: the report would reveal its key.
        guard try core.access?.seesAll(root.sets, principal) ?? true else { return nil }
    }

    /// Creates the tracked query of an entity set whose rows are visible to all callers.
    ///
    /// - Returns: `nil` if the result cannot be tracked: for aggregations, searches, limits, and expressions
    ///   that depend on the time.
    package init?(_ query: BoundQuery, of set: String, mapping: StorageMapping) {
        guard query.apply.isEmpty, query.search == nil, query.top == nil, query.skip == nil else { return nil }
        self.mapping = mapping
        root = Node(set: set)
        guard add(query, to: \.root) else { return nil }
    }

    /// Returns the foreign key values that refer to the entity with a key; `nil` if they refer to columns
    /// outside the key, which could change.
    private static func values(
        _ pairs: [NavigationStorage.ColumnPair], of key: EntityKey, in table: TableStorage?
    ) -> [(column: String, value: DatabaseValue)]? {
        guard let table else { return nil }
        let columns = table.keyColumns
        var result: [(column: String, value: DatabaseValue)] = []
        for pair in pairs {
            guard let position = columns.firstIndex(where: { $0.name == pair.source }),
                let value = key[table.shape.key[position].name],
                let stored = try? columns[position].codec.encode(value)
            else { return nil }
            result.append((pair.target, stored))
        }
        return result
    }

    // MARK: Collecting

    private mutating func add(_ query: BoundQuery, to node: WritableKeyPath<TrackedQuery, Node>) -> Bool {
        if let filter = query.filter, !add(filter, to: node) { return false }
        for computed in query.compute where !add(computed.expression, to: node) { return false }
        for expand in query.expand {
            guard expand.query.apply.isEmpty, expand.query.search == nil, expand.levels == 1,
                let next = step(to: Self.name(expand.path, expand.navigation), in: node)
            else { return false }
            for order in expand.query.orderBy where !add(order.expression, to: next) { return false }
            guard add(expand.query, to: next) else { return false }
        }
        return true
    }

    private static func name(_ path: [BoundStep], _ navigation: NavigationProperty) -> String {
        let names = path.compactMap { step -> String? in
            if case .property(let property, _, _) = step { property.name } else { nil }
        }
        return (names + [navigation.name]).joined(separator: "/")
    }

    /// Returns the node of a related table, adding it if necessary.
    private mutating func step(
        to name: String, in node: WritableKeyPath<TrackedQuery, Node>
    ) -> WritableKeyPath<TrackedQuery, Node>? {
        guard let storage = mapping.tables[self[keyPath: node].set]?.navigation[name],
            mapping.tables[storage.target] != nil
        else { return nil }
        if self[keyPath: node].related[name] == nil {
            self[keyPath: node].related[name] = Node(set: storage.target)
        }
        return node.appending(path: \Node.related[name].orRoot)
    }

    /// Adds the tables in an expression; `false` if the value depends on more than rows.
    private mutating func add(
        _ expression: BoundExpression, to node: WritableKeyPath<TrackedQuery, Node>
    ) -> Bool {
        !expression.calls(.now) && !expression.isOpaque && follow(expression, from: node, variables: [:])
    }

    /// Adds the tables in the paths of an expression; `false` if a path leads to more than related rows.
    private mutating func follow(
        _ expression: BoundExpression, from node: WritableKeyPath<TrackedQuery, Node>,
        variables: [RangeVariable: WritableKeyPath<TrackedQuery, Node>]
    ) -> Bool {
        var members = node
        for child in expression.children {
            switch child {
            case .expression(let operand):
                guard follow(operand, from: node, variables: variables) else { return false }
            case .path(let path):
                guard let end = follow(path, from: variables[path.variable] ?? node) else { return false }
                members = end
            case .condition(let condition, let variable):
                var inner = variables
                inner[variable] = members
                guard follow(condition, from: node, variables: inner) else { return false }
            case .step, .aggregate, .hierarchy, .transformation, .expand, .query, .selection: return false
            }
        }
        return true
    }

    /// Returns the node at the end of a path.
    private mutating func follow(
        _ path: BoundPath, from start: WritableKeyPath<TrackedQuery, Node>
    ) -> WritableKeyPath<TrackedQuery, Node>? {
        var node = start
        var names: [String] = []
        for step in path.steps {
            switch step {
            case .property(let property, _, _): names.append(property.name)
            case .navigation(let navigation, _, _):
                names.append(navigation.name)
                guard let next = self.step(to: names.joined(separator: "/"), in: node) else { return nil }
                node = next
                names = []
            case .cast, .dynamic, .computed, .annotation: continue
            case .entitySet, .singleton, .key, .filter: return nil
            }
        }
        return node
    }
}

extension Optional<TrackedQuery.Node> {
    /// The node. Key paths lead only through existing nodes.
    fileprivate var orRoot: TrackedQuery.Node {
        get { self ?? TrackedQuery.Node(set: "") }
        set { self = newValue }
    }
}

extension EntityDataModel {
    /// Returns whether changes of a set are tracked. They are, unless `Capabilities.ChangeTracking` states
    /// otherwise.
    func tracksChanges(of set: String) -> Bool { allows("ChangeTracking", "Supported", on: set) }
}
