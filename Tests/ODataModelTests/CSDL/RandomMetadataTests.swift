import Testing

@testable import ODataModel

@Suite("Metadata documents read back")
struct RandomMetadataTests {
    @Test("Random JSON documents are written in JSON and XML, and read back the same", arguments: 0..<8)
    func comesBack(part: UInt64) throws {
        var random = RandomMetadata(seed: part)
        let options = CSDLReaderOptions(references: .ignored)
        for _ in 0..<60 {
            let text = random.document()
            let model = try CSDLReader.parse(Array(text.utf8), options: options).model
            let json = try CSDLReader.parse(CSDLWriter.json(model), options: options).model
            #expect(json.schemas == model.schemas, "\(text)")
            #expect(json.references == model.references, "\(text)")
            let document = CSDLWriter.document(model, as: .xml(model.version))
            #expect(document.omissions.isEmpty)
            let xml = try CSDLReader.parse(xml: document.bytes, options: options).model
            #expect(xml.schemas == model.schemas, "\(text)")
            #expect(xml.references == model.references, "\(text)")
        }
    }
}
