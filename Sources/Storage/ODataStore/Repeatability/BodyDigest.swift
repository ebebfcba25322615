import Crypto
import Foundation
import ODataFormat
import ODataModel
import ODataService
import Synchronization

/// The digest of a request body. The digest distinguishes a repeated request from another request with the same
/// id.
///
/// The digest covers values, not bytes: a client may repeat a request with other white space or another order
/// of members.
enum BodyDigest {
    /// Returns the digest of a body; `nil` for a stream. ``StreamDigest`` computes the digest of a stream while
    /// it is read.
    static func text(of body: RequestBody, in model: EntityDataModel) -> String? {
        let writer = EntityPayloadWriter(model: model, metadata: .minimal)
        var json = JSONWriter()
        json.beginArray()
        switch body {
        case .none: break
        case .entity(let entity): writer.writeInstance(entity, declared: nil, to: &json)
        case .value(let value, let type): writer.writeValue(value, type: type, to: &json)
        case .parameters(let parameters):
            for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
                json.string(name)
                writer.writeValue(value, type: nil, to: &json)
            }
        case .reference(let id): json.string(id)
        case .references(let ids): for id in ids { json.string(id) }
        case .delta(let page): write(page, writer, to: &json)
        // Each request in the batch has its own digest.
        case .batch: break
        case .media: return nil
        }
        json.endArray()
        return hexadecimal(Array(SHA256.hash(data: json.bytes)))
    }

    private static func write(_ page: EntityPage, _ writer: EntityPayloadWriter, to json: inout JSONWriter) {
        for entity in page.entities { writer.writeInstance(entity, declared: nil, to: &json) }
        for removed in page.removed {
            json.string("removed \(removed.reason.rawValue) \(removed.etag ?? "") \(removed.id)")
            for part in removed.key?.parts ?? [] {
                json.string(part.name)
                writer.writeValue(part.value, type: nil, to: &json)
            }
        }
        for link in page.links {
            json.string(link.isDeleted ? "unlinked" : "linked")
            for text in [link.source, link.relationship, link.target ?? ""] { json.string(text) }
        }
    }

    /// Returns the digest of texts, separated by a byte that does not occur in UTF-8.
    static func text(of parts: [String]) -> String {
        var digest = SHA256()
        for part in parts {
            digest.update(data: Array(part.utf8))
            digest.update(data: [0xFF] as [UInt8])
        }
        return hexadecimal(Array(digest.finalize()))
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// The digest of a stream, computed while another component reads it.
final class StreamDigest: Sendable {
    private let digest = Mutex(SHA256())

    /// Returns a stream whose bytes are added to the digest as they are read.
    func reading(_ stream: ByteStream) -> ByteStream {
        ByteStream(length: stream.length) { [self] in
            let chunk = try await stream.next()
            if let chunk { digest.withLock { $0.update(data: chunk) } }
            return chunk
        }
    }

    /// Returns the digest of the read bytes and the media type.
    func text(contentType: String) -> String {
        digest.withLock { BodyDigest.hexadecimal(Array($0.finalize())) } + " " + contentType
    }
}

extension ODataRequest {
    /// Returns the request with the digest of its body if the request is repeatable.
    package func digested(_ model: EntityDataModel) -> ODataRequest {
        guard repeatability != nil, bodyDigest == nil else { return self }
        var request = self
        request.bodyDigest = BodyDigest.text(of: body, in: model)
        return request
    }
}
