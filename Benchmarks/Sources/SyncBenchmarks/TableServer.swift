import Foundation
import HTTPTypes
import Measuring
import ODataDatabases
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO
import OfflineOData

/// The rows of a table served as `outpost serve` serves them, in a process of its own, and downloaded over a socket.
enum TableServer {
    /// Serves a database, V4 and V2, until the standard input ends; prints the port.
    static func run(_ path: String) async throws -> Never {
        let served = try await ServedDatabase.open(path: path)
        var configuration = ODataServer.Configuration()
        configuration.addressLimits = .none
        let server = try await ODataServer(
            configuration: configuration, handler: ODataEndpoints(provider: served).handle
        ).start()
        FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
        while readLine() != nil {}
        await server.stop()
        exit(0)
    }

    /// Downloads so many rows from such a server, then lets Python do the same where `OUTPOST_PYTHON` names an
    /// interpreter that has `pyodata`.
    static func download(_ rows: Int, folder: String) async throws {
        let path = folder + "/served.db"
        _ = try BareTable(path: path, declaresKey: true).insert(rows, atOnce: RenderedService.pageSize)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["--serve", path]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        defer {
            input.fileHandleForWriting.closeFile()
            process.waitUntilExit()
        }
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let transport = try NIOTransport()
        let store = try await Stores.create(
            "served", in: folder, from: transport, root: "http://127.0.0.1:\(port)/")
        let taken = try await Taken.by {
            let report = try await store.download()
            require(report.inserted == rows, "\(report.inserted) rows")
        }
        print(
            String(
                format: "%d rows downloaded from a server of a table: %.0f rows/s of processor, %.0f by the clock",
                rows, Double(rows) / taken.processor, Double(rows) / taken.clock))
        try store.close()
        try await transport.shutdown()
        if let other = try python(rows, "http://127.0.0.1:\(port)/v2/", folder) {
            print(
                String(
                    format: "the same rows with pyodata and Python's sqlite3: %.0f rows/s of processor, "
                        + "%.0f by the clock", Double(rows) / other.processor, Double(rows) / other.clock))
            print(
                String(
                    format: "download from a server of a table: %.1f times pyodata's rows/s of processor, "
                        + "%.1f times by the clock", other.processor / taken.processor, other.clock / taken.clock))
        } else {
            print("pyodata was not measured: OUTPOST_PYTHON names no interpreter that has it")
        }
    }

    /// The time of `pyodata` and Python's `sqlite3` for the same rows; `nil` without them.
    private static func python(_ rows: Int, _ root: String, _ folder: String) throws -> Taken? {
        let environment = ProcessInfo.processInfo.environment
        guard let python = environment["OUTPOST_PYTHON"], let script = environment["OUTPOST_PYTHON_DOWNLOAD"] else {
            return nil
        }
        let output = try Subprogram.output(of: python, [script, root, "\(folder)/python.db", String(rows)])
        let seconds = output.split(separator: " ").compactMap { Double($0) }
        require(seconds.count == 2, "\(script) printed \(output)")
        var taken = Taken()
        (taken.processor, taken.clock) = (seconds[0], seconds[1])
        return taken
    }
}
