import Foundation
import GRDB
import TestCorpus

/// Databases of other programs with the liberties of SQLite: values of any storage class in any column,
/// collations, dates as numbers and texts. Each has at least three tables and 1,000 rows.
enum ForeignDatabases {
    /// A database and the options with which it is served.
    struct Sample: CustomStringConvertible, Sendable {
        let name: String
        var viewKeys: [String: [String]] = [:]
        /// The SQL that creates the database; `nil` for a file.
        var sql: String?
        /// The queried sets; `nil` for all.
        var sets: Set<String>?

        var description: String { name }
    }

    /// All databases except the one from PyPI.
    static let made: [Sample] = [
        affinities, collations, dates, views, withoutRowID, generated, blobs,
    ]

    /// The database of PROJ from the package pyproj, which `scripts/setup.sh pypi` installs; `nil` if it is
    /// missing.
    static var proj: URL? {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let library = root.appendingPathComponent(".build/pypi/lib")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: library.path)) ?? []
        return versions.map {
            library.appendingPathComponent("\($0)/site-packages/pyproj/proj_dir/share/proj/proj.db")
        }.first { FileManager.default.fileExists(atPath: $0.path) }
    }

    /// The sets of the PROJ database in the ordinary run: small ones that have columns with mixed values.
    static let smallProjSets: Set<String> = [
        "unit_of_measure", "celestial_body", "ellipsoid", "prime_meridian", "vertical_datum", "coordinate_system",
        "axis",
        "geoid_model", "vertical_crs", "compound_crs",
    ]

    /// Returns the SQL that selects rows from a sequence of numbers.
    private static func rows(_ count: Int, _ select: String) -> String {
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) SELECT \(select) FROM n;
        """
    }

    /// An expression with values of different storage classes.
    private static let mixed = """
        CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN i % 37 WHEN 2 THEN 'v' || (i % 23) WHEN 3 THEN (i % 29) * 0.5
        WHEN 4 THEN CAST(i % 31 AS TEXT) WHEN 5 THEN '0' || (i % 13) WHEN 6 THEN CAST('b' || (i % 11) AS BLOB)
        WHEN 7 THEN (i % 17) * 1e18 ELSE '' END
        """

    private static let affinities = Sample(
        name: "affinities",
        sql: """
            CREATE TABLE parent (code INTEGER_OR_TEXT PRIMARY KEY NOT NULL, name TEXT, free);
            INSERT INTO parent
            \(rows(200, "CASE WHEN i % 3 = 0 THEN 'p' || i ELSE i END, 'Name ' || i % 40, \(mixed)"))
            CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER_OR_TEXT REFERENCES parent(code), loose, n NUMERIC,
              r REAL, i INTEGER, t TEXT, b BLOB, v VARCHAR(20));
            INSERT INTO child
            \(rows(500, """
                i, CASE WHEN (i % 200 + 1) % 3 = 0 THEN 'p' || (i % 200 + 1) ELSE i % 200 + 1 END,
                \(mixed), \(mixed), \(mixed), \(mixed), \(mixed), \(mixed), \(mixed)
                """))
            CREATE TABLE bare (code PRIMARY KEY NOT NULL, x, parent REFERENCES parent(code));
            INSERT INTO bare
            \(rows(400, """
                CASE i % 4 WHEN 0 THEN i WHEN 1 THEN 't' || i WHEN 2 THEN i + 0.5 ELSE CAST('b' || i AS BLOB) END, \(mixed),
                CASE WHEN (i % 200 + 1) % 3 = 0 THEN 'p' || (i % 200 + 1) ELSE i % 200 + 1 END
                """))
            """)

    private static let collations = Sample(
        name: "collations",
        sql: """
            CREATE TABLE land (code TEXT PRIMARY KEY COLLATE NOCASE NOT NULL, name TEXT COLLATE NOCASE, mark COLLATE RTRIM);
            INSERT INTO land
            \(rows(300, "CASE WHEN i % 2 THEN 'land' ELSE 'LAND' END || i, CASE i % 3 WHEN 0 THEN 'Ä' WHEN 1 THEN 'a' ELSE 'B' END || i % 20, 'm' || i % 9 || CASE WHEN i % 2 THEN '  ' ELSE '' END"))
            CREATE TABLE town (id INTEGER PRIMARY KEY, land TEXT COLLATE NOCASE REFERENCES land(code), name TEXT COLLATE RTRIM);
            INSERT INTO town
            \(rows(500, "i, CASE WHEN i % 3 THEN 'land' ELSE 'Land' END || (i % 300 + 1), CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i ELSE 'Town ' || i % 50 END || CASE WHEN i % 2 THEN ' ' ELSE '' END"))
            CREATE TABLE street (name TEXT COLLATE NOCASE NOT NULL, town INTEGER NOT NULL REFERENCES town(id),
              PRIMARY KEY (name, town));
            INSERT INTO street
            \(rows(400, "CASE i % 3 WHEN 0 THEN 'Main' WHEN 1 THEN 'MAIN' ELSE 'main' END || i % 30, i"))
            """)

    private static let dates = Sample(
        name: "dates",
        sql: """
            CREATE TABLE day (id INTEGER PRIMARY KEY, d DATE, at DATETIME, unix DATETIME, millis TIMESTAMP, t TIME);
            INSERT INTO day
            \(rows(400, "i, date('2000-01-01', '+' || i % 90 || ' days'), datetime('2001-01-01', '+' || i * 7 || ' hours'), 946684800 + i * 3601, 1100000000000 + i * 86400123, time('00:00', '+' || i * 3 || ' minutes')"))
            CREATE TABLE mess (id INTEGER PRIMARY KEY, d DATE, at DATETIME, day INTEGER REFERENCES day(id));
            INSERT INTO mess
            \(rows(400, "i, CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN '2000-01-0' || (i % 9 + 1) WHEN 2 THEN 20000100 + i % 28 ELSE 'some day' END, CASE i % 3 WHEN 0 THEN datetime('2001-01-01', '+' || i || ' hours') WHEN 1 THEN 978307200 + i ELSE julianday('2001-01-01') + i * 0.25 END, i"))
            CREATE TABLE fine (at TEXT, id INTEGER PRIMARY KEY, stamp DATETIME, note);
            INSERT INTO fine
            \(rows(300, "strftime('%Y-%m-%dT%H:%M:%SZ', '2003-01-01', '+' || i || ' minutes'), i, strftime('%Y-%m-%d %H:%M:%f', '2003-01-01', '+' || i * 11 || ' seconds'), \(mixed)"))
            """)

    private static let views = Sample(
        name: "views", viewKeys: ["busy": ["id"], "codes": ["code"]],
        sql: """
            CREATE TABLE maker (id INTEGER PRIMARY KEY, name TEXT, tag);
            INSERT INTO maker \(rows(200, "i, 'Maker ' || i % 60, \(mixed)"))
            CREATE TABLE part (id INTEGER PRIMARY KEY, maker INTEGER REFERENCES maker(id), code TEXT, price DECIMAL(8, 2));
            INSERT INTO part \(rows(500, "i, i % 200 + 1, 'c' || i, CASE i % 5 WHEN 0 THEN NULL ELSE i % 83 * 0.25 END"))
            CREATE TABLE note (part INTEGER NOT NULL REFERENCES part(id), line INTEGER NOT NULL, text, PRIMARY KEY (part, line));
            INSERT INTO note \(rows(400, "i % 200 + 1, i, \(mixed)"))
            CREATE VIEW busy AS SELECT p.id AS id, m.name || p.code AS label, m.tag AS tag, p.price * 2 AS twice
              FROM part AS p JOIN maker AS m ON m.id = p.maker WHERE p.id % 2 = 0;
            CREATE VIEW codes AS SELECT CASE WHEN id % 2 THEN id ELSE code END AS code, price, upper(code) AS big FROM part;
            CREATE VIEW loose AS SELECT name, count(*) AS n FROM maker GROUP BY name;
            """)

    private static let withoutRowID = Sample(
        name: "without rowid",
        sql: """
            CREATE TABLE unit (auth TEXT NOT NULL, code INTEGER_OR_TEXT NOT NULL, name TEXT, PRIMARY KEY (auth, code))
              WITHOUT ROWID;
            INSERT INTO unit
            \(rows(400, "CASE WHEN i % 2 THEN 'EPSG' ELSE 'epsg' END, CASE WHEN i % 4 = 0 THEN 'U' || i ELSE i END, 'Unit ' || i % 90"))
            CREATE TABLE measure (id TEXT PRIMARY KEY NOT NULL, auth TEXT, code INTEGER_OR_TEXT, value, FOREIGN KEY (auth, code)
              REFERENCES unit(auth, code)) WITHOUT ROWID;
            INSERT INTO measure
            \(rows(400, "'m' || i, CASE WHEN i % 2 THEN 'EPSG' ELSE 'epsg' END, CASE WHEN i % 4 = 0 THEN 'U' || i ELSE i END, \(mixed)"))
            CREATE TABLE flat (k1 NOT NULL, k2 TEXT NOT NULL, x, PRIMARY KEY (k1, k2)) WITHOUT ROWID;
            INSERT INTO flat
            \(rows(300, "CASE i % 3 WHEN 0 THEN i WHEN 1 THEN 'x' || i ELSE i * 0.25 END, 'k' || i % 7, \(mixed)"))
            """)

    private static let generated = Sample(
        name: "generated columns",
        sql: """
            CREATE TABLE box (id INTEGER PRIMARY KEY, w INTEGER NOT NULL, h REAL NOT NULL,
              area REAL GENERATED ALWAYS AS (w * h) STORED, label TEXT AS (w || 'x' || h) VIRTUAL,
              odd AS (CASE WHEN w % 3 = 0 THEN w WHEN w % 3 = 1 THEN 'o' || w ELSE h END));
            INSERT INTO box (id, w, h) \(rows(400, "i, i % 47, i % 31 * 0.5"))
            CREATE TABLE item (id INTEGER PRIMARY KEY, box INTEGER REFERENCES box(id), raw, twice AS (raw || raw));
            INSERT INTO item (id, box, raw) \(rows(400, "i, i % 400 + 1, \(mixed)"))
            CREATE TABLE mark (code TEXT AS ('m' || n) STORED, n INTEGER PRIMARY KEY, box INTEGER REFERENCES box(id));
            INSERT INTO mark (n, box) \(rows(300, "i, i"))
            """)

    private static let blobs = Sample(
        name: "blobs",
        sql: """
            CREATE TABLE file (id INTEGER PRIMARY KEY, name TEXT, bytes BLOB, guid GUID, size INTEGER);
            INSERT INTO file
            \(rows(400, "i, CASE WHEN i % 3 = 0 THEN CAST('bytes ' || i % 20 AS BLOB) ELSE 'text ' || i % 20 END, CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN zeroblob(i % 5) ELSE CAST('x' || i AS BLOB) END, CAST(printf('%016x', i * 7919) AS BLOB), length(i)"))
            CREATE TABLE part (file INTEGER NOT NULL REFERENCES file(id), n INTEGER NOT NULL, data, PRIMARY KEY (file, n));
            INSERT INTO part
            \(rows(500, "i % 300 + 1, i, CASE i % 3 WHEN 0 THEN 'part' || i % 9 WHEN 1 THEN i % 9 ELSE CAST(i % 9 AS BLOB) END"))
            CREATE TABLE tag (name PRIMARY KEY NOT NULL, file INTEGER REFERENCES file(id), note TEXT);
            INSERT INTO tag
            \(rows(300, "CASE WHEN i % 2 THEN CAST('tag' || i AS BLOB) ELSE 'tag' || i END, i, \(mixed)"))
            """)
}
