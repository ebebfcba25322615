/// A promise of PostgreSQL that a pooler in transaction mode breaks (trap 7).
public enum PoolerFault: String, Hashable, Sendable, CaseIterable {
    /// A prepared statement belongs to its connection.
    case preparedStatements = "prepared statements"
    /// A setting belongs to its connection.
    case settings
    /// A lock of a session belongs to its connection.
    case sessionLocks = "session locks"
    /// Notices reach the connection that listens.
    case notices
}

extension PostgresClient {
    /// Probes whether a pooler in transaction mode stands in between. Such a URL is refused.
    ///
    /// - Returns: The broken promises; empty without such a pooler.
    /// - Throws: ``PostgresError`` if the server cannot be reached.
    public static func probe(_ configuration: PostgresConfiguration) async throws -> [PoolerFault] {
        var single = configuration
        single.pointConnections = 1
        single.workConnections = 1
        let first = try PostgresClient(single)
        let second = try PostgresClient(single)
        do {
            let faults = try await probe(first, second)
            await first.close()
            await second.close()
            return faults
        } catch {
            await first.close()
            await second.close()
            throw error
        }
    }

    private static func probe(_ first: PostgresClient, _ second: PostgresClient) async throws -> [PoolerFault] {
        let key = Int64.random(in: 1...Int64.max)
        let channel = "outpost_probe_\(key)"
        // The statements change the session of the first client. A pooler in transaction mode then gives that session
        // to the transaction of the second one.
        for statement in [
            PostgresStatement("select set_config('outpost.probe', $1, false)", [.text("\(key)")]),
            PostgresStatement("select pg_try_advisory_lock($1)", [.integer(key)]),
            PostgresStatement("prepare outpost_probe as select 1"), PostgresStatement("listen \"\(channel)\""),
        ] { try await first.write(statement) }
        return try await second.transaction { transaction in
            let lock = try await transaction.execute(
                PostgresStatement("select pg_try_advisory_xact_lock($1) as is_free", [.integer(key)]))
            let kept = try await first.write(
                PostgresStatement(
                    """
                    select coalesce(current_setting('outpost.probe', true), '') = $1 as has_setting,
                    exists (select 1 from pg_prepared_statements where name = 'outpost_probe') as has_statement,
                    exists (select 1 from pg_listening_channels() as c where c = $2) as listens
                    """, [.text("\(key)"), .text(channel)]))
            guard let lock = lock.first, let kept = kept.first else { return PoolerFault.allCases }
            var faults: [PoolerFault] = []
            if try !kept.flag("has_statement") { faults.append(.preparedStatements) }
            if try !kept.flag("has_setting") { faults.append(.settings) }
            if try lock.flag("is_free") { faults.append(.sessionLocks) }
            if try !kept.flag("listens") { faults.append(.notices) }
            return faults
        }
    }
}
