import Crypto
import Foundation
import GRDB

/// The chained entries of the audit. Each chain value is an HMAC under a key that is not in the database
/// (`design-review.md` 24).
package struct AuditChain: Sendable {
    let keys: ServerKeys

    /// The chain value before the first entry.
    private static let start = [UInt8](repeating: 0, count: 32)

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

    func append(_ note: AuditNote, at moment: ServerInstant, in database: Database) throws -> AuditEntry {
        let head = try head(in: database)
        let number = head.number + 1
        let chain = chain(number, at: moment, note, after: head.chain)
        try database.execute(
            sql: "insert into audit values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                number, moment.rawValue, note.actor, note.action, note.target, note.before.map { Data($0) },
                note.after.map { Data($0) }, Data(note.detail), Data(chain),
            ])
        return AuditEntry(number: number, at: moment, note: note, chain: chain)
    }

    func head(in database: Database) throws -> AuditHead {
        if let row = try Row.fetchOne(database, sql: "select number, chain from audit order by number desc limit 1") {
            return AuditHead(number: row["number"], chain: row.bytes("chain") ?? [])
        }
        return try edge(in: database) ?? AuditHead(number: 0, chain: Self.start)
    }

    /// Returns the signed edge of the retention; `nil` if no entry was removed yet.
    private func edge(in database: Database) throws -> AuditHead? {
        guard let row = try Row.fetchOne(database, sql: "select * from audit_edge") else { return nil }
        let edge = AuditHead(number: row["number"], chain: row.bytes("chain") ?? [])
        guard row.bytes("mac") == mac(edge) else {
            throw ServerStateError.damaged(reason: "the edge of the audit was changed")
        }
        return edge
    }

    private func mac(_ edge: AuditHead) -> [UInt8] {
        keys.authenticationCode(for: Array("edge".utf8) + Self.bytes(edge.number) + edge.chain, .audit)
    }

    /// Removes old entries, and signs the edge.
    func expire(before moment: ServerInstant, limit: Int, in database: Database) throws {
        let old = try Row.fetchAll(
            database, sql: "select number, at, chain from audit order by number limit ?", arguments: [limit]
        ).prefix { $0["at"] < moment.rawValue }
        guard let last = old.last else { return }
        let edge = AuditHead(number: last["number"], chain: last.bytes("chain") ?? [])
        try database.execute(sql: "delete from audit where number <= ?", arguments: [edge.number])
        try write(edge, in: database)
    }

    private func write(_ edge: AuditHead, in database: Database) throws {
        try database.execute(
            sql: "insert or replace into audit_edge values (1, ?, ?, ?)",
            arguments: [edge.number, Data(edge.chain), Data(mac(edge))])
    }

    /// Checks all entries.
    func verify(logged: AuditHead?, in database: Database) throws -> AuditVerdict {
        let edge: AuditHead?
        do {
            edge = try self.edge(in: database)
        } catch {
            return .broken(number: 0)
        }
        var head = edge ?? AuditHead(number: 0, chain: Self.start)
        var known: [UInt8]?
        var replacedAt: Int64 = 0
        let entries = try Row.fetchCursor(database, sql: "select * from audit order by number")
        while let row = try entries.next() {
            let entry = Self.entry(row)
            guard entry.number == head.number + 1,
                entry.chain == chain(entry.number, at: entry.at, entry.note, after: head.chain)
            else { return .broken(number: head.number + 1) }
            head = AuditHead(number: entry.number, chain: entry.chain)
            if entry.number == logged?.number { known = entry.chain }
            if entry.note.action == Self.replacement { replacedAt = entry.number }
        }
        if let logged {
            guard head.number >= logged.number else { return .broken(number: head.number + 1) }
            if let known, known != logged.chain, replacedAt <= logged.number { return .broken(number: logged.number) }
        }
        return .intact(head)
    }

    /// The action of the entry that tells of a replaced name.
    static let replacement = "audit.replace-name"

    /// Returns a text in which a name that stands alone is replaced: `shop/ann`, but not `shop/anna`.
    package static func replacing(_ name: String, with pseudonym: String, in text: String) -> String {
        var (result, rest) = ("", text[...])
        func isEdge(_ character: Character?) -> Bool { character.map { "/:\",; ()[]{}".contains($0) } ?? true }
        while let range = rest.firstRange(of: name) {
            let before = rest[..<range.lowerBound].last ?? result.last
            let after = rest[range.upperBound...].first
            result += rest[..<range.lowerBound]
            result += isEdge(before) && isEdge(after) ? pseudonym[...] : rest[range]
            rest = rest[range.upperBound...]
        }
        return result + rest
    }

    /// Replaces a name in the targets and details of all entries, and chains them anew. Actors keep their names: they
    /// are operators, who answer for their actions.
    func replace(_ name: String, by pseudonym: String, at moment: ServerInstant, in database: Database) throws -> Int {
        var head = try edge(in: database) ?? AuditHead(number: 0, chain: Self.start)
        var count = 0
        for row in try Row.fetchAll(database, sql: "select * from audit order by number") {
            let entry = Self.entry(row)
            var note = entry.note
            note.target = Self.replacing(name, with: pseudonym, in: note.target)
            note.detail = Array(
                Self.replacing(name, with: pseudonym, in: String(decoding: note.detail, as: UTF8.self)).utf8)
            if note != entry.note { count += 1 }
            let chain = chain(entry.number, at: entry.at, note, after: head.chain)
            head = AuditHead(number: entry.number, chain: chain)
            guard chain != entry.chain else { continue }
            try database.execute(
                sql: "update audit set actor = ?, target = ?, detail = ?, chain = ? where number = ?",
                arguments: [note.actor, note.target, Data(note.detail), Data(chain), entry.number])
        }
        _ = try append(
            AuditNote(
                actor: "server", action: Self.replacement, target: pseudonym,
                detail: Array(#"{"entries":\#(count)}"#.utf8)), at: moment, in: database)
        return count
    }

    static func entry(_ row: Row) -> AuditEntry {
        AuditEntry(
            number: row["number"], at: ServerInstant(rawValue: row["at"]),
            note: AuditNote(
                actor: row["actor"], action: row["action"], target: row["target"], before: row.bytes("before_hash"),
                after: row.bytes("after_hash"), detail: row.bytes("detail") ?? []), chain: row.bytes("chain") ?? [])
    }
}
