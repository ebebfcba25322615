import Foundation
import ODataGenerator
import ODataModel

/// The metadata documents of the tests, and code generated from them.
enum Documents {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    static func model(_ name: String) throws -> EntityDataModel {
        let url = folder.appendingPathComponent("Documents/\(name)")
        return try CSDLReader.read([UInt8](try Data(contentsOf: url)))
    }

    static func code(
        _ name: String, _ configuration: GeneratorConfiguration = GeneratorConfiguration()
    ) throws -> GeneratedCode { try Generator(try model(name), configuration).generate() }

    /// Returns code generated from the content of a schema.
    static func code(
        schema: String, _ configuration: GeneratorConfiguration = GeneratorConfiguration()
    ) throws -> GeneratedCode { try Generator(try model(schema: schema), configuration).generate() }

    /// Returns a model with the content of a schema.
    static func model(schema: String) throws -> EntityDataModel {
        try CSDLReader.read(
            Array(
                """
                <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
                <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="My.Shop">\(schema)</Schema>
                </edmx:DataServices></edmx:Edmx>
                """.utf8))
    }
}

extension GeneratedCode {
    /// The text of all files.
    var text: String { files.map(\.text).joined() }

    /// Returns the text of the file at a path.
    func text(of path: String) -> String? { files.first { $0.path == path }?.text }
}
