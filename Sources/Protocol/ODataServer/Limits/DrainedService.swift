import ServiceLifecycle

/// A service that ends within its drain time after it was told to stop, whatever its requests do.
struct DrainedService: Service {
    let base: any Service
    let channels: OpenChannels
    let drainTime: Duration

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await base.run()
        } onGracefulShutdown: {
            channels.beginStop()
            Task { await drain() }
        }
    }

    /// Lets requests run for most of the drain time, then cancels them, then closes their connections.
    private func drain() async {
        try? await Task.sleep(for: drainTime * 0.7)
        channels.cancelRequests()
        try? await Task.sleep(for: drainTime * 0.15)
        channels.closeAll()
    }
}
