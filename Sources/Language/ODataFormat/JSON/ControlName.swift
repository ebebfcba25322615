import ODataModel

/// A member name of control information or an annotation: `@odata.id`, `@id`, `Customer@odata.bind`,
/// `@Core.Description`, `#Shop.Approve` (OData JSON Format 4.01, 4.6 and 4.7).
///
/// The light JSON of V3 omits the first sign, as in `odata.id` (OData JSON Format 3.0, 4.5).
struct ControlName {
    /// The control information that readers interpret.
    enum Kind: String {
        case context, metadataEtag, type, count, nextLink, delta, deltaLink, id, editLink, readLink, etag
        case navigationLink, associationLink, mediaReadLink, mediaEditLink, mediaContentType, mediaEtag
        case removed, bind, collectionAnnotations
    }

    /// The annotated property; empty for the instance itself.
    let property: String
    /// The kind of control information; `nil` for annotations with a vocabulary term.
    let kind: Kind?
    /// The name without `@` and without `odata.`.
    let name: String

    /// Parses a member name; `nil` if it is the name of a property.
    init?(_ key: JSONString) {
        let first = key.firstByte
        let isOperation = first == UInt8(ascii: "#")
        // No property has a dot in its name, so this is never one.
        let isLight = first == UInt8(ascii: "o") && key.string.begins(with: "odata.")
        guard isOperation || isLight || key.contains(UInt8(ascii: "@")) else { return nil }
        let text = key.string
        var name = text[...]
        if !isOperation, let (owner, behind) = text.halves(atFirst: "@") {
            property = String(owner)
            name = behind
        } else {
            property = ""
        }
        // A name with further dots is a term, also in the namespace `odata`'s neighbourhood.
        name = name.controlInformation ?? name
        self.name = isLight ? Self.current[String(name)] ?? String(name) : String(name)
        kind = Kind(rawValue: self.name)
    }

    /// The current names of control information with other names in V3.
    private static let current = ["metadata": "context"]

    /// The name for storage among the annotations. Control information keeps the prefix `odata.` to distinguish it
    /// from terms.
    var annotationName: String {
        let full = name.has(".") || name.has("#") ? name : "odata.\(name)"
        return property.isEmpty ? full : "\(property)@\(full)"
    }
}
