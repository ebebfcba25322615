import ODataModel

/// How changes are sent.
///
/// ```swift
/// let report = try await store.upload(options: UploadOptions(conflictPolicy: .merge, stopOnFirstFailure: true))
/// ```
public struct UploadOptions: Sendable {
    /// What happens when somebody else has changed the entity meanwhile, in entity sets without a policy of their own
    /// (``OfflineStore/SyncOptions/conflictPolicies``).
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
    /// How long a change may wait. Older changes that were never sent go to the error archive, since their entities may have
    /// changed long since. `nil` for no limit.
    public var expiresAfter: Duration?
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
///
/// An entity that merely has another ETag was not changed: if each value that is known here is still the one that the change was made
/// of, or the one that the change makes, no policy is asked. Two deletions are no conflict either.
///
/// ```swift
/// let policy = ConflictPolicy.custom { versions in
///     versions.theirs == nil ? .fail : .mine  // deleted entities go to the error archive
/// }
/// let report = try await store.upload(options: UploadOptions(conflictPolicy: policy))
/// ```
public enum ConflictPolicy: Sendable {
    /// It goes to the error archive with all versions.
    case fail
    /// The versions are merged property by property (``ConflictVersions/merge()``), and the change is sent again on top of the server
    /// version with the ETag of that. It goes to the error archive if both sides changed the same property to different values, if
    /// one side deleted the entity, or if others came first five times in a row. An action counts as a change of the whole entity.
    case merge
    /// It is sent again on top of theirs.
    case clientWins
    /// It is given up.
    case serverWins
    /// A closure decides, knowing all versions.
    case custom(@Sendable (ConflictVersions) async -> ConflictDecision)
}

/// The versions of an entity in a conflict.
///
/// ```swift
/// let policy = ConflictPolicy.custom { versions in
///     show(versions.entitySet, versions.key, versions.base as Any, versions.mine, versions.theirs as Any)
///     return .fail
/// }
/// ```
public struct ConflictVersions: Sendable {
    /// The entity set.
    public let entitySet: String
    /// The key.
    public let key: EntityKey
    /// What was to be done.
    public let kind: QueuedRequest.Kind
    /// The changed properties as they were when the change was made.
    public let base: ODataEntity?
    /// The changed properties as they are here.
    public let mine: ODataEntity
    /// The entity as the service has it; `nil` when it was deleted. Of a relation, the entity that it starts from, by its key and
    /// with what the relation leads to (``/ODataModel/Entity/related``).
    public let theirs: ODataEntity?
    /// The whole entity as it was when the change was made; `nil` if that is not known any more.
    let known: ODataEntity?

    /// Makes the versions of a conflict, as a test of a policy needs them.
    public init(
        entitySet: String, key: EntityKey, kind: QueuedRequest.Kind, base: ODataEntity?, mine: ODataEntity,
        theirs: ODataEntity?
    ) {
        self.init(entitySet: entitySet, key: key, kind: kind, base: base, mine: mine, theirs: theirs, known: nil)
    }

    init(
        entitySet: String, key: EntityKey, kind: QueuedRequest.Kind, base: ODataEntity?, mine: ODataEntity,
        theirs: ODataEntity?,
        known: ODataEntity?
    ) {
        self.entitySet = entitySet
        self.key = key
        self.kind = kind
        self.base = base
        self.mine = mine
        self.theirs = theirs
        self.known = known
    }

    /// Merges the versions property by property: a property conflicts if all three versions of it differ.
    ///
    /// Complex values are merged by path. A collection is one value, and so is a relation with a foreign key of several properties. A
    /// property that is not loaded is not compared. A deletion conflicts with every change. Streams, relations without a foreign key
    /// and calls have no properties: they conflict.
    public func merge() -> ConflictMerge {
        switch kind {
        case .update, .delete: versionMerge.result
        case .create, .stream, .link, .unlink, .call: .conflict([])
        }
    }

    /// The merge of the entity's properties.
    var versionMerge: VersionMerge {
        let known = known.map { known in base.map { known.merging($0) } ?? known } ?? base
        return VersionMerge(base: known, mine: kind == .delete ? nil : mine, theirs: theirs)
    }
}

/// How a conflict ends.
///
/// ```swift
/// let policy = ConflictPolicy.custom { versions in
///     guard let theirs = versions.theirs else { return .fail }
///     var merged = versions.mine
///     merged["City"] = theirs["City"]
///     return .merged(merged)
/// }
/// ```
public enum ConflictDecision: Sendable {
    /// The request goes to the error archive.
    case fail
    /// Our change is sent again on top of theirs.
    case mine
    /// Our change is given up.
    case theirs
    /// These properties are sent instead, on top of theirs; without any, the change counts as accepted.
    case merged(ODataEntity)
}
