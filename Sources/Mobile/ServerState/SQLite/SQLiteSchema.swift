import GRDB

/// The tables of the driver, as steps that only add (`mobile-server.md` 8), so that the previous build can read them.
enum SQLiteSchema {
    /// The version that this build knows.
    static let version = 2

    /// A step to a version.
    struct Step {
        var version: Int
        var name: String
        var state: String
        var feeds: String
        var intake: String
    }

    static let steps = [
        Step(version: 1, name: "first tables", state: stateTables, feeds: feedTables, intake: versions),
        Step(
            version: 2, name: "device services", state: SQLiteDeviceSchema.state, feeds: "",
            intake: SQLiteDeviceSchema.intake),
    ]

    private static let versions = """
        create table schema_version (version INTEGER primary key, applied_at INTEGER not null, by_build TEXT not null)
          strict;
        """

    private static let common =
        versions + """
            create table cluster (id INTEGER primary key check (id = 1), incarnation INTEGER not null,
              began_at INTEGER not null, nonce BLOB not null, fence INTEGER not null default 0) strict;
            """

    private static let stateTables =
        common + """
            create table node (id TEXT primary key, build TEXT not null, schema_version INTEGER not null,
              started_at INTEGER not null, seen_at INTEGER not null, draining INTEGER not null default 0) strict;
            create table change_head (scope TEXT primary key, head INTEGER not null, floor INTEGER not null default 0)
              strict;
            create table removed_row (scope TEXT not null, change INTEGER not null, table_name TEXT not null,
              row_key TEXT not null, at INTEGER not null, primary key (scope, change)) strict;
            create table application (id INTEGER primary key autoincrement, name TEXT not null unique,
              domain TEXT not null default 'default', title TEXT not null, state TEXT not null,
              active_version INTEGER not null default 0, etag INTEGER not null, change INTEGER not null,
              created_at INTEGER not null) strict;
            create table configuration (application INTEGER not null references application on delete cascade,
              version INTEGER not null, body BLOB not null, hash BLOB not null, state TEXT not null,
              created_by TEXT not null, created_at INTEGER not null, change INTEGER not null,
              primary key (application, version)) strict;
            create table app_user (id INTEGER primary key autoincrement,
              application INTEGER not null references application on delete cascade, issuer TEXT not null,
              subject TEXT not null, name TEXT not null, locked INTEGER not null default 0, change INTEGER not null,
              created_at INTEGER not null, unique (application, issuer, subject)) strict;
            create table registration (application INTEGER not null references application on delete cascade,
              id TEXT not null, app_user INTEGER not null references app_user on delete cascade, security TEXT not null,
              state INTEGER not null, device TEXT not null, push_target BLOB, public_key BLOB, certificate_serial BLOB,
              certificate_until INTEGER, lock_state TEXT not null default 'none',
              lock_version INTEGER not null default 0, lock_confirmed INTEGER not null default 1,
              lock_confirmation BLOB, ended_at INTEGER,
              settings_version INTEGER not null default 0, etag INTEGER not null,
              change INTEGER not null, created_at INTEGER not null, primary key (application, id)) strict;
            create index registration_user on registration (app_user);
            create index registration_change on registration (change);
            create table setting (application INTEGER not null, registration TEXT not null, name TEXT not null,
              value TEXT, read_only INTEGER not null, change INTEGER not null,
              primary key (application, registration, name),
              foreign key (application, registration) references registration on delete cascade) strict;
            create table last_seen (application INTEGER not null, registration TEXT not null, seen_at INTEGER not null,
              primary key (application, registration),
              foreign key (application, registration) references registration on delete cascade) strict;
            create table activation (code_hash BLOB primary key,
              application INTEGER not null references application on delete cascade, user_name TEXT not null,
              registration TEXT, expires_at INTEGER not null) strict;
            create table policy (application INTEGER not null references application on delete cascade,
              scope TEXT not null, target TEXT not null, name TEXT not null, body BLOB not null,
              version INTEGER not null, primary key (application, scope, target, name)) strict;
            create table directory_user (application INTEGER not null references application on delete cascade,
              name TEXT not null, password BLOB not null, roles TEXT not null, locked INTEGER not null,
              change INTEGER not null, primary key (application, name)) strict;
            create table once (kind TEXT not null, id BLOB not null, uses INTEGER not null,
              expires_at INTEGER not null, primary key (kind, id)) strict;
            create index once_expiry on once (expires_at);
            create table job (id INTEGER primary key autoincrement, kind TEXT not null, target TEXT not null,
              payload BLOB, due_at INTEGER not null, lease_until INTEGER, owner TEXT,
              fence INTEGER not null default 0, tries INTEGER not null default 0, error TEXT,
              added_again INTEGER not null default 0, unique (kind, target)) strict;
            create index job_due on job (due_at);
            create table replay (week INTEGER not null, owner BLOB not null, request_id TEXT not null,
              request_hash BLOB not null, state TEXT not null, node TEXT not null, lease_until INTEGER not null,
              fence INTEGER not null, status INTEGER, fields BLOB, body BLOB, received_at INTEGER not null,
              primary key (week, owner, request_id)) strict;
            create table operator (id INTEGER primary key autoincrement, name TEXT not null unique, kind TEXT not null,
              password BLOB, totp BLOB, totp_step INTEGER not null default 0, role TEXT not null,
              locked INTEGER not null default 0, etag INTEGER not null, change INTEGER not null,
              created_at INTEGER not null) strict;
            create table operator_session (token_hash BLOB primary key,
              operator INTEGER not null references operator on delete cascade, created_at INTEGER not null,
              seen_at INTEGER not null, confirmed_at INTEGER, address TEXT not null) strict;
            create table service_key (id TEXT primary key,
              application INTEGER not null references application on delete cascade, key_hash BLOB not null,
              roles TEXT not null, expires_at INTEGER, change INTEGER not null, created_at INTEGER not null) strict;
            create table secret (name TEXT primary key, version INTEGER not null, sealed BLOB not null,
              created_at INTEGER not null) strict;
            create table sign_in (user_name TEXT not null, address TEXT not null, failures INTEGER not null,
              failed_at INTEGER, known INTEGER not null default 0, primary key (user_name, address)) strict;
            create table approval (id INTEGER primary key autoincrement, action TEXT not null, body BLOB not null,
              requested_by TEXT not null, approved_by TEXT, expires_at INTEGER not null) strict;
            create table audit (number INTEGER primary key, at INTEGER not null, actor TEXT not null,
              action TEXT not null, target TEXT not null, before_hash BLOB, after_hash BLOB, detail BLOB not null,
              chain BLOB not null) strict;
            create table audit_edge (id INTEGER primary key check (id = 1), number INTEGER not null,
              chain BLOB not null, mac BLOB not null) strict;
            """

    private static let feedTables =
        common + """
            create table feed (id INTEGER primary key autoincrement, key BLOB not null unique,
              application INTEGER not null, destination TEXT not null, query_name TEXT not null,
              configuration INTEGER not null, visibility TEXT not null, tracking TEXT not null, state TEXT not null,
              note TEXT, head INTEGER not null default 0, floor INTEGER not null default 0,
              tag BLOB not null, fence INTEGER not null default 0, claim BLOB, checked_at INTEGER, changed_at INTEGER,
              asked_at INTEGER, link BLOB, watermark BLOB, row_count INTEGER not null default 0) strict;
            create index feed_application on feed (application);
            create table feed_head (feed INTEGER not null, head INTEGER not null, tag BLOB not null,
              primary key (feed, head)) strict, without rowid;
            create table member (feed INTEGER not null, part BLOB not null, key BLOB not null, seq INTEGER not null,
              digest BLOB not null, size INTEGER not null, body BLOB, removal TEXT, removed_at INTEGER,
              primary key (feed, part, key)) strict;
            create unique index member_seq on member (feed, part, seq);
            create index member_removed on member (feed, removed_at) where removed_at is not null;
            create table packed (feed INTEGER not null, chunk INTEGER not null, row_count INTEGER not null,
              data BLOB not null, primary key (feed, chunk)) strict;
            create table part_set (id BLOB primary key, parts BLOB not null, used_at INTEGER not null) strict;
            create table dropped_feed (id INTEGER primary key) strict;
            """
}
