import ODataModel
import TestCorpus
import TestModels
import Testing

@testable import ODataFormat

@Suite("Service documents in chunks")
struct ServiceDocumentChunkTests {
    private let model: EntityDataModel

    init() throws { model = try LegacyService.model() }

    private static let atom = """
        <?xml version="1.0" encoding="utf-8"?>
        <service xml:base="http://h/svc/" xmlns="http://www.w3.org/2007/app" xmlns:a="http://www.w3.org/2005/Atom">
        <workspace><a:title>Größe €😀 &gt; 0</a:title><collection href="Rooms"><a:title>Rooms</a:title></collection>
        <collection href="%3AOdd"><a:title>Odd</a:title><accept>image/*</accept></collection></workspace>
        </service>
        """
    private static let json =
        #"{"@odata.context":"$metadata","value":[{"name":"Rooms","title":"Größe €😀","url":"Rooms"},{"name":"D","url":"D"}]}"#
    private static let verbose = #"{"d":{"EntitySets":["Rooms","%C3%A4"]}}"#

    private static let kinds: [(PayloadFormat, String)] = [
        (.atom(.v2), atom), (.json(.v401), json), (.verboseJSON(.v2), verbose),
    ]

    @Test("A document gives the same result wherever it is cut", arguments: kinds)
    func everyPosition(format: PayloadFormat, text: String) async throws {
        let bytes = Array(text.utf8)
        let decoder = PayloadDecoder(model: model, format: format)
        let expected = try decoder.serviceDocument(bytes)
        #expect(expected.entries.count == 2)
        for cut in 1..<bytes.count {
            #expect(
                try await decoder.serviceDocument(chunks: CutDocument(bytes, at: [cut])) == expected, "cut at \(cut)")
        }
        #expect(try await decoder.serviceDocument(chunks: CutDocument(bytes, chunkSize: 1)) == expected)
    }

    @Test("The documents of Atom and JSON are read from chunks without a model")
    func directly() async throws {
        let atom = Array(Self.atom.utf8)
        let document = try await AtomServiceDocument(xmlChunks: CutDocument(atom, chunkSize: 3))
        #expect(try document == AtomServiceDocument(xml: atom))
        let json = Array(Self.json.utf8)
        #expect(try await ServiceDocument(jsonChunks: CutDocument(json, chunkSize: 3)) == ServiceDocument(json: json))
    }

    @Test("A document one byte beyond the limit is refused with the limit", arguments: kinds)
    func limit(format: PayloadFormat, text: String) async throws {
        let bytes = Array(text.utf8)
        let decoder = PayloadDecoder(model: model, format: format)
        _ = try await decoder.serviceDocument(chunks: CutDocument(bytes, chunkSize: 10), maxBytes: bytes.count)
        let error = await #expect(throws: PayloadError.self) {
            try await decoder.serviceDocument(chunks: CutDocument(bytes, chunkSize: 10), maxBytes: bytes.count - 1)
        }
        #expect(error == .tooLarge(limit: bytes.count - 1))
        #expect(error?.description.contains("larger than \(bytes.count - 1) bytes") == true)
    }

    @Test("No chunk beyond the limit is requested", arguments: kinds)
    func limitStops(format: PayloadFormat, text: String) async throws {
        let document = CutDocument(Array(text.utf8), chunkSize: 5)
        await #expect(throws: PayloadError.self) {
            try await PayloadDecoder(model: model, format: format).serviceDocument(chunks: document, maxBytes: 12)
        }
        #expect(document.takenCount == 3)
    }

    @Test(
        "An invalid document has the same error at the same place for any chunk size",
        arguments: [
            "<service xmlns='http://www.w3.org/2007/app'>\n<workspace></service>", "<feed>\n</feed>", "", "<service",
            "<service xmlns='http://www.w3.org/2007/app'>\n<collection href='A'/></service>",
            "<!DOCTYPE html><html></html>",
        ])
    func sameError(text: String) async throws {
        let bytes = Array(text.utf8)
        let expected = #expect(throws: PayloadError.self) { try AtomServiceDocument(xml: bytes) }
        for size in 1...max(1, bytes.count) {
            let error = await #expect(throws: PayloadError.self) {
                try await AtomServiceDocument(xmlChunks: CutDocument(bytes, chunkSize: size))
            }
            #expect(error == expected, "chunks of \(size)")
        }
        let malformed = Array("{\"value\":\n[1 2]}".utf8)
        let expectedJSON = #expect(throws: PayloadError.self) { try ServiceDocument(json: malformed) }
        let error = await #expect(throws: PayloadError.self) {
            try await ServiceDocument(jsonChunks: CutDocument(malformed, chunkSize: 2))
        }
        #expect(error == expectedJSON)
    }

    @Test("After an error in Atom, no further chunk is requested")
    func errorStops() async throws {
        let start = "<service xmlns='http://www.w3.org/2007/app'><workspace></service>"
        let document = CutDocument(Array((start + String(repeating: "<a/>", count: 1000)).utf8), chunkSize: 10)
        await #expect(throws: PayloadError.self) { try await AtomServiceDocument(xmlChunks: document) }
        #expect(document.takenCount <= start.utf8.count / 10 + 1)
    }

    @Test("Cancelling the task throws a cancellation error", arguments: kinds)
    func cancellation(format: PayloadFormat, text: String) async throws {
        let decoder = PayloadDecoder(model: model, format: format)
        let reading = Task {
            try await decoder.serviceDocument(chunks: EndlessDocument(Array(text.utf8.prefix(20))))
        }
        try await Task.sleep(for: .milliseconds(10))
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }
}
