import ODataModel
import ObjectAPI
import OfflineOData
import Synchronization
import Testing

@Suite("Change notifications")
struct NotificationTests {
    /// A source that a test feeds.
    private final class Source: NotificationSource {
        private let stream: AsyncStream<String>
        private let continuation: AsyncStream<String>.Continuation
        private let settings = Mutex<[String]>([])

        init() { (stream, continuation) = AsyncStream.makeStream() }

        var told: [String] { settings.withLock { $0 } }
        func send(_ group: String) { continuation.yield(group) }
        func notifications() -> AsyncStream<String> { stream }

        func setNotifications(for group: String, interval: Duration?) async throws {
            settings.withLock { $0.append("\(group) \(interval.map { "\($0)" } ?? "off")") }
        }
    }

    @Test("synchronize the group, and are off unless they are switched on")
    func automatic() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.synchronize()
        let (source, events) = (Source(), EventCollector(desk))
        desk.listen(to: source)
        source.send("default")
        try await desk.setNotifications(for: "notes", interval: .seconds(60))
        source.send("notes")
        let words = try await events.words(through: "- finished")
        #expect(words.filter { $0.contains("starting") } == ["- startingOnNotification"])
        #expect(source.told == ["notes 60.0 seconds"])
        try await desk.setNotifications(for: "notes", interval: .zero)
        #expect(source.told == ["notes 60.0 seconds", "notes off"])
        try desk.close()
    }

    @Test("send nothing if one of several answers is a veto")
    func veto() async throws {
        let service = try await DeskService()
        let desk = try await service.database()
        try await desk.synchronize()
        try await desk.setNotifications(for: .default, interval: .seconds(1))
        try await desk.setNotifications(for: "notes", interval: .seconds(1))
        desk.onNotification { _ in .proceed }
        desk.onNotification { group in group == "notes" ? .proceed : .cancel }
        let (source, events) = (Source(), EventCollector(desk))
        _ = service.takeRequests()
        desk.listen(to: source)
        source.send("default")
        // Notifications are answered in order: when the second one is through, the first one was refused.
        source.send("notes")
        let words = try await events.words(through: "- finished")
        #expect(words.count { $0 == "- startingOnNotification" } == 1)
        #expect(!service.takeRequests().contains { $0.path?.contains("Tickets") ?? false })
        try desk.close()
    }

    @Test("count a missing answer as consent after five seconds")
    func patience() async throws {
        let service = try await DeskService()
        let slept = Mutex<[Duration]>([])
        let environment = EngineEnvironment(
            now: EngineEnvironment.system.now, newGuid: EngineEnvironment.system.newGuid,
            sleep: { duration in slept.withLock { $0.append(duration) } })
        let desk = try await service.database(environment: environment)
        try await desk.synchronize()
        try await desk.setNotifications(for: .default, interval: .seconds(1))
        desk.onNotification { _ in
            try? await Task.sleep(for: .seconds(30))
            return .cancel
        }
        let (source, events) = (Source(), EventCollector(desk))
        desk.listen(to: source)
        source.send("default")
        #expect(try await events.words(through: "- finished").first == "- startingOnNotification")
        #expect(slept.withLock { $0.contains(.seconds(5)) })
        try desk.close()
    }
}
