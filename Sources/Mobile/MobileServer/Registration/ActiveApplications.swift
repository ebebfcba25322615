import ServerState

/// The source of applications with their active configurations.
protocol ActiveApplications: Sendable {
    /// Returns an application; `nil` if there is none with this name, or none with an active configuration.
    func application(named name: String) async throws(ServerStateError) -> ActiveApplication?

    /// Returns all applications with an active configuration in the order of their names.
    func all() async throws(ServerStateError) -> [ActiveApplication]
}

extension ApplicationDirectory: ActiveApplications {}
