import ODataModel

/// How changes are sent.
public struct UploadOptions: Sendable {
    /// What happens when somebody else has changed the entity meanwhile.
    public var conflictPolicy: ConflictPolicy
    /// Whether the first refused request ends the upload. One that has waited too long (``expiresAfter``) is refused before
    /// anything is sent.
    public var stopOnFirstFailure: Bool
    /// For services without ETags: whether the entity is read and compared before a change is sent; and whether what a relation to
    /// one entity alone leads to is, which has no ETag anywhere.
    public var comparesWithoutETags: Bool
    /// Only the changes of these categories are sent, with those that they depend on; `nil` for every change.
    public var categories: Set<String>?
    /// Whether changes of one entity that were never sent are folded before: updates into the create or update
    /// before them, and what is created and deleted is not sent at all. Requests that are unmodifiable, or of
    /// different categories, stay as they are, and so do those between which an action waits, or a relation of the
    /// entity that has no foreign key.
    public var foldsRequests: Bool
    /// By entity set, a property with a value that the app gives and no other entity has: where the answer to a
    /// creation was lost, the entity is looked for by it, so that nothing is made twice and nothing stays in doubt.
    public var correlationProperties: [String: String] = [:]
    /// How many seconds a change may wait: older ones that were never sent go to the error archive, since they were
    /// made of what has long been something else. `nil` for no limit.
    public var expiresAfter: Double?
    /// Whether the queue of a store that was copied, restored or rolled back is sent although the service is not known to recognise
    /// repeated requests, so that what another copy has sent may act twice; else such an upload ends with
    /// ``OfflineError/queueHeld(_:)``. From then on, the store is one of its own.
    public var fromCopy = false

    /// Makes options.
    public init(
        conflictPolicy: ConflictPolicy = .fail, stopOnFirstFailure: Bool = false, comparesWithoutETags: Bool = true,
        categories: Set<String>? = nil, foldsRequests: Bool = false
    ) {
        self.conflictPolicy = conflictPolicy
        self.stopOnFirstFailure = stopOnFirstFailure
        self.comparesWithoutETags = comparesWithoutETags
        self.categories = categories
        self.foldsRequests = foldsRequests
    }
}

/// What happens to a change of an entity that somebody else has changed meanwhile.
public enum ConflictPolicy: Sendable {
    /// It goes to the error archive with both versions.
    case fail
    /// It is sent again on top of theirs.
    case clientWins
    /// It is given up.
    case serverWins
    /// A closure decides, knowing all versions.
    case custom(@Sendable (ConflictVersions) async -> ConflictDecision)
}

/// The versions of an entity in a conflict.
public struct ConflictVersions: Sendable {
    /// The entity set.
    public let entitySet: String
    /// The key.
    public let key: EntityKey
    /// What was to be done.
    public let kind: QueuedRequest.Kind
    /// The changed properties as they were when the change was made.
    public let base: Entity?
    /// The changed properties as they are here.
    public let mine: Entity
    /// The entity as the service has it; `nil` when it was deleted. Of a relation, the entity that it starts from, by its key and
    /// with what the relation leads to (``/ODataModel/Entity/related``).
    public let theirs: Entity?
}

/// How a conflict ends.
public enum ConflictDecision: Sendable {
    /// The request goes to the error archive.
    case fail
    /// Our change is sent again on top of theirs.
    case mine
    /// Our change is given up.
    case theirs
    /// These properties are sent instead.
    case merged(Entity)
}
