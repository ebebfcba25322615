/// A setting of `outpost serve`: an option, a key of the configuration file and a variable of the environment.
struct ServeSetting: Sendable {
    /// The values that a setting takes.
    enum Kind: Sendable {
        /// A text.
        case text
        /// The path of a file or folder; in the configuration file, relative to the folder of that file.
        case path
        /// A number in a range.
        case number(ClosedRange<Int>)
        /// `true` or `false`.
        case flag
        /// Several texts.
        case texts
    }

    /// The key, which is the name of the option without its dashes.
    let name: String
    let kind: Kind
    /// Whether SIGHUP applies a change of the setting, or of the file that it names.
    var isReloaded = false

    /// The key of the argument without a name.
    static let path = "path"
    /// The start of all variables.
    static let prefix = "OUTPOST_SERVE_"
    /// The option of the configuration file itself, which only the command line and the environment have.
    static let file = "config"
    /// The options that only the command line has.
    static let commandLineOnly: Set<String> = [file, "check", "json", "help", "version"]

    /// The name of the variable in the environment.
    var variable: String { Self.variable(of: name) }

    static func variable(of name: String) -> String {
        prefix + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    private static let count = 0...1_000_000_000

    static let all: [ServeSetting] = [
        ServeSetting(name: path, kind: .path),
        ServeSetting(name: "rows", kind: .path),
        ServeSetting(name: "host", kind: .text),
        ServeSetting(name: "port", kind: .number(0...65_535)),
        ServeSetting(name: "read-only", kind: .flag),
        ServeSetting(name: "key", kind: .texts),
        ServeSetting(name: "track", kind: .flag),
        ServeSetting(name: "page-size", kind: .number(count)),
        ServeSetting(name: "auth", kind: .path, isReloaded: true),
        ServeSetting(name: "user", kind: .text),
        ServeSetting(name: "password-file", kind: .path, isReloaded: true),
        ServeSetting(name: "token-issuer", kind: .text),
        ServeSetting(name: "token-audience", kind: .text),
        ServeSetting(name: "token-keys", kind: .path),
        ServeSetting(name: "rights", kind: .path, isReloaded: true),
        ServeSetting(name: "tls", kind: .path, isReloaded: true),
        ServeSetting(name: "tls-key", kind: .path, isReloaded: true),
        ServeSetting(name: "tls-clients", kind: .path),
        ServeSetting(name: "tls-crl", kind: .path),
        ServeSetting(name: "allow-either", kind: .flag),
        ServeSetting(name: "cors", kind: .texts),
        ServeSetting(name: "csrf", kind: .flag),
        ServeSetting(name: "host-name", kind: .texts),
        ServeSetting(name: "max-requests-at-once", kind: .number(count)),
        ServeSetting(name: "max-requests-per-minute", kind: .number(count)),
        ServeSetting(name: "open", kind: .flag),
        ServeSetting(name: "print-token", kind: .flag),
        ServeSetting(name: "base-url", kind: .text),
        ServeSetting(name: "trust-proxy", kind: .flag),
        ServeSetting(name: "no-compression", kind: .flag),
        ServeSetting(name: "log", kind: .flag),
        ServeSetting(name: "metrics", kind: .flag),
        ServeSetting(name: "metrics-token", kind: .path),
        ServeSetting(name: "max-time", kind: .number(count)),
        ServeSetting(name: "max-rows", kind: .number(count)),
        ServeSetting(name: "max-memory", kind: .number(count)),
        ServeSetting(name: "drain-time", kind: .number(1...86_400)),
        ServeSetting(name: "key-file", kind: .path),
        ServeSetting(name: "allow-readable-secrets", kind: .flag),
    ]
}
