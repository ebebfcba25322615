import Secrets
import ServerState

extension ServerStateConformance {
    static let operators: [Case] = [
        Case("An operator is added, changed and reset, which ends the sessions") { bench in
            let store = bench.state.operators
            let ann = try await store.add(OperatorRecord(name: "ann", password: "hash", totp: [1], role: .manager))
            try require(ann.totp, is: [1], "the secret is stored")
            try await refused("a second one of the name", with: "already-exists") { () async throws(ServerStateError) in
                try await store.add(OperatorRecord(name: "ann", role: .viewer))
            }
            let now = bench.clock.now
            try await store.begin(
                OperatorSession(
                    tokenHash: [5], operatorID: ann.id, createdAt: now, seenAt: now, confirmedAt: nil, address: "a"))
            try require(
                try await store.session([5], idle: .seconds(60), length: .seconds(600))?.operatorID, is: ann.id,
                "a session")
            _ = try await store.update("ann", ifMatch: nil, OperatorChange(resetsCredentials: true))
            try require(try await store.named("ann")?.password == nil, "the password is gone")
            try require(
                try await store.session([5], idle: .seconds(60), length: .seconds(600)) == nil, "the session ended")
        },
        Case("A session ends when it is idle, and at its greatest length") { bench in
            let store = bench.state.operators
            let ann = try await store.add(OperatorRecord(name: "ann", role: .viewer))
            let now = bench.clock.now
            for hash in [[1], [2]] as [[UInt8]] {
                try await store.begin(
                    OperatorSession(
                        tokenHash: hash, operatorID: ann.id, createdAt: now, seenAt: now, confirmedAt: nil, address: "")
                )
            }
            for _ in 0..<9 {
                bench.clock.advance(by: .seconds(50))
                try require(
                    try await store.session([1], idle: .seconds(60), length: .seconds(500)) != nil, "it is used")
            }
            try require(
                try await store.session([2], idle: .seconds(60), length: .seconds(500)) == nil, "it was idle")
            bench.clock.advance(by: .seconds(51))
            try require(
                try await store.session([1], idle: .seconds(60), length: .seconds(500)) == nil, "it was too long")
        },
        Case("A code of TOTP works once") { bench in
            let ann = try await bench.state.operators.add(OperatorRecord(name: "ann", role: .viewer))
            try require(try await bench.state.operators.takeTOTPStep(5, of: ann.id), "the first time")
            try require(try await bench.state.operators.takeTOTPStep(5, of: ann.id) == false, "not again")
            try require(try await bench.state.operators.takeTOTPStep(4, of: ann.id) == false, "nor an older one")
        },
        Case("Secrets have versions, are used by name, and are never listed") { bench in
            let store = bench.state.operators
            try await store.setSecret(Secret([1]), named: "db")
            try await store.setSecret(Secret([2]), named: "db")
            try require(try await store.secret("db")?.reveal(), is: [2], "the newest value")
            try require(try await store.secrets().map(\.version), is: [2], "the version")
            try await store.setSecret(nil, named: "db")
            try require(try await store.secret("db") == nil, "it is gone")
        },
        Case("A service key works until it expires") { bench in
            let application = try await bench.application()
            let key = ServiceKeyRecord(
                id: "k", application: application.id, hash: [1], roles: ["notify"],
                expiresAt: bench.clock.now + .seconds(60))
            _ = try await bench.state.operators.add(key)
            try require(try await bench.state.operators.serviceKey("k")?.roles, is: ["notify"], "the key")
            bench.clock.advance(by: .seconds(61))
            try require(try await bench.state.operators.serviceKey("k") == nil, "it has expired")
        },
        Case("Failed sign-ins are counted by user and address, and a success is remembered (point 25)") { bench in
            let store = bench.state.operators
            for _ in 0..<3 { try await store.noteSignIn(of: "ann", from: "1.2.3.4", hasSucceeded: false) }
            try require(try await store.signIns(of: "ann", from: "1.2.3.4").failures, is: 3, "three failures")
            try require(try await store.signIns(of: "ann", from: "5.6.7.8"), is: SignInRecord(), "another address")
            try await store.noteSignIn(of: "ann", from: "1.2.3.4", hasSucceeded: true)
            let record = try await store.signIns(of: "ann", from: "1.2.3.4")
            try require(record.failures == 0 && record.isKnown, "a success clears them")
        },
        Case("An action is approved by a second operator, once, in time") { bench in
            let store = bench.state.operators
            let end = bench.clock.now + .seconds(60)
            let approval = try await store.request(action: "device.wipe", body: [1], by: "ann", expiresAt: end)
            try require(try await store.approve(approval.id, by: "ann") == nil, "not by the same one")
            try require(try await store.approve(approval.id, by: "bob")?.approvedBy, is: "bob", "by another one")
            try require(try await store.approve(approval.id, by: "cem") == nil, "once")
            let late = try await store.request(action: "device.wipe", body: [1], by: "ann", expiresAt: end)
            bench.clock.advance(by: .seconds(61))
            try require(try await store.approve(late.id, by: "bob") == nil, "in time")
        },
        Case("The audit is a chain, whose old entries go without a break (point 24)") { bench in
            let store = bench.state.operators
            for index in 0..<5 {
                _ = try await store.audit(AuditNote(actor: "operator:ann", action: "a", target: "\(index)"))
                bench.clock.advance(by: .seconds(86_400))
            }
            let head = try await store.auditHead()
            try require(try await store.verifyAudit(logged: head), is: .intact(head), "all entries")
            _ = try await bench.state.expire(RetentionAges(audit: .seconds(3 * 86_400 + 60)))
            try require(try await store.audit(before: nil, limit: 10).map(\.number), is: [5, 4, 3], "old ones go")
            try require(try await store.verifyAudit(logged: head), is: .intact(head), "the rest is a chain")
            let ahead = AuditHead(number: 9, chain: [])
            try require(try await store.verifyAudit(logged: ahead), is: .broken(number: 6), "a cut end is noticed")
        },
        Case("A person's name is replaced in the audit, which stays a chain") { bench in
            let store = bench.state.operators
            _ = try await store.audit(AuditNote(actor: "operator:bob", action: "user.lock", target: "shop/ann"))
            _ = try await store.audit(AuditNote(actor: "operator:bob", action: "other", target: "shop"))
            let logged = try await store.auditHead()
            _ = try await store.audit(AuditNote(actor: "operator:ann", action: "user.lock", target: "shop/anna"))
            let before = try await store.auditHead()
            try require(try await store.replaceInAudit("ann", by: "p-1"), is: 1, "one entry")
            let entries = try await store.audit(before: nil, limit: 10)
            try require(entries.last?.note.target, is: "shop/p-1", "the pseudonym")
            try require(entries.dropFirst().first?.note.target, is: "shop/anna", "a longer name stays")
            try require(entries.dropFirst().first?.note.actor, is: "operator:ann", "an operator answers for it")
            let replaced = try await store.auditHead()
            try require(try await store.verifyAudit(logged: before), is: .intact(replaced), "it is whole")
            let head = try await store.auditHead()
            try require(try await store.verifyAudit(logged: logged), is: .intact(head), "it is a chain")
        },
    ]
}
