import Crypto
import Foundation
import ODataFormat
import ODataModel
import ODataQuery
import ODataService
import ServerState

/// Rows of a feed as bytes and back: the JSON object text as it leaves the server, with ETag and without absolute links
/// (`mobile-server.md` 4).
struct FeedRowCodec: Sendable {
    let model: EntityDataModel
    /// The set of the rows.
    let set: EntitySet
    let shape: TypeShape
    /// The properties that a comparison ignores.
    let ignored: Set<String>
    private let writer: EntityPayloadWriter
    private let reader: EntityPayloadReader

    init(model: EntityDataModel, set: EntitySet, shape: TypeShape, ignoring ignored: [String] = []) {
        self.model = model
        self.set = set
        self.shape = shape
        self.ignored = Set(ignored)
        // Names of 4.0 are understood by clients of both versions.
        writer = EntityPayloadWriter(model: model, isPrefixed: true)
        reader = EntityPayloadReader(model: model)
    }

    /// An entity without a key cannot be tracked.
    struct NoKey: Error {}

    /// Returns the canonical id of an entity, such as `Orders(7)`.
    func id(of key: EntityKey) -> String { ODataURL(set: set.name, key: key, model: model).urlEncoded() }

    /// Returns the row of an entity.
    ///
    /// - Throws: ``NoKey``.
    func row(of entity: ODataEntity) throws -> FeedWrite {
        guard let key = entity.key else { throw NoKey() }
        let plain = Self.withoutLinks(entity)
        let body = bytes(of: plain)
        let digest: [UInt8]
        if ignored.isEmpty {
            digest = Self.digest(of: body)
        } else {
            var compared = plain
            for name in ignored {
                if let ordinal = compared.shape.ordinal(of: name) { compared.values[ordinal] = .null }
            }
            compared.control.etag = nil
            digest = Self.digest(of: bytes(of: compared))
        }
        return FeedWrite(key: Array(id(of: key).utf8), digest: digest, body: body)
    }

    private func bytes(of entity: ODataEntity) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 512)
        writer.write(entity, declared: shape.name, context: nil, to: &json)
        return json.bytes
    }

    /// Returns the entity of a row.
    func entity(of body: [UInt8]) throws -> ODataEntity {
        var entity = try reader.read(body, type: shape.name).entity
        entity.control.id = nil
        return entity
    }

    /// Returns the key that an id of this codec names.
    func key(of id: String) -> EntityKey? {
        guard let url = try? ODataURL(parsing: id), let bound = try? Binder(model: model).bind(url) else { return nil }
        for step in bound.resource.steps.reversed() {
            if case .key(let key) = step { return key }
        }
        return nil
    }

    private static func digest(of bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: Data(bytes)).prefix(16)) }

    /// Returns an entity without links of the back end: devices compute them from the key.
    private static func withoutLinks(_ entity: ODataEntity) -> ODataEntity {
        var entity = entity
        entity.control.id = nil
        entity.control.editLink = nil
        entity.control.readLink = nil
        entity.control.mediaReadLink = nil
        return entity
    }
}
