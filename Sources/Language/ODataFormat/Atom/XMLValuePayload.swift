import ODataModel

extension ValuePayload {
    /// Reads a property, or the result of an operation, from an XML document.
    ///
    /// In V1 to V3, the root is `<d:Name>…</d:Name>`, with `d:element` for the members of collections. In V4, the
    /// root is `<m:value>…</m:value>` (OData Atom Format 4.0, 7.2 and 11; OData V2, Atom Format, 4 and 5). Entries
    /// and feeds are also values, because operations return them.
    /// - Throws: ``PayloadError`` with the position and the property path, or with the service's error.
    public init(
        xml bytes: [UInt8], type: TypeReference, model: EntityDataModel, strictness: Strictness = .lenient
    ) throws(PayloadError) {
        let root = try XMLBody.read(bytes)
        let context = root.metadata("context")
        let reader = AtomEntryReader(model: model, strictness: strictness)
        let value = try XMLBody.mapped { () throws(XMLPayloadError) -> ODataValue in
            switch type {
            case .entity(let name?):
                guard root.isAtom("entry") else {
                    // Some services return only the properties.
                    return try reader.readValue(root, type: type)
                }
                return .complex(try reader.readEntry(root, name, base: nil))
            case .collection(.entity(let name?)) where root.isAtom("feed"):
                let base = root.attribute("base", AtomNames.xml)
                var entities: [ODataValue] = []
                for element in root.elements where element.isAtom("entry") {
                    do throws(XMLPayloadError) {
                        entities.append(.complex(try reader.readEntry(element, name, base: base)))
                    } catch {
                        throw error.within(String(entities.count))
                    }
                }
                return .collection(entities)
            default:
                guard AtomNames.isData(root.namespace) || AtomNames.isMetadata(root.namespace) else {
                    throw root.error(.unexpected("the element \(root.name)"), expected: "the element of a property")
                }
                // Some results of operations repeat the name around the value.
                if case .complex(let name) = type, let inner = root.elements.first, root.elements.count == 1,
                    AtomNames.isData(inner.namespace), inner.metadata("type") != nil,
                    name.flatMap({ model.shape($0) })?.ordinal(of: inner.name) == nil
                {
                    return try reader.readValue(inner, type: type)
                }
                return try reader.readValue(root, type: type)
            }
        }
        self.init(value, context: context)
        nextLink = root.elements.first { $0.isAtom("link") && $0.attribute("rel") == "next" }?.attribute("href")
    }

    /// Writes the value as an XML document.
    ///
    /// - Parameters:
    ///   - name: the name of the property or operation, which V4 omits.
    ///   - type: the declared type.
    ///   - writer: the writer of entries.
    public func writeXML(named name: String, type: TypeReference?, using writer: AtomEntryWriter) -> [UInt8] {
        switch (value, type?.element) {
        case (.complex(let entity), .entity): return writer.document(entity, context: context)
        case (.collection(let values), .entity):
            var feed = AtomFeedWriter(writer)
            feed.begin(id: name, title: name, context: context, count: count)
            for case .complex(let entity) in values { feed.entity(entity) }
            feed.end(nextLink: nextLink)
            return feed.takeBytes()
        default: break
        }
        var xml = XMLOutput()
        xml.declaration()
        writer.write(
            value, root: writer.version < .v4 ? "d:\(name)" : "m:value", type: type, context: context, to: &xml)
        return xml.bytes
    }
}

extension ReferencePayload {
    /// Reads an XML document with references (OData Atom Format 4.0, 12; OData V2, Atom Format, 6).
    ///
    /// The root is `m:ref` or a feed of these in V4, or `d:uri` or `d:links` in V1 to V3.
    ///
    /// - Throws: ``PayloadError`` with the position, or with the service's error.
    public init(xml bytes: [UInt8]) throws(PayloadError) {
        let root = try XMLBody.read(bytes)
        let base = root.attribute("base", AtomNames.xml)
        self.init(ids: [], isCollection: false, context: root.metadata("context"))
        self = try XMLBody.mapped { [self] () throws(XMLPayloadError) -> ReferencePayload in
            var result = self
            if root.isMetadata("ref") || root.name == "uri" {
                result.ids = [LinkBase.resolve(try Self.id(root), base)]
                return result
            }
            guard root.isAtom("feed") || root.name == "links" else {
                throw root.error(.unexpected("the element \(root.name)"), expected: "references")
            }
            result.isCollection = true
            for element in root.elements {
                if element.isMetadata("ref") || element.name == "uri" {
                    result.ids.append(LinkBase.resolve(try Self.id(element), base))
                } else if element.isMetadata("count") {
                    result.count = Int64(element.trimmedText)
                } else if element.name == "next" {
                    result.nextLink = element.trimmedText
                } else if element.isAtom("link"), element.attribute("rel") == "next" {
                    result.nextLink = element.attribute("href").map { LinkBase.resolve($0, base) }
                }
            }
            return result
        }
    }

    private static func id(_ element: XMLFragment) throws(XMLPayloadError) -> String {
        if element.name == "uri" { return element.trimmedText }
        guard let id = element.attribute("id") else {
            throw element.error(.missingAttribute("id"), expected: "the id of an entity")
        }
        return id
    }

    /// Writes the references as an XML document.
    public func writeXML(version: ODataVersion = .v2) -> [UInt8] {
        var xml = XMLOutput()
        xml.declaration()
        if version >= .v4 {
            xml.begin(isCollection ? "feed" : "m:ref")
            if isCollection { xml.attribute("xmlns", AtomNames.atom) }
            xml.attribute("xmlns:m", AtomNames.metadata(version))
            xml.attribute("m:context", context)
            if isCollection {
                if let count { xml.element("m:count", text: String(count)) }
                for id in ids { xml.element("m:ref", [("id", id)], text: "") }
                if let nextLink { xml.element("link", [("rel", "next"), ("href", nextLink)], text: "") }
            } else {
                xml.attribute("id", ids.first ?? "")
            }
            xml.end()
        } else if isCollection {
            xml.begin("links")
            xml.attribute("xmlns", AtomNames.data(version))
            if let count {
                xml.element("m:count", [("xmlns:m", AtomNames.metadata(version))], text: String(count))
            }
            for id in ids { xml.element("uri", text: id) }
            if let nextLink { xml.element("next", text: nextLink) }
            xml.end()
        } else {
            xml.element("uri", [("xmlns", AtomNames.data(version))], text: ids.first ?? "")
        }
        return xml.bytes
    }
}
