import GRDB
import ODataModel
import ODataQuery
import ODataStore

/// Fills `{Orders(-1)}` in the values of an app's header fields with the URL that the entity has by now.
struct HeaderPlaceholders {
    let mapping: StorageMapping

    /// The value with each entity in braces under its present key; braces around anything else stay.
    func filled(_ value: String, in database: Database) throws -> String {
        var result = ""
        var rest = Substring(value)
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            result += rest[..<start]
            let inner = rest[rest.index(after: start)..<end]
            result += try present(String(inner), in: database) ?? "{\(inner)}"
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private func present(_ entity: String, in database: Database) throws -> String? {
        guard let url = try? ODataURL(parsing: entity),
            let steps = try? Binder(model: mapping.model).bind(url).resource.steps,
            steps.count == 2, case .entitySet(let set, _) = steps[0], case .key(let key) = steps[1]
        else { return nil }
        let now = try Aliases(mapping: mapping).key(set: set.name, formerly: key, in: database) ?? key
        return KeyURL.url(set: set.name, key: now).description
    }
}
