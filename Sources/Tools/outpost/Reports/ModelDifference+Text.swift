import ODataModel
import ToolLanguage

extension ModelDifference {
    /// The kind of the difference in the language of the person.
    var kindText: TerminalText {
        switch kind {
        case .added: "added"
        case .removed: "removed"
        case .changed: "changed"
        }
    }

    /// The detail in the language of the person.
    var detailText: TerminalText { TerminalText(LibraryText.text(detail)) }

    /// The reason in the language of the person.
    var reasonText: TerminalText { TerminalText(LibraryText.text(reason)) }

    /// The whole difference on one line in the language of the person.
    var text: TerminalText {
        isCompatible
            ? "compatible: \(path) \(kindText) (\(detailText)): \(reasonText)"
            : "incompatible: \(path) \(kindText) (\(detailText)): \(reasonText)"
    }
}
