/// Keeps changes and batches under snapshot isolation apart (OData Protocol 4.01, 8.2.6): any number of changes go
/// through, or one such batch, whose requests all show the same state but for what they change themselves.
///
/// What a batch reads is held or spooled when its requests are answered, so that changes wait for the database alone,
/// and for no reader.
actor ChangeGate {
    /// Whether the task is a batch that the gate is closed for: its own changes go through.
    @TaskLocal static var isOwner = false

    private var changes = 0
    private var isClosed = false
    private var waitingBatches: [CheckedContinuation<Void, Never>] = []
    private var waitingChanges: [CheckedContinuation<Void, Never>] = []

    /// Makes a change, when no batch is under way.
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

    /// Answers a batch while nobody else changes anything.
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
        // A batch that waits goes first, or changes after changes would keep it waiting for ever.
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
