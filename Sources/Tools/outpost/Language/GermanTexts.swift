/// The German texts of the tool by the English ones, in a file for each group of commands.
///
/// A value stands at `%1`, `%2` and so on, in any order. A text that is not here stays English; `LanguageTests` lists
/// those that are missing.
enum GermanTexts {
    /// The tables of texts that stand in the source of the tool.
    static let tables: [[String: String]] = [
        queue, clones, queries, sync, serve, services, vault, failures, general,
    ]

    /// The sentences of libraries.
    static let sentences = [library, differences, details, mistakes].reduce(into: [String: String]()) { all, table in
        all.merge(table) { first, _ in first }
    }
}
