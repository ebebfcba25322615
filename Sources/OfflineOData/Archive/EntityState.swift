import ODataModel

/// What became of the changes of an entity that was read from an offline store.
extension Entity {
    /// Whether the entity has changes that no download has brought back yet, whether they were sent or not.
    public var isLocal: Bool { flag(.isLocal) }
    /// Whether changes of the entity wait in the queue or in the error archive.
    public var hasPendingChanges: Bool { flag(.hasPendingChanges) }
    /// Whether a change of the entity was refused or is in doubt.
    public var inErrorState: Bool { flag(.inErrorState) }
    /// Whether the last download brought the entity or changed it.
    public var isUpsertedLastDownload: Bool { flag(.upsertedLastDownload) }
    /// Whether the entity was made here and the service has not taken it yet.
    public var isCreated: Bool { flag(.isCreated) }
    /// Whether the entity was changed here and the service has not taken that yet.
    public var isUpdated: Bool { flag(.isUpdated) }

    private func flag(_ state: EntityState) -> Bool { control.annotations[state.term] == .boolean(true) }
}

/// One thing that may be so of an entity.
enum EntityState: String, CaseIterable {
    case isLocal = "IsLocal"
    case hasPendingChanges = "HasPendingChanges"
    case inErrorState = "InErrorState"
    case upsertedLastDownload = "UpsertedLastDownload"
    case isCreated = "IsCreated"
    case isUpdated = "IsUpdated"

    /// The annotation that tells of it.
    var term: String { "\(EngineSet.namespace).\(rawValue)" }
    /// The annotation of the older products, where they had one.
    var olderTerm: String? { self == .isLocal ? "com.sap.vocabularies.Offline.v1.islocal" : nil }
}
