/// Additional effects of a change on other rows, and exceptions from checks.
///
/// The default values apply to the offline store and to existing databases. Foreign keys are then not checked, or
/// checked by the database, and changes that cannot be queued are refused. A service with its own model enables the
/// rules.
public struct WriteRules: Sendable {
    /// Whether updates ignore values of immutable properties (`Core.Immutable`), as the vocabulary requires,
    /// instead of refusing them.
    public var ignoresImmutable = false
    /// Whether an update may contain related entities, which are created, changed and removed together with it
    /// (OData Protocol 4.01, 11.4.3.1).
    public var updatesRelated = false
    /// Whether deleting a row affects the rows that refer to it, according to `OnDelete` in the model (OData CSDL
    /// 4.01, 8.6). These rows are deleted, changed, or prevent the deletion.
    public var watchesReferences = false
    /// Whether a foreign key must refer to an existing entity.
    public var requiresPrincipals = false
    /// The sets whose rows can be changed only with an ETag in the request; otherwise, the response is 428 (OData
    /// Protocol 4.01, 11.4.1.1).
    public var guardedSets: Set<String> = []
    /// Whether restrictions of the Capabilities vocabulary are ignored, because they apply to clients and not to
    /// the service itself.
    public var ignoresCapabilities = false
    /// Whether the hook is called for updates that change no value.
    public var tellsUnchanged = false
    /// Whether an insert may contain values of computed properties (`Core.Computed`), for example to fill a new
    /// store.
    public var takesComputedValues = false
    /// The properties that only the service changes, by set. Updates ignore them.
    public var reserved: [String: Set<String>] = [:]
    /// The properties that determine a set's ETags, by set. A client that sends an ETag knows their values.
    public var etagProperties: [String: Set<String>] = [:]

    /// Creates rules with the default values.
    public init() {}
}
