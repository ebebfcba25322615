import HTTPTypes
import NIOCore
import ODataHTTP

/// The network address by which requests are counted.
enum ClientAddress {
    /// Returns the key of a peer's address. IPv6 is reduced to its first 64 bits, since a client can use all
    /// addresses with the same prefix.
    static func counted(_ address: SocketAddress?) -> String {
        switch address {
        case .v4(let address): "\(SocketAddress.v4(address).ipAddress ?? "?")"
        case .v6(let address):
            withUnsafeBytes(of: address.address.sin6_addr) { bytes in
                let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
                return isMapped
                    ? bytes[12...].map { String($0) }.joined(separator: ".")
                    : bytes[..<8].map { String($0, radix: 16) }.joined(separator: ":")
            }
        case .unixDomainSocket, nil: "local"
        }
    }

    /// Returns the address that a trusted proxy states: the last one in `X-Forwarded-For` or in `Forwarded`
    /// (RFC 7239, 5.2), which the proxy itself has written.
    ///
    /// - Returns: `nil` if the proxy states no address.
    static func forwarded(_ fields: HTTPFields) -> String? {
        if let text = HTTPField.Name("Forwarded").flatMap({ fields[$0] }) {
            let element = text.split(separator: ",").last ?? ""
            for pair in element.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\"" } }
                if parts.count == 2, parts[0].lowercased() == "for" { return counted(parts[1]) }
            }
            return nil
        }
        let text = HTTPField.Name("X-Forwarded-For").flatMap { fields[$0] }
        return text?.split(separator: ",").last.flatMap { counted($0.filter { $0 != " " }) }
    }

    /// Returns the key of an address in a proxy's field, with or without a port.
    private static func counted(_ text: String) -> String? {
        let bare = text.contains("]") || text.filter({ $0 == ":" }).count <= 1 ? text : "[\(text)]"
        guard let host = Authority(bare), host.isAddress else { return nil }
        return counted(try? SocketAddress(ipAddress: host.host, port: 0))
    }
}
