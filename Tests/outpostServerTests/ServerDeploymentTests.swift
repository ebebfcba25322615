import ForeignPrograms
import Foundation
import Testing

/// The files of the folder `Deployment` for the mobile server.
@Suite("The files for an installation of the mobile server")
struct ServerDeploymentTests {
    private static let folder = ServerTool.root.appendingPathComponent("Deployment")

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    private static func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await Command.run(arguments, includesErrors: true)
    }

    private static func isThere(_ program: String) async throws -> Bool {
        try await Command.run("sh", "-c", "command -v \(program)").status == 0
    }

    @Test("The tool reads the example configuration")
    func example() async throws {
        let tool = try ServerTool()
        let file = Self.folder.appendingPathComponent("server.yaml").path
        let checked = try await tool.run("check", "--config", file, "--data", tool.data)
        #expect(checked.code == 0, "\(checked.output)\(checked.errors)")
    }

    @Test("systemd accepts the unit")
    func unit() async throws {
        guard try await Self.isThere("systemd-analyze") else { return print("Skipped: systemd-analyze is not there.") }
        let tool = try ServerTool()
        let unit = try Self.text("outpost-server.service")
            .replacing("/usr/local/bin/outpost-server", with: ServerTool.executable.path)
            .replacing("=outpost\n", with: "=root\n")
        let path = try tool.write(unit, to: "outpost-server.service")
        let checked = try await Self.run("systemd-analyze", "verify", path)
        #expect(checked.status == 0 && !checked.output.contains("outpost-server.service:"), "\(checked.output)")
    }

    @Test("The commands of the Dockerfile work in a fresh system")
    func dockerfile() async throws {
        let steps = try Self.text("Dockerfile.server").replacing("\\\n", with: " ").split(separator: "\n")
            .map(String.init).filter { !$0.hasPrefix("#") && !$0.isEmpty }
        let known: Set = [
            "FROM", "RUN", "COPY", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT", "CMD",
        ]
        for step in steps { #expect(known.contains(String(step.prefix { $0 != " " })), "\(step)") }
        guard getuid() == 0 else { return print("Skipped: a fresh system needs root.") }
        guard try await Self.isThere("debootstrap") else { return print("Skipped: debootstrap is not there.") }
        let tool = try ServerTool()
        let root = tool.path("root")
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
                    words[1] == "outpost-server"
                    ? ServerTool.executable.path : Self.folder.appendingPathComponent(words[1]).path
                let copied = try await Self.run("install", "-D", "-m", "755", source, root + words[2])
                #expect(copied.status == 0, "\(step): \(copied.output)")
            default: continue
            }
        }
        let home = try await Self.run(
            "chroot", "--userspec=outpost", root, "sh", "-c", "touch /var/lib/outpost-server/x")
        #expect(home.status == 0, "the user of the service writes in its folder: \(home.output)")
        // A tool that was built for tests needs the libraries of the compiler, which the image does not have.
        let missing = try await Self.run("chroot", root, "ldd", "/usr/local/bin/outpost-server")
        let others = missing.output.split(separator: "\n").filter { line in
            line.contains("not found")
                && !["libswift", "Foundation", "dispatch", "BlocksRuntime", "lib_"].contains { line.contains($0) }
        }
        #expect(others.isEmpty, "\(others)")
    }

    @Test("The installation contains the server, its manual pages and its completions")
    func installation() async throws {
        let tool = try ServerTool()
        let outpost = ServerTool.executable.deletingLastPathComponent().appendingPathComponent("outpost").path
        let installed = try await Self.run(
            "env", "PREFIX=/opt/outpost", "DESTDIR=\(tool.path("stage"))", "TOOL=\(outpost)",
            "SERVER=\(ServerTool.executable.path)", "SOURCE_DATE_EPOCH=86400",
            ServerTool.root.appendingPathComponent("scripts/install.sh").path)
        #expect(installed.status == 0, "\(installed.output)")
        let target = tool.path("stage/opt/outpost")
        #expect(FileManager.default.isExecutableFile(atPath: "\(target)/bin/outpost-server"))
        for page in ["outpost-server", "outpost-server-run", "outpost-server-user-add"] {
            let text = try String(contentsOfFile: "\(target)/share/man/man1/\(page).1", encoding: .utf8)
            #expect(text.contains(".SH SYNOPSIS"), "\(page)")
        }
        let zsh = try String(contentsOfFile: "\(target)/share/zsh/site-functions/_outpost-server", encoding: .utf8)
        #expect(zsh.hasPrefix("#compdef outpost-server"))
    }

    @Test("The tool outpost does not link libpq")
    func libraries() async throws {
        let linked = try await Self.run(
            "ldd", ServerTool.executable.deletingLastPathComponent().appendingPathComponent("outpost").path)
        #expect(linked.status == 0 && !linked.output.contains("libpq"))
    }
}
