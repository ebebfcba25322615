import ODataModel
import ODataQuery
import ODataSQL

/// The tables that can affect the result of a query.
enum ObservedTables: Hashable, Sendable {
    /// Any change can: the query depends on more than rows and their state.
    case all
    /// Changes of these tables and sets, by the names in ``TouchedTables``.
    case some(tables: Set<String>, sets: Set<String>)

    /// Finds the tables of a query by the names in its text: entity sets, and navigation properties of any type.
    /// The result may include too many.
    init(of url: ODataURL, _ mapping: StorageMapping) {
        let text = url.description
        let names = Set(text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
        guard case .name(let first, _)? = url.path.segments.first, mapping.tables[first.text] != nil,
            // Names for time, and for the state of changes and downloads.
            names.isDisjoint(with: ["now", "outpost", "sap", "crossjoin"]), !text.contains("*")
        else {
            self = .all
            return
        }
        var sets = Set(names.filter { mapping.tables[$0] != nil })
        var tables: Set<String> = []
        for table in mapping.tables.values {
            for (name, storage) in table.navigation where names.contains(name) {
                sets.insert(storage.target)
                if case .link(_, let link, _, _) = storage { tables.insert(link) }
            }
        }
        for set in sets { if let table = mapping.tables[set] { tables.insert(table.table) } }
        self = .some(tables: tables, sets: sets)
    }

    /// The tables of the store among them.
    var tables: Set<String> { if case .some(let tables, _) = self { tables } else { [] } }

    /// The names that can affect the query; `nil` for any change.
    var names: Set<String>? {
        guard case .some(let tables, let sets) = self else { return nil }
        return tables.union(sets.map(TouchedTables.name(ofSet:))).union([TouchedTables.everything])
    }
}
