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

        /// What the workspace is for, where a gateway says so.
        public var semantics: String? { attributes["semantics"] }
    }

    /// The kinds of server that write service documents differently.
    public enum ServerType: Hashable, Sendable {
        /// A service of OData as the standard has it.
        case odata
        /// A gateway, which describes collections with attributes and elements of SAP's.
        case gateway
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
        /// Whether it can be read by itself, not by navigation alone.
        public var isAddressable: Bool { flag("addressable") ?? true }
        /// Whether members are media with an entry each: what it says of itself, else what it accepts.
        public var hasMedia: Bool {
            flag("has-media") ?? flag("hasMedia")
                ?? accepts.contains { !$0.hasPrefix("application/atom") && !$0.hasPrefix("application/json") }
        }
        /// What the members are, where a gateway says so.
        public var semantics: String? { attributes["semantics"] }
        /// Where to subscribe to changes.
        public var subscriptionLink: AtomLink? {
            links.first { link in
                link.relation == "subscriptions" || link.relation.hasSuffix("/subscriptions")
                    || link.relation.hasSuffix("#subscribe")
            }
        }
        /// Where the OpenSearch description is.
        public var searchLink: AtomLink? { links.first { $0.relation == "search" } }
        /// The icons.
        public var icons: [AtomLink] { links.filter { $0.relation == "icon" || $0.relation.hasSuffix("/icon") } }

        /// The name of what it lists: its own, else its address.
        var setName: String { name ?? url.removingPercentEncoding() }

        /// A boolean attribute; `nil` for a text that is no boolean, as if it were not there.
        private func flag(_ name: String) -> Bool? { attributes[name].flatMap { Bool(attribute: $0) } }
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
    /// What kind of server wrote it, as far as it tells.
    public var serverType: ServerType {
        attributeNamespace?.hasPrefix(AtomNames.sap) == true ? .gateway : .odata
    }
    /// The namespace of the attributes, SAP's where there are some of it; `nil` where there are none.
    private var attributeNamespace: String?

    /// Where the latest version of the service is, which may be another than this one.
    public var latestVersionLink: AtomLink? { links.first { $0.relation == "latest-version" } }

    /// The collections of all workspaces.
    public var collections: [Collection] { workspaces.flatMap(\.collections) }

    /// The workspaces of one meaning, which gateways state.
    public func workspaces(semantics: String) -> [Workspace] { workspaces.filter { $0.semantics == semantics } }

    /// The collection with a name: that of an entity set, with or without its container or schema before it, or the title.
    public func collection(named name: String) -> Collection? { place(of: name)?.collection }

    /// The workspace that the collection with a name stands in.
    public func workspace(ofCollection name: String) -> Workspace? { place(of: name)?.workspace }

    private func place(of name: String) -> (workspace: Workspace, collection: Collection)? {
        let all = workspaces.flatMap { workspace in workspace.collections.map { (workspace, $0) } }
        let unqualified = String(
            name[(name.lastIndex { $0 == "." || $0 == "/" }.map { name.index(after: $0) } ?? name.startIndex)...])
        return all.first { $0.1.setName == name } ?? all.first { $0.1.title == name }
            ?? all.first { $0.1.setName == unqualified }
    }

    /// The document as every format has it.
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

extension EntityDataModel {
    /// The entity set that a collection of a service document lists: the two are joined by the unqualified name.
    public func entitySet(of collection: AtomServiceDocument.Collection) -> EntitySet? { entitySet(collection.setName) }
}

extension XMLFragment {
    /// The namespace that a gateway's elements and attributes within have: SAP's, else the first that is no standard's.
    fileprivate var foreignNamespace: String? {
        var found: String?
        var waiting = [self]
        while let element = waiting.popLast() {
            // What of an extension is kept: these two elements, and attributes of what the document lists.
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

    /// The attributes of other namespaces than XML's own, by local name.
    var foreignAttributes: [String: String] {
        var result: [String: String] = [:]
        for attribute in attributes where !attribute.namespace.isEmpty && attribute.namespace != AtomNames.xml {
            result[attribute.name] = attribute.value
        }
        return result
    }
}
