import Foundation
import ODataFormat
public import ODataModel
import ODataService

/// A step in the loading of a cache. The reported content is already available in the cache.
public enum SnapshotProgress: Sendable {
    /// The model was loaded.
    case model(EntityDataModel)
    /// The document with this key was loaded.
    case document(String)
    /// Entities of a collection were loaded: `count` in this step, `total` so far.
    case entities(collection: String, count: Int, total: Int)
    /// Everything was loaded.
    case finished
}

/// The frames of a snapshot: a kind, a length and the content.
///
/// ```
/// M  the metadata document
/// D  a document: {"key", "contentType", "etag", "bytes"}
/// L  a delta link: {"collection", "link"}
/// C  the start of a collection: {"collection"}
/// E  an entity as OData JSON with minimal control information
/// S  a changed entity: {"state", "hasBefore"}; the next frame E is the shown version,
///    and with `hasBefore` the one after it is the server version
/// ```
enum SnapshotFrame {
    case model([UInt8])
    case document([UInt8])
    case deltaLink([UInt8])
    case collection([UInt8])
    case entity([UInt8])
    case state([UInt8])

    /// The maximum number of bytes of a frame's content.
    static let maximumByteCount = 64 << 20
    static let prefixByteCount = 5

    private var parts: (UInt8, [UInt8]) {
        switch self {
        case .model(let bytes): (UInt8(ascii: "M"), bytes)
        case .document(let bytes): (UInt8(ascii: "D"), bytes)
        case .deltaLink(let bytes): (UInt8(ascii: "L"), bytes)
        case .collection(let bytes): (UInt8(ascii: "C"), bytes)
        case .entity(let bytes): (UInt8(ascii: "E"), bytes)
        case .state(let bytes): (UInt8(ascii: "S"), bytes)
        }
    }

    var bytes: [UInt8] {
        let (kind, content) = parts
        let length = UInt32(content.count)
        return [kind] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - $0 * 8)) } + content
    }

    init?(kind: UInt8, _ content: [UInt8]) {
        switch kind {
        case UInt8(ascii: "M"): self = .model(content)
        case UInt8(ascii: "D"): self = .document(content)
        case UInt8(ascii: "L"): self = .deltaLink(content)
        case UInt8(ascii: "C"): self = .collection(content)
        case UInt8(ascii: "E"): self = .entity(content)
        case UInt8(ascii: "S"): self = .state(content)
        default: return nil
        }
    }
}

struct SnapshotDocument: Codable {
    var key: String
    var contentType: String
    var etag: String?
    var bytes: Data
}

struct SnapshotDeltaLink: Codable {
    var collection: String
    var link: String
}

struct SnapshotCollection: Codable {
    var collection: String
}

struct SnapshotState: Codable {
    var state: CachedEntity.State
    var hasBefore: Bool
}

/// Reads frames from chunks of any size.
struct SnapshotFrameReader {
    private var buffer: [UInt8] = []
    private var start = 0

    mutating func append(_ bytes: [UInt8]) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    var isEmpty: Bool { start == buffer.count }

    /// Returns the next frame, or `nil` if more bytes are needed.
    mutating func next(name: String) throws(PersistenceError) -> SnapshotFrame? {
        guard buffer.count - start >= SnapshotFrame.prefixByteCount else { return nil }
        let length = buffer[(start + 1)..<(start + 5)].reduce(0) { $0 << 8 | Int($1) }
        guard length <= SnapshotFrame.maximumByteCount else { throw .damaged(name: name) }
        let end = start + SnapshotFrame.prefixByteCount + length
        guard buffer.count >= end else { return nil }
        let content = Array(buffer[(start + SnapshotFrame.prefixByteCount)..<end])
        guard let frame = SnapshotFrame(kind: buffer[start], content) else { throw .damaged(name: name) }
        start = end
        return frame
    }
}

struct SnapshotCoding {
    let model: EntityDataModel

    func frame(_ entity: ODataEntity, declared: QualifiedName) -> SnapshotFrame {
        var json = JSONWriter()
        // Decimals and 64-bit integers keep their values. Minimal control information contains ETags and ids,
        // but no computed links.
        EntityPayloadWriter(model: model, metadata: .minimal).write(entity, declared: declared, to: &json)
        return .entity(json.bytes)
    }

    func entity(_ bytes: [UInt8], declared: QualifiedName) -> ODataEntity? {
        guard var entity = try? EntityPayloadReader(model: model).read(bytes, type: declared).entity else { return nil }
        entity.markUnchanged()
        return entity
    }
}
