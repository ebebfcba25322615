import ODataModel
import OfflineOData

/// A change of an object that a download brought.
public struct ObjectChange: Hashable, Sendable, Identifiable {
    /// The number. Numbers ascend, and no number is given twice.
    public let id: Int64
    /// The number of the type in the package.
    public let entityType: Int32
    /// The type.
    public let typeName: QualifiedName
    /// The change: an update for a new or changed row, or a deletion.
    public let operation: ChangeLogEntry.Operation
    /// The object at the time of the download, such as `Customers(32)`.
    public let object: String
    /// The identity of the object on this device.
    public let surrogateKey: SurrogateKey
    /// The number of the type of the root of the composite tree; the object's own if it is a part of no other.
    public let rootEntityType: Int32
    /// The identity of the root on this device.
    public let rootSurrogateKey: SurrogateKey
}

/// The log of the rows that downloads changed, for views that show only differences.
///
/// A changed part adds an entry for the root of its tree too, once in each transaction of a download. The log is off
/// unless it was switched on.
///
/// ```swift
/// try await crm.changeLog.setEnabled(true)
/// try await crm.synchronize()
/// let entries = try await crm.changeLog.entries(of: Customer.objectType)
/// if let last = entries.last { try await crm.changeLog.purge(through: last.id) }
/// ```
public struct PackageChangeLog<Package: ObjectPackage>: Sendable {
    let store: OfflineStore
    let package: PackageModel

    /// Switches the log on or off, from the next download on. Entries stay until they are purged.
    public func setEnabled(_ isEnabled: Bool) async throws { try await store.changeLog.setEnabled(isEnabled) }

    /// Returns whether downloads write the log.
    public func isEnabled() async throws -> Bool { try await store.changeLog.isEnabled() }

    /// Returns entries in ascending order.
    ///
    /// - Parameters:
    ///   - type: the type of the objects; `nil` for all.
    ///   - id: only entries with greater numbers; 0 for all.
    ///   - limit: the largest number of entries, 1 or more.
    public func entries(
        of type: ObjectType<Package>? = nil, after id: Int64 = 0, limit: Int = .max
    ) async throws -> [ObjectChange] {
        let sets = type.map { type in
            // A type may have several sets, and contained collections.
            Set(
                package.sets.values.filter { package.numbers[$0.type] == type.number }.map(\.name) + [type.entitySet])
        }
        return try await store.changeLog.entries(ofSets: sets, after: id, limit: limit).compactMap { entry in
            guard let name = self.type(ofStored: entry.row.set), let root = self.type(ofStored: entry.root.set),
                let number = package.numbers[name], let rootNumber = package.numbers[root]
            else { return nil }
            return ObjectChange(
                id: entry.id, entityType: number, typeName: name, operation: entry.operation, object: entry.entity,
                surrogateKey: SurrogateKey(rawValue: entry.row.rowID), rootEntityType: rootNumber,
                rootSurrogateKey: SurrogateKey(rawValue: entry.root.rowID))
        }
    }

    /// The type of the rows of a set, or of a containment path such as `Albums/Pages`.
    private func type(ofStored set: String) -> QualifiedName? {
        let steps = set.split(separator: "/").map(String.init)
        guard let first = steps.first, var type = package.sets[first]?.type else { return nil }
        for step in steps.dropFirst() {
            guard let next = store.model.shape(type)?.navigationProperty(step)?.target else { return nil }
            type = next
        }
        return type
    }

    /// Deletes the entries up to a number. Entries that a download adds meanwhile have greater numbers, and stay.
    ///
    /// - Returns: the number of deleted entries.
    @discardableResult
    public func purge(through id: Int64) async throws -> Int { try await store.changeLog.purge(through: id) }
}

extension PackageDatabase {
    /// The log of the rows that downloads changed.
    public var changeLog: PackageChangeLog<Package> { PackageChangeLog(store: store, package: package) }
}
