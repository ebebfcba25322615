import ForeignPrograms
import Foundation
import Testing

/// The files of the folder `Deployment`.
@Suite("The files for an operator")
struct DeploymentTests {
    private static let folder = Site.root.appendingPathComponent("Deployment")

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    private static func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await Command.run(arguments, includesErrors: true)
    }

    private static func isThere(_ program: String) async throws -> Bool {
        try await Command.run("sh", "-c", "command -v \(program)").status == 0
    }

    @Test("The tool reads the example files")
    func examples() async throws {
        let site = try Site()
        try SQLite.execute(
            "CREATE TABLE Orders (ID INTEGER PRIMARY KEY, Owner TEXT); CREATE TABLE Products (ID INTEGER PRIMARY KEY);",
            in: site.path("data.db"))
        for name in ["serve.yaml", "rights.yaml"] {
            let text = try Self.text(name).replacing("/var/lib/outpost/", with: "")
                .replacing("# rights:", with: "rights:")
            try text.write(toFile: site.path(name), atomically: true, encoding: .utf8)
        }
        let checked = try await site.tool.run("serve", "--config", site.path("serve.yaml"), "--check")
        #expect(checked.code == 0, "\(checked.errors)")
    }

    @Test("systemd accepts the unit")
    func unit() async throws {
        guard try await Self.isThere("systemd-analyze") else { return print("Skipped: systemd-analyze is not there.") }
        let site = try Site()
        let unit = try Self.text("outpost-serve.service")
            .replacing("/usr/local/bin/outpost", with: Tool.executable.path).replacing("=outpost\n", with: "=root\n")
        try unit.write(toFile: site.path("outpost-serve.service"), atomically: true, encoding: .utf8)
        let checked = try await Self.run("systemd-analyze", "verify", site.path("outpost-serve.service"))
        #expect(checked.status == 0 && !checked.output.contains("outpost-serve.service:"), "\(checked.output)")
    }

    @Test("The commands of the Dockerfile work in a fresh system")
    func dockerfile() async throws {
        let steps = try Self.text("Dockerfile").replacing("\\\n", with: " ").split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("#") && !$0.isEmpty }
        let known: Set = [
            "FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT", "CMD",
        ]
        for step in steps { #expect(known.contains(String(step.prefix { $0 != " " })), "\(step)") }
        guard getuid() == 0 else { return print("Skipped: a fresh system needs root.") }
        guard try await Self.isThere("debootstrap") else { return print("Skipped: debootstrap is not there.") }
        let site = try Site()
        let root = site.path("root")
        let release = steps[0].firstMatch(of: /FROM debian:(\w+)-slim/).map { String($0.1) }
        let made = try await Self.run("debootstrap", "--variant=minbase", try #require(release), root)
        guard made.status == 0 else { return print("Skipped: debootstrap reaches no packages.") }
        for step in steps {
            let words = step.split(separator: " ").map(String.init)
            switch words[0] {
            case "RUN":
                let ran = try await Self.run("chroot", root, "sh", "-c", step.dropFirst(4).description)
                #expect(ran.status == 0, "\(step): \(ran.output)")
            case "COPY":
                let source =
                    words[1] == "outpost" ? Tool.executable.path : Self.folder.appendingPathComponent(words[1]).path
                let copied = try await Self.run("install", "-D", "-m", "755", source, root + words[2])
                #expect(copied.status == 0, "\(step): \(copied.output)")
            default: continue
            }
        }
        let home = try await Self.run("chroot", "--userspec=outpost", root, "sh", "-c", "touch /var/lib/outpost/x")
        #expect(home.status == 0, "the user of the service writes in its folder: \(home.output)")
        // A tool that was built for tests needs the libraries of the compiler, which the image does not have.
        let missing = try await Self.run("chroot", root, "ldd", "/usr/local/bin/outpost")
        let others = missing.output.split(separator: "\n").filter {
            $0.contains("not found") && !$0.contains("libswift") && !$0.contains("Foundation")
                && !$0.contains("dispatch")
                && !$0.contains("BlocksRuntime") && !$0.contains("lib_")
        }
        #expect(others.isEmpty, "\(others)")
    }
}
