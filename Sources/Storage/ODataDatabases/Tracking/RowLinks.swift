import Foundation
import GRDB
import ODataStore

/// The current and former values by which other rows refer to the rows of watched sets. The former values
/// reveal a row that has left a result because a related row changed.
enum RowLinks {
    /// The statements that create the tables if they do not exist.
    static let statements = """
        CREATE TABLE IF NOT EXISTS row_link (
          watched INTEGER NOT NULL, key BLOB NOT NULL, links BLOB NOT NULL, PRIMARY KEY (watched, key)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS former_link (
          watched INTEGER NOT NULL, key BLOB NOT NULL, version INTEGER NOT NULL, links BLOB NOT NULL, at INTEGER NOT NULL,
          PRIMARY KEY (watched, key, version)
        ) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS former_link_by_time ON former_link (at);
        """

    /// Records the links of a changed row.
    ///
    /// - Parameters:
    ///   - links: the current links; `nil` for a deleted row.
    ///   - version: the version of the change.
    static func keep(
        _ links: Data?, of key: Data, watched: Int64, version: Int64, side: SideTables, now: Int64
    ) throws {
        let find = try side.database.cachedStatement(
            sql: "SELECT links FROM \(side.schema).row_link WHERE watched = ? AND key = ?")
        let former = try Data.fetchOne(find, arguments: [watched, key])
        guard former != links else { return }
        if let former {
            try side.database.cachedStatement(sql: "INSERT INTO \(side.schema).former_link VALUES (?, ?, ?, ?, ?)")
                .execute(
                    arguments: [watched, key, version, former, now])
        }
        guard let links else {
            try side.database.cachedStatement(sql: "DELETE FROM \(side.schema).row_link WHERE watched = ? AND key = ?")
                .execute(arguments: [watched, key])
            return
        }
        try side.database.cachedStatement(sql: "INSERT OR REPLACE INTO \(side.schema).row_link VALUES (?, ?, ?)")
            .execute(
                arguments: [watched, key, links])
    }

    /// Returns the current links of a row, and its former links after a version.
    static func links(of key: Data, _ watched: Int64, since version: Int64, _ side: SideTables) throws -> [Data] {
        try Data.fetchAll(
            side.database.cachedStatement(
                sql: """
                    SELECT links FROM \(side.schema).row_link WHERE watched = ?1 AND key = ?2
                    UNION SELECT links FROM \(side.schema).former_link
                    WHERE watched = ?1 AND key = ?2 AND version > ?3
                    """), arguments: [watched, key, version])
    }

    /// Deletes the links of a set that is no longer watched.
    static func forget(_ watched: Int64, _ side: SideTables) throws {
        for table in ["row_link", "former_link"] {
            try side.database.execute(
                sql: "DELETE FROM \(side.schema).\(table) WHERE watched = ?", arguments: [watched])
        }
    }

    /// Deletes former links older than a time.
    ///
    /// - Returns: the last deleted version of each watched set.
    static func forget(before time: Int64, _ side: SideTables) throws -> [(watched: Int64, version: Int64)] {
        let old = try Row.fetchAll(
            side.database,
            sql: "SELECT watched, MAX(version) FROM \(side.schema).former_link WHERE at < ? GROUP BY watched",
            arguments: [time]
        ).map { (watched: $0[0] as Int64, version: $0[1] as Int64) }
        if !old.isEmpty {
            try side.database.execute(sql: "DELETE FROM \(side.schema).former_link WHERE at < ?", arguments: [time])
        }
        return old
    }
}
