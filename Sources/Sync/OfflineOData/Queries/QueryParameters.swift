import GRDB
import ODataModel
import ODataQuery

/// The lifetime of a parameter's value.
///
/// ```swift
/// try await store.queries.setParameter("employee", to: "7")
/// try await store.queries.setParameter("token", to: "'secret'", keeping: .session)
/// ```
public enum ParameterLifetime: Hashable, Sendable {
    /// With the store, until its user changes.
    case user
    /// In memory, until the store is closed: it is never written to disk.
    case session
}

extension OfflineStore.Queries {
    /// Gives a parameter of defining queries a value: `@employee` in `Orders?$filter=EmployeeID eq @employee`.
    /// The next download brings the rows for the new value and removes the others. A running download, in any
    /// process, continues with its value. A first download of the query then ends incomplete
    /// (``DownloadReport/Query/isComplete``).
    ///
    /// ```swift
    /// try await store.queries.setParameter("employee", to: "7")
    /// try await store.queries.setParameter("token", to: "'secret'", keeping: .session)
    /// ```
    /// - Parameters:
    ///   - name: the name without `@`.
    ///   - literal: the value in the form of a URL literal; `nil` to remove it.
    ///   - lifetime: the lifetime of the value.
    /// - Throws: `QueryError` for an invalid literal; `StoreError`.
    public func setParameter(
        _ name: String, to literal: String?, keeping lifetime: ParameterLifetime = .user
    ) async throws {
        if let literal { _ = try QueryParameters.expression(literal, of: name) }
        let previous = try await store.parameterTexts()[name]
        let wasOfSession = store.sessionParameters.withLock { parameters in
            defer { parameters[name] = lifetime == .session ? literal : nil }
            return parameters[name] != nil
        }
        try await store.database.write { database in
            let key = QueryParameters.prefix + name
            if let literal, lifetime == .user {
                try Settings.set(key, literal, in: database)
            } else {
                try database.execute(sql: "DELETE FROM outpost_setting WHERE name = ?", arguments: [key])
            }
            guard previous != literal || wasOfSession != (lifetime == .session) else { return }
            for query in try QueryTable.all(in: database)
            where QueryParameters.names(in: try ODataURL(parsing: query.text)).contains(name) {
                // Neither a delta nor the rows of a first download match another value.
                try QueryTable.forgetLinks(of: query.id, in: database)
            }
        }
    }
}

extension OfflineStore.Queries {
    /// Returns the values of the parameters of defining queries, as URL literals by name.
    ///
    /// - Throws: `StoreError`.
    public func parameters() async throws -> [String: String] { try await store.parameterTexts() }
}

extension OfflineStore {
    /// The values of parameters, as literals by name.
    fileprivate func parameterTexts() async throws -> [String: String] {
        let kept = try await database.read { database in
            try Row.fetchAll(
                database, sql: "SELECT name, CAST(value AS TEXT) FROM outpost_setting WHERE name LIKE ? || '%'",
                arguments: [QueryParameters.prefix]
            ).map { row -> (String, String) in (row[0], row[1]) }
        }
        var texts: [String: String] = [:]
        for (name, text) in kept { texts[String(name.dropFirst(QueryParameters.prefix.count))] = text }
        return texts.merging(sessionParameters.withLock { $0 }) { $1 }
    }

    /// Queries with values in the place of their parameters.
    ///
    /// - Throws: ``OfflineError/invalidDefiningQuery(name:reason:)`` for a parameter without a value.
    func personalised(_ queries: [StoredQuery]) async throws -> [StoredQuery] {
        var values: [String: CommonExpression] = [:]
        for (name, text) in try await parameterTexts() { values[name] = try QueryParameters.expression(text, of: name) }
        let sessionNames = sessionParameters.withLock { Set($0.keys) }
        return try queries.map { query in
            var url = try ODataURL(parsing: query.text)
            let names = QueryParameters.names(in: url)
            guard !names.isEmpty else { return query }
            if let missing = names.subtracting(values.keys).min() {
                throw OfflineError.invalidDefiningQuery(
                    name: query.name, reason: "its parameter @\(missing) has no value.")
            }
            QueryParameters.substitute(values, in: &url.options)
            var query = query
            query.text = url.description
            query.keepsLinks = names.isDisjoint(with: sessionNames)
            return query
        }
    }
}

/// Finds and replaces the parameters of defining queries: aliases without a value in the query itself.
enum QueryParameters {
    /// The prefix of the settings with values.
    static let prefix = "parameter."

    /// A literal as an expression.
    static func expression(_ literal: String, of name: String) throws -> CommonExpression {
        let url = try ODataURL(parsing: "X?@\(name)=\(literal)")
        guard let value = url.options.aliases[name] else { throw OfflineError.unknown(kind: "value", name: literal) }
        return value
    }

    /// The names of the parameters in a query.
    static func names(in url: ODataURL) -> Set<String> {
        let names = url.options.descendants.compactMap { if case .alias(let name) = $0 { name.text } else { nil } }
        return Set(names).subtracting(url.options.aliases.keys)
    }

    /// Replaces parameters with values.
    static func substitute(_ values: [String: CommonExpression], in options: inout QueryOptions) {
        let own = options.aliases
        options = options.mapDescendants { expression in
            guard case .alias(let name) = expression, own[name.text] == nil else { return nil }
            return values[name.text]
        }
    }

    /// A query with null for each parameter, for checks before it has values.
    static func blank(_ url: ODataURL) -> ODataURL {
        var url = url
        let names = names(in: url)
        substitute(Dictionary(uniqueKeysWithValues: names.map { ($0, .literal(Literal(.null))) }), in: &url.options)
        return url
    }
}
