import ArgumentParser
import MobileServer
import ServerState
import ToolLanguage

struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: translated("Compare a configuration of an application with the active one."),
        discussion: translated(
            paragraphs: """
                The file is YAML with the keys of an application, or the '.ini' file of an older product. The report \
                names changed keys, affected queries with their rows and reads per hour, and the number of devices.

                EXAMPLE
                  outpost-server plan shop shop.yaml
                """))

    @OptionGroup var options: ServerOptions

    @Argument(help: .text("The application."))
    var app: String

    @Argument(help: .text("The configuration, as YAML or '.ini'."), completion: .file())
    var file: String

    func run() async throws {
        let plan = try await options.withServer { server in
            let record = try await server.application(app)
            let active = try await server.configuration(of: record, version: record.activeVersion)
            let new = try ApplicationFile.read(file, over: active).configuration
            var devices = 0
            var after: String?
            while true {
                let page = try await server.state.registrations.registrations(
                    RegistrationFilter(application: record.id, after: after))
                devices += page.count { $0.state != .unregistered }
                guard page.count == 1000 else { break }
                after = page.last?.id
            }
            return ConfigurationPlan(
                from: active, to: new, feeds: try await server.state.feeds.feeds(of: record.id), devices: devices)
        }
        if options.json { return Console.json(plan) }
        guard !plan.isEmpty else { return Console.line("Nothing changes.") }
        Console.line("Changed keys: \(plan.changedKeys.joined(separator: ", "))")
        if !plan.queries.isEmpty {
            Console.table(
                ["QUERY", "CHANGE", "ROWS", "READS/HOUR"],
                plan.queries.map { [$0.name, LibraryText.text($0.change), "\($0.rows)", "\($0.readsPerHour)"] })
        }
        Console.line("Affected devices: \(plan.devices)")
        for remark in plan.remarks { Console.line(LibraryText.text(remark)) }
    }
}
