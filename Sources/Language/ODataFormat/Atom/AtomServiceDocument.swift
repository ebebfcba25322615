import ODataModel

/// The AtomPub service document with all content that V2 services provide, including attributes of gateways (RFC
/// 5023, 8; OData V2, Atom Format, 2).
///
/// ``ServiceDocument`` contains the part that all formats have.
public struct AtomServiceDocument: Hashable, Sendable {
    /// A group of collections.
    public struct Workspace: Hashable, Sendable {
        /// The title for display.
        public var title: String
        /// The collections in document order.
        public var collections: [Collection]
        /// The attributes of other namespaces by local name, such as a gateway's `semantics`.
        public var attributes: [String: String]

        /// The purpose of the workspace, if a gateway states it.
        public var semantics: String? { attributes["semantics"] }
    }

    /// The kinds of server with different service documents.
    public enum ServerType: Hashable, Sendable {
        /// A service that follows the OData standard.
        case odata
        /// A gateway, which describes collections with SAP attributes and elements.
        case gateway
    }

    /// A collection of entries, or another resource of the service in V4.
    public struct Collection: Hashable, Sendable {
        /// The URL, absolute or relative to ``AtomServiceDocument/baseURL``.
        public var url: String
        /// The title for display.
        public var title: String
        /// The kind of resource.
        public var kind: ServiceDocument.Kind
        /// The name if it differs from the title.
        public var name: String?
        /// The title of a single member.
        public var memberTitle: String?
        /// The accepted media types of new members.
        public var accepts: [String]
        /// The links, for example to icons, subscriptions and the OpenSearch description.
        public var links: [AtomLink]
        /// The attributes of other namespaces by local name, such as a gateway's `creatable` and `content-version`.
        public var attributes: [String: String]

        /// Whether members can be created. The default is true.
        public var isCreatable: Bool { flag("creatable") ?? true }
        /// Whether members can be changed. The default is true.
        public var isUpdatable: Bool { flag("updatable") ?? true }
        /// Whether members can be deleted. The default is true.
        public var isDeletable: Bool { flag("deletable") ?? true }
        /// Whether members can be searched. The default is false.
        public var isSearchable: Bool { flag("searchable") ?? false }
        /// Whether the collection is an entry point for users. The default is true.
        public var isTopLevel: Bool { flag("topLevel") ?? flag("top-level") ?? true }
        /// Whether each request must have a filter. The default is false.
        public var requiresFilter: Bool { flag("requires-filter") ?? false }
        /// Whether clients can subscribe to changes.
        public var isSubscribable: Bool { flag("subscribable") ?? (subscriptionLink != nil) }
        /// The version of the content, with which a client can validate its cache.
        public var contentVersion: String? { attributes["content-version"] }
        /// The position in lists for display.
        public var displayOrder: Int? {
            (attributes["display-order"] ?? attributes["addressable-order"]).flatMap { Int($0) }
        }
        /// Whether the collection can be read directly, not only by navigation. The default is true.
        public var isAddressable: Bool { flag("addressable") ?? true }
        /// Whether members are media with an entry each, as stated or implied by the accepted media types.
        public var hasMedia: Bool {
            flag("has-media") ?? flag("hasMedia")
                ?? accepts.contains { !$0.hasPrefix("application/atom") && !$0.hasPrefix("application/json") }
        }
        /// The kind of members, if a gateway states it.
        public var semantics: String? { attributes["semantics"] }
        /// The link for subscriptions to changes.
        public var subscriptionLink: AtomLink? {
            links.first { link in
                link.relation == "subscriptions" || link.relation.hasSuffix("/subscriptions")
                    || link.relation.hasSuffix("#subscribe")
            }
        }
        /// The link to the OpenSearch description.
        public var searchLink: AtomLink? { links.first { $0.relation == "search" } }
        /// The links to icons.
        public var icons: [AtomLink] { links.filter { $0.relation == "icon" || $0.relation.hasSuffix("/icon") } }

        /// The name of the resource, by default its URL.
        var setName: String { name ?? url.removingPercentEncoding() }

        /// Returns the value of a boolean attribute; `nil` if the attribute is absent or invalid.
        private func flag(_ name: String) -> Bool? { attributes[name].flatMap { Bool(attribute: $0) } }
    }

    /// The base of relative URLs.
    public var baseURL: String?
    /// The language of the titles.
    public var language: String?
    /// The context URL, which only V4 uses.
    public var context: String?
    /// The workspaces in document order.
    public var workspaces: [Workspace]
    /// The links of the document itself.
    public var links: [AtomLink]
    /// The kind of server that the document implies.
    public var serverType: ServerType {
        attributeNamespace?.hasPrefix(AtomNames.sap) == true ? .gateway : .odata
    }
    /// The namespace of gateway attributes, preferably SAP's; `nil` if there are none.
    private var attributeNamespace: String?

    /// The link to the latest version of the service, which may differ from this version.
    public var latestVersionLink: AtomLink? { links.first { $0.relation == "latest-version" } }

    /// The collections of all workspaces.
    public var collections: [Collection] { workspaces.flatMap(\.collections) }

    /// Returns the workspaces with a meaning, which gateways state.
    public func workspaces(semantics: String) -> [Workspace] { workspaces.filter { $0.semantics == semantics } }

    /// Returns the collection with a name, which is the name of the entity set, optionally qualified by its
    /// container or schema, or the title.
    public func collection(named name: String) -> Collection? { place(of: name)?.collection }

    /// Returns the workspace that contains the collection with a name.
    public func workspace(ofCollection name: String) -> Workspace? { place(of: name)?.workspace }

    private func place(of name: String) -> (workspace: Workspace, collection: Collection)? {
        let all = workspaces.flatMap { workspace in workspace.collections.map { (workspace, $0) } }
        let unqualified = String(
            name[(name.lastIndex { $0 == "." || $0 == "/" }.map { name.index(after: $0) } ?? name.startIndex)...])
        return all.first { $0.1.setName == name } ?? all.first { $0.1.title == name }
            ?? all.first { $0.1.setName == unqualified }
    }

    /// The content of the document that all formats have.
    public var document: ServiceDocument {
        ServiceDocument(
            context: context,
            entries: collections.map { collection in
                let name = collection.setName
                return ServiceDocument.Entry(
                    name: name, title: collection.title == name || collection.title.isEmpty ? nil : collection.title,
                    kind: collection.kind, url: collection.url)
            })
    }

    /// Reads a document.
    ///
    /// - Throws: ``PayloadError/noServiceDocument(_:)`` if the root is another element. Other ``PayloadError``
    ///   cases contain the position, for example of a collection without URL.
    public init(xml bytes: [UInt8]) throws(PayloadError) { try self.init(document: try XMLBody.read(bytes)) }

    /// Reads a document from chunks of bytes as they arrive.
    ///
    /// The document is parsed chunk by chunk, and its bytes are never held as a whole. A chunk may end at any
    /// byte. After an error, no further chunk is requested.
    ///
    /// - Parameters:
    ///   - chunks: the chunks, such as the body of a response or the content of a file.
    ///   - maxBytes: the maximum size of the document, in bytes.
    /// - Throws: ``PayloadError`` as in ``init(xml:)``; ``PayloadError/tooLarge(limit:)`` if the document is
    ///   larger than `maxBytes`; `CancellationError`; errors of `chunks`.
    public init<Chunks: AsyncSequence>(
        xmlChunks chunks: Chunks, maxBytes: Int = XMLPayloadLimits.maxElementBytes
    ) async throws where Chunks.Element: Swift.Collection<UInt8> {
        try self.init(document: try await XMLBody.read(chunks: chunks, maxBytes: maxBytes))
    }

    private init(document root: XMLFragment) throws(PayloadError) {
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
        attributeNamespace = root.foreignNamespace
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

    /// Creates the document of a model, with the listed resources of its container.
    ///
    /// - Parameters:
    ///   - model: the model.
    ///   - baseURL: the root URL of the service.
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
            if model.shape(set.type)?.hasStream ?? false { attributes["has-media"] = "true" }
            return Collection(
                url: set.name, title: attributes["label"] ?? set.name, kind: .entitySet, name: nil,
                memberTitle: model.structuredType(set.type)?.label, accepts: [], links: [], attributes: attributes)
        }
        if collections.contains(where: { !$0.attributes.isEmpty }) { attributeNamespace = AtomNames.sap }
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
        xml.attribute("xmlns:sap", attributeNamespace ?? AtomNames.sap)
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
        // Before V4, service documents list only entity sets.
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
    /// Reads a link; returns `nil` if it has no target.
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

extension EntityDataModel {
    /// Returns the entity set that a collection of a service document represents, found by its unqualified name.
    public func entitySet(of collection: AtomServiceDocument.Collection) -> EntitySet? { entitySet(collection.setName) }
}

extension XMLFragment {
    /// The namespace of a gateway's elements and attributes: SAP's, or else the first nonstandard namespace.
    fileprivate var foreignNamespace: String? {
        var found: String?
        var waiting = [self]
        while let element = waiting.popLast() {
            // Extensions are kept only if they are these two elements or attributes of listed resources.
            let isKept = element.name == "member-title" || element.name == "semantics"
            let isListed = [
                "workspace", "collection", "link", "singleton", "function-import", "service-document",
            ].contains(element.name)
            for namespace in isKept ? [element.namespace] : isListed ? element.attributes.map(\.namespace) : [] {
                if namespace.hasPrefix(AtomNames.sap) { return AtomNames.sap }
                let isStandard =
                    namespace.isEmpty || AtomNames.isMetadata(namespace)
                    || [AtomNames.atom, AtomNames.publishing, AtomNames.xml].contains(namespace)
                if !isStandard { found = found ?? namespace }
            }
            waiting += element.elements.reversed()
        }
        return found
    }

    /// The attributes of namespaces other than XML's own, by local name.
    var foreignAttributes: [String: String] {
        var result: [String: String] = [:]
        for attribute in attributes where !attribute.namespace.isEmpty && attribute.namespace != AtomNames.xml {
            result[attribute.name] = attribute.value
        }
        return result
    }
}
