import ODataModel

/// Reads Atom entries of every version (OData Atom Format 4.0, 5 to 10; OData V2, Atom Format).
///
/// The reader includes control information, links, inlined entries and feeds, media links, actions, and properties
/// that a feed mapping moves. The result is the same as that of ``EntityPayloadReader`` for the entity in JSON.
public struct AtomEntryReader: Sendable {
    /// The model of the service.
    public let model: EntityDataModel
    /// The treatment of undeclared properties. With `strict`, as in a service, a link without content is a
    /// reference to an existing entity.
    public let strictness: Strictness

    /// Creates a reader.
    public init(model: EntityDataModel, strictness: Strictness = .lenient) {
        self.model = model
        self.strictness = strictness
    }

    /// Reads a whole document.
    ///
    /// - Parameters:
    ///   - bytes: the whole document, whose root is `entry`.
    ///   - type: the declared type; the entry may state a derived type.
    /// - Throws: ``PayloadError`` with the position and the property path, or with the service's error.
    public func read(_ bytes: [UInt8], type: QualifiedName) throws(PayloadError) -> EntityPayload {
        guard model.shape(type) != nil else { throw .unknownType(type) }
        let root = try XMLBody.read(bytes)
        return try XMLBody.mapped { () throws(XMLPayloadError) in
            guard root.isAtom("entry") else {
                throw root.error(.unexpected("the element \(root.name)"), expected: "an Atom entry")
            }
            return EntityPayload(entity: try readEntry(root, type, base: nil), context: root.metadata("context"))
        }
    }

    func readEntry(
        _ entry: XMLFragment, _ declared: QualifiedName, base parentBase: String?
    ) throws(XMLPayloadError) -> ODataEntity {
        var instance = InstanceInProgress(shape: model.shape(declared) ?? .untyped)
        let elements = entry.elements
        let base = LinkBase.nested(entry.attribute("base", AtomNames.xml), in: parentBase)
        adoptType(elements, &instance)
        instance.entity.control.etag = entry.metadata("etag")
        for element in elements {
            if element.namespace == AtomNames.atom {
                try readAtom(element, base, instance: &instance)
            } else if AtomNames.isMetadata(element.namespace) {
                switch element.name {
                case "properties": try readProperties(element, into: &instance)
                case "action", "function": readOperation(element, base, instance: &instance)
                case "annotation": try readAnnotation(element, into: &instance)
                default: break
                }
            }
        }
        // An edit link that equals the id is redundant.
        if instance.entity.control.editLink == instance.entity.control.id { instance.entity.control.editLink = nil }
        try FeedMapping.mappings(of: instance.entity.shape, in: model).read(
            entry, into: &instance, base: base, using: self)
        return instance.finished()
    }

    private func adoptType(_ elements: [XMLFragment], _ instance: inout InstanceInProgress) {
        let category = elements.first { $0.isAtom("category") && AtomNames.isScheme($0.attribute("scheme")) }
        guard let stated = category?.attribute("term") else { return }
        if let shape = model.stated(stated) {
            instance.entity.control.type = shape.name
            instance.adopt(shape)
        } else {
            instance.entity.control.annotations["odata.type"] = .string(stated)
        }
    }

    private func readAtom(
        _ element: XMLFragment, _ base: String?, instance: inout InstanceInProgress
    ) throws(XMLPayloadError) {
        switch element.name {
        case "id":
            let id = element.trimmedText
            if !id.isEmpty { instance.entity.control.id = LinkBase.resolve(id, base) }
        case "link": try readLink(element, base, instance: &instance)
        case "content":
            if let source = element.attribute("src") {
                instance.entity.control.mediaReadLink = LinkBase.resolve(source, base)
                instance.entity.control.mediaContentType = element.attribute("type")
            }
            for child in element.elements where child.isMetadata("properties") {
                try readProperties(child, into: &instance)
            }
        case "author":
            for (name, annotation) in [
                ("name", AtomAnnotation.authorName), ("email", AtomAnnotation.authorEmail),
                ("uri", AtomAnnotation.authorURI),
            ] {
                guard let text = element.elements.first(where: { $0.isAtom(name) })?.text, !text.isEmpty else {
                    continue
                }
                instance.entity.control.annotations[annotation] = .string(text)
            }
        case let name where AtomAnnotation.texts.contains(name):
            let text = element.text
            if !text.isEmpty { instance.entity.control.annotations["atom.\(name)"] = .string(text) }
        default: break
        }
    }

    private func readOperation(_ element: XMLFragment, _ base: String?, instance: inout InstanceInProgress) {
        guard let metadata = element.attribute("metadata") else { return }
        let name = metadata.halves(atLast: "#")?.behind ?? metadata[...]
        var operation = ODataEntity(shape: .untyped)
        if let title = element.attribute("title") { operation["title"] = .string(title) }
        if let target = element.attribute("target") { operation["target"] = .string(LinkBase.resolve(target, base)) }
        instance.entity.control.annotations["#\(name)"] = .complex(operation)
    }

    // MARK: Links

    func readLink(
        _ link: XMLFragment, _ base: String?, instance: inout InstanceInProgress
    ) throws(XMLPayloadError) {
        // A link without a relation leads to an alternate form (RFC 4287, 4.2.7.2).
        guard let text = link.attribute("rel") else { return }
        let url = link.attribute("href").map { LinkBase.resolve($0, base) }
        let (kind, property) = AtomNames.relation(text)
        func annotate(_ name: String, _ value: String?) {
            let prefix = property.isEmpty ? "" : "\(property)@"
            if let value { instance.entity.control.annotations["\(prefix)odata.\(name)"] = .string(value) }
        }
        switch kind {
        case "edit": instance.entity.control.editLink = url
        case "self": instance.entity.control.readLink = url
        case "edit-media" where property.isEmpty:
            annotate("mediaEditLink", url)
            instance.entity.control.mediaContentType =
                instance.entity.control.mediaContentType ?? link.attribute("type")
            instance.entity.control.mediaEtag = link.metadata("etag") ?? instance.entity.control.mediaEtag
        case "edit-media", "mediaresource":
            annotate(kind == "mediaresource" ? "mediaReadLink" : "mediaEditLink", url)
            annotate("mediaContentType", link.attribute("type"))
            annotate("mediaEtag", link.metadata("etag"))
        case "relatedlinks": annotate("associationLink", url)
        case "related" where !property.isEmpty:
            try readRelated(link, property, url: url, base: base, instance: &instance)
        default:
            if let other = AtomLink(link, base: base) { instance.entity.atomLinks.append(other) }
        }
    }

    private func readRelated(
        _ link: XMLFragment, _ name: String, url: String?, base: String?, instance: inout InstanceInProgress
    ) throws(XMLPayloadError) {
        let navigation = instance.entity.shape.navigationProperty(name)
        guard let inline = link.elements.first(where: { $0.isMetadata("inline") }) else {
            guard let url, !url.isEmpty else { return }
            if strictness == .strict, navigation != nil, instance.entity.control.id == nil {
                // In a request that creates an entity, a link refers to an existing entity (OData V2, *Creating
                // Entries*).
                instance.bindings[name, default: []].append(url)
            } else {
                instance.entity.control.annotations["\(name)@odata.navigationLink"] = .string(url)
            }
            return
        }
        if let url, !url.isEmpty { instance.entity.control.annotations["\(name)@odata.navigationLink"] = .string(url) }
        guard let navigation else {
            guard strictness == .strict else { return }
            throw link.error(
                .unknownProperty(name), expected: "a navigation property of \(instance.entity.shape.name)")
        }
        do throws(XMLPayloadError) {
            instance.entity.related[name] = try readInline(inline, navigation, base: base)
        } catch {
            throw error.within(name)
        }
    }

    private func readInline(
        _ inline: XMLFragment, _ navigation: NavigationProperty, base: String?
    ) throws(XMLPayloadError) -> RelatedEntities {
        guard let content = inline.elements.first else { return navigation.isCollection ? .many([]) : .none }
        switch content.name {
        case "entry" where content.isAtom("entry"):
            let entity = try readEntry(content, navigation.target, base: base)
            return navigation.isCollection ? .many([entity]) : .one(entity)
        case "feed" where content.isAtom("feed"):
            guard navigation.isCollection else {
                throw content.error(
                    .unexpected("a feed"), expected: "an entry, since \(navigation.name) is no collection")
            }
            return try readInlineFeed(content, navigation.target, parentBase: base)
        case "ref" where content.isMetadata("ref"): return .references(content.attribute("id").map { [$0] } ?? [])
        default: throw content.error(.unexpected("the element \(content.name)"), expected: "an entry or a feed")
        }
    }

    private func readInlineFeed(
        _ feed: XMLFragment, _ type: QualifiedName, parentBase: String?
    ) throws(XMLPayloadError) -> RelatedEntities {
        let base = LinkBase.nested(feed.attribute("base", AtomNames.xml), in: parentBase)
        var entities: [ODataEntity] = []
        var references: [String] = []
        var count: Int64?
        var nextLink: String?
        for element in feed.elements {
            if element.isAtom("entry") {
                do throws(XMLPayloadError) {
                    entities.append(try readEntry(element, type, base: base))
                } catch {
                    throw error.within(String(entities.count))
                }
            } else if element.isMetadata("ref"), let id = element.attribute("id") {
                references.append(LinkBase.resolve(id, base))
            } else if element.isMetadata("count") {
                count = Int64(element.trimmedText)
            } else if element.isAtom("link"), element.attribute("rel") == "next", let url = element.attribute("href") {
                nextLink = LinkBase.resolve(url, base)
            }
        }
        if entities.isEmpty, !references.isEmpty { return .references(references) }
        return .many(entities, count: count, nextLink: nextLink)
    }
}

/// Resolution of relative URLs in an Atom document against the nearest `xml:base`.
enum LinkBase {
    /// Returns an inner base resolved against an outer base.
    static func nested(_ inner: String?, in outer: String?) -> String? {
        guard let inner else { return outer }
        return resolve(inner, outer)
    }

    /// Returns a URL resolved against a base; unchanged if the URL is absolute or the base is not (RFC 3986, 5.2).
    static func resolve(_ url: String, _ base: String?) -> String {
        guard let base, !url.isEmpty, !isAbsolute(url), isAbsolute(base), let colon = base.firstIndex(of: ":"),
            base[colon...].hasPrefix("://")
        else { return url }
        let authority = base.index(colon, offsetBy: 3)
        let end = base[authority...].firstIndex { $0 == "?" || $0 == "#" } ?? base.endIndex
        let authorityEnd = base[authority..<end].firstIndex(of: "/") ?? end
        if url.hasPrefix("?") || url.hasPrefix("#") { return base[..<end] + url }
        if url.hasPrefix("//") { return base[...colon] + url }
        if url.hasPrefix("/") { return base[..<authorityEnd] + url }
        guard let slash = base[authorityEnd..<end].lastIndex(of: "/") else { return base[..<end] + "/" + url }
        return base[...slash] + url
    }

    private static func isAbsolute(_ url: String) -> Bool {
        guard let colon = url.firstIndex(of: ":"), let first = url.first, first.isLetter else { return false }
        return url[..<colon].allSatisfy { $0.isLetter || $0.isNumber || $0 == "+" || $0 == "-" || $0 == "." }
    }
}
