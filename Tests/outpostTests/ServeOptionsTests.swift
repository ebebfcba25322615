import ForeignPrograms
import Foundation
import JWTKit
import Testing

/// The options of `outpost serve`, each as a foreign client sees it.
@Suite struct ServeOptionsTests {
    /// A certificate for this machine with its key, in one file.
    private func certificate(_ site: Site) async throws -> String {
        let (key, chain, both) = (site.path("key.pem"), site.path("chain.pem"), site.path("server.pem"))
        let made = try await Command.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
            "-out", chain)
        #expect(made.status == 0)
        try (String(contentsOfFile: chain, encoding: .utf8) + String(contentsOfFile: key, encoding: .utf8))
            .write(toFile: both, atomically: true, encoding: .utf8)
        return both
    }

    @Test func `--tls serves HTTPS, with HTTP/2 for clients that support it`() async throws {
        let site = try Site()
        let file = try await certificate(site)
        try await site.serve(nil, port: 0, "--tls", file)
        #expect(site.url.hasPrefix("https://"))
        for (option, version) in [("--http2", "2"), ("--http1.1", "1.1")] {
            let answer = try await Command.curl(
                option, "--cacert", site.path("chain.pem"), "--output", "/dev/null", "--write-out",
                "%{http_code} %{http_version}", site.url + "Customers?$top=1")
            #expect(answer == "200 \(version)")
        }
        #expect(try await Command.curl(site.url.replacing("https:", with: "http:")) == "")
    }

    @Test func `--tls-clients accepts only clients with a certificate of these authorities`() async throws {
        let site = try Site()
        let file = try await certificate(site)
        try await site.serve(nil, port: 0, "--tls", file, "--tls-clients", site.path("chain.pem"))
        let known = try await Command.curl(
            "--cacert", site.path("chain.pem"), "--cert", file, site.url + "Customers/$count")
        #expect(Int(known) ?? 0 > 0)
        #expect(try await Command.curl("--cacert", site.path("chain.pem"), site.url) == "")
    }

    @Test func `--auth asks for a user of a file`() async throws {
        let site = try Site()
        try await site.addUsers(["ann": "s3cret:with colon", "zoë": "\u{301}x"])
        try await site.serve(nil, port: 0, "--auth", site.path("users"))
        let url = site.url + "Customers?$top=1"
        func status(_ user: String) async throws -> String {
            try await Command.curl("--user", user, "--output", "/dev/null", "--write-out", "%{http_code}", url)
        }
        #expect(try await status("ann:s3cret:with colon") == "200")
        #expect(try await status("zoë:\u{301}x") == "200", "a mark that combines with the colon")
        for wrong in ["ann:s3cret", "ann:", "eve:s3cret:with colon", ":"] {
            #expect(try await status(wrong) == "401", "\(wrong)")
        }
        let refused = try await Command.curl("--include", url)
        #expect(refused.lowercased().contains("www-authenticate: basic realm="))
        #expect(refused.contains(#"{"error":{"code":"Unauthorized""#))
        #expect(try await Command.curl(site.url + "health") == #"{"status":"pass"}"#)
    }

    @Test(
        "A file of users with no user or a wrong line is refused without repeating it",
        arguments: [
            ("", "names no user"), ("# ann\nhunter2\n", "line 2"), (":hunter2\n", "line 1"),
            ("ann:hunter2\n", "line 1: the password of ann is in plain text"),
            ("# users\n\nann:$2y$05$hunter2\n", "line 3: the password of ann is a digest of another kind"),
            ("ann:{SHA}hunter2\n", "line 1: the password of ann is a digest of another kind"),
            ("bob:\n", "line 1: bob has no password"),
            ("ann:$scrypt$ln=30,r=8,p=1$aHVudGVyMmh1bnRlcjI$aHVudGVyMmh1bnRlcjI\n", "a cost such as ln=15,r=8,p=3"),
        ])
    func unusableUsers(_ text: String, _ message: String) async throws {
        let site = try Site()
        try SQLite.execute("CREATE TABLE T (ID INTEGER PRIMARY KEY)", in: site.database)
        try text.write(toFile: site.path("users"), atomically: true, encoding: .utf8)
        chmod(site.path("users"), 0o600)
        // At an address that is not this machine's, so that it would end in any case.
        let result = try await site.tool.run(
            "serve", site.database, "--host", "192.0.2.1", "--auth", site.path("users"))
        #expect(result.code != 0)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(!result.errors.contains("hunter2"))
        #expect(result.errors.contains("outpost users add"), "\(result.errors)")
    }

    @Test func `--page-size 0 gives all rows of a metadata document in one page`() async throws {
        let site = try Site()
        try """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Items" EntityType="Shop.Item"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """.write(toFile: site.path("model.xml"), atomically: true, encoding: .utf8)
        let rows = (1...1001).map { "{\"ID\":\($0)}" }.joined(separator: ",")
        try "{\"Items\":[\(rows)]}".write(toFile: site.path("rows.json"), atomically: true, encoding: .utf8)
        try await site.serve(path: site.path("model.xml"), "--rows", site.path("rows.json"), "--page-size", "0")
        let answer = try await Command.curl(site.url + "Items")
        #expect(answer.contains("\"ID\":1001") && !answer.contains("nextLink"), "\(answer.suffix(200))")
    }

    @Test("Options that do not fit the served data are refused")
    func useless() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone, "--query", "c=Categories").code == 0)
        try "<edmx:Edmx/>".write(toFile: site.path("model.xml"), atomically: true, encoding: .utf8)
        for (path, arguments) in [
            (clone, ["--rows", "rows.json"]), (clone, ["--track"]), (clone, ["--key", "a=b"]),
            (site.path("model.xml"), ["--track"]), (site.path("model.xml"), ["--key", "a=b"]),
            (site.database, ["--rows", "rows.json"]), (site.database, ["--print-token"]),
        ] {
            // At an address that is not this machine's, so that it would end in any case.
            let result = try await site.tool.run(["serve", path, "--host", "192.0.2.1"] + arguments)
            #expect(result.code == 2 && result.errors.contains("\(arguments[0]) goes with"), "\(result.errors)")
        }
    }

    @Test("The service does not start with an empty password")
    func emptyPassword() async throws {
        let site = try Site()
        try SQLite.execute("CREATE TABLE T (ID INTEGER PRIMARY KEY)", in: site.database)
        try "\n".write(toFile: site.path("empty"), atomically: true, encoding: .utf8)
        // At an address that is not this machine's, so that it would end in any case.
        let result = try await site.tool.run(
            "serve", site.database, "--host", "192.0.2.1", "--user", "ada", "--password-file", site.path("empty"))
        #expect(result.code == 2 && result.errors.contains("empty is empty"), "\(result.errors)")
    }

    @Test func `--token-issuer accepts tokens that the issuer signed`() async throws {
        struct Claims: JWTPayload {
            var iss = "https://login.example/"
            var aud = "shop"
            var sub = "ann"
            var exp = Date().timeIntervalSince1970 + 600
            func verify(using algorithm: some JWTAlgorithm) throws {}
        }
        let site = try Site()
        let key = ES256PrivateKey()
        let signer = await JWTKeyCollection().add(ecdsa: key, kid: "k1")
        let parameters = try #require(key.publicKey.parameters)
        try """
        {"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","kid":"k1","x":"\(parameters.x)","y":"\(parameters.y)"}]}
        """.write(toFile: site.path("keys.json"), atomically: true, encoding: .utf8)
        try await site.serve(
            nil, port: 0, "--token-issuer", "https://login.example/", "--token-audience", "shop", "--token-keys",
            site.path("keys.json"))
        let url = site.url + "Customers/$count"
        let token = try await signer.sign(Claims(), kid: "k1")
        #expect(Int(try await Command.curl("--header", "Authorization: Bearer \(token)", url)) ?? 0 > 0)
        let other = try await signer.sign(Claims(aud: "other"), kid: "k1")
        let refused = try await Command.curl("--include", "--header", "Authorization: Bearer \(other)", url)
        #expect(refused.hasPrefix("HTTP/1.1 401"))
        #expect(refused.lowercased().contains("www-authenticate: bearer"))
    }

    /// The kinds of served files that are read-only by default.
    enum Source: CaseIterable { case database, clone, model }

    @Test(arguments: Source.allCases)
    func `--read-only answers, and refuses every change, in batches too`(_ source: Source) async throws {
        let site = try Site()
        switch source {
        case .database: try await site.serve(nil, port: 0, "--read-only")
        case .clone:
            try await site.serve()
            let clone = try await site.tool.run("clone", site.url, site.path("clone"), "--all")
            #expect(clone.code == 0, "\(clone.errors)")
            site.stop()
            try await site.serve(path: site.path("clone"), "--read-only", "--open")
        case .model:
            try """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="N"><EntityType Name="Customer"><Key>
            <PropertyRef Name="CustomerID"/></Key><Property Name="CustomerID" Type="Edm.String" Nullable="false"/>
            <Property Name="CompanyName" Type="Edm.String"/><Property Name="Country" Type="Edm.String"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Customers" EntityType="N.Customer"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """.write(toFile: site.path("model.xml"), atomically: true, encoding: .utf8)
            try #"{"Customers":[{"CustomerID":"A","CompanyName":"B"}]}"#.write(
                toFile: site.path("rows.json"), atomically: true, encoding: .utf8)
            try await site.serve(path: site.path("model.xml"), "--rows", site.path("rows.json"), "--read-only")
        }
        let count = try await Command.curl(site.url + "Customers/$count")
        #expect(Int(count) ?? 0 > 0, "\(count)")
        let new = #"{"CustomerID":"NEWCO","CompanyName":"New","Country":"Norway"}"#
        let json = "Content-Type: application/json"
        for root in [site.url, site.url + "v2/"] {
            let refused = try await Command.curl(
                "--include", "--header", json, "--data", new, root + "Customers")
            #expect(refused.hasPrefix("HTTP/1.1 405"), "\(refused.prefix(200))")
        }
        let batch = try await Command.curl(
            "--header", json, "--data",
            #"""
            {"requests":[{"id":"1","method":"POST","url":"Customers","headers":{"content-type":"application/json"},
            "body":\#(new)},{"id":"2","method":"GET","url":"Customers/$count"},
            {"id":"3","dependsOn":["1"],"method":"GET","url":"Customers/$count"}]}
            """#, site.url + "$batch")
        let answers = try #require(
            try JSONSerialization.jsonObject(with: Data(batch.utf8)) as? [String: [[String: Any]]])
        #expect(answers["responses"]?.compactMap { $0["status"] as? Int } == [405, 200, 424], "\(batch)")
        #expect(try await Command.curl(site.url + "Customers/$count") == count)
        let metadata = try await Command.curl(site.url + "$metadata")
        #expect(metadata.contains(#"Property="Insertable" Bool="false""#), "\(metadata.prefix(3000))")
    }

    @Test func `--log writes a line for each request, with the caller and without the query`() async throws {
        let site = try Site()
        try await site.addUsers(["ann": "s3cret"])
        try await site.serve(nil, port: 0, "--log", "--auth", site.path("users"))
        _ = try await Command.curl(
            "--user", "ann:s3cret", "--header", "X-Request-ID: r-1",
            site.url + "Customers?$filter=Country%20eq%20'Norway'")
        _ = try await Command.curl("--user", "ann:wr0ng", site.url + "Orders")
        site.stop()
        let log = site.errors
        let lines = log.split(separator: "\n").filter { $0.contains("GET ") }
        #expect(lines.count == 2, "\(log)")
        #expect(lines.first?.contains("GET /Customers") == true && lines.first?.contains("status=200") == true)
        #expect(lines.first?.contains("user=ann") == true && lines.first?.contains("request=r-1") == true)
        #expect(lines.last?.contains("GET /Orders") == true && lines.last?.contains("status=401") == true)
        for secret in ["s3cret", "wr0ng", "Norway", "YW5u"] { #expect(!log.contains(secret)) }
    }

    @Test func `--base-url leads all links back through a proxy, of pages, deltas and V2`() async throws {
        let site = try Site()
        let outside = "https://api.example/shop/"
        try await site.serve(nil, port: 0, "--base-url", outside, "--page-size", "2")
        let json = try await Command.curl("--header", "Prefer: track-changes", site.url + "Customers?$select=City")
        #expect(json.contains("\"\(outside)$metadata#Customers"))
        // The proxy takes its part of the path away.
        var link = try #require(json.firstMatch(of: /nextLink":"([^"]+)"/)).1
        var last = ""
        while link.hasPrefix(outside) {
            last = try await Command.curl(site.url + link.dropFirst(outside.count))
            guard let next = last.firstMatch(of: /nextLink":"([^"]+)"/) else { break }
            link = next.1
        }
        let delta = try #require(last.firstMatch(of: /deltaLink":"([^"]+)"/), "\(last.prefix(300))").1
        #expect(delta.hasPrefix(outside))
        let changes = try await Command.curl(site.url + delta.dropFirst(outside.count))
        #expect(changes.contains("\"\(outside)$metadata#Customers") && changes.contains("/$delta"), "\(changes)")
        let feed = try await Command.curl(site.url + "v2/Customers")
        let next = try #require(feed.firstMatch(of: /rel="next" href="([^"]+)"/), "\(feed.prefix(500))").1
        #expect(next.hasPrefix(outside + "v2/Customers?"))
        let old = try await Command.curl(site.url + "v2/Customers?$format=json")
        #expect(try #require(old.firstMatch(of: /"__next":"([^"]+)"/)).1.hasPrefix(outside + "v2/Customers?"))
        let second = try await Command.curl(
            site.url + next.dropFirst(outside.count).replacing("&amp;", with: "&"))
        #expect(second.contains("<entry"), "\(second.prefix(300))")
    }

    @Test(arguments: ["", "v2/"])
    func `--trust-proxy believes Forwarded, and nothing else does`(_ root: String) async throws {
        let site = try Site()
        let fields = [
            ["--header", "Forwarded: for=192.0.2.1;proto=https;host=api.example"],
            ["--header", "X-Forwarded-Proto: https", "--header", "X-Forwarded-Host: api.example"],
        ]
        try await site.serve(nil, port: 0, "--trust-proxy", "--page-size", "2", "--host-name", "api.example")
        for fields in fields {
            let page = try await Command.curl(fields + [site.url + root + "Customers?$format=json"])
            #expect(page.contains("https://api.example/\(root)Customers?"), "\(page.prefix(500))")
            #expect(!page.contains(":\(site.port)/"))
        }
        site.stop()
        try await site.serve(nil, port: 0, "--page-size", "2")
        for fields in fields {
            let page = try await Command.curl(fields + [site.url + root + "Customers?$format=json"])
            #expect(!page.contains("api.example"))
        }
    }

    @Test("A host name from a proxy is refused unless --host-name allows it", arguments: ["", "v2/"])
    func forwardedNames(_ root: String) async throws {
        let site = try Site()
        try await site.serve(nil, port: 0, "--trust-proxy")
        for field in ["Forwarded: host=attacker.example", "X-Forwarded-Host: attacker.example"] {
            let answer = try await Command.curl(
                "--header", field, "--write-out", "|%{http_code}", site.url + root + "Customers?$format=json")
            #expect(answer.hasSuffix("|421") && !answer.contains("attacker"), "\(answer)")
        }
    }

    @Test func `--csrf wants a token with each change, as SAP's gateways do`() async throws {
        let site = try Site()
        try await site.serve(nil, port: 0, "--csrf")
        let change = [
            "--request", "DELETE", "--header", "If-Match: *", "--output", "/dev/null", "--write-out", "%{http_code}",
        ]
        let url = site.url + "v2/Customers('NOBODY')"
        #expect(try await Command.curl(change + [url]) == "403")
        let head = try await Command.curl(
            "--head", "--header", "X-CSRF-Token: Fetch", "--cookie-jar", site.path("jar"), site.url + "v2/")
        let token = try #require(head.firstMatch(of: /(?i)x-csrf-token: (\w+)/)).1
        let allowed = change + ["--header", "X-CSRF-Token: \(token)", "--cookie", site.path("jar"), url]
        // A missing resource has no state that could match.
        #expect(try await Command.curl(allowed) == "412")
    }

    @Test func `--help shows examples`() async throws {
        let help = try await Tool(home: FileManager.default.temporaryDirectory).run("serve", "--help")
        #expect(help.code == 0)
        for text in ["EXAMPLE", "--tls", "--auth", "--read-only", "--log", "--base-url", "outpost serve northwind.db"] {
            #expect(help.output.contains(text), "\(text)")
        }
    }
}
