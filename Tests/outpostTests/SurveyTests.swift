import Foundation
import Testing

@Suite("The size of a clone is shown first (rule 35)")
struct SurveyTests {
    private static let huge = String(Int64.max)

    @Test("A huge count is shown, and the person is asked")
    func huge() async throws {
        let site = try Site()
        let service = ThingService(count: Self.huge)
        try await service.serving { url in
            let parts = ["--query", "one=Things", "--query", "two=Things?$filter=Name ne 'x'"]
            let refused = try await site.tool.run(["clone", url, site.path("clone")] + parts)
            #expect(refused.code == 1, "\(refused.errors)")
            #expect(refused.errors.contains("one") && refused.errors.contains("9,223,372,036,854,775,807"))
            #expect(refused.errors.contains("This takes 2 queries with 9,223,372,036,854,775,807 rows"))
            #expect(refused.errors.contains("filters in the queries"), "--query is given: \(refused.errors)")
            #expect(!refused.errors.contains("with --query"), "\(refused.errors)")
            let whole = try await site.tool.run("clone", url, site.path("clone"))
            #expect(whole.errors.contains("Take a part of it with --query"), "\(whole.errors)")
            #expect(!FileManager.default.fileExists(atPath: site.path("clone")))
        }
    }

    @Test("The free space is checked also for nested new directories")
    func space() async throws {
        let site = try Site()
        let service = ThingService(count: Self.huge)
        try await service.serving { url in
            let nested = site.path("one/two/clone")
            let refused = try await site.tool.run("clone", url, nested, "--all")
            #expect(refused.code == 1)
            #expect(refused.errors.contains("\(site.directory.path) has"), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: site.path("one")))
        }
    }

    @Test("A negative count is unknown")
    func negative() async throws {
        let site = try Site()
        let service = ThingService(count: "-5")
        try await service.serving { url in
            let survey = try await site.tool.run("clone", url, site.path("clone"), "--dry-run")
            #expect(survey.code == 0 && survey.output.contains("unknown"), "\(survey.output) \(survey.errors)")
            #expect(try await site.tool.run("clone", url, site.path("clone")).code == 0)
        }
    }

    @Test("Sets of an undeclared type are named by --dry-run, clone and explain")
    func untyped() async throws {
        let site = try Site()
        let service = ThingService(untyped: ["People", "Places"])
        try await service.serving { url in
            let said = "Left out, since the metadata do not declare their types: People, Places"
            let survey = try await site.tool.run("clone", url, site.path("clone"), "--dry-run")
            #expect(survey.code == 0 && survey.errors.contains(said), "\(survey.errors)")
            #expect(!survey.output.contains("People"), "\(survey.output)")
            let cloned = try await site.tool.run("clone", url, site.path("clone"))
            #expect(cloned.code == 0 && cloned.errors.contains(said), "\(cloned.errors)")
            let report = try await site.tool.run("clone", url, site.path("other"), "--dry-run", "--json")
            #expect(report.output.contains("\"People\"") && report.output.contains("\"Places\""), "\(report.output)")
            let explained = try await site.tool.run("explain", site.path("clone"))
            #expect(
                explained.output.contains("People") && explained.output.contains("do not declare its type"),
                "\(explained.output)")
        }
    }

    @Test("A person sees the counts and can decline a large download")
    func person() async throws {
        let site = try Site()
        let small = ThingService()
        try await small.serving { url in
            let terminal = try PseudoTerminal()
            let cloned = try await site.tool.run("clone", url, site.path("small"), at: terminal)
            #expect(cloned.code == 0, "\(cloned.errors)")
            #expect(cloned.errors.contains("Things") && cloned.errors.contains("1 query, 0 rows"), "\(cloned.errors)")
        }
        let large = ThingService(count: Self.huge)
        try await large.serving { url in
            let terminal = try PseudoTerminal()
            terminal.type("n\n")
            let refused = try await site.tool.run("clone", url, site.path("large"), at: terminal)
            #expect(refused.code == 1 && refused.errors.contains("Go on? [y/N]"), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: site.path("large")))
        }
    }

    @Test("Slow work shows progress each second at a terminal and nothing in a pipe")
    func progress() async throws {
        let site = try Site()
        let service = ThingService(thinking: .milliseconds(2500))
        try await service.serving { url in
            let terminal = try PseudoTerminal()
            let seen = try await site.tool.run("clone", url, site.path("seen"), at: terminal)
            #expect(seen.code == 0, "\(seen.errors)")
            #expect(seen.errors.contains("Asking \(url) how much there is … 1 s"), "\(seen.errors)")
            #expect(seen.errors.contains("… 2 s"), "\(seen.errors)")
            let piped = try await site.tool.run("clone", url, site.path("piped"))
            #expect(piped.code == 0 && piped.errors.isEmpty, "\(piped.errors)")
        }
    }
}
