/// The German texts of the program by the English ones, in a file for each group of commands.
///
/// A value stands at `%1`, `%2` and so on, in any order. A text that is not here stays English;
/// `ServerLanguageTests` lists those that are missing.
enum GermanTexts {
    /// The tables of texts that stand in the source of the program.
    static let tables: [[String: String]] = [general, intake, node, people, things]
}
