import ODataModel

/// The annotations of an instance by the property they are on, so that a writer puts each where it belongs and
/// forgets none.
struct AnnotationGroups {
    /// A term, or `odata.` and the name of control information, with its value.
    typealias Item = (term: String, value: ODataValue)

    private var groups: [String: [Item]] = [:]

    init() {}

    /// Groups annotations; those that another part of the entity stands for are left out.
    init(_ annotations: [String: ODataValue]) {
        for (name, value) in annotations {
            var property = ""
            var term = name
            if !name.hasPrefix("#"), let at = name.firstIndex(of: "@") {
                property = String(name[..<at])
                // What is said of an annotation on the instance goes with it: properties have no dots in their names.
                if property.contains(".") {
                    property = ""
                } else {
                    term = String(name[name.index(after: at)...])
                }
            }
            if term == "odata.delta" || term == "odata.context" { continue }
            groups[property, default: []].append((term, value))
        }
    }

    /// Whether there is none that was not taken.
    var isEmpty: Bool { groups.isEmpty }

    /// Gives the annotations on a property, the empty name for the instance, in order, and forgets them.
    mutating func take(_ property: String) -> [Item] {
        guard !groups.isEmpty, let items = groups.removeValue(forKey: property) else { return [] }
        return items.sorted { Self.order($0.term) < Self.order($1.term) }
    }

    /// The type of an annotation stands before it.
    private static func order(_ term: String) -> String {
        term.hasSuffix("@odata.type") ? String(term.dropLast("@odata.type".count)) : term + "@"
    }

    /// What has not been taken.
    var rest: [(property: String, items: [Item])] {
        if groups.isEmpty { return [] }
        return groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted { $0.term < $1.term }) }
    }
}
