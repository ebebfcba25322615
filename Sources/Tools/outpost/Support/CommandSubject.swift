import ArgumentParser

/// What a command works on, so that what is said of its failure can name it.
struct CommandSubject {
    /// The directory of the clone.
    var clone: String?
    /// How the service is signed in at; `nil` for a command that needs none.
    var service: ServiceOptions?

    /// Nothing is known.
    init() {}

    init(_ command: any ParsableCommand) {
        clone = (command as? any CloneCommand)?.cloneDirectory
        service = (command as? any ServiceCommand)?.service
    }

    /// A text of ours with the directory of the clone in place of `DIR`.
    func filled(_ text: TerminalText) -> TerminalText {
        guard let clone else { return text }
        return text.replacing(word: "DIR", with: TerminalText(clone.shellQuoted))
    }

    /// What helps where the service does not let somebody in.
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
        let place = service?.passwordFile.map { "the password in \($0)" } ?? "the password as it was typed"
        return "Is \(user) the right user, and \(place) the right one?"
    }
}

/// A command on a clone.
protocol CloneCommand: ParsableCommand {
    /// Where the clone is; `nil` where the command is about something else this time.
    var cloneDirectory: String? { get }
}

/// A command on a clone that it opens as it is.
protocol StoreCommand: CloneCommand {
    /// Where the clone is, and its key.
    var store: StoreOptions { get }
}

extension StoreCommand {
    var cloneDirectory: String? { store.directory }
}

/// A command that settles changes in the error archive of a clone.
protocol SettlingCommand: CloneCommand {
    /// Which changes, and where.
    var changes: SettlingOptions { get }
}

extension SettlingCommand {
    var cloneDirectory: String? { changes.store.directory }
}

/// A command that talks to a service.
protocol ServiceCommand: ParsableCommand {
    /// How the service is reached.
    var service: ServiceOptions { get }
}
