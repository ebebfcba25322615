import ODataModel

/// How changes are sent.
///
/// ```swift
/// let report = try await store.upload(options: UploadOptions(conflictPolicy: .merge, stopOnFirstFailure: true))
/// ```
public struct UploadOptions: Sendable {
    /// The policy for conflicts in entity sets without a policy of their own
    /// (``OfflineStore/SyncOptions/conflictPolicies``).
    public var conflictPolicy: ConflictPolicy
    /// Whether the first refused request ends the upload. A change older than ``expiresAfter`` is refused before
    /// anything is sent.
    public var stopOnFirstFailure: Bool
    /// Whether the entity is read and compared before a change is sent to a service without ETags. The same
    /// applies to the target of a relation to one entity, which never has an ETag.
    public var comparesWithoutETags: Bool
    /// The categories of changes that are sent, together with the changes that they depend on; `nil` for all
    /// changes.
    public var categories: Set<String>?
    /// Whether unsent changes of one entity are folded: updates into the create or update before them, while an
    /// entity that is created and deleted is not sent at all. Unmodifiable requests and requests of different
    /// categories are not folded. An action, or a relation without a foreign key, between two requests also
    /// prevents folding.
    public var foldsRequests: Bool
    /// A property for each entity set whose values the app assigns and no two entities share. If the response to
    /// a creation is lost, the entity is looked up by this property, which avoids duplicates and unknown
    /// outcomes.
    public var correlationProperties: [String: String] = [:]
    /// The longest time for which a change may be pending. Older unsent changes go to the error archive, because
    /// their entities may have changed long since. `nil` for no limit.
    public var expiresAfter: Duration?
    /// Whether the queue of a copied, restored or rolled back store is sent although the service is not known to
    /// recognise repeated requests. Changes that another copy has sent may then act twice. Without this option,
    /// the upload ends with ``OfflineError/queueHeld(_:)``. Afterwards the store counts as independent.
    public var fromCopy = false
    /// Whether each refused change, and each one with an unknown outcome, adds a log record
    /// (``OfflineStore/logRecords``).
    public var writesLogRecords = false
    /// Receives the results of an upload that is about to throw; `nil`, the default, for nobody. It is called on the
    /// task of the upload, and must return soon.
    public var onEarlyEnd: (@Sendable (UploadReport) -> Void)?

    /// Creates options.
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

/// The treatment of a change whose entity was changed by someone else.
///
/// A different ETag alone is no conflict: if each known value still equals its base version or its local version,
/// no policy applies. Two deletions are no conflict either.
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
    /// The versions are merged property by property (``ConflictVersions/merge()``), and the change is sent again
    /// on top of the server version with the ETag of that. It goes to the error archive if both sides changed the
    /// same property to different values, if one side deleted the entity, or if others came first five times in a
    /// row. An action counts as a change of the whole entity.
    case merge
    /// The change is sent again on top of the server version.
    case clientWins
    /// The change is withdrawn.
    case serverWins
    /// A closure decides with all versions at hand.
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
    /// The kind of the local change.
    public let kind: QueuedRequest.Kind
    /// The base version of the changed properties.
    public let base: ODataEntity?
    /// The local version of the changed properties.
    public let mine: ODataEntity
    /// The server version of the entity; `nil` if it was deleted. For a relation: the key of the source entity,
    /// with the target of the relation (``/ODataModel/Entity/related``).
    public let theirs: ODataEntity?
    /// The base version of the whole entity; `nil` if it is not known any more.
    let known: ODataEntity?

    /// Creates the versions of a conflict, for tests of a policy.
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
    /// Complex values are merged by path. A collection is one value, and so is a relation with a foreign key of
    /// several properties. A property that is not loaded is not compared. A deletion conflicts with every change.
    /// Streams, relations without a foreign key and calls have no properties: they conflict.
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

/// The resolution of a conflict.
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
    /// The local change is sent again on top of the server version.
    case mine
    /// The local change is withdrawn.
    case theirs
    /// These properties are sent on top of the server version instead. Without any, the change counts as
    /// accepted.
    case merged(ODataEntity)
}
