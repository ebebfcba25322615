import Foundation
import ODataGenerator
import ODataModel

/// Generates Swift code from metadata in a file, for the build-tool plugin. `outpost generate` does the same and
/// more, but includes a network client.
@main
struct GenerateTool {
    static let usage =
        "usage: odata-generate METADATA --output DIR [--annotations FILE] [--config FILE] [--files N] [--objects]"

    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch let error as ToolError {
            fail("\(error.message)", error.isUsage ? 2 : 1)
        } catch {
            fail("\(error)", 1)
        }
    }

    private static func run(_ arguments: [String]) throws {
        if arguments.contains("--help") || arguments.contains("-h") { return print(usage) }
        var options: [String: String] = [:]
        var source: String?
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if ["--output", "--annotations", "--config", "--files"].contains(argument), let value = rest.popFirst() {
                options[argument] = value
            } else if argument == "--objects" {
                options[argument] = ""
            } else if !argument.hasPrefix("-"), source == nil {
                source = argument
            } else {
                throw ToolError(message: usage, isUsage: true)
            }
        }
        guard let source, let output = options["--output"] else { throw ToolError(message: usage, isUsage: true) }
        var configuration = GeneratorConfiguration()
        if let file = options["--config"] {
            do {
                configuration = try JSONDecoder().decode(GeneratorConfiguration.self, from: try contents(file))
            } catch let error as DecodingError {
                throw ToolError(message: "\(file): \(GeneratorConfiguration.explain(error))")
            }
        }
        if options["--objects"] != nil { configuration.objects = true }
        if let text = options["--files"] {
            guard let count = Int(text) else { throw ToolError(message: usage, isUsage: true) }
            configuration.files = count
        }
        let code: GeneratedCode
        do {
            var reading = CSDLReaderOptions()
            if let file = options["--annotations"] {
                reading.annotationDocuments = [.init([UInt8](try contents(file)), source: file)]
            }
            let metadata = try CSDLReader.parse([UInt8](try contents(source)), options: reading)
            code = try Generator(metadata, annotations: reading.annotationDocuments, configuration).generate()
        } catch let error as CSDLError {
            throw ToolError(message: error.source == nil ? "\(source): \(error)" : "\(error)")
        } catch let error as GeneratorError {
            throw ToolError(message: "\(source): \(error)")
        }
        try code.write(to: URL(fileURLWithPath: output))
    }

    private static func contents(_ path: String) throws -> Data {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ToolError(message: "\(path) cannot be read.")
        }
        return data
    }

    private static func fail(_ message: String, _ status: Int32) -> Never {
        // Build systems show messages in the form of compiler errors.
        FileHandle.standardError.write(Data("error: \(message)\n".utf8))
        exit(status)
    }
}

/// Why the tool ends.
private struct ToolError: Error {
    var message: String
    var isUsage = false
}
