import ToolLanguage

/// An unavailable function that hides `print` of the standard library, which writes any text. The overloads
/// below take its place.
@available(*, unavailable, message: "Texts of strangers must be made harmless: give print a TerminalText.")
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

/// Writes a line to standard output.
func print(_ text: TerminalText) { Terminal.write(text + "\n") }

/// Writes a foreign text as a line to standard output.
@_disfavoredOverload
func print(_ text: some CustomStringConvertible) { print(TerminalText(text)) }
