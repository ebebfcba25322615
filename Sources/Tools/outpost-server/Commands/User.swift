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

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The name, the subject or the number of the user."))
        var user: String

        func run() async throws {
            let report = try await options.withServer { server in
                let application = try await server.application(app)
                let user = try await server.user(user, of: application)
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

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The name, the subject or the number of the user."))
        var user: String

        func run() async throws { try await UserCommand.setLocked(true, user: user, of: app, options) }
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

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The name, the subject or the number of the user."))
        var user: String

        func run() async throws { try await UserCommand.setLocked(false, user: user, of: app, options) }
    }

    static func setLocked(
        _ isLocked: Bool, user name: String, of app: String, _ options: ServerOptions
    ) async throws {
        let row = try await options.withServer { server in
            let application = try await server.application(app)
            let user = try await server.user(name, of: application)
            let changed = try await server.state.registrations.setLocked(isLocked, user: user.id)
            try await server.audit(isLocked ? "user.lock" : "user.unlock", "\(app)/\(user.id)")
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

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The name, the subject or the number of the user."))
        var user: String

        func run() async throws {
            try await options.withServer { server in
                let application = try await server.application(app)
                let found = try await UserCommand.remove(user, of: application, in: server)
                guard found.users + found.directory > 0 else {
                    throw ServerFailure("'\(app)' has no user '\(user)'.")
                }
                try await server.audit("user.remove", "\(app)/\(user)")
            }
            if options.json { return Console.json(["removed": user]) }
            Console.line("'\(user)' is removed.")
        }
    }

    struct EraseUser: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "erase", abstract: translated("Remove all data about a person, with a report."),
            discussion: translated(
                paragraphs: """
                    Registrations, settings and policies go. The audit keeps its entries with a pseudonym in place of \
                    the name.

                    EXAMPLE
                      outpost-server user erase shop ann --json > erased.json
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The name or the subject of the person."))
        var user: String

        func run() async throws {
            let report = try await options.withServer { server in
                let application = try await server.application(app)
                let found = try await UserCommand.remove(user, of: application, in: server)
                let pseudonym = "p-" + server.keys.cipher(.audit).pseudonym(of: user).prefix(16)
                let entries = try await server.state.operators.replaceInAudit(user, by: pseudonym)
                return Report(
                    application: app, pseudonym: pseudonym, users: found.users, directoryUsers: found.directory,
                    registrations: found.registrations, auditEntries: entries)
            }
            if options.json { return Console.json(report) }
            Console.line(
                """
                Removed \(report.users) users, \(report.directoryUsers) directory users and \(report.registrations) \
                registrations. \(report.auditEntries) audit entries name \(report.pseudonym) instead.
                """)
        }

        struct Report: Encodable {
            var application: String
            var pseudonym: String
            var users: Int
            var directoryUsers: Int
            var registrations: Int
            var auditEntries: Int
        }
    }

    /// Removes all users of a name.
    static func remove(
        _ name: String, of application: ApplicationRecord, in server: OpenServer
    ) async throws -> (users: Int, directory: Int, registrations: Int) {
        var (count, devices) = (0, 0)
        for user in try await server.users(of: application)
        where user.name == name || user.subject == name || "\(user.id)" == name {
            devices += try await server.state.registrations.registrations(
                RegistrationFilter(application: application.id, user: user.id)
            ).count
            try await server.state.registrations.removeUser(user.id)
            count += 1
        }
        var directory = 0
        if try await server.state.registrations.directoryUser(name, of: application.id) != nil {
            try await server.state.registrations.removeDirectoryUser(name, of: application.id)
            directory = 1
        }
        return (count, directory, devices)
    }
}

extension OpenServer {
    /// Returns all users of an application.
    func users(of application: ApplicationRecord) async throws -> [UserRecord] {
        var users: [UserRecord] = []
        while true {
            let page = try await state.registrations.users(of: application.id, after: users.last?.id ?? 0)
            users += page
            if page.count < 1000 { return users }
        }
    }

    /// Returns the only user with a name, subject or number.
    func user(_ name: String, of application: ApplicationRecord) async throws -> UserRecord {
        let found = try await users(of: application).filter {
            $0.name == name || $0.subject == name || "\($0.id)" == name
        }
        guard let user = found.first else { throw ServerFailure("'\(application.name)' has no user '\(name)'.") }
        guard found.count == 1 else {
            throw ServerFailure(
                "'\(application.name)' has several users '\(name)'.",
                advice: "Name one by its number: \(found.map { "\($0.id)" }.joined(separator: ", ")).")
        }
        return user
    }
}
