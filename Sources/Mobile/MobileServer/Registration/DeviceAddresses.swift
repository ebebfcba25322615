import HTTPTypes
import MobileProtocol
import ODataHTTP
import ODataServer
import ODataService

/// The addresses of the device API: below the prefix of the configuration, and behind relays.
///
/// A relay adds its own path and the farm as a path segment: `/client/rs_client.dll/FARM/m/v1/shop/`. Any other prefix
/// that a proxy adds stands in `server.path_prefix`, if the proxy leaves it in the path.
struct DeviceAddresses: Sendable {
    /// The address of a request.
    struct Address {
        /// The name of the application.
        var application: String
        /// The path of the service root, as the request has it.
        var root: String
        /// The external URL of the service root.
        var publicRoot: String
        /// The resource below the service root.
        var resource: DeviceDoor.Resource

        /// The destination of a request below `d/`, with its root.
        var destination: (name: String, root: String)? {
            guard resource.isProxied else { return nil }
            let name = resource.path.dropFirst(2).prefix { $0 != "/" }
            guard !name.isEmpty else { return nil }
            return (String(name), "\(root)d/\(name)/")
        }
    }

    /// The path of the device API below a prefix.
    static let path = "m/v1/"
    /// The paths of relays, behind which the farm follows.
    static let relays = ["client/rs_client.dll/", "cli/iasrelayserver/", "ias_relay_server/client/rs_client.dll/"]

    /// The prefix of the configuration, with slashes at both ends.
    let prefix: String
    private let publicURL: String?

    init(_ settings: ListenerSettings) {
        let trimmed = settings.pathPrefix.split(separator: "/").joined(separator: "/")
        prefix = trimmed.isEmpty ? "/" : "/\(trimmed)/"
        publicURL = settings.publicURL.map { $0.hasSuffix("/") ? $0 : $0 + "/" }
    }

    /// The paths at which the API is mounted.
    var mounts: [String] { [prefix + Self.path] + Self.relays.map { prefix + $0 } }

    /// Returns the address of a request.
    ///
    /// - Throws: ``ODataError`` 404 if the path names no application.
    func address(of head: HTTPRequest, _ context: MountContext) throws(ODataError) -> Address {
        let whole = String((head.path ?? "/").prefix { $0 != "?" })
        guard let leading = leading(whole) else { throw .notFound("This path") }
        let rest = whole.dropFirst(leading.count + Self.path.count)
        let application = String(rest.prefix { $0 != "/" })
        guard !application.isEmpty, let name = application.removingPercentEncoding else {
            throw ODataError(.applicationUnknown, "The path names no application.")
        }
        let resource = String(rest.dropFirst(application.count + 1))
        let below = "\(Self.path)\(application)/"
        let base = base(of: head, context, leading: leading)
        return Address(
            application: name, root: leading + below, publicRoot: base + below,
            resource: DeviceDoor.Resource(
                path: resource.removingPercentEncoding ?? resource, url: "\(base)\(below)\(resource)"))
    }

    /// Returns the external URL under which the paths of this server lie, with a slash at the end.
    func base(of head: HTTPRequest, _ context: MountContext, leading: String? = nil) -> String {
        let leading = leading ?? prefix
        guard let publicURL else {
            return "\(context.isSecure ? "https" : "http")://\(head.authority ?? "localhost")\(leading)"
        }
        guard leading != prefix else { return publicURL }
        // A relay has the address of the server, and its own path.
        let scheme = publicURL.lowercased().hasPrefix("https://") ? "https://" : "http://"
        return scheme + publicURL.dropFirst(scheme.count).prefix { $0 != "/" } + leading
    }

    /// Returns the part of a path before `m/v1/`: the prefix, or the path of a relay with its farm.
    private func leading(_ path: String) -> String? {
        guard path.hasPrefix(prefix) else { return nil }
        let rest = path.dropFirst(prefix.count)
        if rest.hasPrefix(Self.path) { return prefix }
        for relay in Self.relays where rest.hasPrefix(relay) {
            let farm = rest.dropFirst(relay.count).prefix { $0 != "/" }
            let leading = "\(prefix)\(relay)\(farm)/"
            if !farm.isEmpty, path.hasPrefix(leading + Self.path) { return leading }
        }
        return nil
    }
}
