import Foundation
import GRDB
import ODataModel
import ODataSQL

/// Encodes an entity with its expanded entities for the stage.
struct TreeCoder {
    let snapshots: SnapshotCoder

    /// An entity, its expanded entities by navigation property, and the ETags of its streams.
    private struct Node: Codable {
        var entity: Data
        var related: [String: [Node]]?
        var streams: [String: String]?
    }

    func encode(_ entity: ODataEntity) throws -> Data {
        guard !entity.related.isEmpty || !entity.streamETags.isEmpty else { return snapshots.encode(entity) }
        return try JSONEncoder().encode(node(entity))
    }

    private func node(_ entity: ODataEntity) -> Node {
        var node = Node(entity: snapshots.encode(entity))
        if !entity.streamETags.isEmpty { node.streams = entity.streamETags }
        for (name, related) in entity.related {
            switch related {
            case .one(let other): node.related = (node.related ?? [:]).merging([name: [self.node(other)]]) { $1 }
            case .many(let others, _, _):
                node.related = (node.related ?? [:]).merging([name: others.map(self.node)]) { $1 }
            case .none: node.related = (node.related ?? [:]).merging([name: []]) { $1 }
            case .references: continue
            }
        }
        return node
    }

    /// - Throws: ``OfflineError/damagedQueue(reason:)``.
    func decode(_ data: Data, table: TableStorage, mapping: StorageMapping) throws -> ODataEntity {
        // A snapshot is an array, a node an object.
        guard data.first == UInt8(ascii: "{") else { return try snapshots.decode(data, shape: table.shape) }
        do {
            return try entity(JSONDecoder().decode(Node.self, from: data), table, mapping: mapping)
        } catch let error as DecodingError {
            throw OfflineError.damagedQueue(reason: "a staged page cannot be read: \(error)")
        }
    }

    private func entity(_ node: Node, _ table: TableStorage, mapping: StorageMapping) throws -> ODataEntity {
        var entity = try snapshots.decode(node.entity, shape: table.shape)
        if let streams = node.streams { entity.streamETags = streams }
        for (name, others) in node.related ?? [:] {
            guard let target = table.navigation[name]?.target, let other = mapping.tables[target] else { continue }
            entity.related[name] = .many(try others.map { try self.entity($0, other, mapping: mapping) })
        }
        return entity
    }
}
