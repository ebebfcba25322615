import ODataModel
import ODataQuery
import ODataSQL

/// A part of a service that a store does not hold, or not for all entities.
///
/// ```swift
/// for part in try await store.queries.missingParts() { print(part.name, part.query ?? "no query brings it") }
/// ```
public struct MissingPart: Hashable, Sendable {
    /// The entity set, singleton, relation or stream, such as `Companies`, `Albums/Pages` or `Photos/$value`.
    public var name: String
    /// The defining query that brings it, relative to the service root; `nil` if none can.
    public var query: String?
    /// Whether the defining query must load streams (``DefiningQuery/retrievesStreams``).
    public var needsStreams = false
}

extension HeldData {
    /// All that a store with these defining queries does not hold of its service.
    var missingParts: [MissingPart] {
        var parts: [MissingPart] = []
        let container = mapping.model.container
        let names =
            container.entitySets.filter { !$0.isClientOnly }.map(\.name) + container.singletons.map(\.name)
        let missingSets = Set(names.filter { missing($0) != nil })
        func add(_ table: TableStorage) {
            let own = table.shape.navigationProperties.map(\.name)
            for relation in own + table.navigation.keys.filter({ !own.contains($0) }).sorted() {
                guard let storage = table.navigation[relation] else { continue }
                if let missing = missing(relation, of: table.set) {
                    // A foreign key that leads to a missing set says nothing new.
                    guard storage.foreignKey == nil || !missingSets.contains(storage.target) else { continue }
                    parts.append(MissingPart(name: "\(table.set)/\(relation)", query: missing.error.definingQuery))
                } else if storage.target == "\(table.set)/\(relation)", let inner = mapping.tables[storage.target] {
                    add(inner)
                }
            }
            guard !bringsStreams(of: table.set) else { return }
            let properties = table.shape.properties.filter { $0.type.primitive == .stream }.map(\.name)
            for name in (table.shape.hasStream ? ["$value"] : []) + properties {
                let query = table.set.split(separator: "/").first.map(String.init)
                parts.append(MissingPart(name: "\(table.set)/\(name)", query: query, needsStreams: true))
            }
        }
        for name in names {
            if let missing = missing(name) {
                parts.append(MissingPart(name: name, query: missing.error.definingQuery))
            } else if let table = mapping.tables[name] {
                add(table)
            }
        }
        return parts
    }
}

extension OfflineStore.Queries {
    /// Returns the parts of the service that the store does not hold, each with the defining query that would
    /// bring it. Reads of them are refused (`ODataError.isNotLoaded`).
    ///
    /// ```swift
    /// for part in try await store.queries.missingParts() { print(part.name, part.query ?? "") }
    /// ```
    /// - Throws: `StoreError`.
    public func missingParts() async throws -> [MissingPart] {
        try await store.database.read { [heldData = store.heldData] in try heldData.current(in: $0) }.missingParts
    }
}
