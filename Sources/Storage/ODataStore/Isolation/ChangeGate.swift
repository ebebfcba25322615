/// A lock between changes and batches under snapshot isolation (OData Protocol 4.01, 8.2.6). Either any number
/// of changes run at once, or one such batch. All requests of the batch see the same state, apart from their
/// own changes.
///
/// The results of a batch are held or spooled when its requests are answered. Changes therefore wait only for
/// the database, and not for the client to read the response.
actor ChangeGate {
    /// Whether the current task is the batch that closed the gate. Its own changes pass.
    @TaskLocal static var isOwner = false

    private var changes = 0
    private var isClosed = false
    private var waitingBatches: [CheckedContinuation<Void, Never>] = []
    private var waitingChanges: [CheckedContinuation<Void, Never>] = []

    /// Makes a change as soon as no batch is active.
    nonisolated func change<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        if Self.isOwner { return try await body() }
        await beginChange()
        do {
            let value = try await body()
            await endChange()
            return value
        } catch {
            await endChange()
            throw error
        }
    }

    /// Answers a batch while no other changes are made.
    nonisolated func alone<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        await close()
        do {
            let value = try await Self.$isOwner.withValue(true) { try await body() }
            await open()
            return value
        } catch {
            await open()
            throw error
        }
    }

    private func beginChange() async {
        // A waiting batch takes precedence; otherwise a steady flow of changes could delay it forever.
        while isClosed || !waitingBatches.isEmpty {
            await withCheckedContinuation { waitingChanges.append($0) }
        }
        changes += 1
    }

    private func endChange() {
        changes -= 1
        if changes == 0 { wake() }
    }

    private func close() async {
        while isClosed || changes > 0 {
            await withCheckedContinuation { waitingBatches.append($0) }
        }
        isClosed = true
    }

    private func open() {
        isClosed = false
        wake()
    }

    private func wake() {
        if !waitingBatches.isEmpty {
            waitingBatches.removeFirst().resume()
            return
        }
        let changes = waitingChanges
        waitingChanges = []
        for change in changes { change.resume() }
    }
}
