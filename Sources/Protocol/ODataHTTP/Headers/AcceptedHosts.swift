#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The names under which clients may address a server.
///
/// With DNS rebinding, a web page maps its own host name to the address of any machine. Its browser then treats the
/// server as part of the page, and only the name in `Host` reveals the attack.
///
/// A server therefore accepts only IP addresses, loopback names, the name of its machine, and configured names.
/// Requests for other names are misdirected (RFC 9110, 7.4 and 15.5.20).
///
/// ```swift
/// let hosts = AcceptedHosts(["api.example"])
/// hosts.accepts("api.example:8443")      // true
/// hosts.accepts("127.0.0.1:8080")        // true
/// hosts.accepts("attacker.example")      // false
/// ```
public struct AcceptedHosts: Hashable, Sendable {
    /// The configured names, in lower case and without a port.
    public let names: Set<String>

    /// Creates a set of names in addition to addresses, loopback names and the machine's host name.
    ///
    /// - Parameter names: names without a port. Case, and the final dot of a fully qualified name, are ignored.
    public init(_ names: some Sequence<String> = []) {
        self.names = Set(names.map { Authority($0)?.host ?? $0.lowercased() })
    }

    /// Returns whether the server accepts requests for a host, which may have a port.
    public func accepts(_ authority: String) -> Bool {
        guard let authority = Authority(authority) else { return false }
        return accepts(authority)
    }

    /// Returns whether the server accepts requests for a host.
    package func accepts(_ authority: Authority) -> Bool {
        authority.isAddress || authority.isLoopback || names.contains(authority.host)
            || Self.machine.contains(authority.host)
    }

    /// The host name of this machine and its first label.
    private static let machine: Set<String> = {
        var buffer = [UInt8](repeating: 0, count: 256)
        let status = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { gethostname($0.assumingMemoryBound(to: CChar.self), bytes.count - 1) } ?? -1
        }
        let name = String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self).lowercased()
        guard status == 0, !name.isEmpty else { return [] }
        return [name, String(name.prefix { $0 != "." })]
    }()
}
