import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The size of a clone of a service, before anything is downloaded.
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
        /// The number of rows; `nil` if the service does not count.
        public let rows: Int?
    }

    /// By query.
    public let parts: [Part]
    /// The entity sets that are left out of a whole clone: the metadata say that they can be read only through
    /// other entities or with a filter (`sap:addressable`, `sap:requires-filter`; Capabilities vocabulary,
    /// `ReadRestrictions`, `FilterRestrictions`).
    public let leftOut: [String]
    /// The entity sets that are left out of a whole clone because they have no key, and the service does not let
    /// them be read as a whole.
    public let withoutKey: [String]
    /// The entity sets and singletons that are left out of a whole clone, since the metadata do not declare their
    /// types.
    public let withoutType: [String]
    /// The parts of the service outside of these queries, each with a query that would bring it.
    public let missing: [MissingPart]

    /// The total number of rows, as far as the service counts; `Int.max` for more than can be represented.
    public var rows: Int {
        parts.reduce(0) { total, part in
            let (sum, overflows) = total.addingReportingOverflow(part.rows ?? 0)
            return overflows ? .max : sum
        }
    }

    /// Asks a service for the number of its rows.
    ///
    /// - Parameters:
    ///   - service: the service.
    ///   - queries: the defining queries. If empty, every entity set and singleton with its contained entities,
    ///     and with references for relations without a foreign key, as far as the service answers that.
    ///   - parameters: the values of the queries' parameters by name, as literals of URLs.
    /// - Throws: the errors of reading the metadata; ``OfflineError/invalidDefiningQuery(name:reason:)``.
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
            // The rows of a set are counted once. The number of its contained rows is not known.
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
            // A negative number is no count: the number is unknown then.
            guard let count = Int(exactly: told), count >= 0 else { return nil }
            return min(max(count - max(Int(skip), 0), 0), Int(top))
        } catch let error as ODataError where ![401, 407].contains(error.status) {
            // Any refusal to count, in general or for this user, leaves the number unknown.
            return nil
        } catch is InvalidResponseError {
            return nil
        }
    }
}
