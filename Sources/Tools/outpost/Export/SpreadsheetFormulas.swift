import Synchronization

/// Texts in CSV that spreadsheet programs run as formulas, so that foreign text could act as one.
///
/// By default an export keeps every text, so that it can be read again, and prints a warning.
final class SpreadsheetFormulas: Sendable {
    /// The first characters of formulas, with the wide forms of East Asian keyboards.
    private static let beginnings: Set<Unicode.Scalar> = ["=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"]

    private let guards: Bool
    private let found = Mutex(0)

    /// Creates a finder.
    ///
    /// - Parameter guards: whether an apostrophe is put before formulas.
    init(guards: Bool) { self.guards = guards }

    /// The number of unguarded formulas.
    var unguarded: Int { guards ? 0 : found.withLock { $0 } }

    /// Returns the text for the file.
    func guarded(_ text: String) -> String {
        guard let first = text.unicodeScalars.first, Self.beginnings.contains(first) else { return text }
        found.withLock { $0 += 1 }
        return guards ? "'" + text : text
    }
}
