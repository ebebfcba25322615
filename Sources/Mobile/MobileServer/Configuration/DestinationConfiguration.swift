import ServerState

/// A back end of an application: `A.destinations.D`.
public struct DestinationConfiguration: Hashable, Sendable {
    /// The kinds of back ends.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// An OData service over HTTP.
        case odata
        /// A SQLite file, as `outpost serve` serves it.
        case sqlite
    }

    /// The dialect of an OData service.
    public enum Dialect: String, Hashable, Sendable, CaseIterable {
        /// Found by the metadata.
        case auto
        /// OData 2.0.
        case v2
        /// OData 4.0 and 4.01.
        case v4
    }

    /// The images that devices may begin with.
    public enum Prepopulation: String, Hashable, Sendable, CaseIterable {
        /// None.
        case no
        /// The tables without rows.
        case schema
        /// The rows of shared queries.
        case shared
        /// As ``shared``, with a warning.
        case all
    }

    /// The kind.
    public var kind = Kind.odata
    /// The URL of the service root, or the path of the file.
    public var url: String
    /// The dialect.
    public var dialect = Dialect.auto
    /// The credentials.
    public var authentication = DestinationAuthentication()
    /// The longest time of a request.
    public var timeout = Duration.seconds(60)
    /// The number of requests at once over all nodes.
    public var gate = 8
    /// The number of requests that wait for the gate.
    public var queue = 200
    /// Whether absolute URLs of the back end are rewritten.
    public var rewritesURLs = true
    /// Whether rows depend on the language.
    public var isLanguageSensitive = false
    /// Logical status by code of the back end.
    public var errorCodes: [String: Int] = [:]
    /// Whether a 401 of the back end asks the device for credentials and is final.
    public var throwsCredentialRequest = true
    /// The images that devices may begin with.
    public var prepopulation = Prepopulation.no
    /// The time between two images.
    public var prepopulationInterval = Duration.seconds(1440 * 60)
    /// The options that clients are told.
    public var store = StoreOptionSettings()
    /// The defining queries by name: `queries`.
    public var queries: [String: QueryConfiguration] = [:]

    /// Creates a destination.
    public init(url: String) { self.url = url }
}

/// The credentials of a destination: `D.authentication.*`.
public struct DestinationAuthentication: Hashable, Sendable {
    /// The kinds of credentials.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// None.
        case none
        /// A technical user with a password.
        case basic
        /// A header field with a key.
        case apiKey = "api-key"
        /// A client certificate.
        case certificate
        /// OAuth 2 client credentials.
        case clientCredentials = "client-credentials"
        /// Token exchange (RFC 8693).
        case tokenExchange = "token-exchange"
        /// The credentials of the user, in memory only.
        case passThrough = "pass-through"
        /// A short-lived client certificate with the name of the user.
        case propagation
    }

    /// The kind.
    public var kind = Kind.none
    /// The technical user, or the client identifier.
    public var user: String?
    /// The password, key or client secret.
    public var secret: SecretReference?
    /// The name of the header field of a key.
    public var field: String?
    /// The URL of the token endpoint.
    public var tokenURL: String?
    /// The scope of a token.
    public var scope: String?
    /// The audience of a token.
    public var audience: String?
    /// The PEM file with a certificate; for propagation, that of the authority.
    public var certificate: String?
    /// The PEM file or reference of the private key.
    public var key: SecretReference?
    /// The technical user's credentials for shared feeds, if the kind needs a user.
    public var feedUser: String?
    /// The password of ``feedUser``.
    public var feedSecret: SecretReference?

    /// Creates no credentials.
    public init() {}
}

/// The options that clients of a destination are told in `Destinations/StoreOptions`.
public struct StoreOptionSettings: Hashable, Sendable {
    /// `indexes`: each as `Ns.Type: P [ASC|DESC], …`.
    public var indexes: [String] = []
    /// `full_format`: the `Accept` of full reads.
    public var fullFormat = "application/json"
    /// `delta_format`: the `Accept` of delta reads.
    public var deltaFormat = "application/json"
    /// `collation`.
    public var collation = "UTF8BIN"
    /// `case_sensitive`.
    public var isCaseSensitive = true
    /// `offset_in_utc`.
    public var hasOffsetInUTC = true
    /// `local_change_expiry`, in days; 0 for never.
    public var localChangeExpiry = 0
    /// `generated_values_early`.
    public var populatesGeneratedValuesEarly = false
    /// `omit_max_length`.
    public var omitsMaxLength = false
    /// `content_id`: `mime` or `operation`.
    public var contentID = "mime"
    /// `batch_all`.
    public var batchesAll = false
    /// `check_repeatable`.
    public var checksRepeatable = true
    /// `query_removal`.
    public var allowsQueryRemoval = true
    /// `max_delta_resends`, for the export only.
    public var maximumDeltaResends = 5

    /// Creates the defaults.
    public init() {}
}

/// A defining query: `D.queries.Q`.
public struct QueryConfiguration: Hashable, Sendable {
    /// The query relative to the service root.
    public var query: String
    /// The group.
    public var group = "default"
    /// Whether streams are kept.
    public var hasStreams = false
    /// The visibility.
    public var visibility = FeedVisibility.user
    /// The property whose value is the part of a row.
    public var partitionBy: String?
    /// The claim whose value is the part of a user.
    public var bind: String?
    /// The age up to which the present state is served while a refresh runs.
    public var maxStale = Duration.seconds(600)
    /// The time between two refreshes.
    public var refreshInterval = Duration.seconds(15 * 60)
    /// The time between two comparisons of all keys.
    public var sweepInterval = Duration.seconds(1440 * 60)
    /// `auto`, `link`, `etag`, `modified`, `compare` or `never`.
    public var tracking = "auto"
    /// The property that tells modifications.
    public var modified: String?
    /// Properties that a comparison ignores.
    public var ignore: [String] = []
    /// The lifetime of a delta token.
    public var tokenLifetime = Duration.seconds(43_200 * 60)
    /// The share of rows, in percent, whose removal in one refresh suspends the feed.
    public var removalGuard = 20

    /// Creates a query.
    public init(_ query: String) { self.query = query }
}
