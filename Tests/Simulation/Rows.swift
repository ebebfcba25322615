import ODataModel
import ODataQuery
import ODataService

extension ODataProvider {
    /// Returns all entities of a query, from all pages.
    func entities(_ query: String) async throws -> [ODataEntity] {
        var request = ODataRequest(.read, try ODataURL(parsing: query))
        var entities: [ODataEntity] = []
        while true {
            guard case .page(let page) = try await execute(request).body else { return entities }
            entities += page.entities
            guard let next = page.nextLink else { return entities }
            request = ODataRequest(following: next)
        }
    }
}

/// Returns the rows of a query by key, each as text with the given properties.
func texts(
    of query: String, _ names: [String], at provider: some ODataProvider
) async throws -> [String: String] {
    var texts: [String: String] = [:]
    for entity in try await provider.entities(query) {
        texts[text(entity["Id"])] = names.map { "\($0)=\(text(entity[$0]))" }.joined(separator: " ")
    }
    return texts
}

/// Returns a value as text.
func text(_ value: ODataValue?) -> String {
    switch value {
    case .string(let text)?: text
    case .integer(let number)?: String(number)
    case .null?: "null"
    case nil: "not loaded"
    case let other?: "\(other)"
    }
}
