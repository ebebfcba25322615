import ODataModel
import ODataSQL

/// The server version of a row with local changes after a query has brought it again. As for other rows
/// (``BulkLoader``), properties outside of the query keep their values and ETag if another query brings them, and
/// are unloaded if none does.
struct RenewedVersion {
    private(set) var entity: ODataEntity
    private(set) var etag: String?
    /// The properties that are not loaded any more.
    private(set) var unloaded: Set<String> = []

    /// - Parameters:
    ///   - newest: the received entity.
    ///   - known: the server version before.
    ///   - holders: the properties that each query brings of the row.
    init(
        _ newest: ODataEntity, over known: BeforeImages.Image?, holders: () throws -> BulkLoader.Holders
    ) rethrows {
        etag = newest.control.etag
        guard let known, let former = known.entity else {
            entity = newest
            return
        }
        entity = former.retyped(as: newest).merging(newest)
        // Unreadable values are not known any more.
        let lost = Set(newest.control.unreadable.keys.map { String($0.prefix { $0 != "/" }) })
            .filter { newest[$0] == nil && entity[$0] != nil }
        entity.unload(lost)
        unloaded = lost
        // An entity that is loaded as a whole shows which dynamic properties it has.
        if !newest.values.contains(where: { $0 == nil }) { entity.dynamicProperties = newest.dynamicProperties }
        guard known.etag != etag else { return }
        let leftOut = former.loadedProperties.subtracting(former.shape.alwaysLoaded)
            .filter { newest[$0] == nil && entity[$0] != nil }
        guard !leftOut.isEmpty else { return }
        let held = try holders()
        let foreign = leftOut.filter { !held.own.touches($0) }
        let dropped = foreign.filter { !held.others.touches($0) }
        if dropped.count < foreign.count, etag != nil { etag = known.etag }
        entity.unload(dropped)
        unloaded.formUnion(dropped)
    }
}

extension TypeShape {
    /// The properties that each query brings: the key and the foreign keys.
    var alwaysLoaded: Set<String> {
        let paths = key.map(\.path) + navigationProperties.flatMap { $0.constraints.map(\.property) }
        return Set(paths.map { String($0.prefix { $0 != "/" }) })
    }
}

extension ODataEntity {
    /// Unloads properties.
    mutating func unload(_ names: Set<String>) {
        guard !names.isEmpty else { return }
        for name in names {
            if let ordinal = shape.ordinal(of: name) { values[ordinal] = nil } else { dynamicProperties[name] = nil }
        }
    }
}
