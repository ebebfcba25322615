import Foundation

/// The executable `VaultProbe`, which is in the same folder as the tests.
enum Probe {
    static let executable: URL = {
        let candidates = [CommandLine.arguments[0], Bundle.main.bundlePath] + Bundle.allBundles.map(\.bundlePath)
        for candidate in candidates {
            let tool = URL(fileURLWithPath: candidate).deletingLastPathComponent().appendingPathComponent("VaultProbe")
            if FileManager.default.isExecutableFile(atPath: tool.path) { return tool }
        }
        return URL(fileURLWithPath: "VaultProbe")
    }()

    /// Starts the executable.
    static func start(_ arguments: [String]) throws -> (process: Process, output: Pipe) {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        return (process, output)
    }

    /// Runs the executable to its end and returns its output and exit status.
    static func run(_ arguments: String...) throws -> (output: String, reason: Process.TerminationReason, status: Int32)
    {
        let (process, output) = try start(arguments)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (text, process.terminationReason, process.terminationStatus)
    }
}
