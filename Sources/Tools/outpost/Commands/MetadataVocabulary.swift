import ArgumentParser
import Foundation
import ODataModel

/// `outpost metadata vocabulary`.
struct MetadataVocabulary: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vocabulary",
        abstract: "Print the vocabulary of object packages, \(ObjectsVocabulary.namespace).",
        discussion: """
            The document declares the terms that metadata, or a file for --annotations, may have for packages of \
            business objects.

            EXAMPLE
              outpost metadata vocabulary
              outpost metadata vocabulary --json
              outpost metadata vocabulary --output Outpost.Objects.V1.xml
            """)

    @Option(name: .shortAndLong, help: "The file to write; standard output when left out.", completion: .file())
    var output: String?
    @Flag(help: "Print the document as CSDL JSON.") var json = false

    func run() async throws {
        var bytes = Array(ObjectsVocabulary.document.utf8)
        if json { bytes = CSDLWriter.document(try CSDLReader.read(bytes), as: .json).bytes }
        if let output { return try NamedFile.write(bytes, to: output) }
        guard json else { return Terminal.write(bytes, isDocument: true) }
        print(TerminalText(json: String(decoding: bytes, as: UTF8.self)))
    }
}
