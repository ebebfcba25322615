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
            if !name.begins(with: "#"), let (owner, behind) = name.halves(atFirst: "@") {
                property = String(owner)
                // What is said of an annotation on the instance goes with it: properties have no dots in their names.
                if property.has(".") {
                    property = ""
                } else {
                    term = String(behind)
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
        guard let (owner, control) = term.halves(atLast: "@"), control == "odata.type" else { return term + "@" }
        return String(owner)
    }

    /// The annotations that have not been taken.
    var rest: [(property: String, items: [Item])] {
        if groups.isEmpty { return [] }
        return groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted { $0.term < $1.term }) }
    }
}
