import ODataModel

/// The annotations of an instance grouped by property, so that a writer writes each at its property and omits none.
struct AnnotationGroups {
    /// A term, or `odata.` and the name of control information, with the value.
    typealias Item = (term: String, value: ODataValue)

    private var groups: [String: [Item]] = [:]

    init() {}

    /// Groups annotations; those that another part of the entity represents are left out.
    init(_ annotations: [String: ODataValue]) {
        for (name, value) in annotations {
            var property = ""
            var term = name
            if !name.hasPrefix("#"), let at = name.firstIndex(of: "@") {
                property = String(name[..<at])
                // An annotation on an annotation of the instance belongs to the instance, because property names
                // contain no dots.
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

    /// Whether all annotations have been taken.
    var isEmpty: Bool { groups.isEmpty }

    /// Removes and returns the sorted annotations on a property, or on the instance for an empty name.
    mutating func take(_ property: String) -> [Item] {
        guard !groups.isEmpty, let items = groups.removeValue(forKey: property) else { return [] }
        return items.sorted { Self.order($0.term) < Self.order($1.term) }
    }

    /// Returns a sort key that places the type of an annotation before the annotation.
    private static func order(_ term: String) -> String {
        term.hasSuffix("@odata.type") ? String(term.dropLast("@odata.type".count)) : term + "@"
    }

    /// The annotations that have not been taken.
    var rest: [(property: String, items: [Item])] {
        if groups.isEmpty { return [] }
        return groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted { $0.term < $1.term }) }
    }
}
