import ODataModel

/// A member name that is control information or an annotation: `@odata.id`, `@id`, `Customer@odata.bind`,
/// `@Core.Description`, `#Shop.Approve` (OData JSON Format 4.01, 4.6 and 4.7); V3's light JSON has it without the
/// first sign, as `odata.id` (OData JSON Format 3.0, 4.5).
struct ControlName {
    /// The control information that readers act upon.
    enum Kind: String {
        case context, metadataEtag, type, count, nextLink, delta, deltaLink, id, editLink, readLink, etag
        case navigationLink, associationLink, mediaReadLink, mediaEditLink, mediaContentType, mediaEtag
        case removed, bind, collectionAnnotations
    }

    /// The property it belongs to; empty for the instance itself.
    let property: String
    /// The control information; `nil` for annotations with a term of a vocabulary.
    let kind: Kind?
    /// The name without `@` and without `odata.`.
    let name: String

    /// Takes a member name apart; `nil` when it is the name of a property.
    init?(_ key: JSONString) {
        let first = key.firstByte
        let isOperation = first == UInt8(ascii: "#")
        // No property has a dot in its name, so this is never one.
        let isLight = first == UInt8(ascii: "o") && key.string.hasPrefix("odata.")
        guard isOperation || isLight || key.contains(UInt8(ascii: "@")) else { return nil }
        let text = key.string
        var name = text[...]
        if !isOperation, let at = text.firstIndex(of: "@") {
            property = String(text[..<at])
            name = text[text.index(after: at)...]
        } else {
            property = ""
        }
        // A name with further dots is a term, also in the namespace `odata`'s neighbourhood.
        if name.hasPrefix("odata."), !name.dropFirst(6).contains(".") { name = name.dropFirst(6) }
        self.name = isLight ? Self.current[String(name)] ?? String(name) : String(name)
        kind = Kind(rawValue: self.name)
    }

    /// What V3 calls otherwise.
    private static let current = ["metadata": "context"]

    /// The name under which it is kept among annotations: control information keeps `odata.`, so that it is
    /// told from terms.
    var annotationName: String {
        let full = name.contains(".") || name.contains("#") ? name : "odata.\(name)"
        return property.isEmpty ? full : "\(property)@\(full)"
    }
}
