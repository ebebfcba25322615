import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// What a clone of a service would take, before anything is taken.
///
/// ```swift
/// let survey = try await ServiceSurvey.take(of: client)
/// for part in survey.parts { print(part.query.name, part.rows ?? 0) }
/// print(survey.rows, "rows,", survey.missing.count, "parts are left out")
/// ```
public struct ServiceSurvey: Sendable {
    /// One defining query with its size.
    public struct Part: Sendable {
        /// The query.
        public let query: DefiningQuery
        /// How many rows it has; `nil` when the service does not say.
        public let rows: Int?
    }

    /// By query.
    public let parts: [Part]
    /// The entity sets that are not taken although nobody named a query: the metadata say that they can be read through
    /// others or with a filter alone (`sap:addressable`, `sap:requires-filter`; Capabilities vocabulary,
    /// `ReadRestrictions`, `FilterRestrictions`).
    public let leftOut: [String]
    /// The entity sets that are not taken although nobody named a query: their entities have no key by which a store could
    /// tell them apart, and the service does not let them be read as a whole.
    public let withoutKey: [String]
    /// The entity sets and singletons that are not taken although nobody named a query, since the metadata do not declare
    /// their types.
    public let withoutType: [String]
    /// Everything that a store with these queries does not hold of the service, each with the query that would bring it.
    public let missing: [MissingPart]

    /// How many rows there are in all, as far as the service says; `Int.max` where it says more than can be counted.
    public var rows: Int {
        parts.reduce(0) { total, part in
            let (sum, overflows) = total.addingReportingOverflow(part.rows ?? 0)
            return overflows ? .max : sum
        }
    }

    /// Asks a service how much there is.
    ///
    /// - Parameters:
    ///   - service: the service.
    ///   - queries: what would be taken; when empty, every entity set and singleton with what its entities contain, and with
    ///     references for the relations that no foreign key stands behind, as far as the service answers that.
    ///   - parameters: the values of the queries' parameters by name, as literals of URLs.
    /// - Throws: what reading the metadata throws; ``OfflineError/invalidDefiningQuery(name:reason:)``.
    public static func take(
        of service: any ODataProvider, queries: [DefiningQuery] = [], parameters: [String: String] = [:]
    ) async throws -> ServiceSurvey {
        let model = try EngineSet.removing(from: try await service.model)
        let service = RefusingProvider(base: service)
        let mapping = OfflineLayout(model: model).mapping
        let wanted = try queries.isEmpty ? WholeService(model, mapping: mapping).queries() : queries
        var values: [String: CommonExpression] = [:]
        for (name, text) in parameters { values[name] = try QueryParameters.expression(text, of: name) }
        var parts: [Part] = []
        var stored: [StoredQuery] = []
        for query in wanted {
            var query = query
            if queries.isEmpty {
                guard let answered = try await ServiceProbe(service: service, model: model).answered(query) else {
                    continue
                }
                query = answered
            }
            let overSet = try query.overSet(of: model)
            let set = try DefiningQueryCheck.entitySet(of: overSet, model: model)
            // The rows of a set are counted once, and those that belong to them are not known.
            let isCounted = !queries.isEmpty || overSet.url.options.expand.isEmpty
            var rows: Int?
            if model.singleton(set) != nil {
                rows = 1
            } else if isCounted {
                rows = try await count(overSet, service, parameters: values)
            }
            parts.append(Part(query: query, rows: rows))
            stored.append(
                StoredQuery(
                    id: Int64(stored.count + 1), name: query.name, group: nil, text: overSet.text, entitySet: set,
                    retrievesStreams: query.retrievesStreams, isLoaded: true))
        }
        let taken = Set(stored.map(\.entitySet))
        let withoutKey = model.container.entitySets.filter {
            queries.isEmpty && !$0.hasKey(in: model) && !taken.contains($0.name)
        }.map(\.name)
        let leftOut = model.container.entitySets.filter { queries.isEmpty && !$0.isReadableAsWhole }.map(\.name)
        let withoutType = queries.isEmpty ? model.setsOfUnknownTypes : []
        return ServiceSurvey(
            parts: parts, leftOut: leftOut, withoutKey: withoutKey, withoutType: withoutType,
            missing: HeldData(stored, mapping: mapping, version: 0).missingParts)
    }

    /// The number of rows of a query; `nil` when the service does not count.
    static func count(
        _ query: DefiningQuery, _ service: any ODataProvider, parameters: [String: CommonExpression] = [:]
    ) async throws -> Int? {
        var url = query.url
        QueryParameters.substitute(parameters, in: &url.options)
        url.path.segments.append(.count)
        var options = QueryOptions()
        options.filter = url.options.filter
        options.search = url.options.search
        let (skip, top) = (url.options.skip ?? 0, url.options.top ?? .max)
        url.options = options
        do {
            guard case .count(let told) = try await service.execute(ODataRequest(.read, url)).body else { return nil }
            // A number below zero is no number of rows: nobody knows it then.
            guard let count = Int(exactly: told), count >= 0 else { return nil }
            return min(max(count - max(Int(skip), 0), 0), Int(top))
        } catch let error as ODataError where ![401, 407].contains(error.status) {
            // However it says that it does not count, or not for this user: the rows tell.
            return nil
        } catch is InvalidResponseError {
            return nil
        }
    }
}
