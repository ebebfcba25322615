import ODataModel
import ODataService
import OfflineOData
import Synchronization
import Testing

@testable import ObjectAPI

@Suite("Events of a package")
struct EventTests {
    @Test("report accepted and refused changes after they are stored, with both codes")
    func replays() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.synchronize()
        let events = EventCollector(desk)
        var ticket = try await desk.create(Ticket(title: "Tap", area: "North"))
        try await desk.submitPending(ticket)
        try await desk.synchronize(context: "good")
        ticket = try await desk.refresh(ticket)
        ticket.title = "Sink"
        try await desk.submitPending(try await desk.save(ticket))
        service.refuse(ODataError(status: 409, code: "LOCK", message: "Deadlock."))
        try await desk.synchronize(context: "bad")
        let words = try await events.words(through: "bad finished")
        #expect(words.contains("accepted C Tickets"))
        #expect(words.contains("refused 409"))
        let failures = events.all.compactMap { event -> [ReplayFailure]? in
            if case .replayFailed(let failures) = event { failures } else { nil }
        }
        let failure = try #require(failures.first?.first)
        #expect(failure.backEndCode == "LOCK")
        #expect(failure.recovery == .retry)
        #expect(failure.object?.surrogateKey == ticket.objectState.surrogateKey)
        for event in events.all {
            guard case .replaySucceeded(let successes) = event, let success = successes.first else { continue }
            #expect(success.values["Title"] == "Tap")
            #expect(success.object.description == "Tickets(\(try #require(ticket.id)))")
        }
        try desk.close()
    }

    @Test("report credentials that the service does not accept, with a log record")
    func login() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        let events = EventCollector(desk)
        service.refuseReads(ODataError(status: 401, code: "", message: "Sign in."))
        await #expect(throws: (any Error).self) { try await desk.synchronize() }
        #expect(try await events.words(through: "- failed").contains("login failed: Sign in."))
        let record = try #require(try await desk.logRecords.all().first)
        #expect(record.operation == "login")
        #expect(record.code == 401)
        try desk.close()
    }

    @Test("report that the service ended a subscription")
    func ended() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.synchronize()
        let events = EventCollector(desk)
        service.refuseReads(ODataError(status: 403, code: "SubscriptionEnded", message: "No more."))
        await #expect(throws: OfflineError.self) { try await desk.synchronize([.default]) }
        #expect(try await events.words(through: "- failed").contains("ended Tickets"))
        try desk.close()
    }

    @Test("reach every listener in one order, and end when the database is closed")
    func listeners() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        let (first, second) = (desk.events(), desk.events())
        try await desk.synchronize()
        try desk.close()
        var words: [[String]] = [[], []]
        for await event in first { words[0].append(EventCollector.word(event)) }
        for await event in second { words[1].append(EventCollector.word(event)) }
        #expect(words[0] == words[1])
        #expect(words[0].last == "- finished")
    }

    @Test("are counted instead of kept when a listener is too far behind")
    func overflow() async throws {
        let hub = EventHub<Desk>(limit: 3)
        let stream = hub.events()
        for _ in 1...5 { hub.publish(.resumed) }
        var iterator = stream.makeAsyncIterator()
        var words: [String] = []
        for _ in 1...4 {
            let event = await iterator.next()
            words.append(EventCollector.word(try #require(event)))
        }
        #expect(words == ["resumed", "resumed", "resumed", "overflowed 2"])
        hub.publish(.suspended)
        hub.finish()
        let next = await iterator.next()
        #expect(EventCollector.word(try #require(next)) == "suspended")
        let end = await iterator.next()
        #expect(end.map(EventCollector.word) == nil)
    }

    @Test("end for a listener whose task is cancelled")
    func cancelledListener() async throws {
        let hub = EventHub<Desk>()
        let stream = hub.events()
        let task = Task {
            var count = 0
            for await _ in stream { count += 1 }
            return count
        }
        hub.publish(.resumed)
        task.cancel()
        #expect(await task.value <= 1)
    }

    // MARK: Observers

    private final class Notes: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }

        func wait(for line: String) async throws -> [String] {
            for _ in 0..<10_000 where !all.contains(line) { try await Task.sleep(for: .milliseconds(1)) }
            return all
        }
    }

    private struct Observer: PackageObserver {
        typealias Package = Desk
        let name: String
        let notes: Notes

        func synchronizationChanged(to status: SynchronizationStatus, context: String?) async {
            notes.add("\(name) \(status)")
        }
        func replaySucceeded(_ successes: [ReplaySuccess]) async {
            notes.add("\(name) accepted \(successes.map(\.object.entitySet))")
        }
    }

    @Test("are delivered once, to the observer of the type or else to that of the database")
    func observers() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.subscriptions.add(NoteSubscription(owner: "ada"))
        try await desk.synchronize()
        let notes = Notes()
        desk.observe(with: Observer(name: "all", notes: notes))
        desk.observe(with: Observer(name: "tickets", notes: notes), for: Ticket.self)
        try await desk.create(Ticket(title: "Tap", area: "North"))
        try await desk.create(Note())
        try await desk.submitAllPending()
        try await desk.synchronize()
        let lines = try await notes.wait(for: "all finished")
        #expect(
            lines.filter { $0.contains("accepted") }.sorted() == [
                "all accepted [\"Notes\"]", "tickets accepted [\"Tickets\"]",
            ])
        #expect(lines.count { $0.hasPrefix("all s") || $0.hasPrefix("all u") || $0.hasPrefix("all d") } == 3)
        try desk.close()
    }
}
