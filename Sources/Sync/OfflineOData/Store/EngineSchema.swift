import GRDB
import ODataSQL

/// The engine's own tables, beside those of the entity sets in the same encrypted file.
enum EngineSchema {
    /// The version of these tables. A store of a newer version is refused, one of an older version is upgraded.
    static let version = 10

    /// The statements that create the tables of a new store.
    static let statements = tables(of: version)

    /// The statements that create the tables of a given version.
    static func tables(of version: Int) -> [String] { firstVersion + upgrades.prefix(version - 1).joined() }

    /// The version of a store's tables.
    static func version(in database: Database) throws -> Int {
        max(try Settings.text("engine.version", in: database).flatMap { Int($0) } ?? 1, 1)
    }

    /// Upgrades the tables of an older version, unless another process has done so meanwhile.
    static func bringUpToDate(_ database: StoreDatabase) async throws {
        guard try await database.read({ try version(in: $0) }) < version else { return }
        try await database.write { database in
            let found = try version(in: database)
            if found < version { try upgrade(from: found, in: database) }
        }
    }

    /// Upgrades the tables of an older version.
    static func upgrade(from version: Int, in database: Database) throws {
        for statement in upgrades.dropFirst(version - 1).joined() { try database.execute(sql: statement) }
        try Settings.set("engine.version", String(Self.version), in: database)
    }

    /// The changes of each version, from the second on.
    private static let upgrades = [
        [
            // The options and the time of a change.
            "ALTER TABLE outpost_queue ADD COLUMN options TEXT",
            "ALTER TABLE outpost_queue ADD COLUMN category TEXT",
            "ALTER TABLE outpost_queue ADD COLUMN priority INTEGER NOT NULL DEFAULT 0",
            "CREATE INDEX outpost_queue_order ON outpost_queue(state, priority DESC, id)",
        ],
        [
            // The change sets, and the subjects of links, streams and calls.
            "ALTER TABLE outpost_queue ADD COLUMN change_set TEXT",
            "ALTER TABLE outpost_queue ADD COLUMN detail TEXT",
            "ALTER TABLE outpost_queue ADD COLUMN inner_error TEXT",
            "CREATE INDEX outpost_queue_change_set ON outpost_queue(change_set) WHERE change_set IS NOT NULL",
            // The result of the last download: single rows, and queries with all their rows.
            """
            CREATE TABLE outpost_upserted(
                entity_set TEXT NOT NULL, row_id INTEGER NOT NULL, PRIMARY KEY(entity_set, row_id)
            ) STRICT, WITHOUT ROWID
            """,
            "ALTER TABLE outpost_query ADD COLUMN is_fresh INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE outpost_query ADD COLUMN retrieves_streams INTEGER NOT NULL DEFAULT 0",
            // The parts of a query that read its expanded entities, and whether the service answers them.
            "ALTER TABLE outpost_query ADD COLUMN parent INTEGER",
            "ALTER TABLE outpost_query ADD COLUMN navigation TEXT",
            "ALTER TABLE outpost_query ADD COLUMN is_probed INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE outpost_event ADD COLUMN details TEXT",
            "ALTER TABLE outpost_event ADD COLUMN requests INTEGER",
            "ALTER TABLE outpost_event ADD COLUMN failures INTEGER",
            "ALTER TABLE outpost_event ADD COLUMN bytes INTEGER",
            // The streams of media entities and of stream properties, in rows of one size.
            """
            CREATE TABLE outpost_stream(
                id INTEGER PRIMARY KEY AUTOINCREMENT, entity_set TEXT NOT NULL, row_id INTEGER NOT NULL,
                property TEXT NOT NULL DEFAULT '', content_type TEXT NOT NULL, etag TEXT,
                length INTEGER NOT NULL DEFAULT 0, is_complete INTEGER NOT NULL DEFAULT 0,
                is_local INTEGER NOT NULL DEFAULT 0
            ) STRICT
            """,
            "CREATE INDEX outpost_stream_row ON outpost_stream(entity_set, row_id, property)",
            """
            CREATE TABLE outpost_stream_chunk(
                id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, position INTEGER NOT NULL, bytes BLOB NOT NULL
            ) STRICT
            """,
            "CREATE UNIQUE INDEX outpost_stream_chunk_position ON outpost_stream_chunk(stream, position)",
            """
            CREATE TRIGGER outpost_stream_gone AFTER DELETE ON outpost_stream
            BEGIN DELETE FROM outpost_stream_chunk WHERE stream = OLD.id; END
            """,
        ],
        // The rows of a refresh are kept in memory, since it starts again after a crash anyway.
        ["DROP TABLE outpost_seen"],
        [
            // The dependents of locally deleted rows, until the service has accepted the deletion.
            """
            CREATE TABLE outpost_shelf(
                id INTEGER PRIMARY KEY, entity_set TEXT NOT NULL, row_id INTEGER NOT NULL, table_name TEXT NOT NULL,
                content BLOB NOT NULL
            ) STRICT
            """,
            "CREATE INDEX outpost_shelf_row ON outpost_shelf(entity_set, row_id)",
        ],
        [
            // The unreadable values that the service sent. Rows without a readable key have no row id.
            """
            CREATE TABLE outpost_unreadable(
                id INTEGER PRIMARY KEY, entity_set TEXT NOT NULL, row_id INTEGER, property TEXT, text TEXT NOT NULL,
                reason TEXT NOT NULL, query_id INTEGER
            ) STRICT
            """,
            "CREATE UNIQUE INDEX outpost_unreadable_row ON outpost_unreadable(entity_set, row_id, property)",
            // The addresses that the service gave entities, if they differ from the addresses that their keys
            // make.
            """
            CREATE TABLE outpost_link(
                entity_set TEXT NOT NULL, row_id INTEGER NOT NULL, edit TEXT, media TEXT,
                PRIMARY KEY(entity_set, row_id)
            ) STRICT, WITHOUT ROWID
            """,
        ],
        [
            // The rows for which a query has brought a relation, if it brings other rows of the same set without it.
            """
            CREATE TABLE outpost_expanded(
                entity_set TEXT NOT NULL, row_id INTEGER NOT NULL, relation TEXT NOT NULL, query_id INTEGER NOT NULL,
                PRIMARY KEY(entity_set, row_id, relation, query_id)
            ) STRICT, WITHOUT ROWID
            """,
            "CREATE INDEX outpost_expanded_query ON outpost_expanded(query_id)",
        ],
        // The dependencies of a request, in rows; the state of a transmission and of a failure, in columns.
        dependencies + failureColumns,
        // The replay counter of each row that was edited, from one sequence of the store, and the one with which a
        // change was submitted.
        [
            "ALTER TABLE outpost_queue ADD COLUMN counter INTEGER",
            """
            CREATE TABLE IF NOT EXISTS outpost_replay(
                counter INTEGER PRIMARY KEY AUTOINCREMENT, entity_set TEXT NOT NULL, row_id INTEGER NOT NULL
            ) STRICT
            """,
            "CREATE UNIQUE INDEX IF NOT EXISTS outpost_replay_row ON outpost_replay(entity_set, row_id)",
        ],
        objectLogs,
    ]

    /// The change log of downloads, and the log records of refused changes. A record of the service's own set is here
    /// only as the name of the record and the row that it is about.
    private static let objectLogs = [
        """
        CREATE TABLE IF NOT EXISTS outpost_change_log(
            id INTEGER PRIMARY KEY AUTOINCREMENT, entity_set TEXT NOT NULL, row_id INTEGER NOT NULL,
            operation TEXT NOT NULL, entity TEXT NOT NULL, root_set TEXT NOT NULL, root_row INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE IF NOT EXISTS outpost_log_record(
            id INTEGER PRIMARY KEY AUTOINCREMENT, service_record TEXT, request_id TEXT, entity_set TEXT,
            row_id INTEGER, at TEXT NOT NULL, operation TEXT NOT NULL, component TEXT NOT NULL,
            entity_key TEXT NOT NULL, level TEXT NOT NULL, message TEXT NOT NULL, code INTEGER, back_end_code TEXT
        ) STRICT
        """,
        "CREATE INDEX IF NOT EXISTS outpost_log_record_row ON outpost_log_record(entity_set, row_id)",
    ]

    /// A dependency on a request that has left the queue stays, without an effect. A store that was salvaged from
    /// damaged files may have the table already.
    private static let dependencies = [
        """
        CREATE TABLE IF NOT EXISTS outpost_dependency(
            id INTEGER PRIMARY KEY, request INTEGER NOT NULL, needs INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE UNIQUE INDEX IF NOT EXISTS outpost_dependency_request ON outpost_dependency(request, needs)",
        "CREATE INDEX IF NOT EXISTS outpost_dependency_needs ON outpost_dependency(needs)",
        """
        INSERT OR IGNORE INTO outpost_dependency(request, needs)
        SELECT q.id, each.value FROM outpost_queue AS q, json_each(
            CASE WHEN json_valid('[' || q.depends || ']') THEN '[' || q.depends || ']' ELSE '[]' END) AS each
        WHERE typeof(each.value) = 'integer'
        """,
        "ALTER TABLE outpost_queue DROP COLUMN depends",
        """
        CREATE TRIGGER IF NOT EXISTS outpost_queue_gone AFTER DELETE ON outpost_queue
        BEGIN DELETE FROM outpost_dependency WHERE request = OLD.id; END
        """,
    ]

    private static let failureColumns = [
        "ALTER TABLE outpost_queue ADD COLUMN conflict TEXT",
        "ALTER TABLE outpost_queue ADD COLUMN errors TEXT",
        "ALTER TABLE outpost_queue ADD COLUMN found_etag TEXT",
        "ALTER TABLE outpost_queue ADD COLUMN sent_entity TEXT",
        "ALTER TABLE outpost_queue ADD COLUMN is_merged INTEGER NOT NULL DEFAULT 0",
        """
        UPDATE outpost_queue SET
            conflict = CAST(json_extract(detail, '$.conflict') AS TEXT),
            errors = CAST(json_extract(detail, '$.errors') AS TEXT),
            found_etag = CAST(json_extract(detail, '$.foundETag') AS TEXT),
            sent_entity = CAST(json_extract(detail, '$.sentEntity') AS TEXT),
            is_merged = coalesce(json_extract(detail, '$.isMergedWithOthers'), 0) = 1,
            detail = nullif(CAST(json_remove(
                detail, '$.conflict', '$.errors', '$.foundETag', '$.sentEntity', '$.isMergedWithOthers') AS TEXT), '{}')
        WHERE json_valid(detail)
        """,
        // The requests of shelved rows are stored as JSON, with a cell for each column.
        """
        UPDATE outpost_shelf SET content = (
            SELECT CAST(json_patch(content, json_object(
                'conflict', json_object('text', '' || json_extract(detail, '$.conflict')),
                'errors', json_object('text', '' || json_extract(detail, '$.errors')),
                'found_etag', json_object('text', '' || json_extract(detail, '$.foundETag')),
                'sent_entity', json_object('text', '' || json_extract(detail, '$.sentEntity')),
                'is_merged', json_object('integer', coalesce(json_extract(detail, '$.isMergedWithOthers'), 0) = 1),
                'detail', json_object('text', nullif('' || json_remove(
                    detail, '$.conflict', '$.errors', '$.foundETag', '$.sentEntity', '$.isMergedWithOthers'), '{}'))
            )) AS BLOB)
            FROM (SELECT CAST(content AS TEXT) AS content,
                json_extract(CAST(content AS TEXT), '$.detail.text') AS detail)
        )
        WHERE CASE WHEN table_name = 'outpost_queue' AND json_valid(CAST(content AS TEXT))
            THEN json_valid(json_extract(CAST(content AS TEXT), '$.detail.text')) END
        """,
    ]

    private static let firstVersion = [
        // Settings: service root, metadata document, facts about the service.
        """
        CREATE TABLE outpost_setting(
            name TEXT PRIMARY KEY, value BLOB NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        // Defining queries. Number 0 is never used: it means "local" as the owner of a row.
        """
        CREATE TABLE outpost_query(
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, query_group TEXT, text TEXT NOT NULL,
            entity_set TEXT NOT NULL, is_loaded INTEGER NOT NULL DEFAULT 0, next_link TEXT, delta_link TEXT,
            last_download TEXT
        ) STRICT
        """,
        // A row belongs to its owner (a column of its table) and to these other queries.
        """
        CREATE TABLE outpost_member(
            entity_set TEXT NOT NULL, row_id INTEGER NOT NULL, query_id INTEGER NOT NULL,
            PRIMARY KEY(entity_set, row_id, query_id)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX outpost_member_query ON outpost_member(query_id)",
        // The pages of a delta or refresh that are not applied yet.
        """
        CREATE TABLE outpost_staged(
            id INTEGER PRIMARY KEY, query_id INTEGER NOT NULL, kind TEXT NOT NULL, content BLOB NOT NULL
        ) STRICT
        """,
        "CREATE INDEX outpost_staged_query ON outpost_staged(query_id)",
        // The last server version of each locally changed row.
        """
        CREATE TABLE outpost_before(
            entity_set TEXT NOT NULL, row_id INTEGER NOT NULL, etag TEXT, owner INTEGER NOT NULL,
            entity BLOB, PRIMARY KEY(entity_set, row_id)
        ) STRICT, WITHOUT ROWID
        """,
        // The queued changes, in order.
        """
        CREATE TABLE outpost_queue(
            id INTEGER PRIMARY KEY AUTOINCREMENT, entity_set TEXT NOT NULL, row_id INTEGER NOT NULL,
            kind TEXT NOT NULL, entity_key BLOB NOT NULL, changes BLOB NOT NULL, base BLOB, etag TEXT,
            omitted TEXT NOT NULL DEFAULT '', depends TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'pending',
            request_id TEXT, first_sent TEXT, attempts INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL,
            status INTEGER, code TEXT, message TEXT, target TEXT, theirs BLOB, failed_at TEXT
        ) STRICT
        """,
        "CREATE INDEX outpost_queue_row ON outpost_queue(entity_set, row_id)",
        // The local creations that the service accepted and no download has brought yet.
        """
        CREATE TABLE outpost_uploaded(
            entity_set TEXT NOT NULL, row_id INTEGER NOT NULL, PRIMARY KEY(entity_set, row_id)
        ) STRICT, WITHOUT ROWID
        """,
        // The rows that a refresh has met so far.
        """
        CREATE TABLE outpost_seen(
            query_id INTEGER NOT NULL, row_id INTEGER NOT NULL, PRIMARY KEY(query_id, row_id)
        ) STRICT, WITHOUT ROWID
        """,
        // The former keys of rows.
        """
        CREATE TABLE outpost_alias(
            entity_set TEXT NOT NULL, entity_key TEXT NOT NULL, row_id INTEGER NOT NULL,
            PRIMARY KEY(entity_set, entity_key)
        ) STRICT, WITHOUT ROWID
        """,
        // The event log, newest last.
        """
        CREATE TABLE outpost_event(
            id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL
        ) STRICT
        """,
    ]
}
