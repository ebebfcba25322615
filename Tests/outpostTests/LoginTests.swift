import Foundation
import ForeignPrograms
import Synchronization
import Testing

@Suite("Signing in with OAuth 2")
struct LoginTests {
    /// A program in the place of a browser: curl follows the redirects, and writes its results to files.
    private func browserProgram(_ site: Site, _ more: String = "") throws -> [String: String] {
        let path = site.path("browser")
        let script = """
            #!/bin/sh
            echo "$1" > '\(site.path("arguments"))'
            landing=$(curl -sL -o '\(site.path("page"))' -w '%{url_effective}' "$1")
            echo "$landing" > '\(site.path("landing"))'
            \(more)
            """
        try script.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        return ["BROWSER": path]
    }

    private func text(_ site: Site, _ name: String) throws -> String {
        try String(contentsOfFile: site.path(name), encoding: .utf8)
    }

    /// Looks for a text in all files of the account, such as tokens in the clear.
    private func files(of site: Site, containing text: String) -> [String] {
        let bytes = Data(text.utf8)
        let files = FileManager.default.enumerator(at: site.directory, includingPropertiesForKeys: nil)
        var found: [String] = []
        while let file = files?.nextObject() as? URL {
            if let data = try? Data(contentsOf: file), data.range(of: bytes) != nil { found.append(file.path) }
        }
        return found
    }

    private func signIn(_ site: Site, _ url: String) async throws {
        let login = try await site.tool.run("login", url, "--client-id", "app", "--device")
        try #require(login.code == 0, "\(login.errors)")
    }

    @Test("With a code on another device, polling continues until tokens arrive, which serve a clone")
    func device() async throws {
        let site = try Site()
        let provider = IdentityProvider()
        provider.set { $0.deviceErrors = ["authorization_pending", "slow_down"] }
        try await provider.serving { url in
            let start = ContinuousClock.now
            let login = try await site.tool.run("login", url, "--client-id", "app", "--device", "--json")
            #expect(login.code == 0, "\(login.errors)")
            #expect(ContinuousClock.now - start > .seconds(7))
            #expect(login.errors.contains("WDJB-MJHT"))
            #expect(login.errors.contains("/enter"))
            let report = try JSONSerialization.jsonObject(with: Data(login.output.utf8)) as? [String: Any]
            #expect(report?["renews"] as? Bool == true)
            #expect(url.hasPrefix(report?["service"] as? String ?? "-"))
            let clone = try await site.tool.run("clone", url, site.path("clone"))
            #expect(clone.code == 0, "\(clone.errors)")
            for command in ["pull", "push", "sync", "status"] {
                let result = try await site.tool.run(command, site.path("clone"))
                #expect(result.code == 0, "\(command): \(result.errors)")
            }
            let metadata = try await site.tool.run("metadata", "show", url)
            #expect(metadata.code == 0, "\(metadata.errors)")
            #expect(provider.state.withLock { $0.refreshes } == 0)
            let shown = login.output + login.errors + clone.output + clone.errors
            #expect(!shown.contains("s3cret"))
            #expect(!shown.contains("device-code-1"))
            #expect(files(of: site, containing: "s3cret") == [])
            #expect(files(of: site, containing: "device-code-1") == [])
        }
    }

    @Test(
        "A code that is refused or expires ends the command with an advice",
        arguments: [("access_denied", "access_denied"), ("expired_token", "in time")])
    func refusedDevice(error: String, message: String) async throws {
        let site = try Site()
        let provider = IdentityProvider()
        provider.set { $0.deviceErrors = [error] }
        try await provider.serving { url in
            let login = try await site.tool.run("login", url, "--client-id", "app", "--device")
            #expect(login.code == 1)
            #expect(login.errors.contains(message), "\(login.errors)")
            #expect(login.errors.contains("run the same command"))
            #expect(!login.errors.contains("device-code-1"))
            #expect(try await site.tool.run("logout", url).code == 1)
        }
    }

    @Test("With a local browser, the program sees no secret, and the page repeats nothing")
    func browser() async throws {
        let site = try Site()
        let provider = IdentityProvider()
        try await provider.serving { url in
            // The second request with the same address is refused, or finds no listener.
            let again = "curl -s -o '\(site.path("second"))' -w '%{http_code}' \"$landing\" > '\(site.path("status"))'"
            let login = try await site.tool.run(
                "login", url, "--client-id", "app", "--browser", environment: try browserProgram(site, again))
            #expect(login.code == 0, "\(login.errors)")
            #expect(login.output.contains("Signed in"))
            let arguments = try text(site, "arguments")
            #expect(!arguments.contains("state"))
            #expect(!arguments.contains("challenge"))
            let landing = try text(site, "landing")
            #expect(landing.hasPrefix("http://127.0.0.1:"))
            let page = try text(site, "page")
            #expect(page.contains("close this page"))
            #expect(!page.contains("code-"))
            #expect(!page.contains("iss"))
            let metadata = try await site.tool.run("metadata", "show", url)
            #expect(metadata.code == 0, "\(metadata.errors)")
            try await Task.sleep(for: .seconds(1))
            #expect(try ["410", "000"].contains(text(site, "status")))
        }
    }

    @Test("A redirect of another sign-in or server stores nothing", arguments: [true, false])
    func wrongRedirect(isState: Bool) async throws {
        let site = try Site()
        let provider = IdentityProvider()
        provider.set { state in
            state.sendsWrongState = isState
            state.sendsWrongIssuer = !isState
        }
        try await provider.serving { url in
            let login = try await site.tool.run(
                "login", url, "--client-id", "app", "--browser", environment: try browserProgram(site))
            #expect(login.code == 1)
            #expect(login.errors.contains("Nothing was kept"), "\(login.errors)")
            #expect(provider.state.withLock { !$0.paths.contains("/token") })
            #expect(try await site.tool.run("metadata", "show", url).code == 1)
        }
    }

    @Test("Two concurrent commands renew an expired token once")
    func rotation() async throws {
        let site = try Site()
        let provider = IdentityProvider()
        provider.set { $0.lifetime = 1 }
        try await provider.serving { url in
            try await signIn(site, url)
            provider.set { $0.lifetime = 3600 }
            try await Task.sleep(for: .seconds(2))
            let tool = site.tool
            async let first = tool.run("metadata", "show", url)
            async let second = tool.run("metadata", "show", url)
            let results = try await [first, second]
            #expect(results.map(\.code) == [0, 0], "\(results.map(\.errors))")
            #expect(provider.state.withLock { $0.refreshes } == 1)
        }
    }

    @Test("A refused token is renewed, and a revoked sign-in asks for outpost login")
    func revoked() async throws {
        let site = try Site()
        let provider = IdentityProvider()
        try await provider.serving { url in
            try await signIn(site, url)
            provider.set { $0.accessTokens = [] }
            #expect(try await site.tool.run("metadata", "show", url).code == 0)
            let clone = site.path("clone")
            #expect(try await site.tool.run("clone", url, clone).code == 0)
            provider.set { state in
                state.accessTokens = []
                state.refreshToken = nil
            }
            for command in [["metadata", "show", url], ["pull", clone]] {
                let result = try await site.tool.run(command)
                #expect(result.code == 1)
                #expect(result.errors.contains("outpost login"), "\(command): \(result.errors)")
                #expect(!result.errors.contains("s3cret"))
            }
        }
    }

    @Test("Logging out revokes the tokens and removes them")
    func logout() async throws {
        let site = try Site()
        let provider = IdentityProvider()
        try await provider.serving { url in
            #expect(try await site.tool.run("logout", url).code == 1)
            try await signIn(site, url)
            let refreshToken = provider.state.withLock { $0.refreshToken }
            let logout = try await site.tool.run("logout", url, "--json")
            #expect(logout.code == 0, "\(logout.errors)")
            #expect(logout.output.contains("\"revoked\" : true"))
            #expect(provider.state.withLock { $0.revoked } == [refreshToken].compactMap { $0 })
            let result = try await site.tool.run("metadata", "show", url)
            #expect(result.code == 1)
            #expect(result.errors.contains("outpost login"))
        }
    }

    @Test("Ctrl-C stops waiting and stores nothing")
    func interrupted() async throws {
        let site = try Site()
        let provider = IdentityProvider()
        provider.set { $0.deviceErrors = Array(repeating: "authorization_pending", count: 1_000) }
        try await provider.serving { url in
            let (process, output, errors) = site.tool.process(["login", url, "--client-id", "app", "--device"])
            try process.run()
            // The code is on the third line.
            for _ in 0..<3 { _ = await Tool.line(of: errors) }
            process.interrupt()
            async let rest = Tool.text(errors)
            _ = await Tool.text(output)
            #expect(await rest.contains("given up"))
            process.waitUntilExit()
            #expect(process.terminationStatus == 1)
            #expect(process.terminationReason == .exit)
        }
    }

    @Test(
        "Addresses without TLS and conflicting options are refused",
        arguments: [
            (["http://service.example/"], "https"), (["https://u:p@service.example/"], "not the address"),
            (["nonsense"], "not the address"),
            (["https://service.example/", "--device", "--browser"], "exclude"),
            (
                ["https://service.example/", "--issuer", "https://a.example", "--token-url", "https://b.example"],
                "exclude"
            ),
            (["https://service.example/", "--token-url", "https://b.example"], "goes together"),
            (
                [
                    "https://service.example/", "--client-id", "x", "--token-url", "http://b.example/t", "--device-url",
                    "https://b.example/d",
                ], "https"
            ), (["https://service.example/"], "--client-id"),
        ] as [([String], String)])
    func misused(arguments: [String], message: String) async throws {
        let site = try Site()
        let result = try await site.tool.run(["login"] + arguments)
        #expect(result.code != 0)
        #expect(result.errors.contains(message), "\(result.errors)")
    }

    @Test("An app secret is sent only to a named server")
    func clientSecret() async throws {
        let site = try Site()
        try "app s3cret".write(toFile: site.path("secret"), atomically: true, encoding: .utf8)
        let provider = IdentityProvider()
        try await provider.serving { url in
            let options = ["--client-id", "app", "--client-secret-file", site.path("secret"), "--device"]
            let login = try await site.tool.run(["login", url] + options)
            #expect(login.code == 2, "\(login.errors)")
            #expect(login.errors.contains("--issuer"))
            let issuer = String(url.dropLast("/service/".count))
            #expect(try await site.tool.run(["login", url, "--issuer", issuer] + options).code == 0)
        }
    }

    @Test("A service without a sign-in gets no token of another one")
    func otherOrigin() async throws {
        let site = try Site()
        let provider = IdentityProvider()
        let other = IdentityProvider()
        try await provider.serving { url in
            try await signIn(site, url)
            try await other.serving { otherURL in
                // The other provider would take the token, which it shares with the first one.
                let tokens = provider.state.withLock { $0.accessTokens }
                other.state.withLock { $0.accessTokens = tokens }
                let refused = try await site.tool.run("metadata", "show", otherURL)
                let shown = try await site.tool.run("metadata", "show", url)
                #expect(refused.code == 1)
                #expect(shown.code == 0)
            }
        }
    }
}
