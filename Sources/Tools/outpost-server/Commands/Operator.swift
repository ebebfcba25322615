import ArgumentParser
import Foundation
import MobileServer
import ServerState
import ToolLanguage

struct OperatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "operator",
        abstract: translated("List, add, change and remove operators."),
        discussion: translated(
            paragraphs: """
                The roles are viewer, support, manager and security; each includes those before it.

                EXAMPLE
                  outpost-server operator add ann --role manager
                  outpost-server operator link ann
                """),
        subcommands: [
            ListOperators.self, AddOperator.self, RemoveOperator.self, ChangeRoles.self, ResetOperator.self,
            LinkOperator.self,
        ])

    struct Row: Encodable {
        var name: String
        var role: String
        var isLocked: Bool
        var hasPassword: Bool

        init(_ record: OperatorRecord) {
            name = record.name
            role = record.role.rawValue
            isLocked = record.isLocked
            hasPassword = record.password != nil
        }
    }

    static func role(_ text: String) throws -> OperatorRole {
        guard let role = OperatorRole(rawValue: text) else {
            let roles = OperatorRole.allCases.map(\.rawValue).joined(separator: ", ")
            throw ServerFailure("There is no role '\(text)'.", advice: "The roles are \(roles).", status: .misused)
        }
        return role
    }

    struct ListOperators: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: translated("List operators."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server operator list
                    """))

        @OptionGroup var options: ServerOptions

        func run() async throws {
            let rows = try await options.withServer { try await $0.state.operators.all().map(Row.init) }
            if options.json { return Console.json(rows) }
            Console.table(
                ["NAME", "ROLE", "LOCKED", "PASSWORD"],
                rows.map {
                    [
                        $0.name, $0.role, $0.isLocked ? translated("yes") : translated("no"),
                        $0.hasPassword ? translated("yes") : translated("no"),
                    ]
                })
        }
    }

    struct AddOperator: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: translated("Add an operator, and print a link to sign in once."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server operator add ann --role support
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The name."))
        var name: String

        @Option(help: .text("The role: viewer, support, manager or security."))
        var role: String

        mutating func validate() throws {
            guard (1...RegistrationLimits.userNameLength).contains(name.count) else {
                throw ValidationError(translated("A name has 1 to \(RegistrationLimits.userNameLength) characters."))
            }
        }

        func run() async throws {
            let role = try OperatorCommand.role(role)
            let link = try await options.withServer { server in
                _ = try await server.state.operators.add(OperatorRecord(name: name, role: role))
                try await server.audit("operator.add", name)
                return try await server.signInLink(of: name)
            }
            if options.json { return Console.json(["operator": name, "signIn": link]) }
            Console.line("Sign in once: \(link)   (valid for 15 minutes)")
        }
    }

    struct RemoveOperator: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: translated("Remove an operator and end the sessions."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server operator remove ann
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The name."))
        var name: String

        func run() async throws {
            try await options.withServer { server in
                try await server.state.operators.remove(name)
                try await server.audit("operator.remove", name)
            }
            if options.json { return Console.json(["removed": name]) }
            Console.line("'\(name)' is removed.")
        }
    }

    struct ChangeRoles: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "roles", abstract: translated("Change the role of an operator."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server operator roles ann manager
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The name."))
        var name: String

        @Argument(help: .text("The role: viewer, support, manager or security."))
        var role: String

        func run() async throws {
            let role = try OperatorCommand.role(role)
            let row = try await options.withServer { server in
                let changed = try await server.state.operators.update(
                    name, ifMatch: nil, OperatorChange(role: role))
                try await server.audit("operator.role", "\(name)/\(role.rawValue)")
                return Row(changed)
            }
            if options.json { return Console.json(row) }
            Console.line("'\(name)' has the role \(role.rawValue).")
        }
    }

    struct ResetOperator: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset", abstract: translated("Remove password and one-time passwords, and print a link."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server operator reset ann
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The name."))
        var name: String

        func run() async throws {
            let link = try await options.withServer { server in
                _ = try await server.state.operators.update(
                    name, ifMatch: nil, OperatorChange(isLocked: false, resetsCredentials: true))
                try await server.audit("operator.reset", name)
                return try await server.signInLink(of: name)
            }
            if options.json { return Console.json(["operator": name, "signIn": link]) }
            Console.line("Sign in once: \(link)   (valid for 15 minutes)")
        }
    }

    struct LinkOperator: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "link", abstract: translated("Print a link with which an operator signs in once."),
            discussion: translated(
                paragraphs: """
                    The link is valid for 15 minutes. The first operator is made, with the role security.

                    EXAMPLE
                      outpost-server operator link admin
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The name."))
        var name = "admin"

        func run() async throws {
            let link = try await options.withServer { server in
                let link = try await server.signInLink(of: name)
                try await server.audit("operator.link", name)
                return link
            }
            if options.json { return Console.json(["operator": name, "signIn": link]) }
            Console.line("Sign in once: \(link)   (valid for 15 minutes)")
        }
    }
}

extension OpenServer {
    /// Makes a sign-in link of an operator.
    func signInLink(of name: String) async throws -> String {
        let code = try await OperatorsPart.makeLink(state: state, keys: keys, operator: name)
        let scheme = configuration.server.tls == .off ? "http" : "https"
        return "\(scheme)://\(configuration.server.operatorListen)/sign-in/first?code=\(code)"
    }
}
