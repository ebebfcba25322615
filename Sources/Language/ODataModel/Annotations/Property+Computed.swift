extension Property {
    /// Whether the service computes the value on insert and update (`Core.Computed`).
    package var isComputed: Bool { tag(Vocabulary.computed) ?? false }
    /// Whether the service computes a value if the client omits the property (`Core.ComputedDefaultValue`).
    package var hasComputedDefault: Bool { tag(Vocabulary.computedDefaultValue) ?? false }
    /// Whether the value cannot change after the insert (`Core.Immutable`).
    package var isImmutable: Bool { tag(Vocabulary.immutable) ?? false }
}
