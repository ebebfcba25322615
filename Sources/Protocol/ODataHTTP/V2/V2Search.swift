import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Full-text search for V2 clients: an OpenSearch description for each searchable set, and the query option in its
/// template (OpenSearch 1.1). OData 2.0 itself defines no search.
struct V2Search {
    let addresses: V2Addresses

    /// The segment after the name of a set in the URL of its description.
    static let documentName = "OpenSearchDescription.xml"
    static let mediaType = "application/opensearchdescription+xml"
    /// The query option that contains the words.
    static let option = "search"

    private var searchable: [EntitySet] { addresses.model.visible.container.entitySets.filter(\.isSearchable) }

    /// Returns the description at a URL relative to the root; `nil` for other URLs.
    func description(at relative: String) -> [UInt8]? {
        let parts = relative.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1] == Self.documentName,
            let set = searchable.first(where: { $0.name == parts[0] })
        else { return nil }
        let url = addresses.serviceRoot.url(for: "\(set.name)?\(Self.option)={searchTerms}")
        return OpenSearchDescription(
            shortName: String(set.name.prefix(16)), text: set.summary ?? "Searches the texts of \(set.name).",
            templates: [.init(template: url, type: "application/atom+xml")]
        ).write()
    }

    /// Returns the Atom service document, with links to itself and to the descriptions.
    func serviceDocument() -> [UInt8] {
        var document = AtomServiceDocument(
            model: addresses.model.visible, baseURL: addresses.serviceRoot.description)
        document.links.append(AtomLink(relation: "self", url: addresses.serviceRoot.description))
        let names = Set(searchable.map(\.name))
        for workspace in document.workspaces.indices {
            for index in document.workspaces[workspace].collections.indices {
                let collection = document.workspaces[workspace].collections[index]
                guard names.contains(collection.url) else { continue }
                document.workspaces[workspace].collections[index].links.append(
                    AtomLink(
                        relation: "search", url: "\(collection.url)/\(Self.documentName)", type: Self.mediaType,
                        title: collection.title))
            }
        }
        return document.write(version: .v2)
    }

    /// Returns a URL with the words of the option as its search. All words must match.
    static func applying(to url: ODataURL) -> ODataURL {
        guard let option = url.options.custom.first(where: { $0.name == Self.option }) else { return url }
        var url = url
        let words = option.value.split(whereSeparator: \.isWhitespace).map { SearchExpression.phrase(String($0)) }
        guard let first = words.first else { return url }
        url.options.search = words.dropFirst().reduce(first) { .and($0, $1) }
        return url
    }
}
