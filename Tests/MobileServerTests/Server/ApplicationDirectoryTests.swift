import ServerState
import Testing

@testable import MobileServer

@Suite("The applications of a node") struct ApplicationDirectoryTests {
    private static func state() async throws -> SQLiteServerState {
        let state = try SQLiteServerState.inMemory(keys: .generate())
        _ = try await state.migrate(dryRun: false)
        return state
    }

    @Test("A configuration that this build cannot read stops its application alone, and the check names it")
    func unreadable() async throws {
        let state = try await Self.state()
        let importer = ApplicationImporter(state: state)
        _ = try await importer.add(ApplicationConfiguration(), named: "shop", by: "test", activates: true)
        let other = try await state.applications.add(named: "crm", title: "CRM", domain: "default", state: .active)
        let version = try await state.applications.addConfiguration(
            Array(#"{"of a later build":true}"#.utf8), to: other.id, by: "test")
        _ = try await state.applications.activate(version.version, of: other.id, ifActive: nil)
        let directory = ApplicationDirectory(state: state)
        #expect(try await directory.application(named: "shop") != nil)
        #expect(try await directory.all().map(\.record.name) == ["shop"])
        await #expect(throws: ServerStateError.self) { _ = try await directory.application(named: "crm") }
        let services = NodeServices(
            state: state, keys: .generate(), configuration: ServerConfiguration(), dataFolder: "/tmp")
        let findings = await MaintenancePart(services: services).check()
        #expect(findings.contains { $0.severity == .error && $0.subject == "application crm" })
    }

    @Test("A version does not end a suspension that an operator ordered, unless it changes the state itself")
    func suspension() async throws {
        let state = try await Self.state()
        let importer = ApplicationImporter(state: state)
        var configuration = ApplicationConfiguration()
        func activate() async throws -> ApplicationState? {
            _ = try await importer.add(configuration, named: "shop", by: "test", activates: true)
            return try await state.applications.application(named: "shop")?.state
        }
        #expect(try await activate() == .active)
        _ = try await state.applications.update("shop", ifMatch: nil, ApplicationChange(state: .suspended))
        configuration.title = "Other"
        #expect(try await activate() == .suspended)
        configuration.state = .suspended
        #expect(try await activate() == .suspended)
        configuration.state = .active
        #expect(try await activate() == .active)
    }

    @Test("The feeds of a removed application go, also after a crash in between")
    func removedFeeds() async throws {
        let state = try await Self.state()
        let importer = ApplicationImporter(state: state)
        func feed(of name: String, key: UInt8) async throws -> FeedRecord {
            _ = try await importer.add(ApplicationConfiguration(), named: name, by: "test", activates: true)
            let record = try #require(try await state.applications.application(named: name))
            let new = FeedRecord(
                key: [UInt8](repeating: key, count: 32), application: record.id, destination: "shop",
                query: "Products", configuration: 1, visibility: .shared, tracking: "compare", state: .filling)
            return try #require(try await state.feeds.feed(new.key, makingWith: new))
        }
        let (first, second) = (try await feed(of: "shop", key: 1), try await feed(of: "crm", key: 2))
        try await importer.remove("shop")
        #expect(try await state.jobs.all().map(\.target) == ["\(first.id)"])
        // The process dies before the jobs are written.
        try await state.applications.remove("crm", ifMatch: nil)
        let services = NodeServices(
            state: state, keys: .generate(), configuration: ServerConfiguration(), dataFolder: "/tmp")
        let part = MaintenancePart(services: services)
        try await state.jobs.add(NewJob(kind: .prune, target: "server"))
        for _ in 0..<2 {
            for job in try await state.jobs.claim([.prune, .drop], limit: 10, lease: .seconds(30), owner: "test") {
                let outcome = try await part.workers[job.kind]?.run(job) ?? .done
                _ = try await state.jobs.finish(job, outcome)
            }
        }
        #expect(try await state.feeds.feed(first.id) == nil)
        #expect(try await state.feeds.feed(second.id) == nil)
    }

    @Test("A version is not activated over one that its author has not seen")
    func outdated() async throws {
        let state = try await Self.state()
        let importer = ApplicationImporter(state: state)
        var configuration = ApplicationConfiguration()
        for title in ["A", "B", "C"] {
            configuration.title = title
            _ = try await importer.add(configuration, named: "shop", by: "test", activates: title == "A")
        }
        try await importer.activate(2, of: "shop", by: "ann", ifActive: 1)
        await #expect(throws: ServerStateError.self) {
            try await importer.activate(3, of: "shop", by: "bob", ifActive: 1)
        }
        #expect(try await state.applications.application(named: "shop")?.title == "B")
    }
}
