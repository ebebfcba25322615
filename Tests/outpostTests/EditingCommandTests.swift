import Foundation
import ODataModel
import ODataQuery
import ODataService
import Testing

@Suite("Relations, deep inserts, change sets and priorities from the terminal")
struct EditingCommandTests {
    private func clone(_ site: Site, _ url: String) async throws -> String {
        let clone = site.path("clone")
        let result = try await site.tool.run("clone", url, clone)
        #expect(result.code == 0, "\(result.errors)")
        return clone
    }

    private func names(_ service: AlbumService, _ url: String) async throws -> [ODataValue?] {
        guard
            case .page(let page) = try await service.service.execute(
                ODataRequest(.read, try ODataURL(parsing: url))
            ).body
        else { return [] }
        return page.entities.map { $0["Name"] ?? $0["Title"] }
    }

    @Test("link and unlink change relations without a foreign key")
    func links() async throws {
        let (site, service) = (try Site(), try await AlbumService())
        let tool = site.tool
        try await service.serving { url in
            let clone = try await clone(site, url)
            let link = try await tool.run("link", clone, "Albums(2)/Tags", "Tags(1)")
            #expect(link.code == 0, "\(link.errors)")
            #expect(link.output.hasPrefix("Linked Albums(2)/Tags to Tags(1). 1 change to push."), "\(link.output)")
            let unlink = try await tool.run("unlink", clone, "Albums(1)/Tags", "Tags(1)", "--json")
            #expect(unlink.output.contains("\"pending\" : 2"), "\(unlink.output) \(unlink.errors)")
            let list = try await tool.run("changes", clone)
            #expect(list.output.contains("Albums(2)/Tags → Tags(1)"), "\(list.output)")
            let push = try await tool.run("push", clone)
            #expect(push.code == 0, "\(push.output) \(push.errors)")
            #expect(try await names(service, "Albums(2)/Tags") == ["red"])
            #expect(try await names(service, "Albums(1)/Tags").isEmpty)
        }
    }

    @Test("link sets a relation to a single entity, and unlink needs no entity there")
    func singleRelation() async throws {
        let (site, service) = (try Site(), try await AlbumService())
        let tool = site.tool
        try await service.serving { url in
            let clone = try await clone(site, url)
            #expect(try await tool.run("link", clone, "Notes(1)/Album", "Albums(2)").code == 0)
            #expect(try await tool.run("query", clone, "Notes(1)/AlbumID").output == "2\n")
            let unlink = try await tool.run("unlink", clone, "Notes(1)/Album")
            #expect(unlink.code == 0, "\(unlink.errors)")
            #expect(try await tool.run("query", clone, "Notes(1)?$select=AlbumID", "--json").output.contains("null"))
        }
    }

    @Test(
        "a wrong relation is refused, and the valid ones are listed",
        arguments: [
            (["link", "Albums(1)/Tag", "Tags(1)"], "Tag"), (["link", "Albums(1)", "Tags(1)"], "Albums(1)/Tags"),
            (["link", "Albums(1)/Tags", "Tags"], "Tags is not a single entity"),
            (["unlink", "Albums(1)/Tags"], "outpost unlink"),
        ])
    func wrongRelations(arguments: [String], text: String) async throws {
        let (site, service) = (try Site(), try await AlbumService())
        try await service.serving { url in
            let clone = try await clone(site, url)
            let result = try await site.tool.run([arguments[0], clone] + arguments.dropFirst())
            #expect(result.code != 0 && result.errors.contains(text), "\(result.errors)")
        }
    }

    @Test("create --body creates an entity with related ones, which are sent together")
    func deepInsert() async throws {
        let (site, service) = (try Site(), try await AlbumService())
        let tool = site.tool
        try await service.serving { url in
            let clone = try await clone(site, url)
            let file = site.path("album.json")
            try Data(#"{"ID": 7, "Pages": [{"ID": 1, "Title": "One"}, {"ID": 2, "Title": "Two"}]}"#.utf8).write(
                to: URL(fileURLWithPath: file))
            let created = try await tool.run("create", clone, "Albums", "Name=Deep", "--body", file)
            #expect(created.code == 0, "\(created.errors)")
            #expect(try await tool.run("query", clone, "Albums(7)/Name").output == "Deep\n")
            let push = try await tool.run("push", clone)
            #expect(push.code == 0, "\(push.output) \(push.errors)")
            #expect(try await service.pages(7) == ["One", "Two"])
            try Data("{\"ID\": 8, \"Nmae\": \"x\"}".utf8).write(to: URL(fileURLWithPath: file))
            let wrong = try await tool.run("create", clone, "Albums", "--body", file)
            #expect(wrong.code == 2 && wrong.errors.contains("Nmae"), "\(wrong.errors)")
            #expect(try await tool.run("update", clone, "Albums(7)").code == 2, "there is nothing to change")
        }
    }

    @Test("a change set is made and undone as one, and $1 names the entity of its first change")
    func changeSet() async throws {
        let (site, service) = (try Site(), try await AlbumService())
        let tool = site.tool
        try await service.serving { url in
            let clone = try await clone(site, url)
            let file = site.path("changes")
            let lines = """
                # A new album with a page, a tag and a note.
                create Albums ID=9 'Name=Holiday by the sea'

                create $1/Pages ID=1 "Title=First page"
                link $1/Tags Tags(1)
                create Notes ID=5 Album=$1
                update 'Albums(1)' Name=Spring
                """
            try Data(lines.utf8).write(to: URL(fileURLWithPath: file))
            let made = try await tool.run("change-set", clone, file)
            #expect(made.code == 0, "\(made.errors)")
            #expect(made.output.contains("5 changes together."), "\(made.output)")
            #expect(
                made.output.contains("Created Albums(9).") && made.output.contains("Linked Albums(9)/Tags to Tags(1)."))
            #expect(try await tool.run("query", clone, "Notes(5)/AlbumID").output == "9\n")
            let first = try await tool.run("changes", "list", clone, "--json").output
            let id = try #require(first.firstMatch(of: /"id" : (\d+)/)).1
            let part = try await tool.run("changes", "cancel", clone, String(id))
            #expect(part.code == 1 && part.errors.contains("--with-others"), "\(part.errors)")
            let push = try await tool.run("push", clone)
            #expect(push.code == 0, "\(push.output) \(push.errors)")
            #expect(try await service.pages(9) == ["First page"])
            #expect(try await names(service, "Albums(9)/Tags") == ["red"])
        }
    }

    @Test("a change set with a wrong line changes nothing and names the line")
    func wrongChangeSet() async throws {
        let (site, service) = (try Site(), try await AlbumService())
        let tool = site.tool
        try await service.serving { url in
            let clone = try await clone(site, url)
            let file = site.path("changes")
            for (second, text) in [
                ("update Albums(77) Name=x", "Line 2"), ("create Albums Nmae=x", "Did you mean Name?"),
                ("move Albums(1)", "move is no change"), ("create $3/Pages ID=1", "$3"), ("create 'Albums", "quote"),
                ("delete", "Line 2"),
            ] {
                try Data("update Albums(1) Name=Other\n\(second)\n".utf8).write(to: URL(fileURLWithPath: file))
                let result = try await tool.run("change-set", clone, file)
                #expect(result.code != 0 && result.errors.contains(text), "\(second): \(result.errors)")
                #expect(result.errors.contains("Line 2"), "\(second): \(result.errors)")
                #expect(try await tool.run("query", clone, "Albums(1)/Name").output == "Summer\n", "\(second)")
            }
            try Data("\n# nothing\n".utf8).write(to: URL(fileURLWithPath: file))
            #expect(try await tool.run("change-set", clone, file).code == 2)
        }
    }

    @Test("a change of a higher priority is sent first")
    func priorities() async throws {
        let (site, service) = (try Site(), try await AlbumService())
        let tool = site.tool
        try await service.serving { url in
            let clone = try await clone(site, url)
            #expect(try await tool.run("update", clone, "Albums(1)", "Name=late").code == 0)
            #expect(
                try await tool.run("update", clone, "Albums(2)", "Name=soon", "--priority", "5", "--tag", "x").code == 0
            )
            let list = try await tool.run("changes", clone).output
            #expect(list.contains("Priority"), "\(list)")
            let json = try await tool.run("changes", clone, "--json").output
            #expect(json.contains("\"priority\" : 5") && json.contains("\"tag\" : \"x\""), "\(json)")
            let push = try await tool.run("push", clone).output
            let (soon, late) = (
                try #require(push.firstRange(of: "Albums(2)")), try #require(push.firstRange(of: "Albums(1)"))
            )
            #expect(soon.lowerBound < late.lowerBound, "\(push)")
        }
    }
}
