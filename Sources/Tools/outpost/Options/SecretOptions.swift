import ArgumentParser
import Synchronization

/// How strict the tool is with files that hold secrets.
struct SecretOptions: ParsableArguments {
    @Flag(
        name: .customLong("allow-readable-secrets"),
        help: "Accept files with keys, passwords and tokens also if others can read or replace them.")
    var allowsExposed = false

    /// Takes effect for the process: secrets are read in many places, and the command line is parsed before any of them.
    mutating func validate() { Self.state.withLock { $0 = allowsExposed } }

    private static let state = Mutex(false)

    /// Whether the command of this process accepts such files.
    static var allowsExposed: Bool { state.withLock { $0 } }
}
