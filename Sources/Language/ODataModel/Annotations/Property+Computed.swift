extension Property {
    /// Whether the service gives the value on insert and update (`Core.Computed`).
    package var isComputed: Bool { tag(Vocabulary.computed) ?? false }
    /// Whether the service gives a value if the client leaves it out (`Core.ComputedDefaultValue`).
    package var hasComputedDefault: Bool { tag(Vocabulary.computedDefaultValue) ?? false }
    /// Whether the value cannot change after the insert (`Core.Immutable`).
    package var isImmutable: Bool { tag(Vocabulary.immutable) ?? false }
}
