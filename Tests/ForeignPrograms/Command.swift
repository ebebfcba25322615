import Foundation

/// Programs of this machine, as foreign clients.
public enum Command {
    /// Runs a program to its end, and returns its output.
    public static func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await run(arguments)
    }

    /// Runs a program to its end, without blocking the threads that the tasks of a server in this process need.
    ///
    /// - Parameter includesErrors: whether its standard error is part of the output, and not discarded.
    public static func run(
        _ arguments: [String], includesErrors: Bool = false
    ) async throws -> (status: Int32, output: String) {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                let process = Process()
                let output = Pipe()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                process.arguments = arguments
                process.standardOutput = output
                process.standardError = includesErrors ? output : FileHandle.nullDevice
                do {
                    try process.run()
                } catch {
                    return continuation.resume(throwing: error)
                }
                let data = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: (process.terminationStatus, String(decoding: data, as: UTF8.self)))
            }
        }
    }

    /// Returns the output of curl.
    public static func curl(_ arguments: String...) async throws -> String { try await curl(arguments) }

    /// Returns the output of curl.
    public static func curl(_ arguments: [String]) async throws -> String {
        try await run(["curl", "--silent", "--globoff", "--max-time", "120"] + arguments).output
    }
}
