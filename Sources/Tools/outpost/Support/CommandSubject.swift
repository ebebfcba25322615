import ArgumentParser
import ToolLanguage

/// The subject of a command, which messages about a failure name.
struct CommandSubject {
    /// The directory of the clone.
    var clone: String?
    /// The sign-in options of the service; `nil` for a command without a service.
    var service: ServiceOptions?

    init() {}

    init(_ command: any ParsableCommand) {
        clone = (command as? any CloneCommand)?.cloneDirectory
        service = (command as? any ServiceCommand)?.service
    }

    /// Returns a text of the tool with the directory of the clone in place of `DIR`.
    func filled(_ text: TerminalText) -> TerminalText {
        guard let clone else { return text }
        return text.replacing(word: "DIR", with: TerminalText(clone.shellQuoted))
    }

    /// Advice for a sign-in that the service refused.
    var signingIn: TerminalText {
        if let file = service?.tokenFile {
            return "Look at the token in \(file): it may have expired, or be one for another service."
        }
        guard let user = service?.user else {
            return """
                Give a user with --user NAME; the password is asked for, or read from --password-file.
                If the service takes tokens: outpost login URL
                """
        }
        let place: TerminalText =
            service?.passwordFile.map { "the password in \($0)" } ?? "the password as it was typed"
        return "Is \(user) the right user, and \(place) the right one?"
    }
}

/// A command on a clone.
protocol CloneCommand: ParsableCommand {
    /// The directory of the clone; `nil` if the command has another subject this time.
    var cloneDirectory: String? { get }
}

/// A command on a clone that is opened unchanged.
protocol StoreCommand: CloneCommand {
    /// The directory of the clone, and its key.
    var store: StoreOptions { get }
}

extension StoreCommand {
    var cloneDirectory: String? { store.directory }
}

/// A command that settles changes in the error archive of a clone.
protocol SettlingCommand: CloneCommand {
    /// The chosen changes, and their clone.
    var changes: SettlingOptions { get }
}

extension SettlingCommand {
    var cloneDirectory: String? { changes.store.directory }
}

/// A command that talks to a service.
protocol ServiceCommand: ParsableCommand {
    /// The options for the connection to the service.
    var service: ServiceOptions { get }
}
