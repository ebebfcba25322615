import ODataModel

/// The AtomPub service document with everything that V2 services say in it (RFC 5023, 8; OData V2, Atom Format, 2),
/// the attributes of gateways among it.
///
/// ``ServiceDocument`` is the part of it that every format has.
public struct AtomServiceDocument: Hashable, Sendable {
    /// A group of collections.
    public struct Workspace: Hashable, Sendable {
        /// A title for people.
        public var title: String
        /// The collections in document order.
        public var collections: [Collection]
        /// The attributes of other namespaces by local name, such as a gateway's `semantics`.
        public var attributes: [String: String]
    }

    /// A collection of entries, or in V4 something else that the service offers.
    public struct Collection: Hashable, Sendable {
        /// Where it is, absolute or relative to ``AtomServiceDocument/baseURL``.
        public var url: String
        /// A title for people.
        public var title: String
        /// What it is.
        public var kind: ServiceDocument.Kind
        /// The name, where it is not the title.
        public var name: String?
        /// What one member is called.
        public var memberTitle: String?
        /// The media types that are accepted for new members.
        public var accepts: [String]
        /// The links: to icons, subscriptions, the OpenSearch description and so on.
        public var links: [AtomLink]
        /// The attributes of other namespaces by local name, such as a gateway's `creatable` and `content-version`.
        public var attributes: [String: String]

        /// Whether members can be created, as far as the document says.
        public var isCreatable: Bool { flag("creatable") ?? true }
        /// Whether members can be changed.
        public var isUpdatable: Bool { flag("updatable") ?? true }
        /// Whether members can be deleted.
        public var isDeletable: Bool { flag("deletable") ?? true }
        /// Whether members can be searched.
        public var isSearchable: Bool { flag("searchable") ?? false }
        /// Whether the collection is one to begin with.
        public var isTopLevel: Bool { flag("topLevel") ?? flag("top-level") ?? true }
        /// Whether it can only be read with a filter.
        public var requiresFilter: Bool { flag("requires-filter") ?? false }
        /// Whether changes can be subscribed to.
        public var isSubscribable: Bool { flag("subscribable") ?? (subscriptionLink != nil) }
        /// The version of its content, which tells whether what is cached still holds.
        public var contentVersion: String? { attributes["content-version"] }
        /// Its place among the others for people.
        public var displayOrder: Int? {
            (attributes["display-order"] ?? attributes["addressable-order"]).flatMap { Int($0) }
        }
        /// Where to subscribe to changes.
        public var subscriptionLink: AtomLink? {
            links.first { $0.relation == "subscriptions" || $0.relation.hasSuffix("/subscriptions") }
        }
        /// Where the OpenSearch description is.
        public var searchLink: AtomLink? { links.first { $0.relation == "search" } }
        /// The icons.
        public var icons: [AtomLink] { links.filter { $0.relation == "icon" || $0.relation.hasSuffix("/icon") } }

        private func flag(_ name: String) -> Bool? {
            attributes[name].map { $0 == "true" || $0 == "1" }
        }
    }

    /// What relative URLs are relative to.
    public var baseURL: String?
    /// The language of the titles.
    public var language: String?
    /// The context URL, which V4 has.
    public var context: String?
    /// The workspaces in document order.
    public var workspaces: [Workspace]
    /// The links of the document itself.
    public var links: [AtomLink]

    /// The collections of all workspaces.
    public var collections: [Collection] { workspaces.flatMap(\.collections) }

    /// The collection with a name.
    public func collection(named name: String) -> Collection? {
        collections.first { ($0.name ?? $0.url.removingPercentEncoding()) == name }
            ?? collections.first { $0.title == name }
    }

    /// The document as every format has it.
    public var document: ServiceDocument {
        ServiceDocument(
            context: context,
            entries: collections.map { collection in
                let name = collection.name ?? collection.url.removingPercentEncoding()
                return ServiceDocument.Entry(
                    name: name, title: collection.title == name || collection.title.isEmpty ? nil : collection.title,
                    kind: collection.kind, url: collection.url)
            })
    }

    /// Reads a document.
    ///
    /// - Throws: ``PayloadError/noServiceDocument(_:)`` when the root is another element, else ``PayloadError`` with the
    ///   place: when a workspace or a collection's address is missing too.
    public init(xml bytes: [UInt8]) throws(PayloadError) {
        let root = try XMLBody.read(bytes)
        guard root.name == "service", root.namespace == AtomNames.publishing else {
            throw .noServiceDocument(
                NoServiceDocument(
                    found: "the element \(root.name)", line: root.line, column: root.column,
                    expected: "the element service of AtomPub"))
        }
        self = try XMLBody.mapped { () throws(XMLPayloadError) in try AtomServiceDocument(root) }
    }

    private init(_ root: XMLFragment) throws(XMLPayloadError) {
        baseURL = root.attribute("base", AtomNames.xml)
        language = root.attribute("lang", AtomNames.xml)
        context = root.metadata("context")
        workspaces = []
        links = []
        for element in root.elements {
            if element.name == "workspace", element.namespace == AtomNames.publishing {
                workspaces.append(try Workspace(element))
            } else if element.name == "collection", element.namespace == AtomNames.publishing {
                throw element.error(.unexpected("a collection"), expected: "a workspace around it")
            } else if element.isAtom("link"), let link = AtomLink(element) {
                links.append(link)
            }
        }
        guard !workspaces.isEmpty else {
            throw root.error(.unexpected("no workspace"), expected: "at least one workspace")
        }
    }

    /// Makes the document of a model: what is to be listed of its container.
    ///
    /// - Parameters:
    ///   - model: the model.
    ///   - baseURL: the root of the service.
    public init(model: EntityDataModel, baseURL: String?) {
        self.baseURL = baseURL
        language = nil
        context = nil
        links = []
        let container = model.container
        let collections = container.entitySets.filter(\.isInServiceDocument).map { set in
            var attributes: [String: String] = [:]
            for annotation in set.annotations where annotation.term.hasPrefix("sap:") {
                attributes[String(annotation.term.dropFirst(4))] = annotation.value?.string
            }
            return Collection(
                url: set.name, title: set.name, kind: .entitySet, name: nil, memberTitle: nil, accepts: [], links: [],
                attributes: attributes)
        }
        workspaces = [Workspace(title: "Default", collections: collections, attributes: [:])]
    }

    /// Writes the document.
    public func write(version: ODataVersion = .v2) -> [UInt8] {
        var xml = XMLOutput()
        xml.declaration()
        xml.begin("service")
        xml.attribute("xmlns", AtomNames.publishing)
        xml.attribute("xmlns:atom", AtomNames.atom)
        xml.attribute("xmlns:m", AtomNames.metadata(version))
        xml.attribute("xmlns:sap", AtomNames.sap)
        xml.attribute("xml:base", baseURL)
        xml.attribute("xml:lang", language)
        if version >= .v4 { xml.attribute("m:context", context) }
        for workspace in workspaces { workspace.write(version, to: &xml) }
        for link in links { link.write("atom:link", to: &xml) }
        xml.end()
        return xml.bytes
    }
}

extension AtomServiceDocument.Workspace {
    fileprivate init(_ element: XMLFragment) throws(XMLPayloadError) {
        title = element.elements.first { $0.isAtom("title") }?.trimmedText ?? ""
        attributes = element.foreignAttributes
        for child in element.elements where child.name == "semantics" { attributes["semantics"] = child.trimmedText }
        collections = []
        for child in element.elements {
            let kind: ServiceDocument.Kind
            switch child.name {
            case "collection" where child.namespace == AtomNames.publishing: kind = .entitySet
            case "singleton" where AtomNames.isMetadata(child.namespace): kind = .singleton
            case "function-import" where AtomNames.isMetadata(child.namespace): kind = .functionImport
            case "service-document" where AtomNames.isMetadata(child.namespace): kind = .serviceDocument
            default: continue
            }
            collections.append(try AtomServiceDocument.Collection(child, kind))
        }
    }

    fileprivate func write(_ version: ODataVersion, to xml: inout XMLOutput) {
        xml.begin("workspace")
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) where FeedMapping.isName(name) {
            xml.attribute("sap:\(name)", value)
        }
        xml.element("atom:title", text: title)
        // Before V4 there were entity sets alone.
        for collection in collections where version >= .v4 || collection.kind == .entitySet {
            collection.write(version, to: &xml)
        }
        xml.end()
    }
}

extension AtomServiceDocument.Collection {
    fileprivate init(_ element: XMLFragment, _ kind: ServiceDocument.Kind) throws(XMLPayloadError) {
        guard let url = element.attribute("href") else {
            throw element.error(.missingAttribute("href"), expected: "the address of the collection")
        }
        self.url = url
        self.kind = kind
        name = element.metadata("name")
        attributes = element.foreignAttributes
        attributes["name"] = nil
        title = ""
        accepts = []
        links = []
        for child in element.elements {
            if child.isAtom("title") {
                title = child.trimmedText
            } else if child.name == "accept" {
                accepts.append(child.trimmedText)
            } else if child.name == "member-title" {
                memberTitle = child.trimmedText
            } else if child.isAtom("link"), let link = AtomLink(child) {
                links.append(link)
            }
        }
    }

    fileprivate func write(_ version: ODataVersion, to xml: inout XMLOutput) {
        let element =
            switch kind {
            case .entitySet: "collection"
            case .singleton: "m:singleton"
            case .functionImport: "m:function-import"
            case .serviceDocument: "m:service-document"
            }
        xml.begin(element)
        xml.attribute("href", url)
        if version >= .v4 { xml.attribute("m:name", name) }
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) where FeedMapping.isName(name) {
            xml.attribute("sap:\(name)", value)
        }
        xml.element("atom:title", text: title)
        for type in accepts { xml.element("accept", text: type) }
        if let memberTitle { xml.element("sap:member-title", text: memberTitle) }
        for link in links { link.write("atom:link", to: &xml) }
        xml.end()
    }
}

extension AtomLink {
    /// Reads a link; `nil` when it leads nowhere.
    init?(_ element: XMLFragment) {
        guard let url = element.attribute("href") else { return nil }
        self.init(
            relation: element.attribute("rel") ?? "alternate", url: url, type: element.attribute("type"),
            title: element.attribute("title"), attributes: element.foreignAttributes)
    }

    func write(_ name: String, to xml: inout XMLOutput) {
        xml.begin(name)
        xml.attribute("rel", relation)
        xml.attribute("href", url)
        xml.attribute("type", type)
        xml.attribute("title", title)
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) where FeedMapping.isName(name) {
            xml.attribute("sap:\(name)", value)
        }
        xml.end()
    }
}

extension XMLFragment {
    /// The attributes of other namespaces than XML's own, by local name.
    var foreignAttributes: [String: String] {
        var result: [String: String] = [:]
        for attribute in attributes where !attribute.namespace.isEmpty && attribute.namespace != AtomNames.xml {
            result[attribute.name] = attribute.value
        }
        return result
    }
}
