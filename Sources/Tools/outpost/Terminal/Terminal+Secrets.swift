import Foundation
import ToolLanguage

/// The settings of the terminal before a secret was asked for, at a fixed address: a signal handler may do
/// little except read them.
nonisolated(unsafe) private let before = UnsafeMutablePointer<termios>.allocate(capacity: 1)

/// Restores the echo of the terminal, then ends the process as the signal would have ended it.
private func restoreAndEnd(_ number: Int32) {
    tcsetattr(STDIN_FILENO, TCSAFLUSH, before)
    var lineEnd = UInt8(ascii: "\n")
    _ = write(STDERR_FILENO, &lineEnd, 1)
    signal(number, SIG_DFL)
    // The signal arrives when this handler returns.
    raise(number)
}

extension Terminal {
    /// The signals by which a person or the system ends a command.
    private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// Asks for a secret without showing it. If the command is interrupted, as by Ctrl-C, the terminal shows
    /// typed text again.
    ///
    /// - Returns: `nil` if nobody is at a terminal to answer.
    /// - Throws: ``Failure`` if the person ends the input instead, as by Ctrl-D.
    static func askSecret(_ prompt: TerminalText) throws -> String? {
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        write(prompt, to: .error)
        guard tcgetattr(STDIN_FILENO, before) == 0 else { return nil }
        var hidden = before.pointee
        hidden.c_lflag &= ~tcflag_t(ECHO)
        let formers = endings.map { signal($0, restoreAndEnd) }
        defer { for (ending, former) in zip(endings, formers) { signal(ending, former) } }
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0 else { return nil }
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, before)
            write("\n", to: .error)
        }
        guard let answer = readLine() else { throw Failure(message: "The input ended without an answer.") }
        return answer
    }
}
