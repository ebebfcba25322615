import Foundation
import HTTPTypes
import Measuring
import ODataHTTP
import ODataServer
import ODataService
import ODataStore
import ODataTransportNIO
import OfflineOData

/// The rows of a table served as `outpost serve` serves them, in a process of its own, and downloaded over a socket.
enum TableServer {
    /// Serves a database, V4 and V2, until the standard input ends; prints the port.
    static func run(_ path: String) async throws -> Never {
        let served = try await ServedDatabase.open(path: path)
        let server = try await ODataServer(handler: ODataEndpoints(provider: served).handle).start()
        FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
        while readLine() != nil {}
        await server.stop()
        exit(0)
    }

    /// Downloads so many rows from such a server, then lets Python do the same where `OUTPOST_PYTHON` names an
    /// interpreter that has `pyodata`.
    static func download(_ rows: Int, folder: String) async throws {
        let path = folder + "/served.db"
        _ = try BareTable(path: path).insert(rows, atOnce: RenderedService.pageSize)
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
                rows,
                Double(rows) / taken.processor, Double(rows) / taken.clock))
        try store.close()
        try await transport.shutdown()
        try python(min(rows, 20_000), "http://127.0.0.1:\(port)/v2/", folder)
    }

    /// The same rows with `pyodata` and Python's `sqlite3`.
    private static func python(_ rows: Int, _ root: String, _ folder: String) throws {
        let environment = ProcessInfo.processInfo.environment
        guard let python = environment["OUTPOST_PYTHON"], let script = environment["OUTPOST_PYTHON_DOWNLOAD"] else {
            print("pyodata was not measured: OUTPOST_PYTHON names no interpreter that has it")
            return
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [script, root, "\(folder)/python.db", String(rows)]
        try process.run()
        process.waitUntilExit()
        require(process.terminationStatus == 0, "\(script) failed")
    }
}
