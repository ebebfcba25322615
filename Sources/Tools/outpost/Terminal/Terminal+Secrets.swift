import Foundation

/// How the terminal was before a secret was asked for. Where it is does not change: the handler of a signal may do little but
/// read it.
nonisolated(unsafe) private let before = UnsafeMutablePointer<termios>.allocate(capacity: 1)

/// Ends the process as the signal would have ended it, once the terminal shows again what is typed.
private func restoreAndEnd(_ number: Int32) {
    tcsetattr(STDIN_FILENO, TCSAFLUSH, before)
    var lineEnd = UInt8(ascii: "\n")
    _ = write(STDERR_FILENO, &lineEnd, 1)
    signal(number, SIG_DFL)
    // It comes when this handler is done.
    raise(number)
}

extension Terminal {
    /// The signals by which a person or the system ends a command.
    private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// Asks for a secret without showing it. A command that is ended meanwhile, as by Ctrl-C, leaves a terminal that shows what
    /// is typed.
    ///
    /// - Returns: `nil` when nobody is there to answer.
    /// - Throws: ``Failure`` where the person ends the input instead, as by Ctrl-D.
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
