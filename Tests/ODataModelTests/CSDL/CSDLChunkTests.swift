import Foundation
import TestCorpus
import Testing

@testable import ODataModel

/// The result of reading a document: the model with its warnings, or the error.
private enum Outcome: Equatable {
    case read([ODataSchema], [CSDLReference], [CSDLWarning])
    case refused(CSDLError)

    init(_ result: CSDLReader.Result) { self = .read(result.model.schemas, result.references, result.warnings) }

    static func whole(_ bytes: [UInt8]) -> Outcome {
        do throws(CSDLError) {
            return Outcome(try CSDLReader.parse(bytes))
        } catch {
            return .refused(error)
        }
    }

    static func chunks(_ document: CutDocument) async throws -> Outcome {
        do {
            return Outcome(try await CSDLReader.parse(chunks: document))
        } catch let error as CSDLError {
            return .refused(error)
        }
    }
}

@Suite("Metadata documents in chunks")
struct CSDLChunkTests {
    private static let small = """
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <!-- ä > b --><Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">\r
        <EntityType Name="Größe"><Key><PropertyRef Name='P'/></Key><Property Name="P" Type="Edm.Int32"/>
        <Annotation Term="S.T" String="1 &lt; 2 &amp; €😀 > 0"/><Annotation Term="S.U"><String>a€<![CDATA[<😀>]]></String></Annotation>
        </EntityType><EntityContainer Name="C"><EntitySet Name="E" EntityType="S.Größe"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>

        """

    private static func utf16(_ text: String) -> [UInt8] {
        [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    private static let readable: [(String, [UInt8])] = [
        ("XML", Array(small.utf8)), ("byte order mark", [0xEF, 0xBB, 0xBF] + Array(small.utf8)),
        ("blanks before the declaration", [0xEF, 0xBB, 0xBF] + Array(" \n\t\r\n\(small)".utf8)),
        ("blanks and no declaration", Array("\n \n".utf8) + document("<ComplexType Name='T'/>")),
        ("UTF-16", utf16(small.replacing("utf-8", with: "utf-16"))),
        (
            "JSON",
            Array(
                #" {"$Version":"4.01","S":{"E":{"$Kind":"EntityType","$Key":["ä€"],"ä€":{"$Type":"Edm.Int32"},"@S.T":"😀"}}}"#
                    .utf8)
        ),
    ]

    @Test("A small document gives the same model for any chunk size", arguments: readable)
    func everyPosition(name: String, bytes: [UInt8]) async throws {
        let expected = Outcome.whole(bytes)
        guard case .read(let schemas, _, _) = expected else {
            Issue.record("\(expected)")
            return
        }
        #expect(schemas.count == 1)
        for cut in 1..<bytes.count {
            #expect(try await Outcome.chunks(CutDocument(bytes, at: [cut])) == expected, "cut at \(cut)")
        }
        #expect(try await Outcome.chunks(CutDocument(bytes, chunkSize: 1)) == expected)
        #expect(try await Outcome.chunks(CutDocument(bytes, chunkSize: 2)) == expected)
    }

    @Test("A character of several bytes may be split between two chunks", arguments: ["ä", "€", "😀"])
    func splitCharacter(character: String) async throws {
        let bytes = document("<ComplexType Name='T'><Annotation Term='S.T' String='\(character)'/></ComplexType>")
        let start = try #require(bytes.firstIndex { $0 >= 0x80 })
        for offset in 1..<character.utf8.count {
            let result = try await CSDLReader.parse(chunks: CutDocument(bytes, at: [start + offset]))
            #expect(result.model.schemas[0].structuredTypes[0].annotations[0].value?.string == character)
        }
    }

    @Test("The sample documents give the same model in chunks", arguments: [CSDLSamples.v4, CSDLSamples.v2])
    func samples(text: String) async throws {
        let bytes = Array(text.utf8)
        let expected = Outcome.whole(bytes)
        for size in [1, 7, 64, 100, 1000] {
            #expect(try await Outcome.chunks(CutDocument(bytes, chunkSize: size)) == expected, "chunks of \(size)")
        }
    }

    private static let large: [UInt8] = {
        let types = (0..<2000).map { number in
            "<EntityType Name='T\(number)'><Key><PropertyRef Name='Id'/></Key>\n<Property Name='Id' Type='Edm.Int32'/>"
                + "<Annotation Term='S.T' String='größer > \(number) €😀'/></EntityType>\n"
        }
        return document(types.joined())
    }()

    @Test("A large document gives the same model for any chunk size", arguments: 1...5)
    func largeDocument(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let document = CutDocument(Self.large, using: &generator)
        #expect(document.count > 10)
        #expect(try await Outcome.chunks(document) == Outcome.whole(Self.large))
    }

    @Test(
        "The documents of the corpus give the same result in chunks",
        .enabled(if: Corpus.isPresent, "no corpus at ../shared/corpus or OUTPOST_CORPUS"))
    func corpus() async throws {
        var generator = SeededGenerator(seed: 11)
        for path in CorpusCSDLTests.xml + CorpusCSDLTests.json {
            let bytes = try Corpus.bytes(path)
            #expect(
                try await Outcome.chunks(CutDocument(bytes, using: &generator)) == Outcome.whole(bytes), "\(path)")
        }
    }

    @Test(
        "An invalid document has the same error at the same place for any chunk size",
        arguments: [
            "", " \n\t ", "This is no metadata.\nAt all.", "<rss>\n<channel/></rss>",
            "<html>\n<body>x<br></body></html>",
            "<!DOCTYPE html>\n<html><body>Sign in</body></html>",
            "<?xml version='1.0'?>\n<!DOCTYPE a [<!ENTITY b 'c'>]>\n<a/>",
            "<a>\n <b>x</c>\n</a>", "<a>\n <b x='1' x='2'/>\n</a>", "<a>\n <p:b/>\n</a>", "<a>\n <b>&c;</b>\n</a>",
            "<a>\n <b x='1<2'/>\n</a>", "<a>\n <b>x & y</b>\n</a>", "<a/>\nrest", "{\"$Version\":\n 4.01 \"S\"", "[1]",
            "{}",
            "{\"$Version\":\"4.01\",\"S\":{\"T\":{\"$Kind\":\"What\"}}}",
        ])
    func sameError(text: String) async throws {
        let bytes = Array(text.utf8)
        let expected = Outcome.whole(bytes)
        for cut in 1..<max(2, bytes.count) {
            #expect(try await Outcome.chunks(CutDocument(bytes, at: [cut])) == expected, "cut at \(cut)")
        }
        #expect(try await Outcome.chunks(CutDocument(bytes, chunkSize: 1)) == expected)
    }

    @Test("Invalid UTF-8 has the same error at the same place for any chunk size")
    func invalidText() async throws {
        let bytes = Array("<a>\n <b>".utf8) + [0xC3, 0x28] + Array("</b>\n <c/></a>\n".utf8)
        let expected = Outcome.whole(bytes)
        guard case .refused = expected else {
            Issue.record("\(expected)")
            return
        }
        for cut in 1..<bytes.count {
            #expect(try await Outcome.chunks(CutDocument(bytes, at: [cut])) == expected, "cut at \(cut)")
        }
    }

    @Test("A truncated document is reported as incomplete for any chunk size")
    func truncated() async throws {
        let bytes = Array(Self.small.utf8.prefix(400))
        let expected = Outcome.whole(bytes)
        guard case .refused(let error) = expected else {
            Issue.record("\(expected)")
            return
        }
        #expect(error.reason == .truncated)
        for cut in 1..<bytes.count {
            #expect(try await Outcome.chunks(CutDocument(bytes, at: [cut])) == expected, "cut at \(cut)")
        }
    }

    @Test("A document one byte beyond the limit is refused with the limit", arguments: [readable[0], readable[5]])
    func limit(name: String, bytes: [UInt8]) async throws {
        _ = try await CSDLReader.read(chunks: CutDocument(bytes, chunkSize: 10), maxBytes: bytes.count)
        for size in [1, 10, bytes.count] {
            let error = await #expect(throws: CSDLError.self) {
                try await CSDLReader.read(chunks: CutDocument(bytes, chunkSize: size), maxBytes: bytes.count - 1)
            }
            #expect(error?.reason == .tooLarge(limit: bytes.count - 1))
            #expect(error?.description.contains("larger than \(bytes.count - 1) bytes") == true)
        }
    }

    @Test("No chunk beyond the limit is requested, and a limit above that of the reader has no effect")
    func limitStops() async throws {
        let document = CutDocument(Self.large, chunkSize: 1000)
        await #expect(throws: CSDLError.self) { try await CSDLReader.read(chunks: document, maxBytes: 10_500) }
        #expect(document.takenCount == 11)
        let blanks = [UInt8](repeating: 0x20, count: CSDLReader.maxBytes + 1)
        let error = await #expect(throws: CSDLError.self) {
            try await CSDLReader.read(chunks: CutDocument(blanks, chunkSize: 1 << 20), maxBytes: .max)
        }
        #expect(error?.reason == .tooLarge(limit: CSDLReader.maxBytes))
        await #expect(throws: CSDLError.self) { try await CSDLReader.read(chunks: document, maxBytes: -1) }
    }

    @Test("Referenced documents count towards the limit")
    func limitOfAll() async throws {
        let first = Array(
            """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
            <edmx:Reference Uri="other.xml"><edmx:Include Namespace="S"/></edmx:Reference><edmx:DataServices>
            <Schema Namespace="M" xmlns="http://docs.oasis-open.org/odata/ns/edm"><ComplexType Name="A" BaseType="S.T"/></Schema>
            </edmx:DataServices></edmx:Edmx>
            """.utf8)
        let second = document("<ComplexType Name='T'/>")
        let sum = first.count + second.count
        let options = CSDLReaderOptions(references: .custom)
        let result = try await CSDLReader.parse(
            chunks: CutDocument(first, chunkSize: 5), maxBytes: sum, options: options, loader: { _ in second })
        let whole = try await CSDLReader.parse(first, options: options, loader: { _ in second })
        #expect(Outcome(result) == Outcome(whole))
        #expect(result.model.structuredType(QualifiedName("S", "T")) != nil)
        let error = await #expect(throws: CSDLError.self) {
            try await CSDLReader.parse(
                chunks: CutDocument(first, chunkSize: 5), maxBytes: sum - 1, options: options, loader: { _ in second })
        }
        #expect(error?.reason == .tooLarge(limit: sum - 1))
        #expect(error?.source == "other.xml")
    }

    @Test("After an error, no further chunk is requested", arguments: [1, 10, 100_000])
    func errorStops(size: Int) async throws {
        let start = document("<ComplexType Name='T'></Oops>")
        let bytes = start + Self.large + Self.large
        let document = CutDocument(bytes, chunkSize: size)
        let error = await #expect(throws: CSDLError.self) { try await CSDLReader.read(chunks: document) }
        guard case .malformed? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.line == 3)
        #expect(document.takenCount <= start.count / size + 1)
        #expect(document.takenCount < document.count)
    }

    @Test("After a DOCTYPE, no further chunk is requested")
    func doctypeStops() async throws {
        let bytes = Array("<!DOCTYPE html>".utf8) + Self.large
        let document = CutDocument(bytes, chunkSize: 15)
        let error = await #expect(throws: CSDLError.self) { try await CSDLReader.read(chunks: document) }
        #expect(error?.reason == .html)
        #expect(document.takenCount <= 2)
    }

    @Test("An error of the sequence is rethrown")
    func sourceError() async throws {
        struct Broken: Error {}
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self)
        continuation.yield(Array("<edmx:Edmx>".utf8))
        continuation.finish(throwing: Broken())
        await #expect(throws: Broken.self) { try await CSDLReader.read(chunks: stream) }
    }

    @Test("Cancelling the task throws a cancellation error", arguments: ["<a>", "{", " "])
    func cancellation(start: String) async throws {
        let reading = Task { try await CSDLReader.read(chunks: EndlessDocument(Array(start.utf8))) }
        try await Task.sleep(for: .milliseconds(10))
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    @Test("A model that keeps its original text has the bytes of all chunks")
    func originalText() async throws {
        let bytes = Array(Self.small.utf8)
        let options = CSDLReaderOptions(keepsOriginalText: true)
        let result = try await CSDLReader.parse(chunks: CutDocument(bytes, chunkSize: 9), options: options)
        #expect(result.model.originalText == bytes)
        #expect(try await CSDLReader.read(chunks: CutDocument(bytes, chunkSize: 9)).originalText == nil)
    }

    @Test("A file is read in chunks")
    func file() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("metadata-\(UUID().uuidString).xml")
        try Data(Self.large).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forReadingFrom: file)
        let chunks = AsyncThrowingStream<Data, any Error>(unfolding: {
            guard let data = try handle.read(upToCount: 4096), !data.isEmpty else { return nil }
            return data
        })
        #expect(try await CSDLReader.read(chunks: chunks).schemas == CSDLReader.read(Self.large).schemas)
    }
}
