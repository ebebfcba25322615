/// The form in which a unit is sent. If the service refuses the form, the strategy changes and the unit is sent
/// again.
struct SendStrategy: Hashable, Sendable {
    /// The number of times that a unit is put on top of another server version before its conflict goes to the
    /// archive. A service that reports a conflict every time must not block the queue.
    static let maxRebases = 5

    /// The number of times that the unit was put on top of another server version.
    var rebases = 0
    /// Whether the requests carry the identification by which the service recognises a repeat.
    var isIdentified = true
    /// The entity sets for which whole entities are sent instead of single properties, to learn whether the
    /// service accepts these. Sets that are known to need whole entities are not included.
    var wholeSets: Set<String> = []
    /// Whether the requests say `If-Match: *` if no version is known that guards them.
    var takesAnyVersion = false
    /// The ETag of the current entity, if it still has the base values of the change and no ETag was known.
    var foundETag: String?
}
