import ServerState

/// The configuration of a server: one YAML file (`mobile-server.md` 13).
///
/// ```swift
/// let configuration = try ServerConfiguration(yaml: text, path: "outpost-server.yaml")
/// ```
public struct ServerConfiguration: Hashable, Sendable {
    /// Listeners, address, TLS and data folder: `server`.
    public var server = ListenerSettings()
    /// The database: `database`.
    public var database = DatabaseSettings()
    /// The master key: `keys.master`.
    public var masterKey = SecretReference.file("master.key")
    /// The sign-in of operators: `operators`.
    public var operators = OperatorSettings()
    /// Limits: `limits`.
    public var limits = ServerLimits()
    /// The log: `log`.
    public var log = LogSettings()
    /// The OpenTelemetry collector: `otlp`.
    public var otlp = CollectorSettings()
    /// The ages at which data goes: `retention`.
    public var retention = RetentionSettings()
    /// Image files: `images`.
    public var images = ImageSettings()
    /// Push: `push`.
    public var push = PushSettings()
    /// Whether the SMP-shaped endpoints are served: `compatibility.smp`.
    public var hasSMPEndpoints = false
    /// The URL to which BTX documents are forwarded: `traces.collector_url`.
    public var traceCollectorURL: String?
    /// The applications by name, which are imported when the state does not know them.
    public var applications: [String: ApplicationConfiguration] = [:]

    /// Creates the configuration that an empty file has.
    public init() {}
}

/// A reference to a secret: `file:PATH`, `env:NAME` or `secret:NAME`. No configuration contains a secret itself.
public enum SecretReference: Hashable, Sendable, CustomStringConvertible {
    /// A file; a relative path is one in the data folder.
    case file(String)
    /// An environment variable.
    case environment(String)
    /// A value of the set `Secrets`.
    case stored(String)

    /// Reads a reference, or returns `nil` for another text.
    public init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let rest = String(text[text.index(after: colon)...])
        guard !rest.isEmpty else { return nil }
        switch text[..<colon] {
        case "file": self = .file(rest)
        case "env": self = .environment(rest)
        case "secret": self = .stored(rest)
        default: return nil
        }
    }

    /// The reference as text.
    public var description: String {
        switch self {
        case .file(let path): "file:\(path)"
        case .environment(let name): "env:\(name)"
        case .stored(let name): "secret:\(name)"
        }
    }
}

/// The keys `server.*`.
public struct ListenerSettings: Hashable, Sendable {
    /// The address of the device API, as `HOST:PORT`; empty for none.
    public var listen = "127.0.0.1:8070"
    /// The address of the operators' API and page; empty for none.
    public var operatorListen = "127.0.0.1:8071"
    /// The address of the metrics; empty for none.
    public var metricsListen = "127.0.0.1:8072"
    /// The external URL of the device API, which device proofs are compared with.
    public var publicURL: String?
    /// The path before all paths of the device API.
    public var pathPrefix = "/"
    /// The number of trusted proxies in front.
    public var trustedHops = 0
    /// The way of TLS.
    public var tls = TLSMode.off
    /// The PEM file with the certificate chain.
    public var certificate: String?
    /// The PEM file with the private key.
    public var key: String?
    /// The PEM file with the authorities of client certificates.
    public var clientCA: String?
    /// The data folder; `nil` for the default.
    public var dataFolder: String?
    /// The name of the node; `nil` for the host name.
    public var nodeName: String?
    /// The time for running requests after SIGTERM.
    public var drain = Duration.seconds(30)

    /// Creates the defaults.
    public init() {}
}

/// The way in which connections are encrypted.
public enum TLSMode: String, Hashable, Sendable, CaseIterable {
    /// The server has its own certificate.
    case own
    /// A trusted proxy ends TLS; see ``ListenerSettings/trustedHops``.
    case behindProxy = "behind-proxy"
    /// No TLS, on loopback only.
    case off
}

/// The keys `database.*`.
public struct DatabaseSettings: Hashable, Sendable {
    /// The URL of a database; `nil` for SQLite files in the data folder.
    public var url: String?
    /// The number of connections for single statements.
    public var point = 4
    /// The number of connections for transactions.
    public var work = 8
    /// Whether `run` migrates the tables.
    public var migrates = true

    /// Creates the defaults.
    public init() {}
}

/// The keys `operators.*`.
public struct OperatorSettings: Hashable, Sendable {
    /// The OpenID Connect issuer; `nil` for local sign-in.
    public var issuer: String?
    /// The client identifier at the issuer.
    public var clientID: String?
    /// The client secret at the issuer.
    public var clientSecret: SecretReference?
    /// The networks from which operators sign in, such as `10.0.0.0/8`; empty for all.
    public var networks: [String] = []
    /// The time without a request after which a session ends.
    public var idle = Duration.seconds(30 * 60)
    /// The greatest length of a session.
    public var length = Duration.seconds(12 * 3600)

    /// Creates the defaults.
    public init() {}
}

/// The keys `limits.*`.
public struct ServerLimits: Hashable, Sendable {
    /// The first pages that a device reads per minute.
    public var devicePerMinute = 30
    /// The registrations without a signed-in user per hour and address.
    public var registrationsPerHour = 10
    /// The failed sign-ins per minute and address.
    public var signInPerMinute = 10
    /// The greatest size of an upload in bytes.
    public var upload: Int64 = 32 << 20
    /// The permits for first reads.
    public var newReads = 32
    /// The permits for deltas.
    public var deltas = 512
    /// The permits for uploads and changes.
    public var uploads = 64
    /// The permits for requests that wait for messages.
    public var waiters = 5000

    /// Creates the defaults.
    public init() {}
}

/// The keys `log.*`.
public struct LogSettings: Hashable, Sendable {
    /// The least severity: `trace`, `debug`, `info`, `notice`, `warning`, `error`.
    public var level = "info"
    /// Whether the access log contains query strings.
    public var hasQueries = false

    /// Creates the defaults.
    public init() {}
}

/// The keys `otlp.*`.
public struct CollectorSettings: Hashable, Sendable {
    /// The URL of the collector; `nil` for none.
    public var url: String?
    /// Further header fields, such as a key, each as a reference.
    public var fields: [String: SecretReference] = [:]

    /// Creates the defaults.
    public init() {}
}

/// The keys `retention.*`, in days.
public struct RetentionSettings: Hashable, Sendable {
    /// Logs of devices.
    public var logs = 30
    /// Traces of devices.
    public var traces = 7
    /// Usage of devices.
    public var usage = 90
    /// Records of synchronizations.
    public var syncs = 30
    /// Uploads.
    public var uploads = 7
    /// The audit.
    public var audit = 400
    /// Removed rows of feeds.
    public var tombstones = 30
    /// Repeatable requests.
    public var replay = 50

    /// Creates the defaults.
    public init() {}

    /// The ages for the state.
    public var ages: RetentionAges {
        RetentionAges(
            replays: .seconds(replay * 86_400), audit: .seconds(audit * 86_400),
            tombstones: .seconds(tombstones * 86_400))
    }
}

/// The keys `images.*`.
public struct ImageSettings: Hashable, Sendable {
    /// The folder of image files; `nil` for the data folder.
    public var folder: String?
    /// The URL of a content delivery network.
    public var publicURL: String?
    /// The time over which devices begin to use a new image.
    public var rolloutWindow = Duration.seconds(8 * 3600)

    /// Creates the defaults.
    public init() {}
}

/// The keys `push.*`.
public struct PushSettings: Hashable, Sendable {
    /// The host names of Web Push services that may be called.
    public var webPushHosts = [
        "fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com", "*.notify.windows.com",
    ]

    /// Creates the defaults.
    public init() {}
}
