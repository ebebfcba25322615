/// Gives names to tables or columns so that none clashes with another.
///
/// SQLite folds ASCII letters when it compares names, OData does not: `ID` and `id` are two properties but
/// would be one column. The second one to come gets `$2` at its end, the third `$3`; `$` stands in no OData
/// identifier, so that such a name is never taken by a property. The order in which names are asked for
/// decides, hence the same model always gives the same names.
struct DistinctNames {
    private var taken: Set<String>
    private let separator: String

    /// Makes a set of names, some of them taken already.
    ///
    /// - Parameter separator: what stands before the number; an underscore where OData identifiers are made.
    init(reserved: [String] = [], separator: String = "$") {
        taken = Set(reserved.map(Self.folded))
        self.separator = separator
    }

    /// Whether something has a name already.
    func contains(_ name: String) -> Bool { taken.contains(Self.folded(name)) }

    /// Takes a name that was found to be free.
    mutating func reserve(_ name: String) { taken.insert(Self.folded(name)) }

    /// A name like `wish` that nothing else has.
    mutating func name(_ wish: String) -> String {
        var candidate = wish
        var number = 2
        while !taken.insert(Self.folded(candidate)).inserted {
            candidate = "\(wish)\(separator)\(number)"
            number += 1
        }
        return candidate
    }

    /// Folds as SQLite does: ASCII letters only.
    private static func folded(_ name: String) -> String {
        String(decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
