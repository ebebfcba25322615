import ODataModel
import ODataQuery
import ODataService

extension ODataProvider {
    /// All entities of a query, all pages.
    func entities(_ query: String) async throws -> [Entity] {
        var request = ODataRequest(.read, try ODataURL(parsing: query))
        var entities: [Entity] = []
        while true {
            guard case .page(let page) = try await execute(request).body else { return entities }
            entities += page.entities
            guard let next = page.nextLink else { return entities }
            request = ODataRequest(following: next)
        }
    }
}

/// The rows of a query by key, each as text with the properties that every version of the service has.
func texts(of query: String, at provider: some ODataProvider) async throws -> [String: String] {
    var texts: [String: String] = [:]
    for entity in try await provider.entities(query) {
        let names = ["Name", "PlaceId", "TaskId", "Title", "Amount", "Mark", "Born"]
        let values = names.filter { entity.shape.property($0) != nil }.map { "\($0)=\(text(entity[$0]))" }
        texts[text(entity["Id"])] = values.joined(separator: " ")
    }
    return texts
}

/// A value as text.
func text(_ value: ODataValue?) -> String {
    switch value {
    case .string(let text)?: text
    case .integer(let number)?: String(number)
    case .null?: "null"
    case nil: "not loaded"
    case let other?: "\(other)"
    }
}
