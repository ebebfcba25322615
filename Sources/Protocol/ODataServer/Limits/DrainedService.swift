import ServiceLifecycle

/// A server that ends within its drain time once it is told to stop, whatever its requests do.
struct DrainedService: Service {
    let base: any Service
    let channels: OpenChannels
    let drainTime: Duration

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await base.run()
        } onGracefulShutdown: {
            Task { await drain() }
        }
    }

    /// Gives requests most of the time, then stops them, then closes their connections.
    private func drain() async {
        try? await Task.sleep(for: drainTime * 0.7)
        channels.cancelRequests()
        try? await Task.sleep(for: drainTime * 0.15)
        channels.closeAll()
    }
}
