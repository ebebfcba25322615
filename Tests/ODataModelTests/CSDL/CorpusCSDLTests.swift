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
        let elements = result.model.schemas.map {
            $0.structuredTypes.count + $0.terms.count + $0.externalAnnotations.count
        }
        #expect(elements.reduce(0, +) > 0)
        let written = CSDLWriter.xml(result.model)
        let again = try CSDLReader.parse(xml: written)
        #expect(again.model.schemas == result.model.schemas)
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
