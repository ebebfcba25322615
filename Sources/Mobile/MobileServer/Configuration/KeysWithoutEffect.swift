import ServerState
import Yams

/// Keys of the configuration that this build stores, exports and hands on, but that change nothing in it. Each of them
/// is named when it is set, so that nobody relies on it. Values that promise something about rows or credentials are
/// mistakes instead.
enum KeysWithoutEffect {
    /// Names the keys of the server.
    static func note(_ configuration: ServerConfiguration, at root: Node?, _ reader: ConfigurationReader) {
        let standard = ServerConfiguration()
        func note(_ isSet: Bool, _ path: String, because reason: String) {
            guard isSet else { return }
            reader.note(mark(of: path, below: root), "\(path) has no effect: \(reason)", isWarning: true)
        }
        let database = configuration.database
        if database.url == nil {
            let reason = "the state is in SQLite files."
            note(database.point != standard.database.point, "database.point", because: reason)
            note(database.work != standard.database.work, "database.work", because: reason)
        }
        let operators = configuration.operators
        note(
            operators.issuer != nil || operators.clientID != nil || operators.clientSecret != nil, "operators.oidc",
            because: "operators sign in with a password and a one-time code.")
        let images = "this build makes no images of stores."
        note(configuration.images.folder != nil, "images.folder", because: images)
        note(configuration.images.publicURL != nil, "images.public_url", because: images)
        note(
            configuration.images.rolloutWindow != standard.images.rolloutWindow, "images.rollout_window",
            because: images)
        note(
            configuration.traceCollectorURL != nil, "traces.collector_url",
            because: "this build takes no transaction traces.")
        note(configuration.push != standard.push, "push.web_push_hosts", because: "this build sends no push messages.")
    }

    /// Names the keys of an application, and refuses values that would mislead.
    static func note(
        _ application: ApplicationConfiguration, at node: Node?, _ reader: ConfigurationReader
    ) {
        if application.push != ApplicationPush() {
            reader.note(
                mark(of: "push", below: node), "push has no effect: this build sends no push messages.",
                isWarning: true)
        }
        for (name, destination) in application.destinations.sorted(by: { $0.key < $1.key }) {
            note(destination, at: node?["destinations"]?[name] ?? node, reader)
        }
    }

    private static func note(
        _ destination: DestinationConfiguration, at node: Node?, _ reader: ConfigurationReader
    ) {
        let standard = DestinationConfiguration(url: "")
        if destination.prepopulation != standard.prepopulation
            || destination.prepopulationInterval != standard.prepopulationInterval
        {
            let key = destination.prepopulation != standard.prepopulation ? "prepopulate" : "prepopulate_interval"
            reader.note(
                mark(of: key, below: node), "\(key) has no effect: this build makes no images of stores.",
                isWarning: true)
        }
        if destination.authentication.kind == .propagation {
            reader.note(
                mark(of: "authentication.kind", below: node),
                "authentication.kind: this build has no propagation. Use token-exchange or pass-through.")
        }
        for (name, query) in destination.queries.sorted(by: { $0.key < $1.key }) {
            note(query, at: node?["queries"]?[name] ?? node, reader)
        }
    }

    private static func note(_ query: QueryConfiguration, at node: Node?, _ reader: ConfigurationReader) {
        if query.visibility == .partitioned {
            reader.note(
                mark(of: "visibility", below: node),
                "visibility: this build has no partitioned feeds. Use shared, or user for rows of one person.")
        }
        if ["etag", "modified"].contains(query.tracking) {
            reader.note(
                mark(of: "tracking", below: node),
                "tracking: this build tracks by link and compare. Use auto, link, compare or never.")
        }
        let isSet = [
            "partition_by": query.partitionBy != nil, "bind": query.bind != nil, "modified": query.modified != nil,
            "sweep_interval": query.sweepInterval != QueryConfiguration("").sweepInterval,
        ]
        for (key, isSet) in isSet.sorted(by: { $0.key < $1.key }) where isSet {
            reader.note(
                mark(of: key, below: node), "\(key) has no effect with the visibilities and tracking of this build.",
                isWarning: true)
        }
    }

    /// Returns the place of a key, or that of the nearest one above.
    private static func mark(of path: String, below root: Node?) -> Mark? {
        var node = root
        for key in path.split(separator: ".") { node = node?[String(key)] ?? node }
        return node?.mark
    }
}
