import DocumentationPages
import ForeignPrograms
import Foundation
import Testing

@Suite("The documentation")
struct DocumentationTests {
    /// The path of the page that `<doc:Page>` or `<doc:/Target/Page>` names; `nil` for a link to a heading of the same
    /// page.
    private static func target(of link: Substring, in catalogue: String) -> String? {
        guard let path = link.split(separator: "#", omittingEmptySubsequences: false).first, !path.isEmpty else {
            return nil
        }
        let parts = path.split(separator: "/").map(String.init)
        guard path.hasPrefix("/"), let target = parts.first, let page = parts.last else {
            return "\(catalogue)/\(path).md"
        }
        let groups =
            (try? FileManager.default.contentsOfDirectory(
                atPath: DocumentationPage.root.appendingPathComponent("Sources").path)) ?? []
        let catalogues = groups.map { "Sources/\($0)/\(target)/Documentation.docc" }
        return "\(catalogues.first(where: exists) ?? target)/\(page).md"
    }

    private static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: DocumentationPage.root.appendingPathComponent(path).path)
    }

    /// The pages of all catalogues, by their paths in the package.
    private static func pages() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(
            atPath: DocumentationPage.root.appendingPathComponent("Sources").path
        ).filter { $0.hasSuffix(".md") && $0.contains(".docc/") }.map { "Sources/\($0)" }
    }

    @Test("Every link from a page to a page has a target")
    func pageLinks() throws {
        var count = 0
        for path in try Self.pages() {
            let catalogue = path.split(separator: "/").dropLast().joined(separator: "/")
            for link in try DocumentationPage(at: path).text.matches(of: /<doc:([^>]+)>/).map(\.output.1) {
                guard let target = Self.target(of: link, in: catalogue) else { continue }
                count += 1
                #expect(Self.exists(target), "\(path) links to \(link)")
            }
        }
        #expect(count > 50)
    }

    @Test("Every link of the README and of CONTRIBUTING leads to a file", arguments: ["README.md", "CONTRIBUTING.md"])
    func fileLinks(page: String) throws {
        for link in try DocumentationPage(at: page).text.matches(of: /\]\(([^)#]+)[^)]*\)/).map(\.output.1) {
            guard !link.contains("://") else { continue }
            #expect(Self.exists(String(link)), "\(page) links to \(link)")
        }
    }

    @Test(
        "Every make command of the README and of CONTRIBUTING is in the Makefile",
        arguments: ["README.md", "CONTRIBUTING.md"])
    func makeCommands(page: String) throws {
        let makefile = try DocumentationPage(at: "Makefile").text
        let commands = try DocumentationPage(at: page).text.matches(of: /(?:`|\n *)make ([a-z-]+)(?:[`\s])/).map(
            \.output.1)
        #expect(commands.count >= 3)
        for command in commands { #expect(makefile.contains("\n\(command):"), "\(page) says make \(command)") }
    }

    @Test("The landing page leads to every guide of the package, and the README to every tutorial")
    func guides() throws {
        let landing = try DocumentationPage(at: "\(DocumentationPage.guides)/OutpostKit.md").text
        let readme = try DocumentationPage(at: "README.md").text
        let guides = try Self.pages().filter { $0.hasPrefix(DocumentationPage.guides) }
        #expect(guides.count >= 7)
        for guide in guides.compactMap({ $0.split(separator: "/").last?.dropLast(3) }) where guide != "OutpostKit" {
            #expect(landing.contains("- <doc:\(guide)>"))
            #expect(readme.contains("\(DocumentationPage.guides)/\(guide).md"))
        }
    }

    @Test("Every type that an app touches has an example")
    func examples() async throws {
        let script = DocumentationPage.root.appendingPathComponent("scripts/doc-examples.py").path
        let (status, output) = try await Command.run(["python3", script, "--check"], includesErrors: true)
        #expect(status == 0, "\(output)")
        #expect(output.contains("examples of"))
    }

    @Test("Every command of the tool is in the table of commands")
    func commands() throws {
        let page = try DocumentationPage(at: "\(DocumentationPage.guides)/Commands.md").text
        let tool = "Sources/Tools/outpost"
        let list = try DocumentationPage(at: "\(tool)/Outpost.swift").text.firstMatch(of: /subcommands: \[([^\]]+)\]/)
        let types = try #require(list).output.1.matches(of: /(\w+)\.self/).map(\.output.1)
        #expect(types.count > 30)
        let folder = DocumentationPage.root.appendingPathComponent("\(tool)/Commands").path
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasSuffix(".swift") {
            let source = try DocumentationPage(at: "\(tool)/Commands/\(file)").text
            for match in source.matches(of: /\nstruct (\w+): [\s\S]*?commandName: "([a-z-]+)"/) {
                guard types.contains(match.output.1) else { continue }
                #expect(page.contains("`outpost \(match.output.2)"), "the table has no row for \(match.output.2)")
            }
        }
    }
}
