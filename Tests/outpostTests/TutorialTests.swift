import DocumentationPages
import Foundation
import Testing

@Suite("The shell sessions of the documentation", .timeLimit(.minutes(5)))
struct TutorialTests {
    @Test("The README has eight lines of shell, and they work")
    func readme() async throws {
        let steps = try DocumentationPage(at: "README.md").shellSteps.filter {
            $0.commands.contains { $0.contains("outpost serve") }
        }
        #expect(steps.map(\.commands.count) == [8])
        try await ShellSession(steps: steps, port: 8080).play(in: Site())
    }

    @Test("A service is taken offline, changed and synchronized as the tutorial says")
    func takeOffline() async throws {
        let site = try Site()
        let page = try DocumentationPage(at: "\(DocumentationPage.guides)/TakeAServiceOffline.md")
        #expect(page.shellSteps.count { $0.output != nil } >= 6)
        try await ShellSession(steps: page.shellSteps, port: 8080).play(in: site)
        // The conflict ended as the tutorial says, and the new customer is at the service.
        #expect(try SQLite.text("SELECT City FROM Customers WHERE CustomerID = 'C0003'", in: site.database) == "Turku")
        #expect(try SQLite.text("SELECT City FROM Customers WHERE CustomerID = 'NEWCO'", in: site.database) == "Oslo")
    }

    @Test("A database is served to a team as the tutorial says")
    func serveTeam() async throws {
        let site = try Site()
        let page = try DocumentationPage(at: "\(DocumentationPage.guides)/ServeATeam.md")
        #expect(page.shellSteps.count { $0.output != nil } >= 6)
        try await ShellSession(steps: page.shellSteps, port: 8443).play(in: site)
        #expect(try SQLite.text("SELECT City FROM Customers WHERE CustomerID = 'C0001'", in: site.database) == "Molde")
        let log = try String(contentsOfFile: site.path("server.log"), encoding: .utf8)
        #expect(log.contains("ann") && log.contains("bob"), "the access log names the users")
        for name in ["ann", "bob"] {
            let password = try String(contentsOfFile: site.path("\(name).password"), encoding: .utf8)
            #expect(!log.contains(password.trimmingCharacters(in: .newlines)))
        }
    }

    @Test("A shell session is read as commands with their output")
    func reading() {
        let page = DocumentationPage(
            """
            ```sh
            one
            two   # exit code 3
            ```
            Text.
            ```text
            output
            ```
            ```swift
            let three = 3
            ```
            ```text
            no output of a command
            ```
            """)
        #expect(page.shellSteps == [ShellStep(commands: ["one", "two   # exit code 3"], output: ["output"])])
        #expect(page.blocks.map(\.language) == ["sh", "text", "swift", "text"])
    }

    @Test("Shown output is compared with the printed lines")
    func comparing() {
        func matches(_ shown: [String], _ printed: [String]) -> Bool {
            ShellStep(commands: [], output: shown).shows(printed)
        }
        #expect(matches(["a  b", "…", "took … s"], ["a b", "x", "y", "took 12 s"]))
        #expect(matches(["…"], []))
        #expect(!matches(["a"], ["a", "b"]))
        #expect(!matches(["a", "b"], ["a"]))
        #expect(!matches(["took … s"], ["took 12 ms, or more"]))
        #expect(!matches(["…", "b"], ["a", "c"]))
        #expect(ShellStep(commands: [], output: nil).shows(["anything"]))
    }
}
