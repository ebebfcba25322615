import Foundation
import Synchronization

/// A PostgreSQL server of the machine's packages, which a test starts, stops, kills and promotes. It ends with the
/// process of the test, however that ends.
public final class PostgresServer: Sendable {
    /// The folder of the data, the socket and the log.
    public let folder: String
    /// The port on loopback, which names the socket, too.
    public let port: Int
    private let isStandby: Bool
    private let supervisor = Mutex<Supervisor?>(nil)

    private struct Supervisor {
        var process: Process
        var input: Pipe
    }

    /// A failure of the server to do something.
    public struct Failure: Error, CustomStringConvertible {
        /// The failure and its reason.
        public var description: String

        /// Creates a failure.
        public init(description: String) { self.description = description }
    }

    private var data: String { folder + "/data" }

    // MARK: Programs

    /// The folder of the newest server programs; `nil` if the machine has none.
    public static let programs: String? = {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let newest = all.compactMap(Int.init).max().map { "/usr/lib/postgresql/\($0)/bin" }
        return [newest, "/usr/local/pgsql/bin", "/opt/homebrew/bin", "/usr/local/bin"].compactMap(\.self)
            .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()

    /// Whether tests use a server: with OUTPOST_POSTGRES in the environment. A machine that lacks it then fails.
    public static let isWanted = ProcessInfo.processInfo.environment["OUTPOST_POSTGRES"] != nil

    /// The words before a command that a user other than root runs.
    static let user = geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []

    private static func program(_ name: String) throws -> String {
        guard let programs else { throw Failure(description: "PostgreSQL is not installed") }
        return programs + "/" + name
    }

    @discardableResult
    private static func run(_ name: String, _ arguments: String...) async throws -> String {
        try await run(name, arguments)
    }

    @discardableResult
    private static func run(_ name: String, _ arguments: [String]) async throws -> String {
        let words = user + [try program(name)] + arguments
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                let process = Process()
                let output = Pipe()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                process.arguments = words
                process.currentDirectoryURL = URL(fileURLWithPath: "/")
                process.standardOutput = output
                process.standardError = output
                do {
                    try process.run()
                } catch {
                    return continuation.resume(throwing: error)
                }
                let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                process.waitUntilExit()
                guard process.terminationStatus == 0 else {
                    return continuation.resume(throwing: Failure(description: "\(name): \(text)"))
                }
                continuation.resume(returning: text)
            }
        }
    }

    // MARK: Making

    private init(folder: String, port: Int, isStandby: Bool) {
        self.folder = folder
        self.port = port
        self.isStandby = isStandby
    }

    private static func makeFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pg-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if let entry = geteuid() == 0 ? getpwnam("postgres") : nil {
            guard chown(folder.path, entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else {
                throw Failure(description: "\(folder.path) cannot be given to postgres")
            }
        }
        return folder.path
    }

    /// A port that is free now.
    static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isBound else { throw Failure(description: "no port is free") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Makes and starts a server with an empty database.
    ///
    /// - Parameter settings: Lines of `postgresql.conf`.
    public static func start(_ settings: [String] = []) async throws -> PostgresServer {
        let server = PostgresServer(folder: try makeFolder(), port: try freePort(), isStandby: false)
        try await run(
            "initdb", "-D", server.data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
        try server.configure(settings)
        try await server.start()
        return server
    }

    /// Makes and starts a standby of this server.
    public func makeStandby(_ settings: [String] = []) async throws -> PostgresServer {
        let standby = PostgresServer(folder: try Self.makeFolder(), port: try Self.freePort(), isStandby: true)
        try await Self.run(
            "pg_basebackup", "-D", standby.data, "-h", folder, "-p", "\(port)", "-U", "postgres", "-R", "-X", "stream",
            "--checkpoint=fast", "--no-sync")
        try standby.configure(settings)
        try await standby.start()
        return standby
    }

    private func configure(_ settings: [String]) throws {
        let lines =
            [
                "port = \(port)", "unix_socket_directories = '\(folder)'", "listen_addresses = '127.0.0.1'",
                "fsync = off", "shared_buffers = 16MB", "max_connections = 60", "max_wal_senders = 4",
                "wal_keep_size = 64MB", "log_min_messages = warning", "jit = off",
            ] + settings
        let file = FileHandle(forWritingAtPath: data + "/postgresql.conf")
        guard let file else { throw Failure(description: "the configuration cannot be written") }
        try file.seekToEnd()
        try file.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
        try file.close()
    }

    // MARK: Running

    /// Starts the server, and waits until it accepts connections.
    public func start() async throws {
        for _ in 0..<10 {
            try launch()
            for tick in 0..<600 {
                if status == "ready" || (isStandby && status == "standby") { return }
                // The sessions of a killed server hold its memory for a while, and a new server ends at once.
                if tick > 20, !(process.map(Self.isRunning) ?? false) { break }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
        throw Failure(description: "PostgreSQL did not start: \(log.suffix(2000))")
    }

    private func launch() throws {
        let server = (Self.user + [try Self.program("postgres"), "-D", data]).joined(separator: " ")
        let process = Process()
        let input = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The server ends with the pipe, and so with the process of the test.
        process.arguments = [
            "-c", "\(server) >>\(folder)/log 2>&1 </dev/null & p=$!; read line; kill -QUIT $p 2>/dev/null; exit 0",
        ]
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = input
        try process.run()
        supervisor.withLock { supervisor in
            try? supervisor?.input.fileHandleForWriting.close()
            supervisor = Supervisor(process: process, input: input)
        }
    }

    private var lines: [Substring] {
        ((try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8)) ?? "").split(
            separator: "\n", omittingEmptySubsequences: false)
    }

    /// The state that the server has written beside its process number.
    private var status: String? { lines.count > 7 ? lines[7].trimmingCharacters(in: .whitespaces) : nil }

    /// The number of the server's process.
    public var process: Int32? { lines.first.flatMap { Int32($0) } }

    /// Whether a process runs. Nobody has collected the end of a dead one yet.
    private static func isRunning(_ number: Int32) -> Bool {
        guard kill(number, 0) == 0 else { return false }
        let status = (try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)) ?? ""
        return !status.contains(") Z ")
    }

    /// A way of ending.
    public enum Ending: Sendable {
        /// Sessions are ended, and the data is written.
        case fast
        /// The server ends at once, and recovers at the next start.
        case immediate
        /// The process is killed.
        case kill

        fileprivate var signal: Int32 {
            switch self {
            case .fast: SIGINT
            case .immediate: SIGQUIT
            case .kill: SIGKILL
            }
        }
    }

    /// Ends the server.
    public func stop(_ ending: Ending) async throws {
        guard let number = process else { return }
        kill(number, ending.signal)
        for _ in 0..<600 where Self.isRunning(number) { try await Task.sleep(for: .milliseconds(50)) }
        supervisor.withLock { supervisor in
            try? supervisor?.input.fileHandleForWriting.close()
            supervisor = nil
        }
        // The sessions of a killed server end by themselves, and hold its memory until then.
        if case .kill = ending {
            try await Task.sleep(for: .milliseconds(500))
            try? FileManager.default.removeItem(atPath: data + "/postmaster.pid")
        }
    }

    /// Parts a standby from its primary server. Later commits are lost for the standby.
    public func part() async throws {
        let words = ["-h", folder, "-p", "\(port)", "-U", "postgres", "-Atq", "-c"]
        for text in ["alter system set primary_conninfo = ''", "select pg_reload_conf()"] {
            try await Self.run("psql", words + [text])
        }
        for _ in 0..<200 {
            let count = try await Self.run("psql", words + ["select count(*) from pg_stat_wal_receiver"])
            if count.hasPrefix("0") { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure(description: "the standby still follows the primary server")
    }

    /// Makes a standby the primary server.
    public func promote() async throws { try await Self.run("pg_ctl", "promote", "-D", data, "-w", "-t", "60") }

    /// The URL of a database, by the socket.
    public func url(_ database: String = "postgres") -> String {
        "host=\(folder) port=\(port) user=postgres dbname=\(database)"
    }

    /// The URL of a database, on loopback.
    public func tcpURL(_ database: String = "postgres", port: Int? = nil) -> String {
        "postgres://postgres@127.0.0.1:\(port ?? self.port)/\(database)?sslmode=disable"
    }

    /// Ends the server, and removes its folder.
    public func remove() {
        let last = supervisor.withLock { supervisor in
            defer { supervisor = nil }
            return supervisor
        }
        let number = last == nil ? nil : process
        try? last?.input.fileHandleForWriting.close()
        last?.process.waitUntilExit()
        for _ in 0..<200 where number.map(Self.isRunning) ?? false { usleep(20_000) }
        try? FileManager.default.removeItem(atPath: folder)
    }

    deinit { remove() }
}
