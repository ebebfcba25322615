import Foundation

/// Programs that run beside this one and to their end, so that neither their time nor their memory is measured here.
public enum Subprogram {
    /// A program that did not end as it should. It has printed its own error.
    public struct Failure: Error, CustomStringConvertible {
        /// Which program it was, with its arguments.
        public let description: String
    }

    /// Runs this very program with other arguments.
    ///
    /// - Throws: ``Failure``, and errors of starting a program.
    public static func own(_ arguments: String...) throws -> String {
        try output(of: CommandLine.arguments[0], arguments)
    }

    /// The output of a program. Its standard error is that of this process.
    ///
    /// - Throws: as ``own(_:)``.
    public static func output(of program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(program) \(arguments.joined(separator: " ")) failed")
        }
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
