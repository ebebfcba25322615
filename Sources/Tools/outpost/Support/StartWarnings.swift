import ToolLanguage

/// The warnings at the start of a service that others can use.
struct StartWarnings {
    /// The address that the service listens on.
    let host: String
    /// Whether clients have to sign in.
    let isProtected: Bool
    /// Whether clients send passwords or tokens with each request.
    let takesPasswords: Bool
    /// Whether the service speaks TLS, itself or by a proxy.
    let isSecure: Bool
    /// Whether changes are refused.
    let isReadOnly: Bool
    /// Whether a clone is served without its token.
    let isOpenClone: Bool

    /// Whether nobody but this machine reaches an address.
    static func isLoopback(_ host: String) -> Bool {
        let name = host.lowercased()
        return name == "localhost" || name == "::1" || name == "[::1]"
            || name.hasPrefix("127.") && name.split(separator: ".").count == 4
                && name.utf8.allSatisfy {
                    $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                }
    }

    var texts: [TerminalText] {
        var texts: [TerminalText] = []
        let use: TerminalText = isReadOnly ? "read" : "read and change"
        if !isProtected, !Self.isLoopback(host) {
            texts.append(
                """
                everybody who reaches \(host) can \(use) everything. Ask for a sign-in with --auth FILE, \
                --token-issuer or --tls-clients, or listen on this machine only.
                """)
        } else if isOpenClone {
            texts.append("every user and program of this machine can \(use) the clone: it is served with --open.")
        }
        if takesPasswords, !isSecure {
            texts.append(
                "passwords and tokens travel in plain text: whoever is on the way reads them. Serve over TLS with --tls FILE."
            )
        }
        return texts
    }
}
