import Foundation
import GRDB
import ODataStore

/// How a store compares and orders texts that are not keys.
///
/// Functions of queries such as `contains` and `tolower` go by code points in every store.
public enum StoreCollation: Hashable, Sendable, Codable {
    /// By code points, as OData has it by default.
    case codePoints
    /// By code points, upper and lower case alike.
    case caseInsensitive
    /// As a language orders texts, such as `sv` or `de_AT`.
    ///
    /// - Parameter isCaseSensitive: whether texts that differ in upper and lower case alone are different.
    case locale(String, isCaseSensitive: Bool)

    /// Compares two texts.
    func compare(_ left: String, _ right: String) -> ComparisonResult {
        switch self {
        case .codePoints: return Self.byCodePoints(left, right)
        case .caseInsensitive: return Self.byCodePoints(left.lowercased(), right.lowercased())
        case .locale(let name, let isCaseSensitive):
            let order = left.compare(
                right, options: isCaseSensitive ? [] : .caseInsensitive, locale: Locale(identifier: name))
            // What a language orders alike need not be the same text.
            return order == .orderedSame && isCaseSensitive ? Self.byCodePoints(left, right) : order
        }
    }

    private static func byCodePoints(_ left: String, _ right: String) -> ComparisonResult {
        // The order of UTF-8 is that of code points.
        if left.utf8.elementsEqual(right.utf8) { return .orderedSame }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? .orderedAscending : .orderedDescending
    }
}

/// The collation of a store's connections. Which it is stands in the store, that is, behind the first connection.
struct TextCollation: Sendable {
    private static let name = "outpost_text"
    private static let setting = "store.collation"

    private let wanted: StoreCollation?
    private let current: LockedState<StoreCollation>

    init(_ wanted: StoreCollation?) {
        self.wanted = wanted
        current = LockedState(wanted ?? .codePoints)
    }

    /// The name in the definitions of columns; `nil` where SQLite's own comparison does the same.
    var nameInLayout: String? { current.withLock { $0 == .codePoints ? nil : Self.name } }

    /// Options of the connections with this collation.
    func adding(to options: StoreDatabase.Options) -> StoreDatabase.Options {
        var options = options
        let prepare = options.prepare
        let current = current
        options.prepare = { database in
            try prepare?(database)
            database.add(
                collation: DatabaseCollation(Self.name) { left, right in
                    current.withLock { $0 }.compare(left, right)
                })
        }
        return options
    }

    func keep(in database: Database) throws {
        try Settings.set(Self.setting, Array(JSONEncoder().encode(current.withLock { $0 })), in: database)
    }

    /// Takes the collation that a store was made with.
    ///
    /// - Throws: ``OfflineError/lateChange(option:)`` where another one is wanted.
    func settle(in database: Database) throws {
        let kept = try Self.kept(in: database)
        guard wanted == nil || wanted == kept else { throw OfflineError.lateChange(option: "collation") }
        current.withLock { $0 = kept }
    }

    static func kept(in database: Database) throws -> StoreCollation {
        guard let bytes = try Settings.bytes(setting, in: database) else { return .codePoints }
        do {
            return try JSONDecoder().decode(StoreCollation.self, from: Data(bytes))
        } catch {
            throw OfflineError.damagedQueue(reason: "the collation of the store cannot be read: \(error)")
        }
    }

    /// The name of the collation in the tables of a store.
    static func nameInLayout(of database: Database) throws -> String? {
        try kept(in: database) == .codePoints ? nil : name
    }
}
