import CPostgres
import Foundation
import Secrets

/// The addresses, pools and time limits of a client.
///
/// ```swift
/// var configuration = try PostgresConfiguration(url: "postgres://outpost@db1,db2/outpost")
/// configuration.applicationName = "outpost/node1"
/// ```
public struct PostgresConfiguration: Sendable {
    /// The parameters of libpq but the password, by keyword.
    private(set) var parameters: [String: String]
    private let password: Secret<String>?

    /// The number of connections for single statements, from 1 to 4.
    public var pointConnections = 2
    /// The greatest number of connections for transactions, from 0 to 8.
    public var workConnections = 8
    /// The name by which the server's views list the connections.
    public var applicationName = "outpost"
    /// The time in which a connection is made.
    public var connectTimeout = Duration.seconds(3)
    /// The time limit of a single statement. The server ends the statement, and the client waits a second longer.
    public var pointTimeout = Duration.seconds(2)
    /// The time limit of a statement of a transaction; `.zero` for none.
    public var workTimeout = Duration.seconds(60)
    /// The time for which a statement waits for a lock.
    public var lockTimeout = Duration.seconds(2)
    /// The time for which a transaction may wait for its client.
    public var idleTimeout = Duration.seconds(15)
    /// The time for which a statement or a transaction waits for a connection.
    public var waitTimeout = Duration.seconds(5)
    /// A statement that each new connection executes before all others. If the server refuses it, the connection is
    /// closed, unless the statement names an unknown function.
    public var greeting: PostgresStatement?
    /// The greatest number of statements that wait for a connection.
    public var waitLimit = 10_000

    /// The address without the password, for logs: hosts, ports and the name of the database.
    public var address: String {
        let hosts = parameters["host"] ?? parameters["hostaddr"] ?? ""
        let port = parameters["port"].map { ":\($0)" } ?? ""
        return "\(hosts)\(port)/\(parameters["dbname"] ?? "")"
    }

    /// Creates a configuration from a URL or a connection string of libpq. Several hosts may be named; the client uses
    /// the one that accepts writes.
    ///
    /// A server that is neither on this machine nor reached through a socket is used with a verified certificate only:
    /// `sslmode` is `verify-full` unless the URL says `verify-ca`.
    ///
    /// - Parameters:
    ///   - url: Such as `postgres://outpost@db1:5432,db2:5432/outpost`.
    ///   - password: The password, if it is not in the URL.
    /// - Throws: ``PostgresError/misused(reason:)``, without any part of the text.
    public init(url: String, password: Secret<String>? = nil) throws(PostgresError) {
        var parameters = try Self.parse(url)
        let inner = parameters.removeValue(forKey: "password").map { Secret($0) }
        self.password = password ?? inner
        for refused in ["options", "replication", "client_encoding", "service", "passfile"] {
            guard parameters[refused] == nil else { throw .misused(reason: "the URL may not set \(refused)") }
        }
        if Self.isLocal(parameters) {
            if parameters["sslmode"] == nil { parameters["sslmode"] = "prefer" }
        } else {
            let mode = parameters["sslmode"] ?? "verify-full"
            guard ["verify-full", "verify-ca"].contains(mode) else {
                throw .misused(reason: "another machine is reached with sslmode=verify-full or verify-ca only")
            }
            parameters["sslmode"] = mode
            let authorities = "/etc/ssl/certs/ca-certificates.crt"
            if parameters["sslrootcert"] == nil, FileManager.default.fileExists(atPath: authorities) {
                parameters["sslrootcert"] = authorities
            }
        }
        self.parameters = parameters
    }

    /// Reads a URL or a connection string. Errors of libpq may quote parts of the text, so they are not passed on.
    private static func parse(_ url: String) throws(PostgresError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        let parsed = PQconninfoParse(url, &message)
        defer {
            PQconninfoFree(parsed)
            PQfreemem(message)
        }
        guard let options = parsed else { throw .misused(reason: "the URL of the database cannot be read") }
        var parameters: [String: String] = [:]
        var position = options
        while let keyword = position.pointee.keyword {
            if let value = position.pointee.val, value.pointee != 0 {
                parameters[String(cString: keyword)] = String(cString: value)
            }
            position += 1
        }
        return parameters
    }

    /// Whether all hosts are on this machine.
    private static func isLocal(_ parameters: [String: String]) -> Bool {
        let hosts = [parameters["host"], parameters["hostaddr"]].compactMap(\.self)
            .flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
        return hosts.allSatisfy { host in
            host.isEmpty || host.hasPrefix("/") || host == "localhost" || host == "::1" || host.hasPrefix("127.")
        }
    }

    /// The keywords and values of a connection.
    func keywords(_ role: Role) -> [(String, String)] {
        var all = parameters
        func preset(_ name: String, _ value: String) { if all[name] == nil { all[name] = value } }
        preset("target_session_attrs", "read-write")
        preset("tcp_user_timeout", "3000")
        preset("keepalives_idle", "5")
        all["application_name"] = applicationName
        all["client_encoding"] = "UTF8"
        all["options"] = options(role)
        if let password { all["password"] = password.reveal() }
        return all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The settings of a connection. One role of the server cannot have two values (`mobile-server.md` 0.5).
    private func options(_ role: Role) -> String {
        var settings = [
            "lock_timeout=\(lockTimeout.milliseconds)",
            "idle_in_transaction_session_timeout=\(idleTimeout.milliseconds)",
            "statement_timeout=\((role == .work ? workTimeout : pointTimeout).milliseconds)",
        ]
        // Without statistics after a bulk load, pages are read by a bitmap otherwise (trap 1).
        if role == .point { settings.append("enable_bitmapscan=off") }
        return settings.map { "-c \($0)" }.joined(separator: " ")
    }
}

/// The use of a connection.
enum Role: Hashable, Sendable {
    /// Single statements of many callers, in pipeline mode.
    case point
    /// Leased by one caller at a time, for transactions and COPY.
    case work
    /// Receives notices.
    case signal
}

extension Duration {
    /// The duration in whole milliseconds.
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
