import ODataModel
import ODataQuery
import ODataService
import Synchronization

/// The statements that were compiled before, by the shapes of queries and, for each URL, with its ``ResolvedURL``.
///
/// Values are only ever bound. A request that differs from one before in its literals alone is resolved, and takes
/// over that one's statement with its own values (``QueryShape``).
package final class QueryCache: Sendable {
    /// How many shapes are kept; the least recently used one makes room for another.
    static let capacity = 256
    /// The most literals of a request whose statement others may share: each of them is looked for among all.
    static let maxLiterals = 64

    /// The statements of one URL.
    package final class Entry: Sendable {
        /// The URL resolved.
        package let url: BoundURL
        /// The shape and the literals; `nil` where nothing but the whole URL tells what is compiled.
        let shape: QueryShape?
        /// The cache that the entry belongs to.
        fileprivate let cache: QueryCache
        /// The compiled query, by what it depends on besides.
        private let compiled = Mutex<[Conditions: CompiledQuery]>([:])

        init(_ resolved: ResolvedURL, in cache: QueryCache) {
            url = resolved.bound
            shape = resolved.url.statementShape
            self.cache = cache
        }

        /// What was kept for this request, or for one of its shape; nothing for a caller who sees only some rows,
        /// whose statements are for this caller alone.
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

        /// Keeps a compiled query that depends on nothing else.
        func keep(_ query: CompiledQuery, _ options: SQLCompiler.Options) {
            guard options.rowFilter == nil else { return }
            let conditions = Conditions(options)
            keep(query, under: conditions)
            if let shape, let bound = url.query {
                cache.keep(Statement(query, of: bound, shape.parameters), of: shape, conditions)
            }
        }

        /// Keeps a compiled query, in the place of those that were compiled when the store held other parts.
        private func keep(_ query: CompiledQuery, under conditions: Conditions) {
            compiled.withLock { compiled in
                compiled = compiled.filter { $0.key.loadedData == conditions.loadedData }
                compiled[conditions] = query
            }
        }
    }

    /// What a statement depends on besides the query.
    fileprivate struct Conditions: Hashable {
        /// Whether rows are hidden.
        var hasHiddenOwners: Bool
        /// The version of ``SQLCompiler/Options/loadedData``.
        var loadedData: Int?

        init(_ options: SQLCompiler.Options) {
            hasHiddenOwners = options.hasHiddenOwners
            loadedData = options.loadedData?.version
        }
    }

    /// A statement that serves all requests of a shape which were resolved alike and agree in the literals that it does not bind.
    private struct Statement: Sendable {
        let query: CompiledQuery
        /// The query that was compiled. The type of a literal depends on its value, so that another request of the same shape may be
        /// another query.
        let bound: BoundQuery
        /// The literals that other requests must have too, by their indices.
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

    /// The entry of a URL that was asked for before; `nil` for another one.
    func known(of resolved: ResolvedURL) -> Entry? {
        guard let entry = resolved.made as? Entry, entry.cache === self else { return nil }
        return entry
    }

    package init() {}

    /// The entry of a URL, made when there is none.
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
    /// The shape whose statement the request may share; `nil` where a literal may become something else before it is
    /// compiled, so that nobody could tell which of the values is which: aliases, casts of constants, `$apply`.
    fileprivate var statementShape: QueryShape? {
        guard options.apply.isEmpty, options.compute.isEmpty, options.aliases.isEmpty, options.temporal.isEmpty,
            path.segments.allSatisfy(\.hasPlainLiterals), options.filter?.hasPlainLiterals ?? true,
            options.orderBy.allSatisfy(\.expression.hasPlainLiterals),
            !options.select.contains(where: \.hasOptions)
        else { return nil }
        var plain = self
        // Neither of the two is a part of the statement.
        plain.options.top = nil
        plain.options.skip = nil
        let shape = plain.shape
        return shape.parameters.count <= QueryCache.maxLiterals ? shape : nil
    }
}

extension PathSegment {
    /// Whether literals of the segment are values of a key as they stand.
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

    /// Whether each literal becomes one constant and no other constant is made.
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
