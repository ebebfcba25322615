import PostgresClient
import ServerState

/// The settings of a node for its database.
public struct PostgresNodeSettings: Hashable, Sendable {
    /// The name of the node, by which the server's views list its connections.
    public var nodeName: String
    /// The number of connections for single statements, from 1 to 4.
    public var pointConnections: Int
    /// The greatest number of connections for transactions, from 1 to 8.
    public var workConnections: Int

    /// Creates settings.
    public init(nodeName: String, pointConnections: Int = 2, workConnections: Int = 8) {
        self.nodeName = nodeName
        self.pointConnections = pointConnections
        self.workConnections = workConnections
    }
}

extension PostgresServerState {
    /// Opens the state at a URL, such as `postgres://outpost@db1,db2/outpost`.
    ///
    /// - Throws: ``ServerStateError/unavailable(reason:)``. The reason has no part of the URL.
    public static func open(
        url: String, settings: PostgresNodeSettings, keys: ServerKeys, build: String = ""
    ) throws(ServerStateError) -> PostgresServerState {
        try open(try configuration(url, settings), keys: keys, build: build)
    }

    private static func configuration(
        _ url: String, _ settings: PostgresNodeSettings
    ) throws(ServerStateError) -> PostgresConfiguration {
        do throws(PostgresError) {
            var configuration = try PostgresConfiguration(url: url)
            configuration.applicationName = "outpost/\(settings.nodeName)"
            configuration.pointConnections = settings.pointConnections
            configuration.workConnections = max(settings.workConnections, 1)
            return configuration
        } catch {
            throw .unavailable(reason: "\(error)")
        }
    }

    /// Returns the problems of the database at a URL: a pooler in transaction mode, and settings with which an
    /// acknowledged commit may be lost (`design-review.md` 3).
    ///
    /// - Throws: ``ServerStateError/unavailable(reason:)``.
    public static func problems(
        url: String, settings: PostgresNodeSettings
    ) async throws(ServerStateError) -> [String] {
        let configuration = try configuration(url, settings)
        do {
            let faults = try await PostgresClient.probe(configuration)
            guard faults.isEmpty else {
                let names = faults.map(\.rawValue).joined(separator: ", ")
                return ["A pooler in transaction mode is in between, which breaks \(names). Use session mode."]
            }
            let client = try PostgresClient(configuration)
            do {
                let problems = try await unsafeSettings(client)
                await client.close()
                return problems
            } catch {
                await client.close()
                throw error
            }
        } catch {
            throw translated(error)
        }
    }

    private static func unsafeSettings(_ client: PostgresClient) async throws -> [String] {
        let rows = try await client.read(
            PostgresStatement(
                """
                select name from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')
                and setting = 'off' order by name
                """))
        return try rows.map { "\(try $0.text("name")) is off, so that acknowledged changes can be lost. Set it to on." }
    }
}
