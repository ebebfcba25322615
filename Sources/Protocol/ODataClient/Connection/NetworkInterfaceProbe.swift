#if !canImport(Darwin)
    import Foundation

    /// Observes a Linux machine: whether an interface other than loopback is up, whether all radios are
    /// blocked, and how much storage is left.
    public struct NetworkInterfaceProbe: ConnectionProbe {
        /// The directory in which the kernel exposes devices.
        private let system: String
        private let interval: Duration
        private let storage: String
        private let leastStorage: Int64

        /// Creates a probe.
        ///
        /// - Parameters:
        ///   - interval: The time between two observations.
        ///   - storage: A path on the file system whose free space is checked.
        ///   - leastStorage: The number of free bytes below which storage is low.
        ///   - system: The directory in which the kernel exposes devices.
        public init(
            interval: Duration = .seconds(5), storage: String = "/", leastStorage: Int64 = 64 << 20,
            system: String = "/sys/class"
        ) {
            self.interval = interval
            self.storage = storage
            self.leastStorage = leastStorage
            self.system = system
        }

        /// Returns a stream of findings, one for each change.
        public func findings() -> AsyncStream<ConnectionFinding> {
            AsyncStream { continuation in
                let task = Task {
                    var last: ConnectionFinding?
                    while !Task.isCancelled {
                        let finding = look()
                        if finding != last { continuation.yield(finding) }
                        last = finding
                        try? await Task.sleep(for: interval)
                    }
                    continuation.finish()
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        }

        func look() -> ConnectionFinding {
            let free = try? FileManager.default.attributesOfFileSystem(forPath: storage)[.systemFreeSize] as? NSNumber
            if let free, free.int64Value < leastStorage { return ConnectionFinding(.lowOnStorage) }
            let interfaces = entries("net").filter { $0 != "lo" }
            let isUp = interfaces.contains { name in
                // Point-to-point and virtual interfaces report an unknown state.
                ["up", "unknown"].contains(text("net/\(name)/operstate"))
            }
            if isUp { return ConnectionFinding(.connected, isExpensive: isMobile(interfaces)) }
            let radios = entries("rfkill")
            let areBlocked = radios.allSatisfy { text("rfkill/\($0)/soft") == "1" || text("rfkill/\($0)/hard") == "1" }
            return ConnectionFinding(!radios.isEmpty && areBlocked ? .flightMode : .disconnected)
        }

        private func isMobile(_ interfaces: [String]) -> Bool {
            let up = interfaces.filter { ["up", "unknown"].contains(text("net/\($0)/operstate")) }
            return !up.isEmpty && up.allSatisfy { $0.hasPrefix("wwan") || $0.hasPrefix("ppp") }
        }

        private func entries(_ folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: "\(system)/\(folder)")) ?? []
        }

        private func text(_ file: String) -> String {
            let data = FileManager.default.contents(atPath: "\(system)/\(file)") ?? Data()
            return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
#endif
