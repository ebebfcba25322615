import ArgumentParser
import Foundation
import Logging
import ODataHTTP
import ODataServer
import ODataService
import ODataStore

@main
struct ReferenceService: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference-service",
        abstract: "A small OData 4.01 service that exercises every part of the protocol.",
        discussion: """
            Products with categories, descriptions, media and a singleton, in memory. Changes are lost when the
            service stops, and POST /Reseed restores every row. Clients of OData 2.0 find the same below /v2/.

            With --package crm, it serves an object package: customers with their orders.

            EXAMPLE
              reference-service
              reference-service --package crm
              reference-service --port 0 --json
              curl 'http://127.0.0.1:9090/Products?$filter=Price%20gt%20100&$expand=Category'
            """)

    @Option(help: "The port; 0 takes a free one.")
    var port = 9090

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    /// The services that the tool has besides the reference model.
    enum Package: String, ExpressibleByArgument, CaseIterable { case crm }

    @Option(help: "An object package to serve instead: crm.")
    var package: Package?

    @Flag(help: "Give no delta links and recognise no repeated requests.")
    var plain = false

    @Option(help: ArgumentHelp("Make the faults of a script, a JSON file.", valueName: "file"))
    var faults: String?

    @Flag(help: "Say where the service is as JSON.")
    var json = false

    mutating func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is a number from 0 to 65535.") }
    }

    func run() async throws {
        let service = try await package == .crm ? CrmDefinition.open() : Self.open()
        let running = try await ODataServer(
            configuration: .init(host: host, port: port),
            handler: try Self.handler(
                plain ? PlainService(base: service) : service, faults: faults.map(FaultScript.read))
        ).start(stoppingOnSignals: true)
        print(
            json
                ? "{\"url\":\"\(running.url)\"}"
                : "Serving the \(package.map { "package \($0.rawValue)" } ?? "reference model") at \(running.url)")
        fflush(nil)
        await running.waitUntilStopped()
        try await service.close()
    }

    /// Returns a handler for V4 at the root and for V2 below `/v2/`.
    static func handler(
        _ provider: any ODataProvider, faults: FaultScript? = nil
    ) throws -> ODataServer.IdentifiedHandler {
        guard let faults else { return try ODataEndpoints(provider: provider).handle }
        return FaultyService.handler(
            try ODataEndpoints(provider: FaultyService(base: provider, script: faults)).handle)
    }

    /// Opens the service in memory with its initial rows.
    static func open() async throws -> StoreService {
        let service = try await StoreService.open(ReferenceDefinition.make(), at: .memory)
        try await service.seed(ReferenceData.rows(for: service.model))
        return service
    }
}
