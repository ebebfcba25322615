import Foundation
import Testing

/// The tool as a person runs it: a process of its own.
struct Tool {
    /// The result of a finished command.
    struct Result {
        var code: Int32
        var output: String
        var errors: String
    }

    /// Where the vault of the tests is.
    let home: URL

    /// The executable stands beside the tests, or where `OUTPOST_TOOL` (its path) or `OUTPOST_BIN` (its folder) says.
    static let executable: URL = {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["OUTPOST_TOOL"] { return URL(fileURLWithPath: path) }
        if let folder = environment["OUTPOST_BIN"] {
            let tool = URL(fileURLWithPath: folder).appendingPathComponent("outpost")
            if FileManager.default.isExecutableFile(atPath: tool.path) { return tool }
        }
        let candidates = [CommandLine.arguments[0], Bundle.main.bundlePath] + Bundle.allBundles.map(\.bundlePath)
        for candidate in candidates {
            let tool = URL(fileURLWithPath: candidate).deletingLastPathComponent().appendingPathComponent("outpost")
            if FileManager.default.isExecutableFile(atPath: tool.path) { return tool }
        }
        return URL(fileURLWithPath: "outpost")
    }()

    func process(_ arguments: [String], environment: [String: String] = [:]) -> (Process, Pipe, Pipe) {
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = arguments
        var variables = ProcessInfo.processInfo.environment
        variables["OUTPOST_LANGUAGE"] = "en"
        variables["XDG_DATA_HOME"] = home.path
        variables["XDG_STATE_HOME"] = home.path + "/state"
        variables["XDG_CACHE_HOME"] = home.path + "/cache"
        variables.merge(environment) { $1 }
        process.environment = variables
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        return (process, output, errors)
    }

    /// Runs a command to its end.
    @discardableResult
    func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> Result {
        try await run(arguments, environment: environment)
    }

    /// Runs a command to its end.
    @discardableResult
    func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Result {
        let (process, output, errors) = process(arguments, environment: environment)
        async let outputText = Self.text(output)
        async let errorText = Self.text(errors)
        try process.run()
        let (out, err) = await (outputText, errorText)
        process.waitUntilExit()
        return Result(code: process.terminationStatus, output: out, errors: err)
    }

    /// Starts a command and kills it with SIGKILL after a while.
    func kill(_ arguments: String..., after delay: Duration) async throws {
        let (process, _, _) = process(arguments)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        try await Task.sleep(for: delay)
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// The next line that a process prints; less where it ends before.
    static func line(of pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var line = Data()
                while let byte = try? pipe.fileHandleForReading.read(upToCount: 1), !byte.isEmpty,
                    byte != Data("\n".utf8)
                {
                    line += byte
                }
                continuation.resume(returning: String(decoding: line, as: UTF8.self))
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
}

/// A served database with a place for clones, all gone at the end.
final class Site {
    let directory: URL
    let tool: Tool
    private var server: Process?
    private(set) var url = ""
    private(set) var entitySets: [String] = []
    private(set) var report: ServeReport?

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static let northwind: URL? = {
        let data = root.deletingLastPathComponent().appendingPathComponent("shared/data/northwind.db")
        return FileManager.default.fileExists(atPath: data.path) ? data : nil
    }()

    var database: String { path("shop.db") }

    /// The text of a key file with a key of one repeated digit.
    static func keyText(_ digit: String) -> String { "outpost key 1\n\(String(repeating: digit, count: 64))\n" }

    /// Makes a key file.
    static func writeKey(to path: String, _ digit: String = "1") throws {
        try Data(keyText(digit).utf8).write(to: URL(fileURLWithPath: path))
    }

    init() throws {
        // The tool refuses secrets that others can read, and the tests write many.
        umask(0o077)
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        tool = Tool(home: directory.appendingPathComponent("home"))
    }

    deinit {
        server?.terminate()
        server?.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }

    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    /// Serves the example database, or another file.
    func serve(_ file: URL? = nil, port: Int = 0, _ arguments: String...) async throws {
        if !FileManager.default.fileExists(atPath: database) {
            if let file {
                try FileManager.default.copyItem(at: file, to: URL(fileURLWithPath: database))
            } else {
                let sql = try String(
                    contentsOf: Self.root.appendingPathComponent("Examples/Shop/shop.sql"), encoding: .utf8)
                try SQLite.execute(sql, in: database)
            }
        }
        try await serve(path: database, arguments + ["--port", String(port)])
    }

    /// Serves the file or clone at a path.
    func serve(path: String, _ arguments: String...) async throws { try await serve(path: path, arguments) }

    func serve(path: String, _ arguments: [String]) async throws {
        let port = arguments.contains("--port") ? [] : ["--port", "0"]
        let (process, output, _) = tool.process(["serve", path, "--json"] + port + arguments)
        try Data().write(to: URL(fileURLWithPath: self.path("serve.log")))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: self.path("serve.log")))
        try process.run()
        server = process
        var text = ""
        while !text.contains("}") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { break }
            text += String(decoding: data, as: UTF8.self)
        }
        let report = try ServeReport(text)
        (url, entitySets) = (report.url, report.entitySets)
        self.report = report
    }

    /// Sends a signal to the service.
    func signal(_ number: Int32) {
        if let server { kill(server.processIdentifier, number) }
    }

    /// Makes the file `users` with these users and their passwords, as an operator does it.
    func addUsers(_ users: [String: String]) async throws {
        for (name, password) in users {
            try Data((password + "\n").utf8).write(to: directory.appendingPathComponent("password"))
            chmod(path("password"), 0o600)
            let added = try await tool.run("users", "add", path("users"), name, "--password-file", path("password"))
            guard added.code == 0 else { throw CocoaError(.fileWriteUnknown, userInfo: ["errors": added.errors]) }
        }
    }

    /// The standard error of the server.
    var errors: String { (try? String(contentsOfFile: path("serve.log"), encoding: .utf8)) ?? "" }

    /// The process that serves, while it does.
    var processIdentifier: Int32 { server?.processIdentifier ?? 0 }

    var port: Int { Int(url.split(separator: ":").last?.split(separator: "/").first ?? "") ?? 0 }

    /// Stops the server as Ctrl-C does, and gives its exit code.
    @discardableResult
    func stop() -> Int32 {
        guard let server else { return 0 }
        server.terminate()
        server.waitUntilExit()
        self.server = nil
        return server.terminationStatus
    }
}

/// The report of `outpost serve --json`.
struct ServeReport: Decodable {
    let url: String
    let entitySets: [String]
    /// The link with a one-time code, of a served clone.
    let signIn: String?
    let tokenFile: String?
    let token: String?

    init(_ text: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(text.utf8)) }
}
