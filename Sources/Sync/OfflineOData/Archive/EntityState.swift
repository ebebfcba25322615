import ODataModel

/// What became of the changes of an entity that was read from an offline store.
extension ODataEntity {
    /// Whether the entity, or one of its relations, has changes that no download has brought back yet, whether they were
    /// sent or not.
    public var isLocal: Bool { flag(.isLocal) }
    /// Whether changes of the entity wait in the queue or in the error archive: of its properties, its streams, or its
    /// relations to others, from whichever end they were made or taken away.
    public var hasPendingChanges: Bool { flag(.hasPendingChanges) }
    /// Whether such a change of the entity was refused or is in doubt.
    public var inErrorState: Bool { flag(.inErrorState) }
    /// Whether the last download brought the entity or changed it.
    public var isUpsertedLastDownload: Bool { flag(.upsertedLastDownload) }
    /// Whether the entity was made here and the service has not taken it yet.
    public var isCreated: Bool { flag(.isCreated) }
    /// Whether the entity, or one of its relations, was changed here and the service has not taken that yet.
    public var isUpdated: Bool { flag(.isUpdated) }

    /// Whether the entity was deleted here and the service has not taken that yet: so of what
    /// ``OfflineStore/Changes/original(of:)`` gives.
    public var isDeleted: Bool { flag(.isDeleted) }
    /// Whether the entity was made here and never sent.
    public var isNew: Bool { isCreated && !inErrorState }

    /// Which changes wait.
    public var changeFlags: ChangeFlags {
        var flags: ChangeFlags = []
        if isCreated { flags.insert(.created) }
        if isUpdated { flags.insert(.updated) }
        if isDeleted { flags.insert(.deleted) }
        return flags
    }

    /// Where the entity stands between here and the service.
    public var offlineState: OfflineState {
        if inErrorState { return .failed }
        if hasPendingChanges || isDeleted { return .pending }
        return isLocal ? .uploaded : .unchanged
    }

    private func flag(_ state: EntityState) -> Bool { control.annotations[state.term] == .boolean(true) }
}

/// Kinds of changes of an entity that the service has not taken yet.
///
/// ```swift
/// let orders = try await DataService(store).entities("Orders")
/// show(orders.filter { $0.changeFlags.contains(.created) })
/// ```
public struct ChangeFlags: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Makes a set of flags from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// It was made here.
    public static let created = ChangeFlags(rawValue: 1)
    /// It was changed here.
    public static let updated = ChangeFlags(rawValue: 2)
    /// It was deleted here.
    public static let deleted = ChangeFlags(rawValue: 4)
}

/// Where an entity stands between an offline store and its service.
///
/// ```swift
/// for order in try await DataService(store).entities("Orders") where order.offlineState == .pending { show(order) }
/// ```
public enum OfflineState: Hashable, Sendable {
    /// As the last download brought it.
    case unchanged
    /// Changed here; the change waits.
    case pending
    /// Changed here; the service refused the change, or it is in doubt.
    case failed
    /// Changed here and taken by the service; the next download brings what it made of it.
    case uploaded
}

/// One thing that may be so of an entity.
enum EntityState: String, CaseIterable {
    case isLocal = "IsLocal"
    case hasPendingChanges = "HasPendingChanges"
    case inErrorState = "InErrorState"
    case upsertedLastDownload = "UpsertedLastDownload"
    case isCreated = "IsCreated"
    case isUpdated = "IsUpdated"
    case isDeleted = "IsDeleted"

    /// The annotation that tells of it.
    var term: String { "\(EngineSet.namespace).\(rawValue)" }
    /// The annotation of the older products, where they had one.
    var olderTerm: String? { self == .isLocal ? Vocabulary.offline + "islocal" : nil }
}
