import OfflineOData
import ToolLanguage

/// An unreadable value of the service, as a line and as JSON.
struct UnreadableReport: Encodable {
    /// The number of values that are listed individually.
    static let shown = 10

    var entity: String
    var property: String?
    var value: String
    var reason: String

    init(_ unreadable: UnreadableProperty) {
        entity = unreadable.entity ?? translated("\(unreadable.entitySet), without a key")
        property = unreadable.property
        value = unreadable.text
        reason = unreadable.reason
    }

    var text: TerminalText {
        let value = value.isEmpty ? translated("an empty text") : value
        return "\(entity)\(property.map { ", \($0)" } ?? ""): \(value); \(LibraryText.text(reason))"
    }

    /// Returns the lines that describe unreadable values and the next step.
    ///
    /// - Parameter directory: the directory of the clone.
    static func lines(_ values: [UnreadableProperty], of directory: String) -> [TerminalText] {
        guard !values.isEmpty else { return [] }
        var lines: [TerminalText] = [
            "\(Terminal.plural(values.count, "value")) could not be read, and the rest is here:"
        ]
        lines += values.prefix(shown).map { "  \(UnreadableReport($0).text)" }
        if values.count > shown { lines.append("  and \(Terminal.number(values.count - shown)) more") }
        lines.append(
            Terminal.dim("If the service has changed, 'outpost pull \(directory.shellQuoted) --metadata' reads them."))
        return lines
    }
}
