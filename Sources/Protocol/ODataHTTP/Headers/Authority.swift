#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The host and port of a request: the value of `Host` or `:authority` (RFC 9110, 7.2; RFC 3986, 3.2.2).
package struct Authority: Hashable, Sendable {
    /// The host in lower case, without the final dot of a fully qualified name; an IPv6 address without brackets.
    package let host: String
    /// Whether the host is an IPv4 or IPv6 address.
    package let isAddress: Bool
    /// The port; `nil` if the text has none.
    package let port: UInt16?

    /// Parses an authority.
    ///
    /// - Returns: `nil` for a text with a user name, without a host, or with an invalid host or port.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.maxLength else { return nil }
        let isBracketed = bytes[0] == UInt8(ascii: "[")
        let end: Int
        if isBracketed {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            end = bracket + 1
        } else {
            end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
        }
        guard let port = Self.port(bytes[end...]) else { return nil }
        self.port = port.number
        let name = String(decoding: isBracketed ? bytes[1..<(end - 1)] : bytes[..<end], as: UTF8.self).lowercased()
        if isBracketed {
            guard Self.isAddress(name, of: AF_INET6) else { return nil }
            (host, isAddress) = (name, true)
            return
        }
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameByte) else { return nil }
        host = name.hasSuffix(".") && name.utf8.count > 1 ? String(name.dropLast()) : name
        isAddress = Self.isAddress(host, of: AF_INET)
    }

    /// The maximum length of a DNS host name with a port, in bytes (RFC 1035, 2.3.4).
    private static let maxLength = 255 + 6

    /// Whether the host is a loopback address or a reserved loopback name (RFC 6761, 6.3).
    package var isLoopback: Bool {
        guard isAddress else { return host == "localhost" || host.hasSuffix(".localhost") }
        return host.hasPrefix("127.") || host == "::1"
    }

    /// Returns the number after the colon. It is `nil` if there is no number; the pair is `nil` if the port is
    /// invalid.
    private static func port(_ rest: ArraySlice<UInt8>) -> (number: UInt16?, Void)? {
        guard let colon = rest.first else { return (nil, ()) }
        let digits = rest.dropFirst()
        guard colon == UInt8(ascii: ":"), digits.count <= 5,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        // `uri-host ":"` without a number is allowed.
        guard !digits.isEmpty else { return (nil, ()) }
        guard let number = UInt16(String(decoding: digits, as: UTF8.self)) else { return nil }
        return (number, ())
    }

    /// Returns whether a byte is an unreserved character. The other characters of RFC 3986, including the percent
    /// sign, occur neither in DNS nor in certificates.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func isAddress(_ text: String, of family: Int32) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { inet_pton(family, text, $0.baseAddress) == 1 }
    }
}
