import Foundation
import Testing

@Suite("The log of the tool and its export")
struct ToolLogSecretTests {
    @Test("The log and its export contain no value, key or secret")
    func secrets() async throws {
        let site = try Site()
        let tool = site.tool
        var count = 0
        func secret() -> String {
            count += 1
            return "SECRET\(count)VALUE"
        }
        let words = [
            "Passwort: \(secret())", "Kennwort=\(secret())", "mot de passe : \(secret())", "contraseña=\(secret())",
            "pass=\(secret())", "pw:\(secret())", "code=\(secret())", "password is \(secret())", "password \(secret())",
            "X-Api-Key \(secret())", "token \(secret())", "password:\n\(secret())", "Bearer \(secret())",
            "пароль \(secret())", "パスワード\(secret())",
        ].joined(separator: " ")
        try await HostileService(words: words).serving { url in
            let clone = site.path("clone")
            #expect(try await tool.run("clone", url, clone).code == 0)
            let password = site.path("password")
            try Data(secret().utf8).write(to: URL(fileURLWithPath: password))
            let commands: [[String]] = [
                ["query", clone, "Things?$filter=Name eqq '\(secret())'"],
                ["query", clone, "Things?$filter=Nam eq '\(secret())'"],
                ["query", clone, "Things?$filter=Name eq '\(secret())"], ["query", clone, "Things('\(secret())')"],
                ["query", clone, "Things(\(secret()))"], ["query", clone, "\(secret())(1)"],
                ["query", clone, "Things?$search=\(secret()) AND ("],
                ["query", clone, "Things?\(secret())=\(secret())&$x"],
                ["update", clone, "Things(1)", "ID=\(secret())"], ["update", clone, "Things(1)", "Name\(secret())"],
                ["update", clone, "Things('\(secret())')", "Name=\(secret())"],
                ["create", clone, "Things", "ID=\(secret())", "Name=\(secret())"],
                ["delete", clone, "Things(\(secret()))"], ["query", site.path("password=\(secret())"), "Things"],
                ["clone", "\(url)\(secret())/", site.path("other-\(secret())")],
                ["clone", "http://user:\(secret())@127.0.0.1:1/", site.path("second")],
                ["clone", "http://127.0.0.1:1/?key=\(secret())", site.path("third")],
                ["pull", clone, "--header", "X-Api-Key: \(secret())", "--trace", "high"],
                ["pull", clone, "--option", "key=\(secret())", "--trace", "high"],
                ["pull", clone, "--user", "ann", "--password-file", password],
                ["pull", clone, "--token-file", site.path("no-\(secret())")],
                ["pull", clone, "--set", "employee='\(secret())'", "--only", secret()],
                ["update", clone, "Things(1)", "Name=\(secret())"], ["push", clone], ["push", clone],
                ["errors", "accept", clone, "--key", "1=\(secret())"], ["vault", "open", secret()],
                ["export", clone, "--to", password, "--format", "csv"],
                ["query", clone, "--key-file", password, "Things"],
                ["metadata", "show", site.path(secret())], ["index", clone, "Things", secret()],
            ]
            for command in commands {
                try await tool.run(command, environment: ["OUTPOST_LOG_LEVEL": "debug"])
            }
            var texts = [try await tool.run("log", "--last", "10000").output]
            #expect(texts[0].contains(" outpost.push ") && texts[0].contains("fails"))
            #expect(texts[0].contains("error-code=query."), "the log still tells what was wrong")
            texts.append(try await tool.run("log", "--json", "--last", "10000").output)
            for (name, arguments) in [("a.txt", []), ("a.html", []), ("a.json", ["--json"])] as [(String, [String])] {
                let path = site.path(name)
                #expect(try await tool.run(["log", "--export", path] + arguments).code == 0)
                texts.append(try String(contentsOfFile: path, encoding: .utf8))
            }
            for text in texts {
                let found = text.matches(of: /SECRET\d+VALUE/).map { String($0.output) }
                #expect(found.isEmpty)
            }
        }
    }
}
