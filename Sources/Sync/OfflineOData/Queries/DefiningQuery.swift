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
    /// The group for common downloads; `nil` for none.
    public let group: String?
    /// Whether each download loads the streams of the downloaded entities, with one more request for each: the
    /// streams of media entities and stream properties.
    public let retrievesStreams: Bool
    /// Whether its result is the same for every user of the store, including values. Its rows stay after a change
    /// of the user (``OfflineStore/Users/switch(to:pending:)``).
    public let isShared: Bool
    /// The query, relative to the service root.
    public let url: ODataURL
    /// The query as text.
    public let text: String

    /// Creates a defining query.
    ///
    /// - Parameters:
    ///   - name: unique within the store, at least one character.
    ///   - text: an entity set with query options, relative to the service root; or a single entity, a singleton,
    ///     or contained entities, such as `Photos(7)` and `Albums(1)/Pages`.
    ///   - group: queries of one group can be downloaded together.
    ///   - retrievesStreams: whether the streams of its entities are loaded too.
    ///   - isShared: whether every user of the service gets the same rows with the same values. The next user of
    ///     the store sees the rows of such a query: never mark a query with a result that depends on the user.
    /// - Throws: `QueryError` if the text is no OData URL.
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

    /// Creates a defining query for a whole entity set, with its name.
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

    /// A query for each entity set of a service, except client-only sets of another store, and sets that cannot
    /// be read as a whole according to the metadata (``ServiceSurvey/leftOut``).
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
    /// Whether a request without a filter reads the whole set.
    var isReadableAsWhole: Bool { isAddressable && !requiresFilter }

    /// Whether its entities have a key that identifies them in a store.
    func hasKey(in model: EntityDataModel) -> Bool { model.shape(type)?.key.isEmpty == false }
}
