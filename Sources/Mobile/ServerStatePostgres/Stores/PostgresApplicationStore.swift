import Crypto
import PostgresClient
import ServerState

/// Applications and the versions of their configurations.
struct PostgresApplicationStore: ApplicationStore {
    let state: PostgresServerState

    private static let scope = ChangeNumberScope.server

    func all() async throws(ServerStateError) -> [ApplicationRecord] {
        try await state.all("select * from application order by name", each: Self.application)
    }

    func application(named name: String) async throws(ServerStateError) -> ApplicationRecord? {
        try await state.all("select * from application where name = $1", .text(name), each: Self.application).first
    }

    func add(
        named name: String, title: String, domain: String, state applicationState: ApplicationState
    ) async throws(ServerStateError) -> ApplicationRecord {
        try await state.work { work in
            let change = try await work.nextChange(of: Self.scope)
            let row = try await work.row(
                """
                insert into application (name, domain, title, state, etag, change, created_at)
                values ($1, $2, $3, $4, $5, $5, $6) on conflict (name) do nothing returning *
                """, .text(name), .text(domain), .text(title), .text(applicationState.rawValue), .integer(change),
                .instant(work.now))
            guard let row else { throw ServerStateError.alreadyExists(kind: "application", name: name) }
            return try Self.application(row)
        }
    }

    func update(
        _ name: String, ifMatch etag: ChangeNumber?, _ change: ApplicationChange
    ) async throws(ServerStateError) -> ApplicationRecord {
        try await state.work { work in
            let record = try await Self.matching(name, etag, in: work)
            let number = try await work.nextChange(of: Self.scope)
            let row = try await work.row(
                """
                update application set title = $1, domain = $2, state = $3, etag = $4, change = $4 where id = $5
                returning *
                """, .text(change.title ?? record.title), .text(change.domain ?? record.domain),
                .text((change.state ?? record.state).rawValue), .integer(number), .integer(record.id))
            guard let row else { throw ServerStateError.missing(kind: "application", name: name) }
            return try Self.application(row)
        }
    }

    func remove(_ name: String, ifMatch etag: ChangeNumber?) async throws(ServerStateError) {
        try await state.work { work in
            let record = try await Self.matching(name, etag, in: work)
            try await work.rows("delete from application where id = $1", .integer(record.id))
            try await work.noteRemoval(of: name, from: "application", scope: Self.scope)
        }
    }

    func configurations(of application: RecordNumber) async throws(ServerStateError) -> [ConfigurationRecord] {
        try await state.all(
            "select * from configuration where application = $1 order by version desc", .integer(application),
            each: Self.configuration)
    }

    func configuration(
        _ version: Int, of application: RecordNumber
    ) async throws(ServerStateError) -> ConfigurationRecord? {
        try await state.all(
            "select * from configuration where application = $1 and version = $2", .integer(application),
            .number(version), each: Self.configuration
        ).first
    }

    func addConfiguration(
        _ body: [UInt8], to application: RecordNumber, by author: String
    ) async throws(ServerStateError) -> ConfigurationRecord {
        let hash = Array(SHA256.hash(data: body))
        return try await state.work { work in
            // One author at a time, so that versions follow each other.
            let application = try await Self.known(application, work)
            let newest = try await work.row(
                "select * from configuration where application = $1 order by version desc limit 1",
                .integer(application.id)
            ).map(Self.configuration)
            if let newest, newest.hash == hash { return newest }
            let version = (newest?.version ?? 0) + 1
            let change = try await work.nextChange(of: Self.scope)
            try await work.rows(
                "insert into configuration values ($1, $2, $3, $4, 'draft', $5, $6, $7)", .integer(application.id),
                .number(version), .bytes(body), .bytes(hash), .text(author), .instant(work.now), .integer(change))
            return ConfigurationRecord(
                application: application.id, version: version, body: body, hash: hash, state: .draft,
                createdBy: author, createdAt: work.now, change: change)
        }
    }

    func activate(
        _ version: Int, of application: RecordNumber, ifActive active: Int?
    ) async throws(ServerStateError) -> ApplicationRecord {
        try await state.work { work in
            let record = try await Self.known(application, work)
            guard active == nil || active == record.activeVersion else {
                throw ServerStateError.changed(kind: "application", name: record.name)
            }
            let change = PostgresValue.integer(try await work.nextChange(of: Self.scope))
            try await work.rows(
                "update configuration set state = 'retired', change = $1 where application = $2 and state = 'active'",
                change, .integer(application))
            let count = try await work.change(
                "update configuration set state = 'active', change = $1 where application = $2 and version = $3",
                change, .integer(application), .number(version))
            guard count == 1 else {
                throw ServerStateError.missing(kind: "configuration", name: "\(record.name) \(version)")
            }
            let row = try await work.row(
                "update application set active_version = $1, etag = $2, change = $2 where id = $3 returning *",
                .number(version), change, .integer(application))
            guard let row else { throw ServerStateError.missing(kind: "application", name: record.name) }
            return try Self.application(row)
        }
    }

    // MARK: Rows

    private static func matching(
        _ name: String, _ etag: ChangeNumber?, in work: StateWork
    ) async throws -> ApplicationRecord {
        let row = try await work.row("select * from application where name = $1 for update", .text(name))
        guard let row else { throw ServerStateError.missing(kind: "application", name: name) }
        let record = try application(row)
        guard etag == nil || etag == record.etag else {
            throw ServerStateError.changed(kind: "application", name: name)
        }
        return record
    }

    /// Returns an application by number, and locks it.
    private static func known(_ id: RecordNumber, _ work: StateWork) async throws -> ApplicationRecord {
        let row = try await work.row("select * from application where id = $1 for no key update", .integer(id))
        guard let row else { throw ServerStateError.missing(kind: "application", name: "\(id)") }
        return try application(row)
    }

    private static func application(_ row: PostgresRow) throws -> ApplicationRecord {
        ApplicationRecord(
            id: try row.integer("id"), name: try row.text("name"), domain: try row.text("domain"),
            title: try row.text("title"), state: ApplicationState(rawValue: try row.text("state")) ?? .suspended,
            activeVersion: try row.number("active_version"), etag: try row.integer("etag"),
            change: try row.integer("change"), createdAt: try row.instant("created_at"))
    }

    private static func configuration(_ row: PostgresRow) throws -> ConfigurationRecord {
        ConfigurationRecord(
            application: try row.integer("application"), version: try row.number("version"),
            body: try row.bytes("body"), hash: try row.bytes("hash"),
            state: ConfigurationState(rawValue: try row.text("state")) ?? .retired,
            createdBy: try row.text("created_by"), createdAt: try row.instant("created_at"),
            change: try row.integer("change"))
    }
}
