import ArgumentParser
import Foundation
import MobileServer
import Secrets
import ServerState
import ToolLanguage

struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: translated("List, add, lock, remove and erase users of an application."),
        discussion: translated(
            paragraphs: """
                Users of the kind 'basic' sign in with a password of the server's directory, which 'add' sets. Users \
                of other kinds appear when they sign in.

                EXAMPLE
                  outpost-server user add shop ann --role sales --password-file ann.txt
                  outpost-server user lock shop ann
                """),
        subcommands: [
            ListUsers.self, ShowUser.self, AddUser.self, LockUser.self, UnlockUser.self, RemoveUser.self,
            EraseUser.self,
        ])

    struct Row: Encodable {
        var id: Int64
        var name: String
        var issuer: String
        var subject: String
        var isLocked: Bool

        init(_ user: UserRecord) {
            id = user.id
            name = user.name
            issuer = user.issuer
            subject = user.subject
            isLocked = user.isLocked
        }
    }

    struct ListUsers: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: translated("List users."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server user list shop
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        func run() async throws {
            let (rows, directory) = try await options.withServer { server in
                let application = try await server.application(app)
                return (
                    try await server.users(of: application).map(Row.init),
                    try await server.state.registrations.directoryUsers(of: application.id)
                        .map { Member(name: $0.name, roles: $0.roles, isLocked: $0.isLocked) }
                )
            }
            if options.json { return Console.json(Report(users: rows, directory: directory)) }
            Console.table(
                ["ID", "NAME", "ISSUER", "LOCKED"],
                rows.map { ["\($0.id)", $0.name, $0.issuer, $0.isLocked ? translated("yes") : translated("no")] })
            guard !directory.isEmpty else { return }
            Console.line("Directory:")
            Console.table(
                ["NAME", "ROLES", "LOCKED"],
                directory.map {
                    [$0.name, $0.roles.joined(separator: ","), $0.isLocked ? translated("yes") : translated("no")]
                })
        }

        struct Member: Encodable {
            var name: String
            var roles: [String]
            var isLocked: Bool
        }

        struct Report: Encodable {
            var users: [Row]
            var directory: [Member]
        }
    }

    struct ShowUser: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: translated("Show a user with the registrations."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server user show shop ann
                    """))

        @OptionGroup var options: ServerOptions

        @OptionGroup var named: UserArguments

        func run() async throws {
            let report = try await options.withServer { server in
                let application = try await server.application(named.app)
                let user = try await server.user(named.user, of: application)
                let devices = try await server.state.registrations.registrations(
                    RegistrationFilter(application: application.id, user: user.id))
                return Report(user: Row(user), registrations: devices.map(\.id))
            }
            if options.json { return Console.json(report) }
            Console.line("\(report.user.name) (\(report.user.issuer), number \(report.user.id))")
            Console.line("Locked: \(report.user.isLocked ? translated("yes") : translated("no"))")
            for id in report.registrations { Console.line("Registration \(id)") }
        }

        struct Report: Encodable {
            var user: Row
            var registrations: [String]
        }
    }

    struct AddUser: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: translated("Add a user to the server's directory, or set a new password."),
            discussion: translated(
                paragraphs: """
                    The file must belong to you, and nobody else may read it. A final line end does not belong to the \
                    password.

                    EXAMPLE
                      outpost-server user add shop ann --role sales --password-file ann.txt
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The name with which the user signs in."))
        var name: String

        @Option(help: .text("A role; may be repeated.", valueName: "role"))
        var role: [String] = []

        @Option(
            name: .customLong("password-file"),
            help: .text("The file with the password.", valueName: "file"), completion: .file())
        var passwordFile: String

        mutating func validate() throws {
            guard (1...RegistrationLimits.userNameLength).contains(name.count), !name.contains(":") else {
                throw ValidationError(
                    translated("A name has 1 to \(RegistrationLimits.userNameLength) characters and no colon."))
            }
        }

        func run() async throws {
            let password = try await SecretResolver(
                state: nil, folder: FileManager.default.currentDirectoryPath
            ).value(of: .file(passwordFile))
            let digest = try PasswordHash(of: password.reveal()).text
            try await options.withServer { server in
                let application = try await server.application(app)
                try await server.state.registrations.setDirectoryUser(
                    DirectoryUserRecord(application: application.id, name: name, password: digest, roles: role))
                try await server.audit("user.add", "\(app)/\(name)")
            }
            if options.json { return Console.json(["application": app, "user": name]) }
            Console.line("'\(name)' can sign in to '\(app)'.")
        }
    }

    struct LockUser: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lock", abstract: translated("Refuse all requests of a user."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server user lock shop ann
                    """))

        @OptionGroup var options: ServerOptions

        @OptionGroup var named: UserArguments

        func run() async throws { try await UserCommand.setLocked(true, named, with: options) }
    }

    struct UnlockUser: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unlock", abstract: translated("Serve the requests of a locked user again."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server user unlock shop ann
                    """))

        @OptionGroup var options: ServerOptions

        @OptionGroup var named: UserArguments

        func run() async throws { try await UserCommand.setLocked(false, named, with: options) }
    }

    static func setLocked(_ isLocked: Bool, _ named: UserArguments, with options: ServerOptions) async throws {
        let row = try await options.withServer { server in
            let application = try await server.application(named.app)
            let user = try await server.user(named.user, of: application)
            let changed = try await server.state.registrations.setLocked(isLocked, user: user.id)
            try await server.audit(isLocked ? "user.lock" : "user.unlock", "\(named.app)/\(user.subject)")
            return Row(changed)
        }
        if options.json { return Console.json(row) }
        Console.line(isLocked ? "'\(row.name)' is locked." : "'\(row.name)' is unlocked.")
    }

    struct RemoveUser: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: translated("Remove a user from the directory, with all registrations."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server user remove shop ann
                    """))

        @OptionGroup var options: ServerOptions

        @OptionGroup var named: UserArguments

        func run() async throws {
            try await options.withServer { server in
                let application = try await server.application(named.app)
                let person = try await server.person(named.user, of: application)
                guard !person.isUnknown else { throw server.unknown(named.user, of: application) }
                _ = try await server.remove(person, of: application)
                try await server.audit("user.remove", "\(named.app)/\(named.user)")
            }
            if options.json { return Console.json(["removed": named.user]) }
            Console.line("'\(named.user)' is removed.")
        }
    }

    struct EraseUser: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "erase", abstract: translated("Remove all data about a person, with a report."),
            discussion: translated(
                paragraphs: """
                    Registrations, settings, policies, activation codes, counted sign-ins and stored responses of \
                    repeatable requests go. The audit keeps its entries with a pseudonym in place of the name. The \
                    notice of the removal keeps the name for a day, and backups keep everything.

                    EXAMPLE
                      outpost-server user erase shop ann --json > erased.json
                    """))

        @OptionGroup var options: ServerOptions

        @OptionGroup var named: UserArguments

        func run() async throws {
            let report = try await options.withServer { server in
                let application = try await server.application(named.app)
                let person = try await server.person(named.user, of: application)
                let responses = try await server.forgetRequests(of: person, in: application)
                let found = try await server.remove(person, of: application)
                let (pseudonym, entries) = try await server.replaceInAudit(person, named.user, of: application)
                guard !person.isUnknown || entries > 0 else { throw server.unknown(named.user, of: application) }
                try await server.audit("user.erase", "\(named.app)/\(pseudonym)")
                return Report(
                    application: named.app, pseudonym: pseudonym, users: found.users, directoryUsers: found.directory,
                    registrations: found.registrations, storedResponses: responses, auditEntries: entries)
            }
            if options.json { return Console.json(report) }
            Console.line(
                """
                Removed \(report.users) users, \(report.directoryUsers) directory users, \(report.registrations) \
                registrations and \(report.storedResponses) stored responses. \(report.auditEntries) audit entries \
                name \(report.pseudonym) instead.
                """)
        }

        struct Report: Encodable {
            var application: String
            var pseudonym: String
            var users: Int
            var directoryUsers: Int
            var registrations: Int
            var storedResponses: Int
            var auditEntries: Int
        }
    }
}

/// The arguments of commands for one user.
struct UserArguments: ParsableArguments {
    @Argument(help: .text("The application."))
    var app: String

    @Argument(help: .text("The name, the subject or the number of the user."))
    var user: String
}
