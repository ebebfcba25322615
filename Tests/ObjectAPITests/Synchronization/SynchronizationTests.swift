import ODataModel
import ODataService
import ObjectAPI
import OfflineOData
import Testing

@Suite("A synchronization of a package")
struct SynchronizationTests {
    @Test("has its statuses with the context of the call, and subscribes at the first call")
    func statuses() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        let events = EventCollector(desk)
        let report = try await desk.synchronize(context: "first")
        #expect(report.unsubscribedSets == ["Notes", "Parts", "Passes"])
        try await desk.synchronize([.default], context: "second")
        let words = try await events.words(through: "second finished")
        #expect(
            words == [
                "first starting", "first uploading", "first downloading", "imported 2 0 0", "subscribed",
                "first finished", "second starting", "second uploading", "second downloading", "second finished",
            ])
        #expect(try await desk.tickets.count() == 2)
        try desk.close()
    }

    @Test("shares exchanges among calls, and each call has a start and a finish")
    func sharing() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.synchronize()
        let events = EventCollector(desk)
        let tickets = (1...3).map { desk.beginSynchronize([.default, .system], context: "call \($0)") }
        for ticket in tickets { _ = try await ticket.report() }
        let words = try await events.words(through: "call 3 finished")
        for call in 1...3 {
            #expect(words.count { $0 == "call \(call) starting" } == 1)
            #expect(words.count { $0 == "call \(call) finished" } == 1)
            #expect(words.count { $0 == "call \(call) downloading" } == 1)
        }
        try desk.close()
    }

    @Test("submits and synchronizes one group alone")
    func groups() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.subscriptions.add(NoteSubscription(owner: "ada"))
        try await desk.synchronize()
        #expect(try await desk.groupStatus("notes").isLoaded)
        #expect(try await desk.groupStatus("nothing").isLoaded == false)
        var note = try #require(try await desk.notes.first())
        note.text = "changed"
        _ = try await desk.save(note)
        try await desk.create(Ticket(title: "Sink", area: "North"))
        #expect(try await desk.groupStatus("notes").pendingCount == 1)
        #expect(try await desk.groupStatus(.default).pendingCount == 1)
        #expect(try await desk.groupStatus(.default).lastDownload != nil)
        try await desk.submitPending(in: "notes")
        let report = try await desk.synchronize(["notes"])
        #expect(report.accepted == 1)
        #expect(try await desk.groupStatus("notes").pendingCount == 0)
        #expect(try await desk.groupStatus(.default).pendingCount == 1)
        try desk.close()
    }

    @Test("is refused while the gate is closed")
    func gate() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        desk.setSynchronizationEnabled(false)
        #expect(!desk.isSynchronizationEnabled)
        await #expect(throws: ObjectError.synchronizationDisabled) { try await desk.synchronize() }
        #expect(service.takeRequests().isEmpty)
        desk.setSynchronizationEnabled(true)
        try await desk.synchronize()
        #expect(try await desk.tickets.count() == 2)
        try desk.close()
    }

    @Test("ends at once when its task is cancelled")
    func cancellation() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        let task = Task { try await desk.synchronize() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await desk.synchronize()
        #expect(try await desk.tickets.count() == 2)
        try desk.close()
    }

    @Test("brings nothing while the subscriptions are suspended, also after the database was opened again")
    func suspension() async throws {
        let service = try await DeskService()
        var desk = try await service.database()
        try await desk.synchronize()
        try await desk.suspend()
        try await service.add("Tickets", ["Title": "Sink", "Area": "North"])
        let ticket = try await desk.create(Ticket(title: "Tap", area: "North"))
        try await desk.submitPending(ticket)
        #expect(try await desk.synchronize().accepted == 1)
        #expect(try await desk.tickets.count() == 3)
        try desk.close()
        desk = try await service.database()
        try await desk.synchronize()
        #expect(try await desk.tickets.count() == 3)
        let events = EventCollector(desk)
        try await desk.resume()
        try await desk.synchronize()
        #expect(try await desk.tickets.count() == 4)
        #expect(try await events.words(through: "- finished").first == "resumed")
        try desk.close()
    }

    @Test("of a recovery reads all rows anew and keeps the changes")
    func recovery() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.synchronize()
        let ticket = try await desk.create(Ticket(title: "Tap", area: "North"))
        _ = service.takeRequests()
        let events = EventCollector(desk)
        try await desk.recover()
        // No request continues from a delta link.
        #expect(!service.takeRequests().contains { $0.path?.contains("deltatoken") ?? false })
        #expect(try await desk.refresh(ticket).objectState.pendingChange == .create)
        #expect(try await desk.tickets.count() == 3)
        #expect(try await events.words(through: "recovered").last == "recovered")
        try desk.close()
    }

    @Test("removes the rows of an unsubscribed package, and keeps all while there are changes")
    func unsubscribing() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.subscribe()
        try await desk.create(Ticket(title: "Tap", area: "North"))
        await #expect(throws: ObjectError.pendingChanges) { try await desk.unsubscribe() }
        #expect(try await desk.tickets.count() == 3)
        let events = EventCollector(desk)
        try await desk.unsubscribe(discardingChanges: true)
        #expect(try await desk.subscriptions.all().isEmpty)
        #expect(try await desk.store.observe.status().queries.isEmpty)
        #expect(try await events.words(through: "unsubscribed") == ["unsubscribed"])
        try await desk.synchronize()
        #expect(try await desk.tickets.count() == 2)
        try desk.close()
    }
}
