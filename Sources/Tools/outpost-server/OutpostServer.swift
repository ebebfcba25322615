import ArgumentParser

/// The program `outpost-server`.
@main
struct OutpostServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outpost-server", abstract: "Serve OData services to a team of devices.")
}
