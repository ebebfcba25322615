import ODataModel
import ODataQuery
import ODataService

/// Context URLs (OData Protocol 4.01, 10).
enum ContextURL {
    /// The context of a query's result.
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - target: the resource's target.
    ///   - format: tells the service root and the version.
    ///   - model: tells whether a type derives from its set's.
    static func of(
        _ query: BoundQuery, _ target: BoundResource.Target, _ format: ResponseFormat, _ model: EntityDataModel
    ) -> String {
        var fragment = query.set?.name ?? "Collection(\(query.shape.name))"
        if case .entities(let shape, let set?) = target, shape.name != set.type, query.apply.isEmpty {
            fragment += "/\(shape.name)"
        }
        let items: [String]
        if query.apply.isEmpty {
            items = selection(query, format.version)
        } else {
            items = query.resultShape.properties.map(\.name) + query.resultShape.navigationProperties.map(\.name)
        }
        if !items.isEmpty, isNarrowed(query, items) { fragment += "(\(items.joined(separator: ",")))" }
        return "\(format.serviceRoot)$metadata#\(fragment)"
    }

    /// Rows that only passed filters and orders have all properties of their type.
    private static func isNarrowed(_ query: BoundQuery, _ items: [String]) -> Bool {
        query.apply.isEmpty || query.resultShape != query.shape
    }

    private static func selection(_ query: BoundQuery, _ version: ODataVersion) -> [String] {
        var items: [String] = []
        let computed = query.compute.map(\.name)
        switch query.projection {
        case .all: if !computed.isEmpty { items = ["*"] + computed }
        case .some(let ordinals, let names):
            items =
                ordinals.filter(query.shape.properties.indices.contains).map { query.shape.properties[$0].name } + names
        }
        for expand in query.expand where expand.form == .entities {
            let nested = selection(expand.query, version)
            // 4.01 names every expanded property, 4.0 only those with a selection of their own.
            if version >= .v401 || !nested.isEmpty {
                items.append("\(expand.navigation.name)(\(nested.joined(separator: ",")))")
            }
        }
        return items
    }
}
