import Crypto
import Foundation
import ODataFormat
import ODataModel
import ODataService
import Synchronization

/// The digest of what a request carries, by which a repeat is told from another request that uses the same id.
///
/// It is taken of the values and not of the bytes: a client may write the same entity with other spaces, or its members in
/// another order, when it repeats a request.
enum BodyDigest {
    /// The digest; `nil` for a stream, whose bytes pass by once: ``StreamDigest`` has it afterwards.
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
        // The requests in it have their own.
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

    /// The digest of texts, each kept apart from the next by a byte that no UTF-8 has.
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

/// Digests a stream while somebody else reads it.
final class StreamDigest: Sendable {
    private let digest = Mutex(SHA256())

    /// The stream, which is digested as far as it is read.
    func reading(_ stream: ByteStream) -> ByteStream {
        ByteStream(length: stream.length) { [self] in
            let chunk = try await stream.next()
            if let chunk { digest.withLock { $0.update(data: chunk) } }
            return chunk
        }
    }

    /// The digest of what was read, and of the media type.
    func text(contentType: String) -> String {
        digest.withLock { BodyDigest.hexadecimal(Array($0.finalize())) } + " " + contentType
    }
}

extension ODataRequest {
    /// The request with the digest of its body, if a repeat of it is to be recognised.
    package func digested(_ model: EntityDataModel) -> ODataRequest {
        guard repeatability != nil, bodyDigest == nil else { return self }
        var request = self
        request.bodyDigest = BodyDigest.text(of: body, in: model)
        return request
    }
}
