/// What a writer does beyond the single row that it is asked to change.
///
/// The defaults are those of the offline store and of a served database: foreign keys are nobody's business or
/// the database's, and what cannot be queued is refused. A service on a model of its own turns them on.
public struct WriteRules: Sendable {
    /// Whether values of Core.Immutable properties in an update are ignored, as the vocabulary has it, and not
    /// refused.
    public var ignoresImmutable = false
    /// Whether an update may bring related entities, which are created, changed and taken away with it
    /// (OData Protocol 4.01, 11.4.3.1).
    public var updatesRelated = false
    /// Whether what refers to a deleted row is deleted, changed or keeps it from being deleted, as the model's
    /// `OnDelete` says (OData CSDL 4.01, 8.6).
    public var watchesReferences = false
    /// Whether a foreign key must lead to an entity.
    public var requiresPrincipals = false
    /// The sets whose rows are changed only by requests that state the row's ETag (428 otherwise; OData Protocol 4.01,
    /// 11.4.1.1).
    public var guardedSets: Set<String> = []
    /// Whether restrictions of the Capabilities vocabulary do not count: they are for clients.
    public var ignoresCapabilities = false
    /// Whether the hook is told of updates that change no value.
    public var tellsUnchanged = false
    /// Whether an insert may give values of Core.Computed properties: what seeds a store does.
    public var takesComputedValues = false
    /// The properties that only the service changes, by set: an update leaves them alone.
    public var reserved: [String: Set<String>] = [:]
    /// The properties that determine a set's ETags, by set. A client that names an ETag knows their values.
    public var etagProperties: [String: Set<String>] = [:]

    /// Makes rules with the defaults.
    public init() {}
}
