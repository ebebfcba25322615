import Foundation
import ServerState
import Testing

@testable import MobileServer

/// Sets, actions and the read model of the operators' API (`mobile-server.md` 6.6).
@Suite("Operators' sets") struct OperatorSetTests {
    private static func values(_ answer: LabServer.Answer, _ name: String) -> [String] {
        (answer.json["value"] as? [[String: Any]] ?? []).compactMap { $0[name] as? String }
    }

    private func withOperator(
        _ role: OperatorRole = .security, _ body: (OperatorLab, OperatorSessionFields) async throws -> Void
    ) async throws {
        let lab = try await OperatorLab()
        let secret = try await lab.add("sec", role)
        try await lab.run { server in
            let session = try await server.signIn("sec", secret)
            #expect(session.status == 200)
            try await body(lab, session)
        }
    }

    @Test("Users, registrations and settings are read with the whole query language")
    func queries() async throws {
        try await withOperator(.viewer) { lab, session in
            try await lab.addDevices(["d1", "d2", "d3"])
            try await lab.addDevices(["e1"], of: "bob")
            let filtered = try await session.send(
                .get, "Registrations?$filter=UserName%20eq%20'ann'&$orderby=ID%20desc&$top=2&$count=true")
            #expect(filtered.status == 200)
            #expect(Self.values(filtered, "ID") == ["d3", "d2"])
            #expect(filtered.json["@odata.count"] as? Int == 3)
            let expanded = try await session.send(
                .get, "Users?$expand=Registrations($select=ID)&$filter=Name%20eq%20'bob'")
            let bob = try #require((expanded.json["value"] as? [[String: Any]])?.first)
            #expect((bob["Registrations"] as? [[String: Any]])?.count == 1)
            let grouped = try await session.send(
                .get, "Registrations?$apply=groupby((UserName),aggregate($count%20as%20Devices))")
            #expect((grouped.json["value"] as? [[String: Any]])?.count == 2)
            let settings = try await session.send(.get, "Settings?$filter=Registration%20eq%20'e1'")
            #expect(Self.values(settings, "Value") == ["blue"])
        }
    }

    @Test("Review 28: the mirror follows changes and removals, and removes what depends on a removed user")
    func following() async throws {
        try await withOperator { lab, session in
            try await lab.addDevices(["d1", "d2"])
            #expect(Self.values(try await session.send(.get, "Registrations?$orderby=ID"), "ID") == ["d1", "d2"])
            _ = try await lab.state.registrations.setLock(
                .locked, confirmation: nil, registration: "d1", of: lab.application.id)
            _ = try await lab.state.registrations.changeSettings(
                [.remove(name: "Colour"), .set(name: "Size", value: "9", isReadOnly: nil)], byDevice: false,
                registration: "d2", of: lab.application.id)
            try await Task.sleep(for: .milliseconds(60))
            let locked = try await session.send(.get, "Registrations(Application='shop',ID='d1')")
            #expect(locked.json["Lock"] as? String == "lock")
            #expect(Self.values(try await session.send(.get, "Settings?$orderby=Name"), "Name") == ["Colour", "Size"])
            let users = try await lab.state.registrations.users(of: lab.application.id, after: 0)
            try await lab.state.registrations.removeUser(try #require(users.first).id)
            try await Task.sleep(for: .milliseconds(60))
            for set in ["Users", "Registrations", "Settings"] {
                #expect(Self.values(try await session.send(.get, set), "Name").isEmpty, "\(set)")
            }
        }
    }

    @Test("Review 8: after lost commits the mirror is loaded anew")
    func newIncarnation() async throws {
        try await withOperator { lab, session in
            try await lab.addDevices(["d1"])
            #expect(Self.values(try await session.send(.get, "Registrations"), "ID") == ["d1"])
            _ = try await lab.state.beginIncarnation()
            try await lab.addDevices(["d2"])
            try await Task.sleep(for: .milliseconds(60))
            let read = try await session.send(.get, "Registrations?$orderby=ID")
            #expect(Self.values(read, "ID") == ["d1", "d2"])
        }
    }

    @Test("Applications are added, changed with their ETag, and removed")
    func applications() async throws {
        try await withOperator { lab, session in
            let made = try await session.send(.post, "Applications", body: #"{"Name":"crm","Title":"CRM"}"#)
            #expect(made.status == 201)
            #expect(made.json["State"] as? String == "draft")
            let etag = try #require(made.field("ETag"))
            #expect(try await session.send(.patch, "Applications('crm')", body: #"{"State":"active"}"#).status == 428)
            let changed = try await session.send(
                .patch, "Applications('crm')", body: #"{"State":"active"}"#, ["If-Match": etag])
            #expect(changed.status == 200)
            #expect(changed.json["State"] as? String == "active")
            #expect(
                try await session.send(
                    .patch, "Applications('crm')", body: #"{"Title":"x"}"#, ["If-Match": etag]
                ).status == 412)
            #expect(try await session.send(.post, "Applications", body: #"{"Name":"../x"}"#).status == 400)
            let now = try #require(changed.field("ETag"))
            #expect(try await session.send(.delete, "Applications('crm')", body: nil, ["If-Match": now]).status == 204)
            #expect(try await session.send(.get, "Applications('crm')").status == 404)
        }
    }

    @Test("Directory users have passwords that nobody reads")
    func directory() async throws {
        try await withOperator { lab, session in
            let made = try await session.send(
                .post, "DirectoryUsers",
                body: #"{"Application":"shop","Name":"zoe","Password":"zoe's long password","Roles":["buyer"]}"#)
            #expect(made.status == 201)
            #expect(!made.text.contains("long password") && !made.text.contains("scrypt"))
            let stored = try await lab.state.registrations.directoryUser("zoe", of: lab.application.id)
            #expect(stored?.password.hasPrefix("$scrypt$") == true)
            #expect(stored?.roles == ["buyer"])
            let key = "DirectoryUsers(Application='shop',Name='zoe')"
            #expect(try await session.send(.patch, key, body: #"{"IsLocked":true}"#).json["IsLocked"] as? Bool == true)
            #expect(
                try await lab.state.registrations.directoryUser("zoe", of: lab.application.id)?.password
                    == stored?.password)
            #expect(try await session.send(.delete, key).status == 204)
            let short = try await session.send(
                .post, "DirectoryUsers", body: #"{"Application":"shop","Name":"a","Password":"short"}"#)
            #expect(short.status == 422)
        }
    }

    @Test("Policies are checked before they are stored")
    func policies() async throws {
        try await withOperator { lab, session in
            func post(_ scope: String, _ target: String, _ name: String, _ body: String) async throws -> Int {
                let text = body.replacingOccurrences(of: "\"", with: "\\\"")
                return try await session.send(
                    .post, "Policies",
                    body: """
                        {"Application":"shop","Scope":"\(scope)","Target":"\(target)","Name":"\(name)","Body":"\(text)"}
                        """
                ).status
            }
            #expect(try await post("application", "", "PasswordPolicy", #"{"MinLength":8}"#) == 201)
            #expect(try await post("application", "x", "PasswordPolicy", #"{"MinLength":8}"#) == 400)
            #expect(try await post("role", "", "PasswordPolicy", #"{"MinLength":8}"#) == 400)
            #expect(try await post("planet", "x", "PasswordPolicy", #"{"MinLength":8}"#) == 400)
            #expect(try await post("application", "", "PasswordPolicy", #"{"MinLength":-8}"#) == 400)
            #expect(try await post("application", "", "Unknown", "{}") == 400)
            let read = try await session.send(.get, "Policies")
            #expect(Self.values(read, "Name") == ["PasswordPolicy"])
        }
    }

    @Test("Secrets are written and never read")
    func secrets() async throws {
        try await withOperator { lab, session in
            let made = try await session.send(.post, "Secrets", body: #"{"Name":"apns","Value":"planted-secret"}"#)
            #expect(made.status == 201)
            #expect(try await lab.state.operators.secret("apns")?.reveal() == Array("planted-secret".utf8))
            _ = try await OperatorsPart.makeLink(state: lab.state, keys: lab.keys, operator: "sec")
            for path in ["Secrets", "Secrets('apns')", "Secrets('apns')/Value", "Audit"] {
                #expect(!(try await session.send(.get, path)).text.contains("planted-secret"), "\(path)")
            }
            #expect(Self.values(try await session.send(.get, "Secrets"), "Name") == ["apns"])
            #expect(try await session.send(.delete, "Secrets('apns')").status == 204)
        }
    }

    @Test("Operators are managed, and nobody changes the own role")
    func operators() async throws {
        try await withOperator { lab, session in
            #expect(
                try await session.send(.post, "Operators", body: #"{"Name":"kim","Role":"support"}"#).status == 201)
            #expect(try await session.send(.post, "Operators", body: #"{"Name":"kim"}"#).status == 409)
            #expect(try await session.send(.post, "Operators", body: #"{"Name":"lee","Role":"king"}"#).status == 400)
            let own = try await session.send(.get, "Operators('sec')")
            let etag = try #require(own.field("ETag"))
            let refused = try await session.send(
                .patch, "Operators('sec')", body: #"{"Role":"viewer"}"#, ["If-Match": etag])
            #expect(refused.status == 422)
            #expect(try await session.send(.delete, "Operators('sec')").status == 422)
            let link = try await session.send(
                .post, "Operators('kim')/Outpost.Operators.MakeLink", body: "{}")
            let path = try #require(link.json["Path"] as? String)
            #expect(try await session.server.send(.get, path).status == 303)
            #expect(try await session.send(.post, "Operators('kim')/Outpost.Operators.Reset", body: "{}").status == 204)
            #expect(try await session.send(.delete, "Operators('kim')").status == 204)
        }
    }

    @Test("A wipe of more than ten devices needs a second operator")
    func massWipe() async throws {
        let lab = try await OperatorLab()
        let ids = (0..<11).map { "d\($0)" }
        try await lab.addDevices(ids)
        let (one, other) = (try await lab.add("one", .support), try await lab.add("two", .support))
        try await lab.run { server in
            let first = try await server.signIn("one", one)
            let second = try await server.signIn("two", other)
            func list(_ ids: [String]) -> String {
                #"{"application":"shop","ids":[\#(ids.map { "\"\($0)\"" }.joined(separator: ","))]}"#
            }
            let few = try await first.send(
                .post, "Registrations/Outpost.Operators.WipeAll", body: list(Array(ids.prefix(1))))
            #expect(few.status == 204)
            let many = try await first.send(.post, "Registrations/Outpost.Operators.WipeAll", body: list(ids))
            #expect(many.status == 202)
            let id = try #require(many.json["ID"] as? Int)
            func wiped() async throws -> Int {
                let all = try await lab.state.registrations.registrations(
                    RegistrationFilter(application: lab.application.id))
                return all.filter { $0.lock == .wipe }.count
            }
            #expect(try await wiped() == 1)
            let approve = "Approvals(\(id))/Outpost.Operators.Approve"
            #expect(try await first.send(.post, approve, body: "{}").status == 409)
            #expect(try await wiped() == 1)
            #expect(try await second.send(.post, approve, body: "{}").status == 204)
            #expect(try await wiped() == 11)
            #expect(try await second.send(.post, approve, body: "{}").status == 409)
        }
    }

    @Test("A version that sends credentials to new places needs a second operator, unless security activates it")
    func activation() async throws {
        let lab = try await OperatorLab()
        let (one, other) = (try await lab.add("one", .manager), try await lab.add("two", .manager))
        let helper = try await lab.add("sup", .support)
        try await lab.run { server async throws in
            let first = try await server.signIn("one", one)
            let second = try await server.signIn("two", other)
            let support = try await server.signIn("sup", helper)
            func add(_ destination: String) async throws -> Int {
                let body = #"{"destinations":{"erp":\#(destination)}}"#
                let made = try await first.send(
                    .post, "ConfigurationVersions",
                    body: #"{"Application":"shop","Body":\#(String(reflecting: body))}"#)
                #expect(made.status == 201, "\(made.text)")
                return try #require(made.json["Version"] as? Int)
            }
            func activate(_ version: Int) async throws -> LabServer.Answer {
                try await first.send(
                    .post,
                    "ConfigurationVersions(Application='shop',Version=\(version))/Outpost.Operators.Activate",
                    body: "{}")
            }
            func active() async throws -> Int? {
                try await lab.state.applications.application(named: "shop")?.activeVersion
            }
            let plain = try await add(#"{"url":"https://erp.example/"}"#)
            #expect(try await activate(plain).status == 204)
            let secret =
                #"{"url":"https://mine.example/","authentication":{"kind":"basic","user":"u","secret":"secret:erp"}}"#
            let version = try await add(secret)
            let asked = try await activate(version)
            #expect(asked.status == 202, "\(asked.text)")
            #expect(try await active() == plain)
            let id = try #require(asked.json["ID"] as? Int)
            let approve = "Approvals(\(id))/Outpost.Operators.Approve"
            #expect(try await first.send(.post, approve, body: "{}").status == 409)
            #expect(try await support.send(.post, approve, body: "{}").status == 403)
            #expect(try await active() == plain)
            #expect(try await second.send(.post, approve, body: "{}").status == 204)
            #expect(try await active() == version)
            // The same places again need nobody.
            #expect(try await activate(plain).status == 204)
            let file = try await add(#"{"kind":"sqlite","url":"/etc/other.db"}"#)
            let late = try await activate(file)
            #expect(late.status == 202)
            let lateID = try #require(late.json["ID"] as? Int)
            // Another version is activated meanwhile, which the approval does not name.
            _ = try await activate(try await add(#"{"url":"https://third.example/"}"#))
            let outdated = try await second.send(.post, "Approvals(\(lateID))/Outpost.Operators.Approve", body: "{}")
            #expect(outdated.status == 412, "\(outdated.text)")
        }
    }

    @Test("Activation codes are made for a person")
    func activationCodes() async throws {
        try await withOperator(.support) { lab, session in
            let made = try await session.send(
                .post, "Applications('shop')/Outpost.Operators.MakeActivationCode", body: #"{"user":"carol","hours":2}"#
            )
            #expect(made.status == 200)
            let code = try #require((made.json["Code"] as? String).flatMap { ActivationCode($0) })
            let stored = try await lab.state.registrations.activation(
                code.digest(key: lab.keys.key(.codes).symmetricKey), of: lab.application.id)
            #expect(stored?.userName == "carol")
            let long = try await session.send(
                .post, "Applications('shop')/Outpost.Operators.MakeActivationCode", body: #"{"user":"c","hours":721}"#)
            #expect(long.status == 400)
        }
    }

    @Test("Review 24: each change is an entry of an intact audit chain, with its operator")
    func audit() async throws {
        try await withOperator { lab, session in
            try await lab.addDevices(["d1"])
            let key = "Registrations(Application='shop',ID='d1')"
            #expect(try await session.send(.post, key + "/Outpost.Operators.Lock", body: "{}").status == 204)
            #expect(try await session.send(.post, key + "/Outpost.Operators.Unlock", body: "{}").status == 204)
            #expect(try await session.send(.post, key + "/Outpost.Operators.Disconnect", body: "{}").status == 204)
            let entries = try await session.send(
                .get, "Audit?$filter=startswith(Action,'device.')&$orderby=Number")
            #expect(Self.values(entries, "Action") == ["device.lock", "device.unlock", "device.disconnect"])
            #expect(Set(Self.values(entries, "Actor")) == ["operator:sec"])
            #expect(Set(Self.values(entries, "Target")) == ["shop/d1"])
            let head = try await lab.state.operators.auditHead()
            #expect(try await lab.state.operators.verifyAudit(logged: head) == .intact(head))
            #expect(try await session.send(.delete, "Audit(1)").status == 405)
        }
    }

    @Test("Metadata and batches work as in any OData service")
    func protocolParts() async throws {
        try await withOperator { _, session in
            let metadata = try await session.send(.get, "$metadata")
            #expect(metadata.status == 200)
            #expect(metadata.text.contains("Outpost.Operators"))
            let batch = try await session.send(
                .post, "$batch",
                body: """
                    {"requests":[{"id":"1","method":"GET","url":"Applications"},\
                    {"id":"2","method":"GET","url":"Registrations/$count"}]}
                    """)
            #expect(batch.status == 200)
            let statuses = (batch.json["responses"] as? [[String: Any]] ?? []).map { $0["status"] as? Int }
            #expect(statuses == [200, 200])
        }
        let lab = try await OperatorLab()
        try await lab.run { server async throws in
            #expect(try await server.send(.get, "/operator/v1/$metadata").status == 401)
            #expect(try await server.send(.get, "/operator/v1/Users").status == 401)
        }
    }
}
