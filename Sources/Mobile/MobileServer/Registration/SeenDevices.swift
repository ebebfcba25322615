import ServerState

/// The devices that were seen, written to the state in groups (`design-review.md` 19).
actor SeenDevices {
    private static let groupSize = 500
    /// The time between two writes.
    static let interval = Duration.seconds(60)

    private let state: any ServerState
    private var seen: [String: RegistrationSeen] = [:]
    private var writer: Task<Void, Never>?

    init(state: any ServerState) { self.state = state }

    func note(_ record: RegistrationRecord, at time: ServerInstant) async {
        let key = "\(record.application)/\(record.id)"
        seen[key] = RegistrationSeen(application: record.application, id: record.id, at: time)
        if seen.count >= Self.groupSize { await write() }
    }

    func start() {
        writer = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                await self?.write()
            }
        }
    }

    func stop() async {
        writer?.cancel()
        await write()
    }

    private func write() async {
        guard !seen.isEmpty else { return }
        let group = Array(seen.values)
        seen = [:]
        // The times of a failed write are lost; the next requests of the devices bring new ones.
        try? await state.registrations.noteSeen(group)
    }
}
