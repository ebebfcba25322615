#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Networks such as `10.0.0.0/8` and `2001:db8::/32`, from which operators sign in.
struct NetworkList: Sendable {
    private struct Network {
        var bytes: [UInt8]
        var bits: Int
    }

    private let networks: [Network]

    /// Reads networks. An address without a number of bits is a network of one address.
    ///
    /// - Returns: `nil` if a text is no network.
    init?(_ texts: [String]) {
        var networks: [Network] = []
        for text in texts {
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let bytes = Self.bytes(String(parts[0])) else { return nil }
            let bits = parts.count == 2 ? Int(parts[1]) : bytes.count * 8
            guard let bits, (0...bytes.count * 8).contains(bits) else { return nil }
            networks.append(Network(bytes: bytes, bits: bits))
        }
        self.networks = networks
    }

    /// Returns whether an address is in one of the networks. An empty list has all addresses.
    func contains(_ address: String) -> Bool {
        guard !networks.isEmpty else { return true }
        guard let bytes = Self.bytes(String(address.prefix { $0 != "%" })) else { return false }
        return networks.contains { network in
            guard network.bytes.count == bytes.count else { return false }
            for bit in 0..<network.bits where (network.bytes[bit / 8] ^ bytes[bit / 8]) >> UInt8(7 - bit % 8) & 1 == 1 {
                return false
            }
            return true
        }
    }

    /// Returns the 4 or 16 bytes of an address.
    private static func bytes(_ text: String) -> [UInt8]? {
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 { return withUnsafeBytes(of: v4) { Array($0) } }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: v6) { Array($0) }
        // An IPv4 address in IPv6 notation.
        if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF { return Array(bytes[12...]) }
        return bytes
    }
}
