import PostgresClient
import ServerState

/// The chained entries of the audit, with the chain values of the SQLite driver (`design-review.md` 24).
struct PostgresAudit: Sendable {
    let keys: ServerKeys

    /// The chain value before the first entry.
    private static let start = [UInt8](repeating: 0, count: 32)
    /// The entries that one statement reads.
    private static let step: Int64 = 1000

    /// The action of the entry that tells of a replaced name.
    static let replacement = "audit.replace-name"

    /// Returns the chain value of an entry.
    func chain(_ number: Int64, at moment: ServerInstant, _ note: AuditNote, after previous: [UInt8]) -> [UInt8] {
        var bytes = Self.bytes(number) + previous + Self.bytes(moment.rawValue)
        for part in [
            Array(note.actor.utf8), Array(note.action.utf8), Array(note.target.utf8), note.before ?? [],
            note.after ?? [], note.detail,
        ] {
            bytes += Self.bytes(Int64(part.count)) + part
        }
        bytes += [note.before == nil ? 0 : 1, note.after == nil ? 0 : 1]
        return keys.authenticationCode(for: bytes, .audit)
    }

    private static func bytes(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// Appends an entry. Nodes append one after the other.
    func append(_ note: AuditNote, in work: StateWork) async throws -> AuditEntry {
        try await work.lock(.audit)
        return try await appendLocked(note, in: work)
    }

    private func appendLocked(_ note: AuditNote, in work: StateWork) async throws -> AuditEntry {
        let head = try await head(in: work)
        let number = head.number + 1
        let chain = chain(number, at: work.now, note, after: head.chain)
        try await work.rows(
            "insert into audit values ($1, $2, $3, $4, $5, $6, $7, $8, $9)", .integer(number), .instant(work.now),
            .text(note.actor), .text(note.action), .text(note.target), .bytesOrNull(note.before),
            .bytesOrNull(note.after), .bytes(note.detail), .bytes(chain))
        return AuditEntry(number: number, at: work.now, note: note, chain: chain)
    }

    func head(in work: StateWork) async throws -> AuditHead {
        if let row = try await work.row("select number, chain from audit order by number desc limit 1") {
            return AuditHead(number: try row.integer("number"), chain: try row.bytes("chain"))
        }
        return try await edge(in: work) ?? AuditHead(number: 0, chain: Self.start)
    }

    /// Returns the signed edge of the retention; `nil` if no entry was removed yet.
    private func edge(in work: StateWork) async throws -> AuditHead? {
        guard let row = try await work.row("select number, chain, mac from audit_edge") else { return nil }
        let edge = AuditHead(number: try row.integer("number"), chain: try row.bytes("chain"))
        guard try row.bytes("mac") == mac(edge) else {
            throw ServerStateError.damaged(reason: "the edge of the audit was changed")
        }
        return edge
    }

    private func mac(_ edge: AuditHead) -> [UInt8] {
        keys.authenticationCode(for: Array("edge".utf8) + Self.bytes(edge.number) + edge.chain, .audit)
    }

    /// Removes old entries, and signs the edge.
    func expire(before moment: ServerInstant, limit: Int64, in work: StateWork) async throws {
        try await work.lock(.audit)
        let rows = try await work.rows(
            "select number, at, chain from audit order by number limit $1", .integer(limit))
        var edge: AuditHead?
        for row in rows {
            guard try row.instant("at") < moment else { break }
            edge = AuditHead(number: try row.integer("number"), chain: try row.bytes("chain"))
        }
        guard let edge else { return }
        try await work.rows("delete from audit where number <= $1", .integer(edge.number))
        try await work.rows(
            """
            insert into audit_edge values (1, $1, $2, $3) on conflict (id) do update set number = $1, chain = $2,
            mac = $3
            """, .integer(edge.number), .bytes(edge.chain), .bytes(mac(edge)))
    }

    /// Reads entries in steps, oldest first.
    private func entries(in work: StateWork, _ body: (AuditEntry) async throws -> Bool) async throws {
        var last: Int64 = 0
        while true {
            let rows = try await work.rows(
                "select * from audit where number > $1 order by number limit $2", .integer(last),
                .integer(Self.step))
            for row in rows {
                let entry = try Self.entry(row)
                guard try await body(entry) else { return }
                last = entry.number
            }
            guard rows.count == Int(Self.step) else { return }
        }
    }

    /// Checks all entries in one snapshot.
    func verify(logged: AuditHead?, in work: StateWork) async throws -> AuditVerdict {
        let edge: AuditHead?
        do {
            edge = try await self.edge(in: work)
        } catch ServerStateError.damaged {
            return .broken(number: 0)
        }
        var head = edge ?? AuditHead(number: 0, chain: Self.start)
        var known: [UInt8]?
        var replacedAt: Int64 = 0
        var isBroken = false
        try await entries(in: work) { entry in
            guard entry.number == head.number + 1,
                entry.chain == chain(entry.number, at: entry.at, entry.note, after: head.chain)
            else {
                isBroken = true
                return false
            }
            head = AuditHead(number: entry.number, chain: entry.chain)
            if entry.number == logged?.number { known = entry.chain }
            if entry.note.action == Self.replacement { replacedAt = entry.number }
            return true
        }
        guard !isBroken else { return .broken(number: head.number + 1) }
        if let logged {
            guard head.number >= logged.number else { return .broken(number: head.number + 1) }
            if let known, known != logged.chain, replacedAt <= logged.number { return .broken(number: logged.number) }
        }
        return .intact(head)
    }

    /// Replaces a name in the targets and details of all entries, and chains them anew. Actors keep their names: they
    /// are operators, who answer for their actions.
    func replace(_ name: String, by pseudonym: String, in work: StateWork) async throws -> Int {
        try await work.lock(.audit)
        var head = try await edge(in: work) ?? AuditHead(number: 0, chain: Self.start)
        var count = 0
        try await entries(in: work) { entry in
            var note = entry.note
            note.target = AuditChain.replacing(name, with: pseudonym, in: note.target)
            note.detail = Array(
                AuditChain.replacing(name, with: pseudonym, in: String(decoding: note.detail, as: UTF8.self)).utf8)
            if note != entry.note { count += 1 }
            let chain = chain(entry.number, at: entry.at, note, after: head.chain)
            head = AuditHead(number: entry.number, chain: chain)
            guard chain != entry.chain else { return true }
            try await work.rows(
                "update audit set target = $1, detail = $2, chain = $3 where number = $4", .text(note.target),
                .bytes(note.detail), .bytes(chain), .integer(entry.number))
            return true
        }
        _ = try await appendLocked(
            AuditNote(
                actor: "server", action: Self.replacement, target: pseudonym,
                detail: Array(#"{"entries":\#(count)}"#.utf8)), in: work)
        return count
    }

    static func entry(_ row: PostgresRow) throws -> AuditEntry {
        AuditEntry(
            number: try row.integer("number"), at: try row.instant("at"),
            note: AuditNote(
                actor: try row.text("actor"), action: try row.text("action"), target: try row.text("target"),
                before: try row.bytesOrNil("before_hash"), after: try row.bytesOrNil("after_hash"),
                detail: try row.bytes("detail")), chain: try row.bytes("chain"))
    }
}
