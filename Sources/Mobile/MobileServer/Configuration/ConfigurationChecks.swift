import ServerState
import Yams

/// Rules over several keys, which are checked after all keys have been read.
enum ConfigurationChecks {
    /// Checks the listeners.
    static func check(_ configuration: ServerConfiguration, at root: Node?, _ reader: ConfigurationReader) {
        let server = configuration.server
        let place = root?["server"]?["tls"] ?? root?["server"]
        func note(_ message: String) { reader.note(place?.mark, message) }
        let isOpen = [server.listen, server.operatorListen].contains { text in
            ListenAddress(text).map { !$0.isLoopback } ?? false
        }
        switch server.tls {
        case .off where isOpen:
            note(
                """
                A listener that other machines reach needs TLS: set server.tls.mode to own, or to behind-proxy with \
                server.trusted_hops.
                """)
        case .own where server.certificate == nil || server.key == nil:
            note("server.tls.mode: own needs server.tls.certificate and server.tls.key.")
        case .behindProxy where server.trustedHops == 0:
            note("server.tls.mode: behind-proxy needs server.trusted_hops, the number of proxies in front.")
        default: break
        }
        if server.clientCA != nil, server.tls != .own {
            note("server.tls.client_ca needs server.tls.mode: own.")
        }
        if let url = configuration.database.url {
            reader.note(
                root?["database"]?["url"]?.mark,
                url.hasPrefix("postgres")
                    ? "This build keeps its state in SQLite files: leave database.url out."
                    : "database.url is not used by this build: leave it out.")
        }
        if configuration.hasSMPEndpoints {
            reader.note(
                root?["compatibility"]?.mark, "This build has no SMP-shaped endpoints: leave compatibility.smp out.",
                isWarning: true)
        }
        KeysWithoutEffect.note(configuration, at: root, reader)
        for (name, application) in configuration.applications.sorted(by: { $0.key < $1.key }) {
            check(application, at: root?["applications"]?[name], reader)
        }
    }

    /// Checks an application.
    static func check(_ application: ApplicationConfiguration, at node: Node?, _ reader: ConfigurationReader) {
        for (name, security) in application.security.sorted(by: { $0.key < $1.key }) {
            let place = (node?["security"]?[name] ?? node)?.mark
            let needs: (key: String, value: String?)? =
                switch security.kind {
                case .bearer: ("issuer", security.issuer)
                case .cookie: security.checkURL == nil ? ("check_url", nil) : ("cookie", security.cookie)
                case .certificate: ("ca", security.ca)
                case .anonymous, .basic, .activation: nil
                }
            if let needs, needs.value == nil {
                reader.note(place, "A security configuration of the kind \(security.kind.rawValue) needs \(needs.key).")
            }
        }
        if application.registration.captcha == .anonymous,
            !application.security.values.contains(where: { $0.kind == .anonymous })
        {
            reader.note(
                (node?["registration"]?["captcha"] ?? node)?.mark,
                "captcha: anonymous has no effect without a security configuration of the kind anonymous.",
                isWarning: true)
        }
        for (name, destination) in application.destinations.sorted(by: { $0.key < $1.key }) {
            check(destination, at: node?["destinations"]?[name] ?? node, reader)
        }
        KeysWithoutEffect.note(application, at: node, reader)
        for (index, rule) in application.permissions.enumerated() {
            guard let destination = rule.destination, application.destinations[destination] == nil else { continue }
            let list = node?["permissions"]?.sequence
            let place = list.flatMap { index < $0.count ? $0[index] : nil } ?? node
            reader.note(place?.mark, "The permission names the destination '\(destination)', which does not exist.")
        }
    }

    private static func check(
        _ destination: DestinationConfiguration, at node: Node?, _ reader: ConfigurationReader
    ) {
        if destination.kind == .odata {
            let scheme = destination.url.prefix { $0 != ":" }.lowercased()
            if !destination.url.isEmpty, scheme != "https", scheme != "http" {
                reader.note(
                    (node?["url"] ?? node)?.mark, "The URL of the destination begins with https:// or http://.")
            }
        }
        let authentication = destination.authentication
        let place = (node?["authentication"] ?? node)?.mark
        let missing: String? =
            switch authentication.kind {
            case .basic where authentication.user == nil || authentication.secret == nil: "user and secret"
            case .apiKey where authentication.field == nil || authentication.secret == nil: "field and secret"
            case .certificate where authentication.certificate == nil || authentication.key == nil:
                "certificate and key"
            case .clientCredentials
            where authentication.tokenURL == nil || authentication.user == nil || authentication.secret == nil,
                .tokenExchange
            where authentication.tokenURL == nil || authentication.user == nil || authentication.secret == nil:
                "token_url, user and secret"
            default: nil
            }
        if let missing {
            reader.note(place, "authentication.kind: \(authentication.kind.rawValue) needs \(missing).")
        }
        if destination.queries.count > 200 {
            reader.note((node?["queries"] ?? node)?.mark, "An application has at most 200 defining queries.")
        }
    }
}
