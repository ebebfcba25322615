import ArgumentParser
import ODataModel
import ToolLanguage

/// Files with annotations of metadata that cannot be changed.
struct AnnotationOptions: ParsableArguments {
    @Option(
        name: .customLong("annotations"),
        help: .text(
            """
            A file with annotations of the metadata, such as the terms of an object package. Repeat the option for \
            several files.
            """, valueName: "file"), completion: .file())
    var files: [String] = []

    /// The documents in the files.
    func documents() throws -> [CSDLReaderOptions.AnnotationDocument] {
        try files.map { CSDLReaderOptions.AnnotationDocument(try NamedFile.contents(of: $0), source: $0) }
    }
}
