import Foundation
import ODataModel
import TestCorpus
import Testing

@testable import ODataFormat

/// Returns a model with one open type, for payloads of services without known metadata.
private func anyModel() throws -> EntityDataModel {
    let name = QualifiedName("Any", "Entity")
    let type = StructuredType(name: name, kind: .entity, isOpen: true)
    return try EntityDataModel(schemas: [ODataSchema(namespace: "Any", structuredTypes: [type])])
}

@Suite("Corpus: JSON payloads", .enabled(if: Corpus.isPresent, "no corpus at ../shared/corpus or OUTPOST_CORPUS"))
struct CorpusPayloadTests {
    static let payloads = Corpus.files("payloads-v4") { $0.hasSuffix(".json") }
    private let any = QualifiedName("Any", "Entity")

    /// The models in the folder that declare a set.
    private static let models: [EntityDataModel] =
        Corpus.files("payloads-v4") { $0.hasSuffix(".xml") }.compactMap { path in
            guard let bytes = try? Corpus.bytes(path) else { return nil }
            return try? CSDLReader.read(xml: bytes)
        }

    private func context(_ bytes: [UInt8]) throws -> (context: String?, isCollection: Bool) {
        try JSONScanner.scan(bytes) { (scanner) throws(JSONError) in
            var context: String?
            var isCollection = false
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                if key == "@odata.context" || key == "@context" {
                    context = try scanner.readString()
                } else if key == "value" {
                    isCollection = try scanner.peekKind() == .array
                    try scanner.skipValue()
                } else {
                    try scanner.skipValue()
                }
            }
            try scanner.expectEnd()
            return (context, isCollection)
        }
    }

    @Test("each payload is read as an entity, a collection or an error, for any chunk size", arguments: payloads)
    func read(path: String) throws {
        let bytes = try Corpus.bytes(path)
        let model = try anyModel()
        let (_, isCollection) = try context(bytes)
        if isCollection {
            // The reader must reject collections of values, which are not entities, with a typed error.
            let whole = Result { () throws(PayloadError) in
                try elements(bytes, chunk: bytes.count, model: model, type: any)
            }
            for chunk in [1, 13, 1000] {
                let pieces = Result { () throws(PayloadError) in
                    try elements(bytes, chunk: chunk, model: model, type: any)
                }
                #expect(pieces == whole)
            }
        } else {
            do throws(PayloadError) {
                let payload = try EntityPayloadReader(model: model).read(bytes, type: any)
                var json = JSONWriter()
                EntityPayloadWriter(model: model).write(payload.entity, declared: any, to: &json)
                let again = try EntityPayloadReader(model: model).read(json.bytes, type: any)
                #expect(again.entity == payload.entity)
            } catch {
                guard case .service = error else { throw error }
            }
        }
    }

    @Test("with metadata, each payload is read as its type, or the error names the property", arguments: payloads)
    func typed(path: String) throws {
        let bytes = try Corpus.bytes(path)
        let (context, isCollection) = try context(bytes)
        guard let fragment = context?.split(separator: "#").last else { return }
        let name = String(fragment.prefix { $0 != "/" && $0 != "(" })
        guard fragment == name || fragment == "\(name)/$entity" else { return }
        for model in Self.models {
            guard let type = model.entitySet(name)?.type else { continue }
            do throws(PayloadError) {
                if isCollection {
                    _ = try elements(bytes, chunk: 100, model: model, type: type)
                } else {
                    _ = try EntityPayloadReader(model: model).read(bytes, type: type)
                }
            } catch {
                // Some payloads contradict their metadata, in which case the error must name the property.
                guard case .malformed(let json) = error else { throw error }
                #expect(!json.path.isEmpty, "\(json)")
            }
        }
    }

    @Test("each truncated payload gives a typed error", arguments: payloads)
    func prefixes(path: String) throws {
        let bytes = try Corpus.bytes(path)
        let model = try anyModel()
        let end = bytes.lastIndex(of: UInt8(ascii: "}")) ?? 0
        for count in stride(from: 0, to: end, by: max(1, end / 200)) {
            #expect(throws: PayloadError.self) {
                try EntityPayloadReader(model: model).read(Array(bytes[..<count]), type: any)
            }
        }
    }
}

@Suite("Corpus: batches", .enabled(if: Corpus.isPresent, "no corpus at ../shared/corpus or OUTPOST_CORPUS"))
struct CorpusBatchTests {
    static let batches = Corpus.files("batch") { $0.hasSuffix(".txt") || $0.hasSuffix(".batch") }

    /// Returns the boundary of a file from its first line, if the line starts with dashes.
    private func boundary(_ bytes: [UInt8]) -> String? {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let line = bytes[start...].prefix { $0 != 0x0A && $0 != 0x0D }
        guard line.starts(with: [0x2D, 0x2D]) else { return nil }
        return String(decoding: line.dropFirst(2), as: UTF8.self)
    }

    @Test("each batch is read or refused with a typed error", arguments: batches)
    func read(path: String) throws {
        let bytes = try Corpus.bytes(path)
        guard let boundary = boundary(bytes) else {
            #expect(throws: BatchError.self) { try MultipartBatch.readRequest(bytes, boundary: "batch") }
            return
        }
        let request = Result { () throws(BatchError) in try MultipartBatch.readRequest(bytes, boundary: boundary) }
        let response = Result { () throws(BatchError) in try MultipartBatch.readResponse(bytes, boundary: boundary) }
        switch (request, response) {
        case (.success(let parts), _):
            let written = MultipartBatch.writeRequest(parts, boundary: "another")
            #expect(try MultipartBatch.readRequest(written, boundary: "another").map(\.body) == parts.map(\.body))
        case (_, .success(let parts)):
            let written = MultipartBatch.writeResponse(parts, boundary: "another")
            #expect(try MultipartBatch.readResponse(written, boundary: "another") == parts)
        case (.failure(let error), .failure):
            #expect(error.line >= 1 && !error.expected.isEmpty)
        }
    }

    @Test("each batch is the same for any chunk size", arguments: batches)
    func chunks(path: String) throws {
        let bytes = try Corpus.bytes(path)
        guard let boundary = boundary(bytes) else { return }
        let whole = Result { () throws(BatchError) in try MultipartBatch.readResponse(bytes, boundary: boundary) }
        for size in bytes.count < 20_000 ? [1, 37] : [50_000] {
            let pieces = Result { () throws(BatchError) in
                var reader = try BatchResponseReader(contentType: "multipart/mixed; boundary=\(boundary)")
                var parts: [BatchResponsePart] = []
                var rest = bytes[...]
                while !rest.isEmpty {
                    reader.append(rest.prefix(size))
                    rest = rest.dropFirst(size)
                    while let part = try reader.next() { parts.append(part) }
                }
                reader.finish()
                while let part = try reader.next() { parts.append(part) }
                return parts
            }
            #expect(pieces == whole)
        }
    }

    /// The invalid samples that violate the rules of batches. The remaining invalid samples are well-formed batches
    /// with requests that a service refuses, and the responses to them.
    @Test(
        "a broken batch is refused with the line",
        arguments: [
            ("sampleinvalidbatch", BatchError.Reason.queryInChangeSet("GET Orders HTTP/1.1"), 31),
            ("sampleinvalidbatch1", .noPart(boundary: "changeset_e9b231d9-72ab-46ea-9613-c7e8f5ece46b"), 5),
            ("sampleinvalidresponse1", .emptyChangeSet, 2),
        ])
    func broken(name: String, reason: BatchError.Reason, line: Int) throws {
        let bytes = try Corpus.bytes("batch/OData_odata.net/\(name).txt")
        let boundary = try #require(self.boundary(bytes))
        let error = #expect(throws: BatchError.self) {
            if name.contains("response") {
                _ = try MultipartBatch.readResponse(bytes, boundary: boundary)
            } else {
                _ = try MultipartBatch.readRequest(bytes, boundary: boundary)
            }
        }
        #expect(error?.reason == reason && error?.line == line, "\(error as Any)")
    }

    @Test("each truncated batch is refused with a typed error", arguments: batches)
    func prefixes(path: String) throws {
        let bytes = try Corpus.bytes(path)
        guard let boundary = boundary(bytes) else { return }
        let places = bytes.count < 100_000 ? 50 : 5
        for count in stride(from: 0, to: bytes.count - boundary.utf8.count - 6, by: max(1, bytes.count / places)) {
            #expect(throws: BatchError.self) {
                try MultipartBatch.readResponse(Array(bytes[..<count]), boundary: boundary)
            }
        }
    }
}
