/// A generator of distinct names for tables or columns.
///
/// SQLite ignores the case of ASCII letters in names, but OData does not: `ID` and `id` are two properties, but
/// would be one column. The second name receives the suffix `$2`, the third `$3`. OData identifiers do not contain
/// `$`, so that no property has such a name.
///
/// The names depend on the order of the calls, so that the same model always has the same names.
struct DistinctNames {
    private var taken: Set<String>
    private let separator: String

    /// Creates a generator with some names in use.
    ///
    /// - Parameter separator: the text before the number; an underscore for OData identifiers.
    init(reserved: [String] = [], separator: String = "$") {
        taken = Set(reserved.map(Self.folded))
        self.separator = separator
    }

    /// Returns whether a name is in use.
    func contains(_ name: String) -> Bool { taken.contains(Self.folded(name)) }

    /// Marks an unused name as used.
    mutating func reserve(_ name: String) { taken.insert(Self.folded(name)) }

    /// Returns an unused name that is `wish` or starts with it.
    mutating func name(_ wish: String) -> String {
        var candidate = wish
        var number = 2
        while !taken.insert(Self.folded(candidate)).inserted {
            candidate = "\(wish)\(separator)\(number)"
            number += 1
        }
        return candidate
    }

    /// Folds the case of ASCII letters only, like SQLite.
    private static func folded(_ name: String) -> String {
        String(decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
