import Foundation
import Testing

@Suite("Clones of a whole service and of parts")
struct WholeCloneTests {
    @Test("A clone without --query has singletons, contained entities and relations")
    func whole() async throws {
        let site = try Site()
        let service = try await AlbumService()
        try await service.serving { url in
            let survey = try await site.tool.run("clone", url, site.path("c"), "--dry-run")
            #expect(survey.code == 0 && !survey.errors.contains("Left out"), "\(survey.errors)")
            for name in ["Albums", "Tags", "Notes", "Company"] {
                #expect(survey.output.contains(name), "\(survey.output)")
            }
            let cloned = try await site.tool.run("clone", url, site.path("c"))
            #expect(cloned.code == 0, "\(cloned.errors)")
            let company = try await site.tool.run("query", site.path("c"), "Company")
            #expect(company.code == 0 && company.output.contains("Acme"), "\(company.errors)")
            let related = try await site.tool.run(
                "query", site.path("c"), "Albums?$expand=Pages,Tags,Notes&$filter=Tags/any()", "--json")
            #expect(related.code == 0, "\(related.errors)")
            for text in ["Cover", "red", "AlbumID"] { #expect(related.output.contains(text), "\(related.output)") }
            let made = try await site.tool.run("create", site.path("c"), "Albums(1)/Pages", "ID=2", "Title=Mine")
            #expect(made.code == 0, "\(made.errors)")
            for command in ["push", "pull", "pull"] {
                #expect(try await site.tool.run(command, site.path("c")).code == 0)
            }
            #expect(try await service.pages(1) == ["Cover", "Mine"])
            let pages = try await site.tool.run("query", site.path("c"), "Albums(1)/Pages")
            #expect(pages.output.contains("Cover") && pages.output.contains("Mine"), "\(pages.output) \(pages.errors)")
        }
    }

    @Test("A query for a missing set fails and names the command that adds it")
    func missing() async throws {
        let site = try Site()
        let service = try await AlbumService()
        try await service.serving { url in
            let made = try await site.tool.run("clone", url, site.path("c"), "--query", "a=Albums")
            #expect(made.code == 0, "\(made.errors)")
            let queries = [
                ("Albums?$expand=Pages", "Albums-Pages=Albums?$expand=Pages"),
                ("Albums(1)/Tags", "Albums-Tags=Albums?$expand=Tags"), ("Company", "Company=Company"),
                ("Notes/$count", "Notes=Notes"), ("Albums?$filter=Notes/any()", "Albums-Notes=Notes"),
                (
                    "Albums?$apply=groupby((Name),aggregate(Pages/ID with sum as N))",
                    "Albums-Pages=Albums?$expand=Pages"
                ),
            ]
            for (query, part) in queries {
                for format in [[], ["--json"]] {
                    let answer = try await site.tool.run(["query", site.path("c"), query] + format)
                    #expect(
                        answer.code == 1 && answer.errors.contains(part), "\(query): \(answer.output) \(answer.errors)")
                    #expect(answer.errors.contains("add-query"), "\(answer.errors)")
                }
            }
            let explained = try await site.tool.run("explain", site.path("c"))
            let survey = try await site.tool.run("clone", url, site.path("d"), "--query", "a=Albums", "--dry-run")
            for part in [
                "Albums/Pages", "Albums/Tags", "Notes", "Tags", "Company", "Albums-Pages=Albums?$expand=Pages",
            ] {
                #expect(explained.output.contains(part), "\(explained.output)")
                #expect(survey.errors.contains(part), "\(survey.errors)")
            }
            let json = try await site.tool.run(
                "clone", url, site.path("d"), "--query", "a=Albums", "--dry-run", "--json")
            #expect(
                json.output.contains("\"missing\"") && json.output.contains("Albums?$expand=Pages"), "\(json.output)")
            #expect(try await site.tool.run("add-query", site.path("c"), "Albums-Pages=Albums?$expand=Pages").code == 0)
            #expect(try await site.tool.run("pull", site.path("c")).code == 0)
            let pages = try await site.tool.run("query", site.path("c"), "Albums(1)/Pages")
            #expect(pages.code == 0 && pages.output.contains("Cover"), "\(pages.errors)")
        }
    }
}
