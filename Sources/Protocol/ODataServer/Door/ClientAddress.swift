import HTTPTypes
import NIOCore
import ODataHTTP

/// The network address of a client.
struct ClientAddress: Hashable, Sendable {
    /// The whole address for the access log; `local` if there is none.
    let text: String
    /// The key by which requests are counted. IPv6 is reduced to its first 64 bits, since a client can use all
    /// addresses with the same prefix.
    let counted: String
    /// Whether the address belongs to this machine alone.
    let isLoopback: Bool

    /// - Parameter address: The address of the peer; `nil` if the connection has ended.
    init(_ address: SocketAddress?) {
        guard let address, let text = address.ipAddress else {
            (self.text, counted, isLoopback) = ("local", "local", false)
            return
        }
        switch address {
        case .v6(let address):
            let bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
            if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
                let mapped = bytes[12...].map { String($0) }.joined(separator: ".")
                (self.text, counted, isLoopback) = (mapped, mapped, bytes[12] == 127)
            } else {
                self.text = text
                counted = bytes[..<8].map { String($0, radix: 16) }.joined(separator: ":")
                isLoopback = bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] == 1
            }
        default: (self.text, counted, isLoopback) = (text, text, text.hasPrefix("127."))
        }
    }

    /// Returns the address that trusted proxies state in `X-Forwarded-For` or in `Forwarded` (RFC 7239, 5.2).
    /// Each proxy appends the address of its peer, so that the entry of the first one names the client.
    ///
    /// - Parameter hops: The number of proxies.
    /// - Returns: `nil` if the proxies state no address.
    static func forwarded(_ fields: HTTPFields, hops: Int) -> ClientAddress? {
        if let text = HTTPField.Name("Forwarded").flatMap({ fields[$0] }) {
            let element = entry(of: text, hops: hops)
            for pair in element.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\"" } }
                if parts.count == 2, parts[0].lowercased() == "for" { return ClientAddress(parts[1]) }
            }
            return nil
        }
        let text = HTTPField.Name("X-Forwarded-For").flatMap { fields[$0] }
        return text.flatMap { ClientAddress(entry(of: $0, hops: hops).filter { $0 != " " }) }
    }

    /// Returns the entry that the first trusted proxy has written. A proxy may write no entry of its own, so that
    /// the first entry of a shorter list counts.
    private static func entry(of list: String, hops: Int) -> Substring {
        let entries = list.split(separator: ",")
        return entries.isEmpty ? "" : entries[max(entries.count - max(hops, 1), 0)]
    }

    /// Returns whether the first trusted proxy states that the client uses TLS.
    static func isForwardedSecurely(_ fields: HTTPFields, hops: Int) -> Bool {
        if let text = HTTPField.Name("Forwarded").flatMap({ fields[$0] }) {
            let pairs = entry(of: text, hops: hops).split(separator: ";")
            return pairs.contains { $0.filter { $0 != " " && $0 != "\"" }.lowercased() == "proto=https" }
        }
        let text = HTTPField.Name("X-Forwarded-Proto").flatMap { fields[$0] }
        return text.map { entry(of: $0, hops: hops).filter { $0 != " " }.lowercased() } == "https"
    }

    /// Reads an address in a proxy's field, with or without a port.
    private init?(_ text: String) {
        let bare = text.contains("]") || text.filter({ $0 == ":" }).count <= 1 ? text : "[\(text)]"
        guard let host = Authority(bare), host.isAddress else { return nil }
        self.init(try? SocketAddress(ipAddress: host.host, port: 0))
    }
}

extension ODataServer.Configuration {
    /// The number of trusted proxies; 0 for none.
    var hops: Int { trustsForwarded ? max(trustedHops, 1) : 0 }
}
