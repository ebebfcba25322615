import ODataModel
import ODataQuery

/// A part of a service that is kept offline: a query with a name and a group.
///
/// ```swift
/// let open = try DefiningQuery("open", "Orders?$filter=ShippedDate eq null")
/// ```
public struct DefiningQuery: Hashable, Sendable {
    /// The name, unique within a store.
    public let name: String
    /// The group that it is downloaded with; `nil` for none.
    public let group: String?
    /// Whether each download loads the streams of the entities that it brings, the streams of media entities and
    /// stream properties: one more request for each of them.
    public let retrievesStreams: Bool
    /// Whether its result is the same for every user of the store, values included: its rows stay when another user takes the
    /// store over (``OfflineStore/Users/switch(to:pending:)``).
    public let isShared: Bool
    /// The query, relative to the service root.
    public let url: ODataURL
    /// The query as text.
    public let text: String

    /// Makes a defining query.
    ///
    /// - Parameters:
    ///   - name: unique within the store, at least one character.
    ///   - text: an entity set with query options, relative to the service root; or a single entity, a singleton, or what
    ///     an entity contains, such as `Photos(7)` and `Albums(1)/Pages`.
    ///   - group: queries of one group can be downloaded together.
    ///   - retrievesStreams: whether the streams of its entities are loaded too.
    ///   - isShared: whether every user of the service gets the same rows with the same values. Rows of such a query are shown to
    ///     the next user of the store: never mark a query whose result depends on the user.
    /// - Throws: `QueryError` when the text is no OData URL.
    public init(
        _ name: String, _ text: String, group: String? = nil, retrievesStreams: Bool = false, isShared: Bool = false
    ) throws(QueryError) {
        self.retrievesStreams = retrievesStreams
        self.isShared = isShared
        self.name = name
        self.group = group
        self.text = text
        do throws(QueryError) {
            url = try ODataURL(parsing: text)
        } catch {
            throw error.inDefiningQuery(name, text)
        }
    }

    /// Makes a defining query for a whole entity set, named after it.
    ///
    /// - Parameters:
    ///   - retrievesStreams: whether the streams of its entities are loaded too.
    ///   - isShared: whether every user of the service gets the same rows with the same values.
    public init(entitySet: String, retrievesStreams: Bool = false, isShared: Bool = false) {
        self.retrievesStreams = retrievesStreams
        self.isShared = isShared
        name = entitySet
        group = nil
        url = ODataURL(path: ResourcePath([.name(Identifier(entitySet), .none)]))
        text = entitySet
    }

    /// A query for each entity set of a service, but those that another store has for itself, and those that cannot be read by
    /// themselves as a whole, as the metadata say (``ServiceSurvey/leftOut``).
    static func all(
        of model: EntityDataModel, _ options: OfflineStore.CreationOptions = .init()
    ) -> [DefiningQuery] {
        guard options.downloadsEntitySetsByDefault else { return [] }
        return model.container.entitySets
            .filter {
                $0.annotations.annotation(EngineSet.clientOnlyTerm) == nil && $0.isReadableAsWhole
                    && $0.hasKey(in: model)
            }
            .map { DefiningQuery(entitySet: $0.name, retrievesStreams: options.downloadsStreamsByDefault) }
    }
}

extension EntitySet {
    /// Whether a request without a filter reads all of it.
    var isReadableAsWhole: Bool { isAddressable && !requiresFilter }

    /// Whether its entities have a key, by which a store tells them apart.
    func hasKey(in model: EntityDataModel) -> Bool { model.shape(type)?.key.isEmpty == false }
}
