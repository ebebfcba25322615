import Foundation

/// pgbouncer in transaction mode, in front of a server.
public final class Pooler: Sendable {
    /// The port on loopback.
    public let port: Int
    private let supervisor: Process
    private let input: Pipe

    private init(port: Int, supervisor: Process, input: Pipe) {
        self.port = port
        self.supervisor = supervisor
        self.input = input
    }

    /// Starts a pooler; `nil` if the machine has none.
    public static func start(to server: PostgresServer) async throws -> Pooler? {
        let places = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
        guard let program = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            return nil
        }
        let port = try PostgresServer.freePort()
        let file = server.folder + "/pgbouncer.ini"
        try Data("\"postgres\" \"\"\n".utf8).write(to: URL(fileURLWithPath: server.folder + "/users"))
        try Data(
            """
            [databases]
            postgres = host=127.0.0.1 port=\(server.port) dbname=postgres user=postgres
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            auth_file = \(server.folder)/users
            pool_mode = transaction
            default_pool_size = 2
            ignore_startup_parameters = options,extra_float_digits

            """.utf8
        ).write(to: URL(fileURLWithPath: file))
        let command = (PostgresServer.user + [program, "-q", file]).joined(separator: " ")
        let (process, input) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "\(command) >>\(server.folder)/pooler.log 2>&1 </dev/null & p=$!; read line; kill -9 $p; exit 0",
        ]
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = input
        try process.run()
        return Pooler(port: port, supervisor: process, input: input)
    }

    /// Ends the pooler.
    public func stop() {
        try? input.fileHandleForWriting.close()
        supervisor.waitUntilExit()
    }
}
