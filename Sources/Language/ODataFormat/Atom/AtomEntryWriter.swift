import ODataModel

/// Writes Atom entries of every version (OData Atom Format 4.0, 5 to 10; OData V2, Atom Format).
///
/// A response contains all links. A request to create or update contains only the necessary links, with or without
/// inlined content.
///
/// ```swift
/// let writer = AtomEntryWriter(model: model, version: .v2, purpose: .create)
/// let body = writer.document(order)
/// ```
public struct AtomEntryWriter: Sendable {
    /// The purposes of an entry.
    public enum Purpose: Hashable, Sendable {
        /// A response of a service, with all links and control information.
        case response
        /// A request to create an entity, with links only to existing and inlined entities.
        case create
        /// A request to update an entity, with the loaded properties and no inlined entries.
        case update
    }

    /// The model of the service.
    public let model: EntityDataModel
    /// The protocol version.
    public let version: ODataVersion
    /// The purpose of the entries.
    public let purpose: Purpose
    /// Whether related entities are written inside their entry.
    public let includesRelated: Bool
    /// The time of the last update for entities that state none, because Atom requires a time in each entry.
    public let updated: ODataDateTimeOffset

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - model: the model of the service.
    ///   - version: the protocol version.
    ///   - purpose: the purpose of the entries.
    ///   - includesRelated: whether related entities are included; ignored for updates.
    ///   - updated: the time of the last update for entries that state none.
    public init(
        model: EntityDataModel, version: ODataVersion = .v2, purpose: Purpose = .response, includesRelated: Bool = true,
        updated: ODataDateTimeOffset = ODataDateTimeOffset(seconds: 0)
    ) {
        self.model = model
        self.version = version
        self.purpose = purpose
        self.includesRelated = includesRelated && purpose != .update
        self.updated = updated
    }

    /// Returns an entry as a whole document.
    public func document(_ entity: ODataEntity, context: String? = nil) -> [UInt8] {
        var xml = XMLOutput()
        xml.declaration()
        write(entity, isRoot: true, context: context, to: &xml)
        return xml.bytes
    }

    /// Writes the namespace declarations of a document's root.
    func declareNamespaces(_ xml: inout XMLOutput) {
        xml.attribute("xmlns", AtomNames.atom)
        xml.attribute("xmlns:d", AtomNames.data(version))
        xml.attribute("xmlns:m", AtomNames.metadata(version))
        xml.attribute("xmlns:gml", AtomNames.gml)
    }

    func write(_ entity: ODataEntity, isRoot: Bool = false, context: String? = nil, to xml: inout XMLOutput) {
        let control = entity.control
        let mappings = FeedMapping.mappings(of: entity.shape, in: model)
        xml.begin("entry")
        if isRoot { declareNamespaces(&xml) }
        if version >= .v4, purpose == .response { xml.attribute("m:context", context) }
        if purpose != .create { xml.attribute("m:etag", control.etag) }
        if purpose != .create, let id = control.id { xml.element("id", text: id) }
        if entity.shape != .untyped {
            let term = version < .v4 ? entity.shape.name.description : "#\(entity.shape.name)"
            xml.element("category", [("term", term), ("scheme", AtomNames.scheme(version))], text: "")
        }
        var placed = FeedPlacement(mappings, entity, writer: self)
        writeTexts(entity, &placed, to: &xml)
        if purpose == .response { writeLinks(entity, to: &xml) }
        placed.writeRepeated(to: &xml)
        for property in entity.shape.navigationProperties { writeRelated(property, entity, to: &xml) }
        writeStreams(entity, to: &xml)
        if purpose == .response { writeOperations(entity, to: &xml) }
        writeContent(entity, mappings, to: &xml)
        if version >= .v4 { writeAnnotations(entity, to: &xml) }
        placed.writeCustom(to: &xml)
        xml.end()
    }

    // MARK: What Atom wants

    private func writeTexts(_ entity: ODataEntity, _ placed: inout FeedPlacement, to xml: inout XMLOutput) {
        func annotation(_ name: String) -> String? {
            if case .string(let text)? = entity.control.annotations[name] { text } else { nil }
        }
        for name in AtomAnnotation.texts {
            let isMandatory = name == "title" || name == "updated"
            let usual = name == "updated" ? updated.description : ""
            if let (text, kind) = placed.take(name) {
                if kind == "xhtml", XMLBody.isContent(text) {
                    xml.element(name, [("type", kind)], xml: text)
                } else {
                    xml.element(name, name == "updated" ? [] : [("type", kind == "xhtml" ? "text" : kind)], text: text)
                }
            } else if let text = annotation("atom.\(name)") {
                xml.element(name, text: text)
            } else if isMandatory, !placed.isTarget(name) {
                // A mapped element is omitted if its property is not loaded. An empty element would be read as an
                // empty value.
                xml.element(name, text: usual)
            }
        }
        for person in ["author", "contributor"] {
            var parts: [(String, String)] = []
            for (name, stated) in [
                ("name", AtomAnnotation.authorName), ("email", AtomAnnotation.authorEmail),
                ("uri", AtomAnnotation.authorURI),
            ] {
                let text = placed.take(person, name)?.text ?? (person == "author" ? annotation(stated) : nil)
                if let text { parts.append((name, text)) }
            }
            guard person == "author" || !parts.isEmpty else { continue }
            xml.begin(person)
            if !parts.contains(where: { $0.0 == "name" }) { xml.element("name", text: "") }
            for (name, text) in parts { xml.element(name, text: text) }
            xml.end()
        }
    }

    // MARK: Links

    private func link(
        _ relation: String, _ url: String?, type: String? = nil, title: String? = nil, etag: String? = nil,
        to xml: inout XMLOutput
    ) {
        guard let url else { return }
        xml.begin("link")
        xml.attribute("rel", relation)
        xml.attribute("href", url)
        xml.attribute("type", type)
        xml.attribute("title", title)
        xml.attribute("m:etag", etag)
        xml.end()
    }

    private func writeLinks(_ entity: ODataEntity, to xml: inout XMLOutput) {
        let control = entity.control
        link("edit", control.editLink ?? control.id, title: entity.shape.name.name, to: &xml)
        link("self", control.readLink, to: &xml)
        if case .string(let url)? = control.annotations["odata.mediaEditLink"] {
            link("edit-media", url, type: control.mediaContentType, etag: control.mediaEtag, to: &xml)
        }
        for other in entity.atomLinks {
            var attributes = [("rel", other.relation), ("href", other.url)]
            if let type = other.type { attributes.append(("type", type)) }
            if let title = other.title { attributes.append(("title", title)) }
            let extra = other.attributes.filter { FeedMapping.isName($0.key) }.sorted { $0.key < $1.key }
            if !extra.isEmpty { attributes.append(("xmlns:sap", AtomNames.sap)) }
            xml.element("link", attributes + extra.map { ("sap:\($0.key)", $0.value) }, text: "")
        }
    }

    func writeRelated(_ property: NavigationProperty, _ entity: ODataEntity, to xml: inout XMLOutput) {
        let name = property.name
        func annotation(_ control: String) -> String? {
            if case .string(let url)? = entity.control.annotations["\(name)@odata.\(control)"] { url } else { nil }
        }
        let related = includesRelated ? entity.related[name] : nil
        let relation = AtomNames.relation(version, "related", property: name)
        let type = "application/atom+xml;type=\(property.isCollection ? "feed" : "entry")"
        if case .references(let ids)? = entity.related[name], purpose != .response {
            for id in ids { link(relation, id, type: type, title: name, to: &xml) }
            return
        }
        if purpose == .response {
            link(
                AtomNames.relation(version, "relatedlinks", property: name), annotation("associationLink"),
                type: "application/xml", title: name, to: &xml)
        }
        let owner = entity.control.editLink ?? entity.control.id
        let url = purpose == .response ? annotation("navigationLink") ?? owner.map { "\($0)/\(name)" } : name
        guard let related else {
            if purpose == .response { link(relation, url, type: type, title: name, to: &xml) }
            return
        }
        xml.begin("link")
        xml.attribute("rel", relation)
        xml.attribute("href", url)
        xml.attribute("type", type)
        xml.attribute("title", name)
        xml.begin("m:inline")
        switch related {
        case .none: break
        case .one(let other): write(other, to: &xml)
        case .many(let others, let count, let nextLink):
            beginFeed(id: url ?? name, title: name, to: &xml)
            if let count { xml.element("m:count", text: String(count)) }
            for other in others { write(other, to: &xml) }
            link("next", nextLink, to: &xml)
            xml.end()
        case .references(let ids):
            if property.isCollection { beginFeed(id: url ?? name, title: name, to: &xml) }
            for id in ids { xml.element("m:ref", [("id", id)], text: "") }
            if property.isCollection { xml.end() }
        }
        xml.end()
        xml.end()
    }

    private func beginFeed(id: String, title: String, to xml: inout XMLOutput) {
        xml.begin("feed")
        xml.element("id", text: id)
        xml.element("title", text: title)
        xml.element("updated", text: updated.description)
        xml.element("link", [("rel", "self"), ("title", title), ("href", id)], text: "")
    }

    private func writeStreams(_ entity: ODataEntity, to xml: inout XMLOutput) {
        guard purpose == .response, version >= .v3 else { return }
        for property in entity.shape.properties where property.type.primitive == .stream {
            func annotation(_ control: String) -> String? {
                let key = "\(property.name)@odata.\(control)"
                if case .string(let text)? = entity.control.annotations[key] { return text }
                return nil
            }
            for (kind, control) in [("mediaresource", "mediaReadLink"), ("edit-media", "mediaEditLink")] {
                link(
                    AtomNames.relation(version, kind, property: property.name), annotation(control),
                    type: annotation("mediaContentType"), title: property.name,
                    etag: kind == "edit-media" ? annotation("mediaEtag") : nil, to: &xml)
            }
        }
    }

    private func writeOperations(_ entity: ODataEntity, to xml: inout XMLOutput) {
        guard version >= .v3 else { return }
        for operation in entity.advertisedOperations {
            let name = operation.name.prefix { $0 != "(" }
            let isFunction = QualifiedName(name).map { model.operations($0).first?.kind == .function } ?? false
            xml.begin(isFunction ? "m:function" : "m:action")
            xml.attribute("metadata", "#\(operation.name)")
            xml.attribute("target", operation.target)
            xml.attribute("title", operation.title)
            xml.end()
        }
    }

    // MARK: Content

    private func writeContent(_ entity: ODataEntity, _ mappings: FeedMappings, to xml: inout XMLOutput) {
        if entity.shape.hasStream || entity.control.mediaReadLink != nil {
            if purpose == .response {
                var attributes = [("type", entity.control.mediaContentType ?? "application/octet-stream")]
                if let url = entity.control.mediaReadLink { attributes.append(("src", url)) }
                xml.element("content", attributes, text: "")
            }
            writeProperties(entity, leavingOut: mappings, to: &xml)
        } else {
            xml.begin("content")
            xml.attribute("type", "application/xml")
            writeProperties(entity, leavingOut: mappings, to: &xml)
            xml.end()
        }
    }

    /// Writes annotations with vocabulary terms; annotations that other elements represent are skipped.
    private func writeAnnotations(_ entity: ODataEntity, to xml: inout XMLOutput) {
        for (name, value) in entity.control.annotations.sorted(by: { $0.key < $1.key }) {
            let sides = name.halves(atFirst: "@")
            let term = sides.map { String($0.behind) } ?? name
            if ["#", "odata.", "atom."].contains(where: { term.begins(with: $0) }) { continue }
            var attributes = [("term", term)]
            if let sides { attributes.append(("target", String(sides.before))) }
            write(value, annotation: attributes, to: &xml)
        }
    }
}
