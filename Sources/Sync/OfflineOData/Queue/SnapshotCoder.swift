import Foundation
import ODataModel

/// Encodes entities, whole or in part, for the engine's tables: `[etag, {properties}]` as JSON, without the
/// properties that are not loaded. A third element has the unreadable values: `{"Property": ["text", "reason"]}`.
struct SnapshotCoder: Sendable {
    let model: EntityDataModel

    func encode(_ entity: ODataEntity) -> Data {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginArray()
        if let etag = entity.control.etag { writer.string(etag) } else { writer.null() }
        writer.value(.complex(entity), type: .entity(root(of: entity.shape)), model: model)
        let unreadable = entity.control.unreadable
        if !unreadable.isEmpty {
            writer.beginObject()
            for (path, value) in unreadable.sorted(by: { $0.key < $1.key }) {
                writer.key(path)
                writer.beginArray()
                writer.string(value.text)
                writer.string(value.reason)
                writer.endArray()
            }
            writer.endObject()
        }
        writer.endArray()
        return Data(writer.bytes)
    }

    /// Bytes that occur in every snapshot of an entity with a value. Other snapshots may contain them, too.
    func trace(of value: ODataValue, in property: String) -> Data {
        var writer = JSONWriter()
        writer.key(property)
        switch value {
        case .integer, .string, .guid: writer.value(value, type: nil, model: model)
        // The same value may be written in several ways.
        default: break
        }
        return Data(writer.bytes)
    }

    /// The root type of a hierarchy. Relative to it, snapshots name every derived type.
    private func root(of shape: TypeShape) -> QualifiedName {
        var name = shape.name
        while let base = model.shape(name)?.baseType { name = base }
        return name
    }

    /// - Throws: ``OfflineError/damagedQueue(reason:)``.
    func decode(_ data: Data, shape: TypeShape) throws(OfflineError) -> ODataEntity {
        try decode(bytes: Array(data), shape: shape)
    }

    private func unreadable(_ scanner: inout JSONScanner) throws(JSONError) -> [String: UnreadableValue] {
        var values: [String: UnreadableValue] = [:]
        try scanner.beginObject()
        while let path = try scanner.nextKey() {
            let name = path.string
            var texts: [String] = []
            try scanner.beginArray()
            while try scanner.nextElement() { texts.append(try scanner.readString()) }
            values[name] = UnreadableValue(text: texts.first ?? "", reason: texts.dropFirst().first ?? "")
        }
        return values
    }

    /// - Throws: ``OfflineError/damagedQueue(reason:)``.
    func decode(bytes: [UInt8], shape: TypeShape) throws(OfflineError) -> ODataEntity {
        do throws(JSONError) {
            return try JSONScanner.scan(bytes) { (scanner) throws(JSONError) -> ODataEntity in
                try scanner.beginArray()
                guard try scanner.nextElement() else {
                    throw scanner.error(.unexpectedEnd, expected: "an ETag")
                }
                let etag = try scanner.takeNull() ? nil : try scanner.readString()
                guard try scanner.nextElement() else {
                    throw scanner.error(.unexpectedEnd, expected: "an entity")
                }
                let value = try ODataValue(json: &scanner, type: .entity(shape.name), model: model)
                guard case .complex(var entity) = value else {
                    throw scanner.error(.unexpectedEnd, expected: "an entity")
                }
                entity.control.etag = etag
                if try scanner.nextElement() { entity.control.unreadable = try unreadable(&scanner) }
                entity.markUnchanged()
                return entity
            }
        } catch {
            throw .damagedQueue(reason: "a stored \(shape.name) cannot be read: \(error)")
        }
    }
}
