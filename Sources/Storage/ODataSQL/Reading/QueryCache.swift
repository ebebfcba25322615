import ODataModel
import ODataQuery
import ODataService
import Synchronization

/// The cached statements, by shape of the query and, for each URL, in its ``ResolvedURL``.
///
/// Values are always bound as arguments. A request that differs from an earlier one only in its literals is
/// resolved, and uses the earlier statement with its own values (``QueryShape``).
package final class QueryCache: Sendable {
    /// The maximum number of shapes; the least recently used one is removed first.
    static let capacity = 256
    /// The maximum number of literals in a request with a shared statement, because each of them is compared with
    /// all others.
    static let maxLiterals = 64

    /// The statements of a URL.
    package final class Entry: Sendable {
        package let url: BoundURL
        /// The shape and the literals; `nil` if the statement depends on the whole URL.
        let shape: QueryShape?
        fileprivate let cache: QueryCache
        /// The compiled queries by their other conditions.
        private let compiled = Mutex<[Conditions: CompiledQuery]>([:])

        init(_ resolved: ResolvedURL, in cache: QueryCache) {
            url = resolved.bound
            shape = resolved.url.statementShape
            self.cache = cache
        }

        /// Returns the cached query for this request or its shape. A caller who sees only some rows has no cached
        /// queries.
        func find(_ options: SQLCompiler.Options, _ model: EntityDataModel) -> CompiledQuery? {
            guard options.rowFilter == nil else { return nil }
            let conditions = Conditions(options)
            if let own = compiled.withLock({ $0[conditions] }) { return own }
            guard let shape, let query = url.query,
                let made = cache.statement(of: shape, conditions)?.query(for: query, shape, model)
            else { return nil }
            keep(made, under: conditions)
            return made
        }

        /// Stores a compiled query that depends only on its URL and conditions.
        func keep(_ query: CompiledQuery, _ options: SQLCompiler.Options) {
            guard options.rowFilter == nil else { return }
            let conditions = Conditions(options)
            keep(query, under: conditions)
            if let shape, let bound = url.query {
                cache.keep(Statement(query, of: bound, shape.parameters), of: shape, conditions)
            }
        }

        /// Stores a compiled query and removes those that were compiled for other loaded data.
        private func keep(_ query: CompiledQuery, under conditions: Conditions) {
            compiled.withLock { compiled in
                compiled = compiled.filter { $0.key.loadedData == conditions.loadedData }
                compiled[conditions] = query
            }
        }
    }

    /// The conditions of a statement in addition to the query.
    fileprivate struct Conditions: Hashable {
        /// Whether the store contains hidden rows.
        var hasHiddenOwners: Bool
        /// The version of ``SQLCompiler/Options/loadedData``.
        var loadedData: Int?

        init(_ options: SQLCompiler.Options) {
            hasHiddenOwners = options.hasHiddenOwners
            loadedData = options.loadedData?.version
        }
    }

    /// A statement for all requests of a shape that have the same resolved form and the same unbound literals.
    private struct Statement: Sendable {
        let query: CompiledQuery
        /// The compiled query. The type of a literal depends on its value, so that another request of the same
        /// shape may have a different form.
        let bound: BoundQuery
        /// The literals that other requests must share, by index.
        let fixed: [Int: ODataValue]

        init(_ query: CompiledQuery, of bound: BoundQuery, _ literals: [ODataValue]) {
            self.query = query
            self.bound = bound
            let replaced = query.boundLiterals
            var fixed: [Int: ODataValue] = [:]
            for (index, literal) in literals.enumerated() where !replaced.contains(index) { fixed[index] = literal }
            self.fixed = fixed
        }

        func query(for other: BoundQuery, _ shape: QueryShape, _ model: EntityDataModel) -> CompiledQuery? {
            guard fixed.allSatisfy({ shape.parameters[$0.key].isWritten(like: $0.value) }), other.hasForm(of: bound)
            else {
                return nil
            }
            return query.adapted(to: other, shape.parameters, model)
        }
    }

    private struct StatementKey: Hashable {
        var shape: QueryShape
        var conditions: Conditions
    }

    private let statements = Mutex(LeastRecentlyUsed<StatementKey, Statement>(capacity: QueryCache.capacity))

    /// Returns the entry of an earlier URL; `nil` if there is none.
    func known(of resolved: ResolvedURL) -> Entry? {
        guard let entry = resolved.made as? Entry, entry.cache === self else { return nil }
        return entry
    }

    package init() {}

    /// Returns the entry of a URL, which is created if necessary.
    package func entry(of resolved: ResolvedURL) -> Entry {
        if let known = known(of: resolved) { return known }
        let made = Entry(resolved, in: self)
        resolved.made = made
        return made
    }

    private func statement(of shape: QueryShape, _ conditions: Conditions) -> Statement? {
        statements.withLock { $0.use(StatementKey(shape: shape, conditions: conditions)) }
    }

    private func keep(_ statement: Statement, of shape: QueryShape, _ conditions: Conditions) {
        statements.withLock { $0.set(statement, for: StatementKey(shape: shape, conditions: conditions)) }
    }
}

extension ODataURL {
    /// The shape under which the request may share a statement.
    ///
    /// `nil` if a literal may be transformed before it is compiled, so that values cannot be matched with literals:
    /// aliases, casts of constants, `$apply`.
    fileprivate var statementShape: QueryShape? {
        guard options.apply.isEmpty, options.compute.isEmpty, options.aliases.isEmpty, options.temporal.isEmpty,
            path.segments.allSatisfy(\.hasPlainLiterals), options.filter?.hasPlainLiterals ?? true,
            options.orderBy.allSatisfy(\.expression.hasPlainLiterals),
            !options.select.contains(where: \.hasOptions)
        else { return nil }
        var plain = self
        // `$top` and `$skip` are not part of the statement.
        plain.options.top = nil
        plain.options.skip = nil
        let shape = plain.shape
        return shape.parameters.count <= QueryCache.maxLiterals ? shape : nil
    }
}

extension PathSegment {
    /// Whether the literals of the segment are unchanged key values.
    fileprivate var hasPlainLiterals: Bool {
        switch self {
        case .name(_, .none), .count, .reference: true
        case .name(_, .key), .name(_, .named), .key: children.allSatisfy(\.isLiteral)
        default: false
        }
    }
}

extension CommonExpression {
    fileprivate var isLiteral: Bool {
        if case .literal = self { true } else { false }
    }

    /// Whether each literal becomes exactly one constant, and there are no other constants.
    fileprivate var hasPlainLiterals: Bool {
        switch self {
        case .literal: true
        case .path(let steps): steps.allSatisfy(\.hasPlainLiterals)
        case .unary, .binary, .call: children.allSatisfy(\.hasPlainLiterals)
        case .alias, .membership, .namedCall, .typeTest, .list, .json: false
        }
    }
}

extension PathStep {
    fileprivate var hasPlainLiterals: Bool {
        switch self {
        case .name(let name): !name.text.hasPrefix("@")
        case .variable(let name): name.text == "$it" || name.text == "$this"
        case .any, .all, .count(_, search: nil): children.allSatisfy(\.hasPlainLiterals)
        case .count, .key, .call, .filter, .aggregate: false
        }
    }
}
