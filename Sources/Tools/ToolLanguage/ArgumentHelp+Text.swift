import ArgumentParser

extension ArgumentHelp {
    /// Creates the help of an option or argument in the language of the person.
    package static func text(_ text: TerminalText, valueName: String? = nil) -> ArgumentHelp {
        ArgumentHelp(text.description, valueName: valueName)
    }
}
