import Foundation
import ODataService
import Synchronization
import ToolLanguage

/// The only way to the two outputs of the tool (``TerminalText``). Colours and progress appear only at a
/// terminal.
enum Terminal {
    /// An output of the process.
    enum Output {
        case output
        case error

        fileprivate var handle: FileHandle { self == .output ? .standardOutput : .standardError }
    }

    /// Whether an output is a terminal with cursor control.
    static func isInteractive(_ output: Output) -> Bool {
        isatty(output.handle.fileDescriptor) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    private static func hasColours(_ output: Output) -> Bool {
        isInteractive(output) && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
    }

    private static func styled(_ text: TerminalText, _ code: Int, output: Output) -> TerminalText {
        hasColours(output) ? TerminalText(text, style: code) : text
    }

    static func red(_ text: TerminalText, on output: Output = .output) -> TerminalText {
        styled(text, 31, output: output)
    }
    static func green(_ text: TerminalText, on output: Output = .output) -> TerminalText {
        styled(text, 32, output: output)
    }
    static func yellow(_ text: TerminalText, on output: Output = .output) -> TerminalText {
        styled(text, 33, output: output)
    }
    static func bold(_ text: TerminalText, on output: Output = .output) -> TerminalText {
        styled(text, 1, output: output)
    }
    static func dim(_ text: TerminalText, on output: Output = .output) -> TerminalText {
        styled(text, 2, output: output)
    }

    @_disfavoredOverload
    static func red(_ text: String, on output: Output = .output) -> TerminalText { red(TerminalText(text), on: output) }
    @_disfavoredOverload
    static func bold(_ text: String, on output: Output = .output) -> TerminalText {
        bold(TerminalText(text), on: output)
    }
    @_disfavoredOverload
    static func dim(_ text: String, on output: Output = .output) -> TerminalText { dim(TerminalText(text), on: output) }

    /// Writes a line to standard error.
    static func error(_ line: TerminalText) { write(line + "\n", to: .error) }

    /// Writes a foreign text as a line to standard error.
    @_disfavoredOverload
    static func error(_ line: String) { error(TerminalText(line)) }

    /// Writes a text.
    static func write(_ text: TerminalText, to output: Output = .output) {
        put(Array(text.description.utf8), to: output)
    }

    /// Writes a value: unchanged into a file or a pipe, and on one line at a terminal.
    @_disfavoredOverload
    static func write(_ text: String, to output: Output = .output) { write(Array(text.utf8), to: output) }

    /// Writes the bytes of a value: unchanged into a file or a pipe, and on one line at a terminal.
    ///
    /// - Parameter isDocument: whether the text has lines of its own, as a document or a text of the tool
    ///   has.
    static func write(_ bytes: [UInt8], to output: Output = .output, isDocument: Bool = false) {
        guard isTerminal(output) else { return put(bytes, to: output) }
        let text = String(decoding: bytes, as: UTF8.self)
        put(Array((isDocument ? HarmlessText.document(text) : HarmlessText.line(text)).utf8), to: output)
    }

    /// Writes the bytes of a value that arrive in pieces: unchanged into a file or a pipe, and on one line at
    /// a terminal.
    ///
    /// - Parameter isJSON: whether the bytes are JSON text, in which harmful characters can be escaped.
    static func write(_ stream: ByteStream, isJSON: Bool = false) async throws {
        var pieces = HarmlessPieces { isJSON ? HarmlessText.json($0) : HarmlessText.line($0) }
        let isHarmless = !isJSON && !isTerminal(.output)
        while let bytes = try await stream.next() { put(isHarmless ? bytes : pieces.add(bytes), to: .output) }
        put(pieces.end(), to: .output)
    }

    /// Whether an output is a terminal, with or without cursor control.
    static func isTerminal(_ output: Output) -> Bool { isatty(output.handle.fileDescriptor) == 1 }

    /// Writes harmless bytes. Nothing else in the tool writes to its outputs.
    private static func put(_ bytes: [UInt8], to output: Output) {
        guard !bytes.isEmpty else { return }
        // The text of the argument parser comes first.
        flush()
        line.withLock { line in
            erase(&line)
            do {
                try output.handle.write(contentsOf: Data(bytes))
            } catch {
                if output == .output { outputFailure.withLock { $0 = $0 ?? error.systemReason } }
            }
        }
    }

    /// The reason of the system for the first write to the output that failed.
    private static let outputFailure = Mutex<String?>(nil)

    /// Writes the buffered text at the end of a command.
    ///
    /// - Throws: ``Failure`` if a part of the output could not be written.
    static func finish() throws {
        flush()
        guard let reason = outputFailure.withLock({ $0 }) else { return }
        throw Failure(message: "The output cannot be written: \(reason).")
    }

    /// The visible line of progress; empty if there is none. Other text replaces it.
    private static let line = Mutex("")

    /// Shows a line of progress in place of the one before.
    static func showLine(_ text: TerminalText) {
        line.withLock { line in
            guard text.description != line else { return }
            // A longer line would leave a part of itself behind.
            let shown = text.description.cut(toCells: max(1, width(of: .error) - 1))
            try? Output.error.handle.write(contentsOf: Data("\r\u{1B}[K\(shown)".utf8))
            line = text.description
        }
    }

    /// Removes the line of progress.
    static func clearLine() { line.withLock { erase(&$0) } }

    private static func erase(_ line: inout String) {
        guard !line.isEmpty else { return }
        try? Output.error.handle.write(contentsOf: Data("\r\u{1B}[K".utf8))
        line = ""
    }

    /// Writes the text that `print` has buffered for a pipe.
    static func flush() {
        guard fflush(nil) != 0 else { return }
        let reason = Outpost.systemReason(errno)
        outputFailure.withLock { $0 = $0 ?? reason }
    }

    /// Returns the number of columns of the terminal; 100 if it is unknown.
    static func width(of output: Output) -> Int {
        var size = winsize()
        guard ioctl(output.handle.fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 100 }
        return Int(size.ws_col)
    }

    /// Asks a yes-or-no question.
    ///
    /// - Returns: `nil` if nobody is at a terminal to answer.
    static func confirm(_ question: TerminalText) -> Bool? {
        guard isatty(STDIN_FILENO) == 1, isInteractive(.error) else { return nil }
        write("\(question) \(Language.current == .german ? "[j/N]" : "[y/N]") ", to: .error)
        let answer = readLine()?.lowercased() ?? ""
        return ["y", "yes"].contains(answer) || Language.current == .german && ["j", "ja"].contains(answer)
    }

    /// Returns a number with separators.
    static func number(_ value: some BinaryInteger) -> String {
        var digits = String(value)
        var parts: [String] = []
        while digits.count > 3, digits.dropLast(3) != "-" {
            parts.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + parts).joined(separator: Language.current == .german ? "." : ",")
    }

    /// Returns a number of bytes in the unit that fits.
    static func bytes(_ count: Int64) -> String {
        if count < 1000 { return translated("\(count) bytes") }
        let units = ["kB", "MB", "GB", "TB"]
        var value = Double(count) / 1000
        var unit = 0
        while value >= 1000, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        let text = String(format: "%.1f", value)
        return "\(Language.current == .german ? text.replacing(".", with: ",") : text) \(units[unit])"
    }

    /// Returns a number with its noun in the language of the person: `1 row`, `2 rows`.
    static func plural(_ count: Int, _ noun: String, plural: String? = nil) -> String {
        "\(number(count)) \(Language.current.text(count == 1 ? noun : plural ?? noun + "s"))"
    }
}
