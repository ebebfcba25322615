import GRDB
import ODataModel
import ODataQuery
import ODataSQL

/// Replaces placeholders such as `{Orders(-1)}` in the header fields of an app with the current URL of the
/// entity.
struct HeaderPlaceholders {
    let mapping: StorageMapping

    /// An entity in braces, with the key that the app wrote.
    struct Named: Hashable {
        let set: String
        let key: EntityKey
    }

    /// The entities that header fields name.
    static func entities(in headers: [String: String], model: EntityDataModel) -> Set<Named> {
        var found: Set<Named> = []
        for value in headers.values where value.contains("{") {
            _ = replacing(value) { inner in
                if let entity = named(inner, in: model) { found.insert(entity) }
                return nil
            }
        }
        return found
    }

    /// Replaces each entity in braces with its present key. Other text in braces stays.
    func filled(_ value: String, in database: Database) throws -> String {
        try Self.replacing(value) { inner in
            guard let entity = Self.named(inner, in: mapping.model) else { return nil }
            let now = try Aliases(mapping: mapping).key(set: entity.set, formerly: entity.key, in: database)
            return KeyURL.url(set: entity.set, key: now ?? entity.key, mapping).description
        }
    }

    /// Replaces each placeholder in a value. A placeholder stays if the replacement is `nil`.
    private static func replacing(_ value: String, by replacement: (String) throws -> String?) rethrows -> String {
        var result = ""
        var rest = Substring(value)
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            result += rest[..<start]
            let inner = String(rest[rest.index(after: start)..<end])
            result += try replacement(inner) ?? "{\(inner)}"
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func named(_ text: String, in model: EntityDataModel) -> Named? {
        guard let url = try? ODataURL(parsing: text),
            let steps = try? Binder(model: model).bind(url).resource.steps,
            steps.count == 2, case .entitySet(let set, _) = steps[0], case .key(let key) = steps[1]
        else { return nil }
        return Named(set: set.name, key: key)
    }
}
