import DocumentationPages
import ForeignPrograms
import Foundation
import Testing

/// The shell blocks of a page, played as one session with the tool of the tests.
///
/// A command ends with the code 0, or with the one that its comment `# exit code 3` names. A command that ends with
/// `&` is a server: the next command waits until the port answers.
struct ShellSession {
    let steps: [ShellStep]
    /// The port at which the page serves. The session uses one that the system chooses.
    let port: Int

    /// Plays the session in the folder of a site, and compares the output of each step with the page.
    func play(in site: Site) async throws {
        try site.install()
        let free = try await Command.run(
            "python3", "-c", "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1])"
        ).output.trimmingCharacters(in: .whitespacesAndNewlines)
        try #require(Int(free) != nil, "no free port")
        let path = site.path("session.sh")
        try script(port: free).write(toFile: path, atomically: true, encoding: .utf8)
        let (process, output, _) = site.tool.process([], environment: ["HOME": site.path("home"), "LC_ALL": "C.UTF-8"])
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["bash", path]
        process.currentDirectoryURL = site.directory
        process.standardError = output
        try process.run()
        let printed = await Tool.text(output).replacing(free, with: String(port))
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "the session ended early:\n\(printed)")
        // A control character begins the output of each step.
        let outputs = printed.components(separatedBy: "\u{1E}\n").dropFirst()
        #expect(outputs.count == steps.count)
        for (step, text) in zip(steps, outputs) {
            var lines = text.components(separatedBy: "\n")
            while lines.last?.isEmpty == true { lines.removeLast() }
            let shown = (step.output ?? []).joined(separator: "\n")
            #expect(
                step.shows(lines),
                "after \(step.commands.joined(separator: "; ")) the page shows\n\(shown)\nbut printed was\n\(text)")
        }
    }

    /// The session as a script of bash.
    private func script(port free: String) -> String {
        var lines = [
            "set -euo pipefail", "umask 077", "export PATH=\"$PWD/bin:$PATH\"",
            "trap 'jobs -p | xargs -r kill' EXIT",
        ]
        for step in steps {
            lines.append(#"printf '\036\n'"#)
            for command in step.commands.map({ $0.replacing(String(port), with: free) }) {
                if command.hasSuffix("&") {
                    lines.append(command.dropLast() + ">>server.log 2>&1 &")
                    lines.append(
                        "until (exec 3<>/dev/tcp/127.0.0.1/\(free)) 2>>server.log; do kill -0 $!; sleep 0.1; done")
                } else if let code = command.firstMatch(of: /# exit code (\d+)/)?.1 {
                    lines.append("code=0; { \(command)\n} || code=$?; [ $code -eq \(code) ]")
                } else {
                    lines.append(command)
                }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Site {
    /// Puts the tool and the examples into the folder, at the places that the documentation names.
    fileprivate func install() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: path("bin"), withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: path("bin/outpost"), withDestinationPath: Tool.executable.path)
        try files.createSymbolicLink(
            atPath: path("Examples"), withDestinationPath: Self.root.appendingPathComponent("Examples").path)
    }
}
