import ODataModel

/// The state of the changes of an entity that was read from an offline store.
extension ODataEntity {
    /// Whether the entity, or one of its relations, has changes, sent or not, that no download has brought back
    /// yet.
    public var isLocal: Bool { flag(.isLocal) }
    /// Whether changes of the entity are in the queue or in the error archive: of its properties, its streams, or
    /// its relations, from either end.
    public var hasPendingChanges: Bool { flag(.hasPendingChanges) }
    /// Whether such a change was refused or has an unknown outcome.
    public var inErrorState: Bool { flag(.inErrorState) }
    /// Whether the last download brought or changed the entity.
    public var isUpsertedLastDownload: Bool { flag(.upsertedLastDownload) }
    /// Whether the entity was created locally and the service has not accepted it yet.
    public var isCreated: Bool { flag(.isCreated) }
    /// Whether the entity, or one of its relations, was changed locally and the service has not accepted the
    /// change yet.
    public var isUpdated: Bool { flag(.isUpdated) }

    /// Whether the entity was deleted locally and the service has not accepted the deletion yet.
    /// ``OfflineStore/Changes/original(of:)`` returns such entities.
    public var isDeleted: Bool { flag(.isDeleted) }
    /// Whether the entity was created locally and never sent.
    public var isNew: Bool { isCreated && !inErrorState }

    /// The kinds of pending changes.
    public var changeFlags: ChangeFlags {
        var flags: ChangeFlags = []
        if isCreated { flags.insert(.created) }
        if isUpdated { flags.insert(.updated) }
        if isDeleted { flags.insert(.deleted) }
        return flags
    }

    /// The state of the entity between the store and the service.
    public var offlineState: OfflineState {
        if inErrorState { return .failed }
        if hasPendingChanges || isDeleted { return .pending }
        return isLocal ? .uploaded : .unchanged
    }

    private func flag(_ state: EntityState) -> Bool { control.annotations[state.term] == .boolean(true) }
}

/// The kinds of changes of an entity that the service has not accepted yet.
///
/// ```swift
/// let orders = try await DataService(store).entities("Orders")
/// show(orders.filter { $0.changeFlags.contains(.created) })
/// ```
public struct ChangeFlags: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Creates a set of flags from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The entity was created locally.
    public static let created = ChangeFlags(rawValue: 1)
    /// The entity was changed locally.
    public static let updated = ChangeFlags(rawValue: 2)
    /// The entity was deleted locally.
    public static let deleted = ChangeFlags(rawValue: 4)
}

/// The state of an entity between an offline store and its service.
///
/// ```swift
/// for order in try await DataService(store).entities("Orders") where order.offlineState == .pending { show(order) }
/// ```
public enum OfflineState: Hashable, Sendable {
    /// The entity is as the last download brought it.
    case unchanged
    /// A local change is pending.
    case pending
    /// The service refused a local change, or its outcome is unknown.
    case failed
    /// The service accepted a local change. The next download brings the server version.
    case uploaded
}

/// One fact about the state of an entity.
enum EntityState: String, CaseIterable {
    case isLocal = "IsLocal"
    case hasPendingChanges = "HasPendingChanges"
    case inErrorState = "InErrorState"
    case upsertedLastDownload = "UpsertedLastDownload"
    case isCreated = "IsCreated"
    case isUpdated = "IsUpdated"
    case isDeleted = "IsDeleted"

    /// The annotation for the fact.
    var term: String { "\(EngineSet.namespace).\(rawValue)" }
    /// The annotation of the older products, if they have one.
    var olderTerm: String? { self == .isLocal ? Vocabulary.offline + "islocal" : nil }
}
