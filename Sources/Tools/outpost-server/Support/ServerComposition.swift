import MobileServer
import ODataDatabases
import ODataService

/// The parts of a node.
struct ServerComposition {
    let destinations: DestinationsPart
    let parts: [any ServerPart]
    /// The authority of device certificates in PEM.
    let deviceAuthority: String

    init(_ services: NodeServices) throws {
        let folder = services.dataFolder
        let destinations = try DestinationsPart(services: services) { path in
            let whole = path.hasPrefix("/") ? path : folder + "/" + path
            return try await ServedDatabase.open(path: whole, options: ServedDatabase.Options())
        }
        let devices = try DevicePart(services: services, destinations: destinations)
        self.destinations = destinations
        deviceAuthority = devices.authorityPEM
        parts = [
            MaintenancePart(services: services), destinations, devices, try OperatorsPart(services: services),
        ]
    }
}
