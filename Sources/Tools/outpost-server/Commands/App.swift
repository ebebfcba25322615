import ArgumentParser
import Foundation
import MobileServer
import ServerState
import ToolLanguage

struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: translated("List, add, import, export and remove applications."),
        discussion: translated(
            paragraphs: """
                EXAMPLE
                  outpost-server app import shop shop.yaml --activate
                  outpost-server app export shop --ini
                """),
        subcommands: [ListApps.self, ShowApp.self, AddApp.self, RemoveApp.self, ImportApp.self, ExportApp.self])

    struct Row: Encodable {
        var name: String
        var title: String
        var state: String
        var activeVersion: Int

        init(_ record: ApplicationRecord) {
            name = record.name
            title = record.title
            state = record.state.rawValue
            activeVersion = record.activeVersion
        }
    }

    struct ListApps: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: translated("List applications."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server app list --json
                    """))

        @OptionGroup var options: ServerOptions

        func run() async throws {
            let rows = try await options.withServer { try await $0.state.applications.all().map(Row.init) }
            if options.json { return Console.json(rows) }
            Console.table(
                ["NAME", "STATE", "VERSION", "TITLE"],
                rows.map { [$0.name, $0.state, "\($0.activeVersion)", $0.title] })
        }
    }

    struct ShowApp: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: translated("Show an application with its versions."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server app show shop
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        func run() async throws {
            let report = try await options.withServer { server in
                let record = try await server.application(app)
                let versions = try await server.state.applications.configurations(of: record.id).map {
                    Version(
                        version: $0.version, state: $0.state.rawValue, createdBy: $0.createdBy,
                        createdAt: $0.createdAt.date)
                }
                return Report(application: Row(record), versions: versions)
            }
            if options.json { return Console.json(report) }
            Console.line("\(report.application.name): \(report.application.title) (\(report.application.state))")
            Console.table(
                ["VERSION", "STATE", "BY", "AT"],
                report.versions.map {
                    ["\($0.version)", $0.state, $0.createdBy, $0.createdAt.formatted(.iso8601)]
                })
        }

        struct Report: Encodable {
            var application: Row
            var versions: [Version]
        }

        struct Version: Encodable {
            var version: Int
            var state: String
            var createdBy: String
            var createdAt: Date
        }
    }

    struct AddApp: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: translated("Add an application without destinations."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server app add shop --title 'The shop'
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The name: letters, digits, dots, hyphens and underscores."))
        var app: String

        @Option(help: .text("The title for people."))
        var title: String?

        func run() async throws {
            if let objection = ApplicationName.objection(to: app) {
                throw ServerFailure("'\(app)' is no name: \(LibraryText.text(objection))", status: .misused)
            }
            let row = try await options.withServer { server in
                let record = try await server.state.applications.add(
                    named: app, title: title ?? app, domain: "default", state: .draft)
                try await server.audit("application.add", app)
                return Row(record)
            }
            if options.json { return Console.json(row) }
            Console.line(
                "'\(app)' is a draft. Import a configuration: outpost-server app import \(app) FILE --activate")
        }
    }

    struct RemoveApp: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: translated("Remove an application with its users and registrations."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server app remove shop --yes
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Flag(help: .text("Do it without asking."))
        var yes = false

        func run() async throws {
            guard yes else {
                throw ServerFailure(
                    "Removing '\(app)' removes its users and registrations.", advice: "Add --yes.", status: .misused)
            }
            try await options.withServer { server in
                _ = try await server.application(app)
                try await ApplicationImporter(state: server.state).remove(app)
                try await server.audit("application.remove", app)
            }
            if options.json { return Console.json(["removed": app]) }
            Console.line("'\(app)' is removed.")
        }
    }

    struct ImportApp: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import", abstract: translated("Import a configuration as a new version."),
            discussion: translated(
                paragraphs: """
                    YAML makes the application if it does not exist. An '.ini' file changes the active configuration; \
                    keys without a counterpart are kept for the export.

                    EXAMPLE
                      outpost-server app import shop shop.yaml
                      outpost-server app import shop endpoints.ini --activate
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The configuration, as YAML or '.ini'."), completion: .file())
        var file: String

        @Flag(help: .text("Activate the version."))
        var activate = false

        func run() async throws {
            if let objection = ApplicationName.objection(to: app) {
                throw ServerFailure("'\(app)' is no name: \(LibraryText.text(objection))", status: .misused)
            }
            let report = try await options.withServer { server in
                var active: ApplicationConfiguration?
                if let record = try await server.state.applications.application(named: app) {
                    active = try await server.configuration(of: record, version: record.activeVersion)
                }
                let (configuration, warnings) = try ApplicationFile.read(file, over: active)
                let version = try await ApplicationImporter(state: server.state).add(
                    configuration, named: app, by: ServerOptions.actor, activates: activate)
                try await server.audit("application.import", "\(app)/\(version.version)")
                return Report(application: app, version: version.version, isActive: activate, warnings: warnings)
            }
            if options.json { return Console.json(report) }
            for warning in report.warnings { Console.error(ServerFailure.words(of: warning)) }
            let version = report.version
            Console.line(
                activate ? "Version \(version) of '\(app)' is active." : "Version \(version) of '\(app)' is a draft.")
        }

        struct Report: Encodable {
            var application: String
            var version: Int
            var isActive: Bool
            var warnings: [ConfigurationProblem]
        }
    }

    struct ExportApp: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: translated("Write the configuration of an application."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server app export shop > shop.yaml
                      outpost-server app export shop --ini > endpoints.ini
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Flag(help: .text("Write the '.ini' file of the older products."))
        var ini = false

        @Option(help: .text("The version; by default the active one."))
        var version: Int?

        func run() async throws {
            let configuration = try await options.withServer { server in
                let record = try await server.application(app)
                guard
                    let configuration = try await server.configuration(
                        of: record, version: version ?? record.activeVersion)
                else { throw ServerFailure("'\(app)' has no active version.", advice: "Name one with --version.") }
                return configuration
            }
            if options.json {
                return Console.document(String(decoding: configuration.canonicalJSON(), as: UTF8.self) + "\n")
            }
            Console.document(ini ? EndpointFile.text(of: configuration) : configuration.yaml)
        }
    }
}
