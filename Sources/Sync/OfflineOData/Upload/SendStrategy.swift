/// How a unit is sent. A refusal that is about the form of a request changes the strategy, and the unit is sent again.
struct SendStrategy: Hashable, Sendable {
    /// How often a unit is put on top of another server version before its conflict goes to the archive: a service that
    /// finds a conflict every time must not hold up the queue.
    static let maxRebases = 5

    /// How often the unit was put on top of another server version.
    var rebases = 0
    /// Whether the requests carry the identification by which the service recognises a repeat.
    var isIdentified = true
    /// The entity sets of which whole entities are sent instead of single properties, to learn whether the service takes
    /// these. Sets of which that is known already are not among them.
    var wholeSets: Set<String> = []
    /// Whether the requests say `If-Match: *` if no version is known that guards them.
    var takesAnyVersion = false
    /// The ETag of the current entity, if its values are those that the change was made of and no ETag was known.
    var foundETag: String?
}
