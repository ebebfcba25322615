#if canImport(Network)
    import Network

    /// Asks the system on Apple's platforms about the path to the network.
    public struct PathProbe: ConnectionProbe {
        /// Makes a probe.
        public init() {}

        /// What the system says, each time it changes.
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
