import Foundation
import Testing

@Suite("Refused changes are reported even if a later step fails")
struct EarlyEndTests {
    /// A clone with two changes: one that is refused, and then one at which sending ends where it is wanted.
    private func clone(_ site: Site, _ url: String, ending: Bool) async throws -> String {
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", url, clone).code == 0)
        for name in ["first", "unwanted", ending ? "stranger" : "last"] {
            #expect(try await site.tool.run("create", clone, "Things", "Name=\(name)").code == 0)
        }
        return clone
    }

    @Test("Refused changes are reported if sending ends early", arguments: ["push", "sync"])
    func upload(command: String) async throws {
        let site = try Site()
        let service = ThingService()
        try await service.serving { url in
            let clone = try await clone(site, url, ending: true)
            let result = try await site.tool.run(command, clone)
            #expect(result.code == 3, "\(result.output) \(result.errors)")
            #expect(result.output.contains("Pushed 1 change, 1 refused"), "\(result.output)")
            #expect(result.output.contains("We have enough."), "\(result.output)")
            #expect(result.errors.contains("error:"), "\(result.errors)")
            #expect(
                result.errors.contains("1 change was refused before that: outpost changes \(clone) --failed"),
                "\(result.errors)")
        }
    }

    @Test("Refused changes are reported as JSON if sending ends early", arguments: ["push", "sync"])
    func json(command: String) async throws {
        let site = try Site()
        let service = ThingService()
        try await service.serving { url in
            let clone = try await clone(site, url, ending: true)
            let result = try await site.tool.run(command, clone, "--json")
            #expect(result.code == 3, "\(result.output) \(result.errors)")
            let document = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
            let push = try #require(command == "push" ? document : document?["push"] as? [String: Any])
            #expect((push["failed"] as? [Any])?.count == 1)
            #expect((push["accepted"] as? [Any])?.count == 1)
        }
    }

    @Test("Refused changes are reported if the download of a sync fails")
    func download() async throws {
        let site = try Site()
        let service = ThingService()
        try await service.serving { url in
            let clone = try await clone(site, url, ending: false)
            service.refuseReads(true)
            let result = try await site.tool.run("sync", clone)
            #expect(result.code == 3, "\(result.output) \(result.errors)")
            #expect(result.output.contains("Pushed 2 changes, 1 refused"), "\(result.output)")
            #expect(result.errors.contains("outpost changes \(clone) --failed"), "\(result.errors)")
        }
    }

    @Test("A push without changes mentions the error archive")
    func archive() async throws {
        let site = try Site()
        let service = ThingService()
        try await service.serving { url in
            let clone = try await clone(site, url, ending: false)
            #expect(try await site.tool.run("push", clone).code == 3)
            let again = try await site.tool.run("push", clone)
            #expect(again.code == 0, "\(again.errors)")
            #expect(
                again.output == "Nothing to push. 1 change in the error archive: outpost changes \(clone) --failed\n",
                "\(again.output)")
        }
    }
}
