// Batches in multipart and in JSON, as requests and as responses: read whole and in chunks, written, and read again.
import ODataFormat

/// The boundary of written batches: no input has it.
private let ours = "outpost_fuzz_5b1c3f7e"

// MARK: Chunks

/// The result of a batch: the parts that can be read, and the fault of the next one.
private struct Outcome<Part: Equatable>: Equatable {
    var parts: [Part] = []
    var error: BatchError?
}

private func requests(_ chunks: [[UInt8]], _ type: String) -> Outcome<BatchRequestPart> {
    var outcome = Outcome<BatchRequestPart>()
    do throws(BatchError) {
        var reader = try BatchRequestReader(contentType: type)
        for chunk in chunks {
            reader.append(chunk)
            while let part = try reader.next() { outcome.parts.append(part) }
        }
        reader.finish()
        while let part = try reader.next() { outcome.parts.append(part) }
    } catch {
        outcome.error = error
    }
    return outcome
}

private func responses(_ chunks: [[UInt8]], _ type: String) -> Outcome<BatchResponsePart> {
    var outcome = Outcome<BatchResponsePart>()
    do throws(BatchError) {
        var reader = try BatchResponseReader(contentType: type)
        for chunk in chunks {
            reader.append(chunk)
            while let part = try reader.next() { outcome.parts.append(part) }
        }
        reader.finish()
        while let part = try reader.next() { outcome.parts.append(part) }
    } catch {
        outcome.error = error
    }
    return outcome
}

private func checkChunks(_ bytes: [UInt8], _ type: String) {
    let asked = requests(whole(bytes), type)
    let askedInPieces = requests(pieces(of: bytes), type)
    promise(asked == askedInPieces, "chunks change what is read: \(asked) in pieces is \(askedInPieces)")
    let answered = responses(whole(bytes), type)
    let answeredInPieces = responses(pieces(of: bytes), type)
    promise(answered == answeredInPieces, "chunks change what is read: \(answered) in pieces is \(answeredInPieces)")
}

// MARK: Batches that multipart can express

/// Characters that would end a line are left out where a batch is written, so that nothing can be smuggled in.
private func isPlain(_ texts: [String?]) -> Bool {
    texts.allSatisfy { $0?.utf8.allSatisfy { $0 >= 0x20 } ?? true }
}

/// A group becomes the boundary of a change set, which takes few characters, and 50 of them. Its prefix is no
/// part of the group where it is read.
private func isGroup(_ name: String?) -> Bool {
    guard let name else { return true }
    return (1...50).contains(name.utf8.count) && !name.hasPrefix("changeset")
        && name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F, 0x2E: true
            default: false
            }
        }
}

private func texts(_ headers: [BatchHeader]) -> [String?] { headers.flatMap { [$0.name, $0.value] } }

private func checkRequests(_ parts: [BatchRequestPart]) {
    guard parts.allSatisfy({ isPlain([$0.id, $0.method, $0.url] + texts($0.headers)) && isGroup($0.atomicityGroup) })
    else { return }
    let written = MultipartBatch.writeRequest(parts, boundary: ours)
    guard let again = try? MultipartBatch.readRequest(written, boundary: ours) else {
        fatalError("what was written is not read: \(String(decoding: written, as: UTF8.self))")
    }
    promise(again == parts, "what was written is read as another request")
}

private func checkResponses(_ parts: [BatchResponsePart]) {
    guard parts.allSatisfy({ isPlain([$0.id] + texts($0.headers)) && isGroup($0.atomicityGroup) }) else { return }
    let written = MultipartBatch.writeResponse(parts, boundary: ours)
    guard let again = try? MultipartBatch.readResponse(written, boundary: ours) else {
        fatalError("what was written is not read: \(String(decoding: written, as: UTF8.self))")
    }
    promise(again == parts, "what was written is read as another response")
}

private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    let text = Array(text.utf8)
    guard bytes.count >= text.count else { return false }
    return (0...(bytes.count - text.count)).contains { bytes[$0...].starts(with: text) }
}

private func checkMultipart(_ bytes: [UInt8]) {
    // The first line of a batch tells its boundary, so that the fuzzer can change it.
    let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
    let boundary = line.starts(with: [0x2D, 0x2D]) ? String(decoding: line.dropFirst(2), as: UTF8.self) : "b"
    let requests = try? MultipartBatch.readRequest(bytes, boundary: boundary)
    let responses = try? MultipartBatch.readResponse(bytes, boundary: boundary)
    let type = "multipart/mixed; boundary=\"\(boundary)\""
    // Not every text is a boundary that a media type can name.
    if (try? MultipartBatch.boundary(contentType: type)) == boundary { checkChunks(bytes, type) }
    // A line with bytes that are no text may double in length, and then be too long. An input with the boundary
    // of written change sets proves nothing: real boundaries are random.
    guard bytes.count <= 4096, !contains(bytes, "--changeset"), !contains(bytes, ours) else { return }
    if let requests { checkRequests(requests) }
    if let responses { checkResponses(responses) }
}

// MARK: JSON

/// Names of header fields are written in small letters, as the standard has them; case makes no difference.
private func inSmallLetters(_ headers: [BatchHeader]) -> [BatchHeader] {
    headers.map { BatchHeader($0.name.lowercased(), $0.value) }
}

private func checkJSON(_ bytes: [UInt8]) {
    checkChunks(bytes, "application/json")
    if var parts = try? JSONBatch.readRequest(bytes) {
        let written = JSONBatch.writeRequest(parts)
        guard let again = try? JSONBatch.readRequest(written) else {
            fatalError("what was written is not read: \(String(decoding: written, as: UTF8.self))")
        }
        for index in parts.indices { parts[index].headers = inSmallLetters(parts[index].headers) }
        promise(again == parts, "what was written is read as another request")
    }
    if var parts = try? JSONBatch.readResponse(bytes) {
        let written = JSONBatch.writeResponse(parts)
        guard let again = try? JSONBatch.readResponse(written) else {
            fatalError("what was written is not read: \(String(decoding: written, as: UTF8.self))")
        }
        for index in parts.indices { parts[index].headers = inSmallLetters(parts[index].headers) }
        promise(again == parts, "what was written is read as another response")
    }
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    checkMultipart(bytes)
    _ = try? MultipartBatch.boundary(contentType: String(decoding: bytes, as: UTF8.self))
    checkJSON(bytes)
    return 0
}
