import ODataModel
import ODataQuery
import ODataService
import ServerState

/// A defining query of visibility `shared`, resolved against the model of its back end.
struct FeedDefinition: Sendable {
    /// The name of the query.
    let name: String
    let configuration: QueryConfiguration
    /// The query as the back end is asked.
    let url: ODataURL
    let canonical: String
    /// `v2` or `v4`.
    let dialect: String
    let codec: FeedRowCodec
    /// The record with which the feed is made.
    let record: FeedRecord

    /// Whether rows of the result may leave it without being deleted.
    var isFiltered: Bool { url.options.filter != nil || url.options.search != nil }

    /// The reason why a query cannot be tracked.
    enum Problem: Error, CustomStringConvertible {
        case unreadable(String)
        case untrackable

        var description: String {
            switch self {
            case .unreadable(let reason): "The query cannot be resolved: \(reason)"
            case .untrackable:
                "The query cannot be a feed: it needs an entity set without $apply, $search, $top and $skip."
            }
        }
    }

    /// Resolves a query.
    ///
    /// - Throws: ``Problem``.
    init(
        name: String, _ configuration: QueryConfiguration, destination: String, _ settings: DestinationConfiguration,
        application: ActiveApplication, model: EntityDataModel, dialect: String, language: QueryLanguage
    ) throws(Problem) {
        let url: ODataURL
        let bound: BoundURL
        do throws(QueryError) {
            url = try ODataURL(
                parsing: configuration.query, options: ParsingOptions(dialect: dialect == "v2" ? .v2 : .v4))
            bound = try language.bind(url, model: model)
        } catch {
            throw .unreadable(error.description)
        }
        let options = url.options
        guard case .entitySet(let set, let shape)? = bound.resource.steps.first, bound.resource.steps.count == 1,
            options.apply.isEmpty, options.top == nil, options.skip == nil, options.compute.isEmpty
        else { throw .untrackable }
        self.name = name
        self.configuration = configuration
        self.url = url
        self.dialect = dialect
        canonical = FeedKey.canonical(url, of: shape)
        codec = FeedRowCodec(model: model, set: set, shape: shape, ignoring: configuration.ignore)
        let key = FeedKey.make(
            application: application.record.name, destination: destination + "\n" + settings.url, query: canonical,
            dialect: dialect, language: "", model: FeedKey.digest(of: shape, in: model))
        record = FeedRecord(
            key: key, application: application.record.id, destination: destination, query: name,
            configuration: application.record.activeVersion, visibility: .shared, tracking: configuration.tracking)
    }
}
