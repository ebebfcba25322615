import GRDB
import ODataModel
import ODataSQL

/// The pending changes of an entity that the service is to copy or activate with all its parts.
struct DraftChanges {
    let mapping: StorageMapping
    let queue: QueueTable

    /// The property that distinguishes drafts from active entities.
    private static let marker = "IsActiveEntity"

    /// Whether a change is pending of the entity, its relations, its contained entities, or of entities that
    /// refer to it by a foreign key and are drafts or active as it is.
    func wait(of rowID: Int64, _ table: TableStorage, in database: Database) throws -> Bool {
        let contained = try Containment(mapping: mapping).requests(within: rowID, table, queue, in: database)
        let hasOwn = try queue.hasRequests(set: table.set, rowID: rowID, in: database)
        let links = try queue.links(set: table.set, rowID: rowID, in: database)
        guard !hasOwn, links.isEmpty, contained.allSatisfy(\.isWithoutPlace) else { return true }
        guard let entity = try BulkLoader(table: table, in: database).read(rowID), let isActive = entity[Self.marker]
        else { return false }
        var seen: Set<RowReference> = []
        return try queue.requests(in: database).contains { request in
            guard request.isOfRow, let part = mapping.tables[request.entitySet], part.shape.property(Self.marker) != nil
            else { return false }
            // A deleted row, or one that refers elsewhere by now, may have been a part before.
            let present = try BulkLoader(table: part, in: database).read(request.rowID)
            let former = request.base.map { ODataEntity(shape: part.shape, key: request.key).merging($0) }
            return try [present, former].compactMap { $0 }.contains { version in
                try leads(
                    version, of: part, to: RowReference(set: table.set, rowID: rowID), isActive: isActive, seen: &seen,
                    in: database)
            }
        }
    }

    /// - Parameter seen: the rows on the way that are known not to lead there.
    private func leads(
        _ entity: ODataEntity, of table: TableStorage, to root: RowReference, isActive: ODataValue,
        seen: inout Set<RowReference>, in database: Database
    ) throws -> Bool {
        // A loop instead of recursion, which would exhaust the stack on a long way.
        var open = [(entity, table)]
        while let (entity, table) = open.popLast() {
            guard entity[Self.marker] == isActive else { continue }
            for navigation in entity.shape.navigationProperties where !navigation.isCollection {
                for row in try mapping.rows(referredToBy: entity, navigation, of: table, in: database) {
                    if row == root { return true }
                    guard seen.insert(row).inserted, let related = mapping.tables[row.set],
                        let next = try BulkLoader(table: related, in: database).read(row.rowID)
                    else { continue }
                    open.append((next, related))
                }
            }
        }
        return false
    }
}
