// Delta pages as the client reads them: the answer to a delta link, whole and in chunks, with each media type
// that there is for bytes of its kind, of services of V4 and of those before.
import Dispatch
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Synchronization

private let current = decoder(sampleModel())
private let older = decoder(sampleModelV2())

private func decoder(_ model: EntityDataModel) -> ResponseDecoder {
    do {
        return ResponseDecoder(serviceRoot: try ServiceRoot("http://shop.test/"), model: model, maxBodySize: 1 << 20)
    } catch {
        fatalError("the root is wrong: \(error)")
    }
}

/// The properties of an answer that decide about its reader.
private struct Kind: Sendable {
    let name: String
    let decoder: ResponseDecoder
    let contentType: String
    /// The `DataServiceVersion`, if it is stated.
    var version: String?
    /// Whether the request names the entity set: Atom in V4 does not.
    var namesSet = false
}

private let json = [
    Kind(name: "JSON", decoder: current, contentType: "application/json"),
    Kind(name: "V2's JSON", decoder: older, contentType: "application/json", version: "2.0"),
    Kind(
        name: "V3's JSON", decoder: older, contentType: "application/json;odata=minimalmetadata", version: "3.0"),
]

private let atom = [
    Kind(name: "Atom", decoder: current, contentType: "application/atom+xml", namesSet: true),
    Kind(name: "V2's Atom", decoder: older, contentType: "application/atom+xml;type=feed", version: "2.0"),
]

/// The result of reading an answer.
private struct Outcome: Sendable {
    var page: EntityPage?
    var failed = false
}

private func read(_ chunks: [[UInt8]], _ kind: Kind) async -> Outcome {
    let place = Mutex(0)
    let body = ByteStream {
        place.withLock { place in
            guard place < chunks.count else { return nil }
            place += 1
            return chunks[place - 1]
        }
    }
    var request = ODataRequest(following: "http://shop.test/Orders?$deltatoken=1")
    if kind.namesSet { request.url.path = ResourcePath([.name("Orders", .none)]) }
    var message = HTTPResponse(status: .ok)
    message.headerFields[.contentType] = kind.contentType
    message.headerFields[.dataServiceVersion] = kind.version
    do {
        guard case .page(let page) = try await kind.decoder.decode(message, body: body, to: request).body else {
            return Outcome()
        }
        return Outcome(page: page)
    } catch {
        return Outcome(failed: true)
    }
}

/// Waits for an answer: libFuzzer knows no tasks.
private func outcome(_ chunks: [[UInt8]], _ kind: Kind) -> Outcome {
    let semaphore = DispatchSemaphore(value: 0)
    let result = LockedOutcome()
    Task {
        let outcome = await read(chunks, kind)
        result.value.withLock { $0 = outcome }
        semaphore.signal()
    }
    semaphore.wait()
    return result.value.withLock { $0 }
}

private final class LockedOutcome: Sendable {
    let value = Mutex(Outcome())
}

private func check(_ bytes: [UInt8], _ kind: Kind) {
    let inOne = outcome(whole(bytes), kind)
    let inPieces = outcome(pieces(of: bytes), kind)
    promise(inOne.failed == inPieces.failed, "\(kind.name): chunks change whether it is read")
    promise((inOne.page == nil) == (inPieces.page == nil), "\(kind.name): chunks change what it is")
    guard let one = inOne.page, let other = inPieces.page else { return }
    promise(
        one.nextLink == other.nextLink && one.deltaLink == other.deltaLink, "\(kind.name): chunks change a link")
    promise(one.count == other.count, "\(kind.name): chunks change the count")
    promise(one.links == other.links, "\(kind.name): chunks change the relations")
    promise(one.removed.map(\.id) == other.removed.map(\.id), "\(kind.name): chunks change what is removed")
    // NaN is not equal to itself, so texts that hold it prove nothing.
    if !String(decoding: bytes, as: UTF8.self).contains("NaN") {
        promise(one.entities == other.entities, "\(kind.name): chunks change what is read")
        promise(one.removed == other.removed, "\(kind.name): chunks change what is removed")
    }
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    // JSON is recognised by its content, with any media type; XML is no JSON.
    let isXML = bytes.first { $0 > 0x20 && $0 < 0x80 } == UInt8(ascii: "<")
    for kind in isXML ? atom : json { check(bytes, kind) }
    return 0
}
