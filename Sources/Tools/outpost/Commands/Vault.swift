import ArgumentParser
import DataVault
import Foundation
import ToolLanguage

struct VaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: translated("Keep small secrets in vaults with a password."),
        discussion: translated(
            paragraphs: """
                Secrets are never arguments, because other users can read those. The command asks for a secret, or \
                reads a file or the standard input.

                EXAMPLE
                  outpost vault create login
                  outpost vault set login user --value-file user.txt
                  outpost vault get login user
                  outpost vault policy login --min-length 6 --retry-limit 10
                """),
        subcommands: [
            Create.self, Open.self, List.self, Set.self, Get.self, Remove.self, Password.self, Policy.self,
            Destroy.self,
        ])

    /// The vault that a command works on.
    struct Options: ParsableArguments {
        @Argument(help: .text("The name of the vault.")) var name: String
        @OptionGroup var passwords: Passwords

        /// Opens and unlocks the vault.
        func unlocked() async throws -> Vault {
            let vaults = try VaultFolder()
            let vault = try vaults.open(name)
            try await vault.unlock(passwords.credentials(of: name, isNeeded: vaults.hasPassword(name)))
            return vault
        }
    }

    /// The origin of a password.
    struct Passwords: ParsableArguments {
        @Option(
            name: .customLong("password-file"),
            help: .text("A file with the password; a line break at the end is ignored.", valueName: "file"),
            completion: .file())
        var file: String?

        @OptionGroup var secrets: SecretOptions

        func credentials(of name: String, isNeeded: Bool) throws -> VaultCredentials {
            if let file { return VaultCredentials(password: try NamedFile.password(in: file)) }
            guard isNeeded else { return .platformKey }
            guard let password = try Terminal.askSecret("Password of \(name): ") else {
                throw Failure(
                    message: "The vault \(name) has a password, and nobody is here to be asked.",
                    advice: "Give a file that holds it: --password-file FILE")
            }
            return VaultCredentials(password: password)
        }

        /// A new password, typed twice.
        static func new(file: String?) throws -> VaultCredentials {
            if let file { return VaultCredentials(password: try NamedFile.password(in: file)) }
            guard let first = try Terminal.askSecret("New password: "), !first.isEmpty else {
                throw Failure(
                    message: "A new password is needed, and none was given.",
                    advice: "Give a file that holds it, or --no-password for the key of this account alone.")
            }
            guard try Terminal.askSecret("Once more: ") == first else {
                throw Failure(message: "The two passwords differ.")
            }
            return VaultCredentials(password: first)
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: translated("Create a vault."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost vault create login
                      outpost vault create machine --no-password
                    """))

        @Argument(help: .text("The name of the new vault.")) var name: String
        @OptionGroup var passwords: Passwords
        @Flag(help: .text("Open the vault with the key of this account only.")) var noPassword = false
        @Flag(help: .text("Report as JSON.")) var json = false

        mutating func validate() throws {
            guard !noPassword || passwords.file == nil else {
                throw ValidationError(translated("--no-password and --password-file exclude each other."))
            }
        }

        func run() async throws {
            let credentials = noPassword ? .platformKey : try Passwords.new(file: passwords.file)
            _ = try await VaultFolder().create(name, credentials)
            print(json ? JSONText(["vault": name]).text : "Made the vault \(Terminal.bold(name)).")
        }
    }

    struct Open: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "open",
            abstract: translated("Check that the password opens a vault."),
            discussion: translated(
                paragraphs: """
                    A wrong password counts: see the retry limit of its policy.

                    EXAMPLE
                      outpost vault open login
                    """))

        @OptionGroup var vault: Options
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            let items = try await vault.unlocked().items
            if json {
                print(JSONText(Report(vault: vault.name, values: items.count)).text)
                return
            }
            print("The vault \(Terminal.bold(vault.name)) opens; it has \(Terminal.plural(items.count, "value")).")
        }

        private struct Report: Encodable {
            var vault: String
            var values: Int
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: translated("List the vaults, or the values of one."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost vault list
                      outpost vault list login
                    """))

        @Argument(help: .text("The name of the vault.")) var name: String?
        @OptionGroup var passwords: Passwords
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            let vaults = try VaultFolder()
            guard let name else {
                let names = try vaults.names()
                if json { print(JSONText(names).text) } else { names.forEach { print($0) } }
                return
            }
            let vault = try vaults.open(name)
            try await vault.unlock(passwords.credentials(of: name, isNeeded: vaults.hasPassword(name)))
            let items = try await vault.items
            if json {
                print(JSONText(items.map { ["name": $0.name, "type": $0.type.rawValue] }).text)
                return
            }
            var table = Table(["Value", "Type"])
            for item in items { table.add([item.name, item.type.rawValue]) }
            Terminal.write(table.rendered())
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: translated("Keep a value in a vault."),
            discussion: translated(
                paragraphs: """
                    UTF-8 is kept as text, anything else as bytes.

                    EXAMPLE
                      outpost vault set login token --value-file token.txt
                      printf %s "$TOKEN" | outpost vault set login token --password-file pin.txt
                    """))

        @OptionGroup var vault: Options
        @Argument(help: .text("The name of the value.")) var value: String
        @Option(
            help: .text("A file with the value; its content is taken unchanged.", valueName: "file"),
            completion: .file())
        var valueFile: String?
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            let opened = try await vault.unlocked()
            let bytes = try content()
            if let text = String(validating: bytes, as: UTF8.self) {
                try await opened.setString(text, named: value)
            } else {
                try await opened.setData(bytes, named: value)
            }
            if json { print(JSONText(["vault": vault.name, "kept": value]).text) }
        }

        private func content() throws -> [UInt8] {
            if let valueFile { return try NamedFile.contents(of: valueFile) }
            if let typed = try Terminal.askSecret("Value of \(value): ") { return Array(typed.utf8) }
            // One byte more than is allowed is enough to refuse it.
            let data = try FileHandle.standardInput.read(upToCount: DataVaultLimits.maximumSecretByteCount + 1)
            return [UInt8](data ?? Data())
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "get",
            abstract: translated("Write a value of a vault unchanged to the standard output."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost vault get login token
                      outpost vault get login token --json
                    """))

        @OptionGroup var vault: Options
        @Argument(help: .text("The name of the value.")) var value: String
        @Flag(help: .text("Write the value as JSON: text unchanged, bytes as base64.")) var json = false

        private struct Report: Encodable {
            var name: String
            var text: String?
            var bytes: Data?
        }

        func run() async throws {
            let opened = try await vault.unlocked()
            if let text = try await opened.string(named: value) {
                if json { print(JSONText(Report(name: value, text: text)).text) } else { Terminal.write(text) }
            } else if let bytes = try await opened.data(named: value) {
                if json {
                    print(JSONText(Report(name: value, bytes: Data(bytes))).text)
                } else {
                    Terminal.write(Array(bytes))
                }
            } else {
                throw Failure(
                    message: "The vault \(vault.name) has no value \(value).",
                    advice: "List its values: outpost vault list \(vault.name.shellQuoted)")
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: translated("Remove a value from a vault."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost vault remove login token
                    """))

        @OptionGroup var vault: Options
        @Argument(help: .text("The name of the value.")) var value: String
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            guard try await vault.unlocked().removeValue(named: value) else {
                throw Failure(message: "The vault \(vault.name) has no value \(value).")
            }
            if json { print(JSONText(["vault": vault.name, "removed": value]).text) }
        }
    }

    struct Password: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "password",
            abstract: translated("Change the password of a vault."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost vault password login
                      outpost vault password login --password-file old.txt \\
                        --new-password-file new.txt
                    """))

        @OptionGroup var vault: Options
        @Option(
            help: .text("A file with the new password; a line break at the end is ignored.", valueName: "file"),
            completion: .file())
        var newPasswordFile: String?
        @Flag(help: .text("From then on, open the vault with the key of this account only.")) var noPassword = false
        @Flag(help: .text("Report as JSON.")) var json = false

        mutating func validate() throws {
            guard !noPassword || newPasswordFile == nil else {
                throw ValidationError(translated("--no-password and --new-password-file exclude each other."))
            }
        }

        func run() async throws {
            let vaults = try VaultFolder()
            let opened = try vaults.open(vault.name)
            let current = try vault.passwords.credentials(of: vault.name, isNeeded: vaults.hasPassword(vault.name))
            let new = noPassword ? .platformKey : try Passwords.new(file: newPasswordFile)
            try await opened.changePassword(from: current, to: new)
            print(
                json
                    ? JSONText(["vault": vault.name]).text
                    : "The password of the vault \(Terminal.bold(vault.name)) was changed.")
        }
    }

    struct Policy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "policy",
            abstract: translated("Show the password policy of a vault, or change it."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost vault policy login
                      outpost vault policy login --min-length 6 --digits --retry-limit 10
                    """))

        @OptionGroup var vault: Options
        @Flag(
            inversion: .prefixedNo,
            help: .text("Whether the key of this account may open the vault without a password."))
        var defaultPassword: Bool?
        @Option(help: .text("The minimum number of characters.")) var minLength: Int?
        @Flag(inversion: .prefixedNo, help: .text("Whether a digit is required.")) var digits: Bool?
        @Flag(inversion: .prefixedNo, help: .text("Whether an upper-case letter is required.")) var upper: Bool?
        @Flag(inversion: .prefixedNo, help: .text("Whether a lower-case letter is required.")) var lower: Bool?
        @Flag(inversion: .prefixedNo, help: .text("Whether one of ~!@#$%^&*()-+ is required.")) var special: Bool?
        @Option(help: .text("The days for which a password is valid; 0 for no limit.")) var expirationDays: Int?
        @Option(help: .text("The minimum number of different characters.")) var minUniqueChars: Int?
        @Option(help: .text("The seconds after which the vault locks itself; 0 for never.")) var lockTimeout: Int?
        @Option(help: .text("The number of wrong passwords in a row that destroys the vault; 0 for never."))
        var retryLimit: Int?
        @Flag(help: .text("Report as JSON; this is always so.")) var json = false

        func run() async throws {
            let opened = try await vault.unlocked()
            let before = try await opened.passwordPolicy
            let policy = changed(before)
            if policy != before { try await opened.setPasswordPolicy(policy) }
            print(JSONText(policy).text)
        }

        private func changed(_ policy: PasswordPolicy) -> PasswordPolicy {
            var policy = policy
            policy.defaultPasswordAllowed = defaultPassword ?? policy.defaultPasswordAllowed
            policy.minLength = minLength ?? policy.minLength
            policy.hasDigits = digits ?? policy.hasDigits
            policy.hasUpper = upper ?? policy.hasUpper
            policy.hasLower = lower ?? policy.hasLower
            policy.hasSpecial = special ?? policy.hasSpecial
            policy.expirationDays = expirationDays ?? policy.expirationDays
            policy.minUniqueChars = minUniqueChars ?? policy.minUniqueChars
            policy.lockTimeout = lockTimeout ?? policy.lockTimeout
            policy.retryLimit = retryLimit ?? policy.retryLimit
            return policy
        }
    }

    struct Destroy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "destroy",
            abstract: translated("Destroy a vault for ever; no password is needed."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost vault destroy login
                    """))

        @Argument(help: .text("The name of the vault.")) var name: String
        @Flag(help: .text("Do not ask.")) var yes = false
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            let vaults = try VaultFolder()
            guard vaults.contains(name) else { throw DataVaultError.noVault(name: name) }
            if !yes {
                guard let answer = Terminal.confirm("Destroy the vault \(name) with all it holds?") else {
                    throw Failure(message: "Nobody is here to be asked.", advice: "Say --yes to destroy it.")
                }
                guard answer else { throw QuietExit(status: .failed) }
            }
            try await vaults.delete(name)
            print(json ? JSONText(["destroyed": name]).text : "The vault \(Terminal.bold(name)) is no more.")
        }
    }
}
