import OfflineOData

/// A value that the service sent and that could not be read, as a line and as JSON.
struct UnreadableReport: Encodable {
    /// How many are named one by one.
    static let shown = 10

    var entity: String
    var property: String?
    var value: String
    var reason: String

    init(_ unreadable: UnreadableProperty) {
        entity = unreadable.entity ?? "\(unreadable.entitySet), without a key"
        property = unreadable.property
        value = unreadable.text
        reason = unreadable.reason
    }

    var text: TerminalText {
        "\(entity)\(property.map { ", \($0)" } ?? ""): \(value.isEmpty ? "an empty text" : value); \(reason)"
    }

    /// The lines that tell a person of values, and what to do about them.
    ///
    /// - Parameter directory: where the clone is.
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
