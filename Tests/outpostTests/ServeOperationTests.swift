import ForeignPrograms
import Foundation
import Testing

@Suite("A service for several users")
struct ServeOperationTests {
    /// A database of orders that belong to people.
    private static func site() async throws -> Site {
        let site = try Site()
        try SQLite.execute(
            """
            CREATE TABLE Orders (ID INTEGER PRIMARY KEY, Owner TEXT, Freight INTEGER);
            INSERT INTO Orders VALUES (1, 'ann', 10), (2, 'bob', 20), (3, 'bob', 30);
            """, in: site.database)
        try await site.addUsers(["ann": "first", "bob": "second"])
        return site
    }

    private static let own = """
        permissions:
          - role: signed-in
            set: Orders
            verbs: [read, update]
            filter: Owner eq @user

        """

    private static func write(_ text: String, to path: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o600)
    }

    private static func ids(_ url: String, _ user: String) async throws -> [Int] {
        let answer = try await Command.curl("--user", user, url)
        return answer.matches(of: /"ID":(\d+)/).compactMap { Int($0.1) }
    }

    private static func status(_ arguments: String...) async throws -> String {
        try await Command.run(
            ["curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}"] + arguments
        ).output
    }

    private static func eventually(_ isTrue: () async throws -> Bool) async throws -> Bool {
        for _ in 0..<100 {
            if try await isTrue() { return true }
            try await Task.sleep(for: .milliseconds(100))
        }
        return false
    }

    @Test("Rights decide by user and row, in V4, V2 and batches")
    func rights() async throws {
        let site = try await Self.site()
        try Self.write(Self.own, to: site.path("rights.yaml"))
        try await site.serve(path: site.database, "--auth", site.path("users"), "--rights", site.path("rights.yaml"))
        #expect(try await Self.ids(site.url + "Orders", "ann:first") == [1])
        #expect(try await Self.ids(site.url + "Orders", "bob:second") == [2, 3])
        let old = try await Command.curl("--user", "ann:first", site.url + "v2/Orders?$format=json")
        #expect(old.contains("ann") && !old.contains("bob"))
        let batch =
            #"{"requests":[{"id":"1","method":"get","url":"Orders"},{"id":"2","method":"get","url":"Orders(2)"}]}"#
        let answer = try await Command.curl(
            "--user", "ann:first", "--header", "Content-Type: application/json", "--data", batch, site.url + "$batch")
        #expect(answer.contains("ann") && !answer.contains("bob") && answer.contains("404"))
        let change = try await Self.status(
            "--user", "ann:first", "--request", "PATCH", "--header", "Content-Type: application/json", "--data",
            #"{"Freight":1}"#, site.url + "Orders(2)")
        #expect(change == "404")
    }

    @Test("SIGHUP reloads users and rights, and a wrong file keeps the former ones")
    func reload() async throws {
        let site = try await Self.site()
        let (rights, users) = (site.path("rights.yaml"), site.path("users"))
        try Self.write(Self.own, to: rights)
        try await site.serve(path: site.database, "--auth", users, "--rights", rights)
        #expect(try await Self.ids(site.url + "Orders", "ann:first") == [1])

        try Self.write(Self.own.replacing("Owner eq @user", with: "Ownr eq @user"), to: rights)
        site.signal(SIGHUP)
        let log = { try String(contentsOfFile: site.path("serve.log"), encoding: .utf8) }
        #expect(try await Self.eventually { try log().contains("not reloaded") })
        #expect(try log().contains("line 5, column 13"))
        #expect(try await Self.ids(site.url + "Orders", "ann:first") == [1])

        try Self.write(Self.own.replacing("Owner eq @user", with: "Freight gt 15"), to: rights)
        _ = try await site.tool.run("users", "remove", users, "bob")
        try await site.addUsers(["ann": "third"])
        site.signal(SIGHUP)
        #expect(try await Self.eventually { try await Self.ids(site.url + "Orders", "ann:third") == [2, 3] })
        #expect(try await Self.status("--user", "bob:second", site.url) == "401")
        #expect(try await Self.status("--user", "ann:first", site.url) == "401")
        #expect(try !["first", "second", "third", "$scrypt"].contains { try log().contains($0) })
    }

    @Test("SIGHUP uses a new certificate for new connections, and no invalid one")
    func certificate() async throws {
        let site = try await Self.site()
        func make(_ name: String) async throws {
            let made = try await Command.run(
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-days",
                "2", "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", site.path("key.pem"),
                "-out", site.path("chain.pem"))
            #expect(made.status == 0)
        }
        func name() async throws -> String {
            let port = site.url.split(separator: ":").last?.filter(\.isNumber) ?? ""
            let shown = try await Command.run(
                "sh", "-c",
                "openssl s_client -connect 127.0.0.1:\(port) </dev/null 2>/dev/null | openssl x509 -noout -subject")
            return shown.output
        }
        try await make("first")
        try await site.serve(path: site.database, "--tls", site.path("chain.pem"), "--tls-key", site.path("key.pem"))
        #expect(try await name().contains("first"))
        try await make("second")
        site.signal(SIGHUP)
        #expect(try await Self.eventually { try await name().contains("second") })
        try Self.write("nothing", to: site.path("chain.pem"))
        site.signal(SIGHUP)
        let log = { try String(contentsOfFile: site.path("serve.log"), encoding: .utf8) }
        #expect(try await Self.eventually { try log().contains("not reloaded") })
        #expect(try await name().contains("second"))
    }

    @Test("--check validates the settings and serves nothing")
    func check() async throws {
        let site = try await Self.site()
        try Self.write("path: shop.db\nrights: rights.yaml\n", to: site.path("serve.yaml"))
        try Self.write(Self.own, to: site.path("rights.yaml"))
        let right = try await site.tool.run("serve", "--config", site.path("serve.yaml"), "--check")
        #expect(right.code == 0 && right.output.contains("The settings are fine"), "\(right.errors)")
        try Self.write(Self.own.replacing("Orders", with: "Order"), to: site.path("rights.yaml"))
        let wrong = try await site.tool.run("serve", "--config", site.path("serve.yaml"), "--check")
        #expect(
            wrong.code == 2 && wrong.errors.contains("line 2, column 5") && wrong.errors.contains("Orders"),
            "\(wrong.errors)")
    }

    @Test("The service is unready while the file is missing or locked, and the process stays alive")
    func health() async throws {
        let site = try await Self.site()
        try await site.serve(path: site.database)
        #expect(try await Self.status(site.url + "readyz") == "200")
        let lock = Process()
        lock.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        lock.arguments = [
            "python3", "-c",
            "import sqlite3,sys,time; c=sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN EXCLUSIVE'); time.sleep(60)",
            site.database,
        ]
        try lock.run()
        #expect(try await Self.eventually { try await Self.status(site.url + "readyz") == "503" }, "locked")
        lock.terminate()
        lock.waitUntilExit()
        #expect(try await Self.eventually { try await Self.status(site.url + "readyz") == "200" })
        try FileManager.default.moveItem(atPath: site.database, toPath: site.path("gone.db"))
        #expect(try await Self.eventually { try await Self.status(site.url + "health") == "503" })
        #expect(try await Self.status(site.url + "livez") == "200")
    }

    @Test("The log has the start, each request with address and user, and the stop")
    func log() async throws {
        let site = try await Self.site()
        try await site.serve(path: site.database, "--auth", site.path("users"), "--log")
        #expect(
            try await Self.status(
                "--user", "ann:first", site.url + "Orders?$filter=Owner eq 'x'".replacing(" ", with: "%20")) == "200")
        site.signal(SIGTERM)
        let log = { try String(contentsOfFile: site.path("serve.log"), encoding: .utf8) }
        #expect(try await Self.eventually { try log().contains("stopped") })
        let lines = try log()
        #expect(lines.contains("started") && lines.contains("address=127.0.0.1") && lines.contains("user=ann"))
        #expect(!lines.contains("first") && !lines.contains("$filter"))
    }
}
