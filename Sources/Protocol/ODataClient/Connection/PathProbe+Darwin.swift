#if canImport(Network)
    import Network

    /// Observes the path to the network on Apple platforms.
    public struct PathProbe: ConnectionProbe {
        /// Creates a probe.
        public init() {}

        /// Returns a stream of findings, one for each change.
        public func findings() -> AsyncStream<ConnectionFinding> {
            AsyncStream { continuation in
                let monitor = NWPathMonitor()
                monitor.pathUpdateHandler = { path in
                    let state: ConnectionState =
                        switch path.status {
                        case .satisfied, .requiresConnection: .connected
                        case .unsatisfied: path.availableInterfaces.isEmpty ? .outOfCoverage : .disconnected
                        @unknown default: .disconnected
                        }
                    continuation.yield(ConnectionFinding(state, isExpensive: path.isExpensive))
                }
                continuation.onTermination = { _ in monitor.cancel() }
                monitor.start(queue: .global(qos: .utility))
            }
        }
    }
#endif
