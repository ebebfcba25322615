import ForeignPrograms
import Foundation
import Testing

@testable import outpost

@Suite("The configuration of outpost serve")
struct ServeConfigurationTests {
    /// A file with a text, which others cannot change.
    private static func file(_ text: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("config-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("serve.yaml").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o600)
        return path
    }

    private static func expanded(
        _ given: [String], _ text: String? = nil, _ environment: [String: String] = [:]
    ) throws -> ServeArguments {
        let file = try text.map { ["--config", try Self.file($0)] } ?? []
        return ServeArguments(
            try ServeArguments.expanded(["serve"] + file + given, environment: environment).dropFirst())
    }

    @Test("Options override variables, variables override the file, and the file overrides defaults")
    func precedence() throws {
        let file = "port: 1\nmax-rows: 2\npage-size: 3\nread-only: true\nlog: true\n"
        let variables = ["OUTPOST_SERVE_PORT": "4", "OUTPOST_SERVE_MAX_ROWS": "5", "OUTPOST_SERVE_LOG": "false"]
        let found = try Self.expanded(["x.db", "--port", "6"], file, variables)
        #expect(found.path == "x.db")
        #expect(found.options["port"] == ["6"])
        #expect(found.options["max-rows"] == ["5"])
        #expect(found.options["page-size"] == ["3"])
        #expect(found.options["read-only"] == ["true"])
        #expect(found.options["log"] == nil, "the variable turns off what the file turns on")
        #expect(found.options["host"] == nil)
    }

    @Test("A variable names the file, whose paths are relative to its folder")
    func places() throws {
        let path = try Self.file(
            "path: data.db\ntls: /etc/x.pem\nkey: [A=b, 'C d=e,f']\ntoken-keys: https://x.example/k\n")
        let folder = (path as NSString).deletingLastPathComponent
        let found = ServeArguments(
            try ServeArguments.expanded(["serve"], environment: ["OUTPOST_SERVE_CONFIG": path]).dropFirst())
        #expect(found.path == folder + "/data.db")
        #expect(found.options["tls"] == ["/etc/x.pem"])
        #expect(found.options["key"] == ["A=b", "C d=e,f"])
        #expect(found.options["token-keys"] == ["https://x.example/k"])
        let other = try ServeArguments.expanded(["query", "x"], environment: ["OUTPOST_SERVE_CONFIG": path])
        #expect(other == ["query", "x"], "other commands have no configuration")
    }

    @Test(
        "An error names line and column, and the nearest key",
        arguments: [
            ("port: 80\nmax-row: 5\n", "line 2, column 1", "max-rows"),
            ("port: eighty\n", "line 1, column 7", "number from 0 to 65535"),
            ("port: 65536\n", "line 1, column 7", "number from 0 to 65535"),
            ("log: yes\n", "line 1, column 6", "true or false"),
            ("host: [a, b]\n", "line 1, column 7", "text"),
            ("port: 1\nport: 2\n", "line", "twice"),
            ("- port\n", "line 1, column 1", "key: value"),
            ("host: \"x\n", "line", "unexpected end"),
            ("password: secret-word\n", "line 1, column 1", "password-file"),
        ])
    func errors(text: String, place: String, hint: String) throws {
        let error = #expect(throws: Failure.self) { try Self.expanded(["x.db"], text) }
        let message = "\(error?.message.description ?? "") \(error?.advice?.description ?? "")"
        #expect(message.contains(place) && message.contains(hint), "\(message)")
        #expect(error?.status == .misused)
        #expect(!message.contains("secret-word"), "a value in the wrong place may be a secret")
    }

    @Test("A wrong variable gets a suggestion, and an empty one is ignored")
    func variables() throws {
        let error = #expect(throws: Failure.self) { try Self.expanded(["x.db"], nil, ["OUTPOST_SERVE_PROT": "1"]) }
        #expect(error?.advice?.description.contains("OUTPOST_SERVE_PORT") == true)
        let number = #expect(throws: Failure.self) { try Self.expanded(["x.db"], nil, ["OUTPOST_SERVE_PORT": "x"]) }
        #expect(number?.message.description.contains("OUTPOST_SERVE_PORT") == true)
        #expect(try Self.expanded(["x.db"], nil, ["OUTPOST_SERVE_PORT": "", "OUTPOST_BIN": "x"]).options.isEmpty)
    }

    @Test("A file that others can change is refused")
    func exposed() throws {
        let path = try Self.file("port: 1\n")
        chmod(path, 0o666)
        #expect(throws: Failure.self) {
            try ServeArguments.expanded(["serve", "x.db", "--config", path], environment: [:])
        }
    }

    @Test("Options and values are distinguished like by the argument parser")
    func arguments() {
        let found = ServeArguments([
            "--log", "x.db", "--port=5", "--tls-certificate", "a.pem", "--cors", "a", "--cors", "b",
        ])
        #expect(found.path == "x.db" && found.options["port"] == ["5"] && found.options["tls"] == ["a.pem"])
        #expect(found.options["cors"] == ["a", "b"] && found.options["log"] == ["true"])
        #expect(ServeArguments(["--port", "5", "--", "--x.db"]).path == "--x.db")
        #expect(
            ServeArguments(["--port", "1"]).differences(from: ServeArguments(["--port", "2", "y"])) == ["path", "port"])
    }

    @Test("Every option of the command is a setting with a row in the documentation")
    func complete() throws {
        let help = Serve.helpMessage(columns: 200)
        let options = Set(help.matches(of: /--([a-z-]+)/).map { String($0.1) }).subtracting(["tls-certificate"])
        let names = Set(ServeSetting.all.map(\.name)).subtracting([ServeSetting.path])
        for name in names { #expect(options.contains(name), "\(name) is no option") }
        let own = help[(help.range(of: "OPTIONS:")?.lowerBound ?? help.startIndex)...]
        let declared = Set(
            own.split(separator: "\n").compactMap { line in
                line.firstMatch(of: /^  --([a-z-]+)/).map { String($0.1) }
            }
        ).subtracting(["tls-certificate"])
        #expect(declared.subtracting(names) == ServeSetting.commandLineOnly.intersection(declared))
        let page = try String(
            contentsOf: Site.root.appendingPathComponent(
                "Sources/Protocol/ODataServer/Documentation.docc/OperatingOutpostServe.md"), encoding: .utf8)
        let section = page[(page.range(of: "### The settings")?.upperBound ?? page.startIndex)...]
        let table = section[..<(section.range(of: "\n## ")?.lowerBound ?? section.endIndex)]
        let rows = table.matches(of: /\n\| `([a-z-]+)` \|.*\| (no|file) \|/).map { (String($0.1), $0.2 == "file") }
        #expect(rows.map(\.0) == ServeSetting.all.map(\.name))
        #expect(rows.filter(\.1).map(\.0) == ServeSetting.all.filter(\.isReloaded).map(\.name))
    }
}
