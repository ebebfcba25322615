import ArgumentParser
import Foundation
import HTTPTypes
import Logging
import ODataClient
import ODataHTTP
import ODataModel
import ODataService
import ODataTransportNIO
import OfflineOData
import Secrets
import ToolLanguage

/// The options for the connection to a service.
struct ServiceOptions: ParsableArguments {
    @Option(help: .text("The user at the service; the command asks for the password."))
    var user: String?

    @Option(
        name: .customLong("password-file"),
        help: .text("A file with the password of --user.", valueName: "file"))
    var passwordFile: String?

    @Option(
        name: .customLong("token-file"),
        help: .text(
            "A file with a bearer token; it is read again if the service refuses the token.", valueName: "file"))
    var tokenFile: String?

    @Option(
        name: .customLong("header"),
        help: .text(
            """
            A header field for every request, such as 'X-Tenant: blue'; may be repeated. Other users of this \
            machine can see it.
            """, valueName: "field"))
    var fields: [String] = []

    @Option(
        name: .customLong("option"),
        help: .text(
            "A query option for every request, such as sap-client=100; may be repeated.", valueName: "name=value"))
    var queryOptions: [String] = []

    @Option(
        name: .customLong("service-language"),
        help: .text(
            "The language of texts and messages, such as de-AT; also sent as sap-language.",
            valueName: "tag"))
    var serviceLanguage: String?

    @Option(
        help: .text(
            """
            Write requests and responses to standard error, without values. The levels are none, low (one line each), \
            medium (with names of fields and options) and high (with sizes of bodies).
            """, valueName: "level"))
    var trace: TraceChoice = .none

    @Flag(
        name: .customLong("trace-values"),
        help: .text(
            "Write values to the trace too: keys, queries, header fields and bodies. Show such a trace to nobody."))
    var tracesValues = false

    @Option(
        name: .customLong("follow"),
        help: .text(
            """
            A further host, with or without a port: its links are followed, without credentials. May be \
            repeated.
            """, valueName: "host"))
    var followed: [String] = []

    @Flag(
        name: .customLong("allow-plain-http"),
        help: .text(
            "Send passwords, tokens and header fields without https, so that others in the network can read them."))
    var allowsPlainHTTP = false

    @Option(
        help: .text(
            "A PEM file with certificates to trust in addition to those of the system.", valueName: "file"))
    var trust: String?

    @Flag(name: .customLong("no-cache"), help: .text("Do not use cached metadata."))
    var ignoresCache = false

    mutating func validate() throws {
        guard user == nil || tokenFile == nil else {
            throw ValidationError(translated("--user and --token-file exclude each other."))
        }
        guard trace != .none || !tracesValues else {
            throw ValidationError(translated("--trace-values needs --trace with a level, such as high."))
        }
        _ = try (headers, requestOptions)
        for host in followed where host.isEmpty || host.contains("/") {
            throw ValidationError(
                translated("--follow takes a host, such as data.example.com or data.example.com:8443."))
        }
    }

    /// Creates a connector with these options.
    ///
    /// - Parameters:
    ///   - url: the address of the service.
    ///   - download: the limits of downloads.
    func connector(to url: String, _ download: DownloadOptions? = nil) throws -> Connector {
        var connector = try anonymousConnector(download)
        try signIn(&connector, at: url)
        return connector
    }

    /// Creates a connector without header fields and credentials, which a clone may still complete.
    func anonymousConnector(_ download: DownloadOptions? = nil) throws -> Connector {
        var configuration = NIOTransport.Configuration()
        if let trust { configuration.trust.authorities = .systemAnd(.file(trust)) }
        var connector = Connector(over: try NIOTransport(configuration: configuration))
        if let download {
            connector.limits = download.limits
            connector.refusesUnreadableValues = download.strictValues
        }
        return connector
    }

    /// Adds the header fields and credentials to a connector; a password may be asked for.
    ///
    /// - Throws: `TransportError.plainHTTP` before a password is asked for that could not be sent.
    func signIn(_ connector: inout Connector, at url: String) throws {
        if user != nil, !allowsPlainHTTP, let scheme = url.firstRange(of: "://") {
            let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
            let origin = Origin(scheme: String(url[..<scheme.lowerBound]), authority: String(authority))
            if let origin, origin.isPlain { throw TransportError.plainHTTP(host: origin.description) }
        }
        connector.authentication = try authentication(connector.transport)
        connector.user = user
        connector.configuration = try clientConfiguration()
    }

    var headers: [String: String] {
        get throws {
            let headers = try NamedValue.dictionary(
                fields, option: "--header", separator: ":", example: "'X-Tenant: blue'")
            for (name, value) in headers {
                guard HTTPField.Name(name) != nil else {
                    throw ValidationError(
                        translated("--header: '\(name)' is no name of a header field, as X-Tenant is."))
                }
                guard HTTPField.isValidValue(value) else {
                    throw ValidationError(
                        translated("--header: the value of \(name) has characters that no header field may have."))
                }
            }
            return headers
        }
    }

    var requestOptions: [String: String] {
        get throws { try NamedValue.dictionary(queryOptions, option: "--option", example: "sap-client=100") }
    }

    private func clientConfiguration() throws -> ODataClient.Configuration {
        var diagnostics = Diagnostics(correlationID: { ToolLog.run })
        if trace != .none {
            var logger = Logger(label: "outpost", factory: { TerminalLogHandler(label: $0) })
            logger.logLevel = .debug
            diagnostics.logger = logger
            diagnostics.traceLevel = trace.level
            diagnostics.tracesValues = tracesValues
            if tracesValues {
                Terminal.error(
                    """
                    \(Terminal.yellow("warning:", on: .error)) The trace contains confidential values. \
                    Not every secret is left out.
                    """)
            }
        }
        return ODataClient.Configuration(
            headers: try headers, options: try requestOptions,
            language: serviceLanguage, sendsLanguageOption: serviceLanguage != nil,
            followedHosts: Set(followed), allowsPlainHTTP: allowsPlainHTTP,
            metadataCache: ignoresCache ? nil : ToolCache.metadata, diagnostics: diagnostics)
    }

    private func authentication(_ transport: any HTTPTransport) throws -> Authentication {
        if let tokenFile {
            return Authentication(
                TokenAuthentication(.bearer) { _ in
                    let data = try NamedFile.secret(of: tokenFile)
                    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
                })
        }
        guard let user else { return try storedSignIn(transport) }
        if let passwordFile {
            return .basic(user: user, password: try NamedFile.password(in: passwordFile))
        }
        guard let password = try Terminal.askSecret("Password of \(user): ") else {
            throw Failure(
                message: "A password is needed for \(user), and nobody is here to be asked.",
                advice: "Give a file that holds it: --password-file FILE")
        }
        return .basic(user: user, password: password)
    }

    /// The sign-ins of `outpost login`; `nil` if a header field takes their place.
    private func storedSignIn(_ transport: any HTTPTransport) throws -> Authentication {
        guard try !headers.keys.contains(where: { $0.lowercased() == "authorization" }),
            let step = SignedInStep(transport: transport)
        else { return .none }
        return Authentication(step)
    }
}

/// A maker of clients for services, all over one transport that counts bytes.
struct Connector {
    private let base: NIOTransport
    private let meter: TransferMeter
    let transport: any HTTPTransport
    var authentication = Authentication.none
    /// The user at the service, for the log.
    var user: String?
    /// The header fields, options and traces of every request.
    var configuration = ODataClient.Configuration()
    /// The limits of a download.
    var limits = DownloadLimits()
    /// Whether a response with an unreadable value is refused.
    var refusesUnreadableValues = false

    init(over base: NIOTransport) {
        self.base = base
        meter = TransferMeter()
        transport = meter.transport(over: base)
    }

    /// The options of a store that is synchronised over this connector; its event log records the bytes.
    var storeOptions: OfflineStore.Options {
        var options = OfflineStore.Options()
        options.runtime.meter = meter
        options.sync.downloadLimits = limits
        options.sync.refusesUnreadableValues = refusesUnreadableValues
        return options
    }

    /// Creates a client of a service.
    func client(root: String, model: EntityDataModel? = nil) throws -> ODataClient {
        let client = try ODataClient(
            serviceRoot: root, transport: transport, authentication: authentication, model: model,
            configuration: configuration)
        if let origin = client.serviceRoot.origin { ToolLog.connected(to: origin, user: user) }
        return client
    }

    /// The number of bytes received so far.
    var received: Int64 { meter.received }

    /// Closes all connections.
    func close() async throws { try await base.shutdown() }
}

/// The amount of detail in traces of requests and responses.
enum TraceChoice: String, CaseIterable, ExpressibleByArgument {
    case none, low, medium, high

    var level: Diagnostics.TraceLevel {
        switch self {
        case .none: .none
        case .low: .low
        case .medium: .medium
        case .high: .high
        }
    }
}
