import ODataHTTP
import ODataService
import Synchronization

/// The OData handlers of the device API, one for each service root.
final class DeviceHandlers: Sendable {
    private static let maxHandlers = 1000

    private let known = Mutex<[String: ODataHandler]>([:])

    /// Returns the handler of a service root.
    func handler(_ provider: any ODataProvider, _ address: DeviceAddresses.Address) throws -> ODataHandler {
        let key = "\(address.root) \(address.publicRoot)"
        if let handler = known.withLock({ $0[key] }) { return handler }
        let options = ODataHandler.Options(
            maxBodySize: 1 << 20, publicURL: address.publicRoot, statusMonitors: nil,
            batchLimits: BatchLimits())
        let handler = try ODataHandler(provider: provider, serviceRoot: address.root, options: options)
        known.withLock { known in
            // Host names of clients are part of the key, so that their number has a limit.
            if known.count >= Self.maxHandlers { known = [:] }
            known[key] = handler
        }
        return handler
    }
}
