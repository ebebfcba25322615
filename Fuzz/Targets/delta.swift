// Delta pages as the client reads them: the answer to a delta link, whole and in chunks, with whatever media type.
import Dispatch
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Synchronization

private let decoder = ResponseDecoder(serviceRoot: serviceRoot(), model: sampleModel(), maxBodySize: 1 << 20)

private func serviceRoot() -> ServiceRoot {
    do {
        return try ServiceRoot("http://shop.test/")
    } catch {
        preconditionFailure("the root is wrong: \(error)")
    }
}

/// What came of an answer.
private struct Outcome: Sendable {
    var page: EntityPage?
    var failed = false
}

private func read(_ chunks: [[UInt8]], _ contentType: String) async -> Outcome {
    let place = Mutex(0)
    let body = ByteStream {
        place.withLock { place in
            guard place < chunks.count else { return nil }
            place += 1
            return chunks[place - 1]
        }
    }
    let request = ODataRequest(following: "http://shop.test/Orders?$deltatoken=1")
    var message = HTTPResponse(status: .ok)
    message.headerFields[.contentType] = contentType
    do {
        guard case .page(let page) = try await decoder.decode(message, body: body, to: request).body else {
            return Outcome()
        }
        return Outcome(page: page)
    } catch {
        return Outcome(failed: true)
    }
}

/// Waits for an answer: libFuzzer knows no tasks.
private func outcome(_ chunks: [[UInt8]], _ contentType: String) -> Outcome {
    let semaphore = DispatchSemaphore(value: 0)
    let result = LockedOutcome()
    Task {
        let outcome = await read(chunks, contentType)
        result.value.withLock { $0 = outcome }
        semaphore.signal()
    }
    semaphore.wait()
    return result.value.withLock { $0 }
}

private final class LockedOutcome: Sendable {
    let value = Mutex(Outcome())
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    let type = count % 8 == 0 ? "application/json;odata.metadata=full" : "application/json"
    // A stream has no empty chunks.
    let whole = outcome(bytes.isEmpty ? [] : [bytes], type)
    let length = 1 + count % 7
    let pieces = outcome(
        stride(from: 0, to: bytes.count, by: length).map { Array(bytes[$0..<min($0 + length, bytes.count)]) }, type)
    precondition(whole.failed == pieces.failed, "chunks change whether it is read")
    guard let one = whole.page, let other = pieces.page else { return 0 }
    precondition(one.nextLink == other.nextLink && one.deltaLink == other.deltaLink, "chunks change a link")
    precondition(one.removed.map(\.id) == other.removed.map(\.id), "chunks change what is removed")
    // NaN is not equal to itself, so texts that hold it prove nothing.
    if !String(decoding: bytes, as: UTF8.self).contains("NaN") {
        precondition(one.entities == other.entities, "chunks change what is read")
    }
    return 0
}
