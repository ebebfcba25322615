import ServerState

/// The suite that every driver of `ServerState` passes.
public enum ServerStateConformance {
    /// A closure that makes an empty, migrated state, whose clock the suite moves.
    public typealias Maker = @Sendable (ConformanceClock) async throws -> any ServerState
}
