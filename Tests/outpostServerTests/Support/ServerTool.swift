import Foundation
import Testing

/// The program as an operator runs it, with a data folder of its own that goes with the test.
final class ServerTool: Sendable {
    /// The result of a finished command.
    struct Result {
        var code: Int32
        var output: String
        var errors: String

        /// The output as JSON.
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(output.utf8))) as? [String: Any] ?? [:]
        }
    }

    let folder: String

    /// The data folder.
    var data: String { folder + "/data" }

    static let executable: URL = {
        let environment = ProcessInfo.processInfo.environment
        if let folder = environment["OUTPOST_BIN"] {
            let tool = URL(fileURLWithPath: folder).appendingPathComponent("outpost-server")
            if FileManager.default.isExecutableFile(atPath: tool.path) { return tool }
        }
        let candidates = [CommandLine.arguments[0], Bundle.main.bundlePath] + Bundle.allBundles.map(\.bundlePath)
        for candidate in candidates {
            let tool = URL(fileURLWithPath: candidate).deletingLastPathComponent()
                .appendingPathComponent("outpost-server")
            if FileManager.default.isExecutableFile(atPath: tool.path) { return tool }
        }
        return URL(fileURLWithPath: "outpost-server")
    }()

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The value of `LANG` for the program.
    private let language: String

    init(language: String = "C.UTF-8") throws {
        self.language = language
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("tool-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { folder + "/" + name }

    /// Writes a file that only its owner can read.
    func write(_ text: String, to name: String) throws -> String {
        let path = path(name)
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
        return path
    }

    func process(_ arguments: [String]) -> (Process, Pipe, Pipe) {
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = arguments
        var variables = ProcessInfo.processInfo.environment
        variables["XDG_DATA_HOME"] = folder
        variables["HOME"] = folder
        for name in ["OUTPOST_LANGUAGE", "LC_ALL", "LC_MESSAGES"] { variables[name] = nil }
        variables["LANG"] = language
        process.environment = variables
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        return (process, output, errors)
    }

    /// Runs a command to its end.
    @discardableResult
    func run(_ arguments: String...) async throws -> Result {
        let (process, output, errors) = process(arguments)
        async let outputText = Self.text(output)
        async let errorText = Self.text(errors)
        try process.run()
        let (out, err) = await (outputText, errorText)
        await Self.end(of: process)
        return Result(code: process.terminationStatus, output: out, errors: err)
    }

    /// Runs a command with a list of arguments to its end.
    func runAll(_ arguments: [String]) async throws -> Result {
        let (process, output, errors) = process(arguments)
        async let outputText = Self.text(output)
        async let errorText = Self.text(errors)
        try process.run()
        let (out, err) = await (outputText, errorText)
        await Self.end(of: process)
        return Result(code: process.terminationStatus, output: out, errors: err)
    }

    /// Runs a command on the data folder, which must succeed.
    @discardableResult
    func done(_ arguments: String...) async throws -> Result {
        let (process, output, errors) = process(arguments + ["--data", data])
        async let outputText = Self.text(output)
        async let errorText = Self.text(errors)
        try process.run()
        let (out, err) = await (outputText, errorText)
        await Self.end(of: process)
        #expect(process.terminationStatus == 0, "\(arguments): \(out)\(err)")
        return Result(code: process.terminationStatus, output: out, errors: err)
    }

    /// Waits for the end of a process, without blocking the threads that the tasks of this process need.
    static func end(of process: Process) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                process.waitUntilExit()
                continuation.resume()
            }
        }
    }

    static func text(_ pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let data = pipe.fileHandleForReading.readDataToEndOfFile()
                continuation.resume(returning: String(decoding: data, as: UTF8.self))
            }
        }
    }

    /// Starts the server on free ports, gives it to a function, and ends it.
    ///
    /// - Parameter endsBy: Whether the process may end with a status.
    func withServer(
        _ arguments: String..., body: (RunningTool) async throws -> Void,
        endsBy isExpected: (Int32) -> Bool = { $0 == 0 }
    ) async throws {
        let ports = ["--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]
        let (process, output, errors) = process(["run", "--data", data, "--json"] + ports + arguments)
        try process.run()
        async let errorText = Self.text(errors)
        let report = await Self.document(of: output)
        guard let running = RunningTool(report, process) else {
            process.terminate()
            let text = await errorText
            throw StartFailure(description: "the server did not start: \(report)\(text)")
        }
        do {
            try await body(running)
        } catch {
            process.terminate()
            await Self.end(of: process)
            _ = await errorText
            throw error
        }
        process.terminate()
        await Self.end(of: process)
        _ = await errorText
        #expect(isExpected(process.terminationStatus))
    }

    struct StartFailure: Error, CustomStringConvertible {
        var description: String
    }

    /// Reads one JSON document.
    static func document(of pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var text = Data()
                while let byte = try? pipe.fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
                    text += byte
                    if text.suffix(2) == Data("}\n".utf8) { break }
                }
                continuation.resume(returning: String(decoding: text, as: UTF8.self))
            }
        }
    }
}

/// A running server.
struct RunningTool {
    /// The URL of the device API of the shop, or of all applications.
    let deviceAPI: String
    /// The URL of the operators' listener.
    let operators: String
    /// The link with which the first operator signs in.
    let signIn: String?
    let metrics: String
    let process: Process

    /// The URL of the listener of devices.
    var root: String { deviceAPI.components(separatedBy: "/m/v1/")[0] + "/" }

    init?(_ report: String, _ process: Process) {
        guard let json = try? JSONSerialization.jsonObject(with: Data(report.utf8)) as? [String: Any],
            let device = json["deviceAPI"] as? String, let operators = json["operators"] as? String,
            let metrics = json["metrics"] as? String
        else { return nil }
        deviceAPI = device
        self.operators = operators
        self.metrics = metrics
        signIn = json["signIn"] as? String
        self.process = process
    }
}
