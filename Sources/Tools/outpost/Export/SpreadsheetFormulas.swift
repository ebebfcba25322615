import Synchronization

/// Texts that spreadsheet programs take for formulas when they open a file of CSV: a stranger's text could then do what a formula
/// can.
///
/// What is exported is to be read again as it was, so that nothing is changed unless it is asked for; there is a warning then.
final class SpreadsheetFormulas: Sendable {
    /// What formulas begin with, in the wide forms of East Asian keyboards too.
    private static let beginnings: Set<Unicode.Scalar> = ["=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"]

    private let guards: Bool
    private let found = Mutex(0)

    /// - Parameter guards: whether an apostrophe is put before them.
    init(guards: Bool) { self.guards = guards }

    /// How many texts were found that are not guarded.
    var unguarded: Int { guards ? 0 : found.withLock { $0 } }

    /// The text as it is to be written.
    func guarded(_ text: String) -> String {
        guard let first = text.unicodeScalars.first, Self.beginnings.contains(first) else { return text }
        found.withLock { $0 += 1 }
        return guards ? "'" + text : text
    }
}
