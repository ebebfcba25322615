import Testing

@testable import ODataModel

@Suite("Corpus: metadata documents", .enabled(if: Corpus.isPresent, "no corpus at ../shared/corpus or OUTPOST_CORPUS"))
struct CorpusCSDLTests {
    static let documents =
        Corpus.files("metadata") { $0.hasSuffix(".xml") || $0.hasSuffix(".csdl") }
        + Corpus.files("vocabularies") { $0.hasSuffix(".xml") } + Corpus.files("csdl-pairs") { $0.hasSuffix(".xml") }

    @Test("each one is read, and written so that it reads the same", arguments: documents)
    func roundTrip(path: String) throws {
        let result = try CSDLReader.parse(xml: try Corpus.bytes(path))
        let elements = result.model.schemas.map { schema in
            schema.structuredTypes.count + schema.terms.count + schema.externalAnnotations.count
                + (schema.container == nil ? 0 : 1)
        }
        #expect(elements.reduce(0, +) > 0)
        let written = CSDLWriter.xml(result.model)
        let again = try CSDLReader.parse(xml: written)
        let isEqual = again.model.schemas == result.model.schemas
        #expect(isEqual, "\(difference(again.model.schemas, result.model.schemas))")
    }

    @Test("each one cut at many places gives a typed error", arguments: documents)
    func prefixes(path: String) throws {
        let bytes = try Corpus.bytes(path)
        let end = (bytes.lastIndex(of: UInt8(ascii: ">")) ?? 0)
        let step = max(1, bytes.count / 60)
        for count in stride(from: 0, to: end, by: step) {
            #expect(csdlError(Array(bytes[..<count])) != nil, "prefix of \(count)")
        }
    }
}

/// The first words in which two models differ: their whole descriptions would fill the log.
private func difference(_ left: [Schema], _ right: [Schema]) -> String {
    for (left, right) in zip(left, right) where left != right {
        let (leftText, rightText) = (Array("\(left)".utf8), Array("\(right)".utf8))
        let common = zip(leftText, rightText).prefix { $0 == $1 }.count
        let from = max(0, common - 200)
        func excerpt(_ text: [UInt8]) -> String { String(decoding: text.dropFirst(from).prefix(400), as: UTF8.self) }
        return "\(excerpt(leftText)) <> \(excerpt(rightText))"
    }
    return "not the same number of schemas"
}
