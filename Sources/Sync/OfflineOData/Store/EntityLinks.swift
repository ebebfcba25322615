import GRDB
import ODataModel
import ODataSQL

/// The addresses that a service gave the entities of a set, if they differ from the addresses that their keys
/// make: edit links and media read links (OData JSON Format 4.01, 4.6.10 and 4.6.13).
struct EntityLinks {
    let set: String
    let database: Database
    /// Whether the set has any stored link: hardly ever.
    let hasAny: Bool
    private let root: String

    init(set: String, in database: Database) throws {
        self.set = set
        self.database = database
        root = try Settings.text("service.root", in: database) ?? ""
        hasAny =
            try Bool.fetchOne(
                database, sql: "SELECT EXISTS(SELECT 1 FROM outpost_link WHERE entity_set = ?)", arguments: [set])
            ?? false
    }

    /// Whether a row of a JSON text has a link that must be stored.
    func concern(_ row: borrowing JSONRow) throws -> Bool {
        guard !row.members.isEmpty else { return false }
        if let link = try row.text(of: "@odata.editLink", or: "@editLink"), isOther(link) { return true }
        if let link = try row.text(of: "@odata.mediaReadLink", or: "@mediaReadLink"), isOther(link) { return true }
        return false
    }

    /// Stores the links of an entity that differ from its key.
    func note(_ entity: ODataEntity, of rowID: Int64) throws {
        let edit = entity.control.editLink.flatMap { isOther($0) ? $0 : nil }
        let media = entity.control.mediaReadLink.flatMap { isOther($0) ? $0 : nil }
        guard edit != nil || media != nil else {
            guard hasAny else { return }
            return try database.execute(
                sql: "DELETE FROM outpost_link WHERE entity_set = ? AND row_id = ?", arguments: [set, rowID])
        }
        try database.cachedStatement(
            sql: """
                INSERT INTO outpost_link(entity_set, row_id, edit, media) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET edit = excluded.edit, media = excluded.media
                """
        ).execute(arguments: [set, rowID, edit, media])
    }

    /// The address for reading and changing a row; `nil` for the address that its key makes.
    static func edit(of row: RowReference, in database: Database) throws -> String? {
        try String.fetchOne(
            database, sql: "SELECT edit FROM outpost_link WHERE entity_set = ? AND row_id = ?",
            arguments: [row.set, row.rowID])
    }

    /// The address of the stream of a media entity; `nil` for the address that its key makes.
    static func media(of row: RowReference, in database: Database) throws -> String? {
        try String.fetchOne(
            database, sql: "SELECT media FROM outpost_link WHERE entity_set = ? AND row_id = ?",
            arguments: [row.set, row.rowID])
    }

    /// Whether a link differs from the one that the key makes, and lies below the service root. Changes may be
    /// sent only below it.
    private func isOther(_ link: String) -> Bool {
        let path = Self.path(link)
        let base = Self.path(root)
        let isRelative = path == link[...] && !link.hasPrefix("/")
        guard isRelative || path.hasPrefix(base) else { return false }
        let rest = isRelative ? path : path.dropFirst(base.count)
        guard rest.hasPrefix("\(set)(") else { return rest != set[...] && !rest.hasPrefix("\(set)/$value") }
        let behind = rest.split(separator: "/").dropFirst()
        return !(behind.isEmpty || behind.first == "$value")
    }

    /// The link without scheme and authority.
    private static func path(_ link: String) -> Substring {
        guard let scheme = link.firstRange(of: "://") else { return link[...] }
        let rest = link[scheme.upperBound...]
        return rest.firstIndex(of: "/").map { rest[$0...] } ?? ""
    }
}
