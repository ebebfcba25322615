import Foundation
import TestCorpus
import Testing

@testable import ODataModel

@Suite("Corpus: metadata documents", .enabled(if: Corpus.isPresent, "no corpus at ../shared/corpus or OUTPOST_CORPUS"))
struct CorpusCSDLTests {
    static let folders = ["metadata", "vocabularies", "csdl-pairs"]
    static let xml = folders.flatMap { folder in
        Corpus.files(folder) { $0.hasSuffix(".xml") || $0.hasSuffix(".csdl") || $0.hasSuffix(".edmx") }
    }
    static let json = folders.flatMap { folder in Corpus.files(folder) { $0.hasSuffix(".json") } }

    /// Returns whether a document is metadata: XML that contains a schema, or JSON that states its version.
    static func isMetadata(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
            return text.contains("<Schema") || text.contains(":Schema")
        }
        return object["$Version"] is String
    }

    @Test("each document is read, or refused with its place and the expected content")
    func reading() throws {
        var read = 0
        var refused = 0
        for path in Self.xml + Self.json {
            let bytes = try Corpus.bytes(path)
            do throws(CSDLError) {
                let model = try CSDLReader.read(bytes)
                read += 1
                #expect(!model.schemas.isEmpty, "\(path)")
                #expect(Self.isMetadata(bytes), "\(path)")
            } catch {
                refused += 1
                #expect(error.line >= 1 && error.column >= 1 && !error.expected.isEmpty, "\(path)")
                #expect(!Self.isMetadata(bytes), "\(path): \(error)")
            }
        }
        print("corpus metadata: \(read) documents read, \(refused) refused")
        #expect(read > 0)
    }

    @Test("each document is written so that it reads back the same", arguments: xml)
    func roundTrip(path: String) throws {
        let model = try CSDLReader.read(try Corpus.bytes(path))
        let again = try CSDLReader.read(CSDLWriter.xml(model, version: model.version))
        // Documents of V4 may contain associations, which are written as V4 elements.
        let schemas = model.version < .v4 ? model.schemas : model.schemas.map(withoutAssociations)
        #expect(again.schemas == schemas, "\(difference(again.schemas, schemas))")
        #expect(again.references == model.references)
    }

    @Test("each document becomes JSON that reads and writes the same", arguments: xml + json)
    func throughJSON(path: String) throws {
        let bytes = try Corpus.bytes(path)
        guard Self.isMetadata(bytes) else { return }
        let written = CSDLWriter.json(try CSDLReader.read(bytes))
        let again = try CSDLReader.read(written)
        let differences = CanonicalCSDL.differences(
            try CanonicalCSDL(CSDLWriter.json(again)).root, try CanonicalCSDL(written).root)
        #expect(differences.isEmpty, "\(differences.prefix(20).joined(separator: "\n"))")
    }

    @Test("each JSON document becomes equivalent XML", arguments: json)
    func jsonThroughXML(path: String) throws {
        let bytes = try Corpus.bytes(path)
        guard Self.isMetadata(bytes) else { return }
        let model = try CSDLReader.read(bytes)
        let version = max(model.version, .v4)
        let again = try CSDLReader.read(CSDLWriter.xml(model, version: version))
        #expect(again.schemas == model.schemas, "\(difference(again.schemas, model.schemas))")
    }

    @Test("each truncated document gives a typed error", arguments: xml + json)
    func prefixes(path: String) throws {
        let bytes = try Corpus.bytes(path)
        let end = bytes.lastIndex { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "}") } ?? 0
        let step = max(1, bytes.count / 60)
        for count in stride(from: 0, to: end, by: step) {
            #expect(throws: CSDLError.self, "prefix of \(count)") { try CSDLReader.read(Array(bytes[..<count])) }
        }
    }
}

func withoutAssociations(_ schema: ODataSchema) -> ODataSchema {
    var schema = schema
    schema.associations = []
    schema.container?.associationSets = []
    for type in schema.structuredTypes.indices {
        for property in schema.structuredTypes[type].navigationProperties.indices {
            schema.structuredTypes[type].navigationProperties[property].relationship = nil
        }
    }
    return schema
}

/// Returns the first difference between two models. The whole descriptions would be too long for the log.
func difference(_ left: [ODataSchema], _ right: [ODataSchema]) -> String {
    for (left, right) in zip(left, right) where left != right {
        let (leftText, rightText) = (Array("\(left)".utf8), Array("\(right)".utf8))
        let common = zip(leftText, rightText).prefix { $0 == $1 }.count
        let from = max(0, common - 200)
        func excerpt(_ text: [UInt8]) -> String { String(decoding: text.dropFirst(from).prefix(400), as: UTF8.self) }
        return "\(excerpt(leftText)) <> \(excerpt(rightText))"
    }
    return "not the same number of schemas"
}
