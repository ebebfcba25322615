import ArgumentParser
import Foundation
import ToolLanguage

/// An entity that is given as JSON.
struct BodyOptions: ParsableArguments {
    @Option(
        name: .customLong("body"),
        help: .text("A file with the entity as JSON; - reads the input.", valueName: "file"),
        completion: .file())
    var file: String?

    /// The bytes of the file; `nil` if none is named.
    var contents: [UInt8]? { get throws { try file.map { try NamedFile.contentsOrInput(of: $0) } } }
}

extension NamedFile {
    /// Reads a file, or the input for `-`.
    static func contentsOrInput(of path: String) throws -> [UInt8] {
        guard path == "-" else { return try contents(of: path) }
        do {
            return [UInt8](try FileHandle.standardInput.readToEnd() ?? Data())
        } catch {
            throw Failure(message: "The input cannot be read: \(error.systemReason).", status: .misused)
        }
    }
}
