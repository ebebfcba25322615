import ArgumentParser
import Synchronization
import ToolLanguage

/// The strictness of the tool about files that hold secrets.
struct SecretOptions: ParsableArguments {
    @Flag(
        name: .customLong("allow-readable-secrets"),
        help: .text("Accept secrets in files that others can read or replace."))
    var allowsExposed = false

    /// Takes effect for the whole process: secrets are read in many places, after the command line was
    /// parsed.
    mutating func validate() { Self.state.withLock { $0 = allowsExposed } }

    private static let state = Mutex(false)

    /// Whether the command of this process accepts such files.
    static var allowsExposed: Bool { state.withLock { $0 } }
}
