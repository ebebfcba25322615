import ODataModel

/// A feed mapping, by which V2 and V3 metadata move or copy a property from `m:properties` to another place in an
/// Atom entry.
///
/// The mapping is defined by `m:FC_TargetPath` and related attributes (OData CSDL V2, *Customizable Feeds*;
/// MS-ODATA, 2.2.3.7.2.1).
struct FeedMapping: Hashable, Sendable {
    /// The path of the property, such as `Name` or `Address/City`.
    var sourcePath: [String]
    /// The elements from the entry to the target, such as [`title`] or [`author`, `name`].
    var elements: [String]
    /// The attribute of the last element; `nil` for its text.
    var attribute: String?
    /// The namespace of the elements, with its prefix below.
    var namespace: String
    var prefix: String?
    /// The kind of content: `text`, `html` or `xhtml`.
    var contentKind: String
    /// Whether the property also remains in `m:properties`.
    var isKeptInContent: Bool
    /// The condition that selects one of several links or categories; `nil` for the one that no other mapping uses.
    var condition: Condition?

    /// The required value of an attribute of a link or category (MS-ODATA, 2.2.3.7.2.1: `FC_CriteriaValue`, since
    /// V3).
    struct Condition: Hashable, Sendable {
        /// `rel` of links, or `scheme` of categories.
        var attribute: String
        var value: String
    }

    /// Whether the target is an Atom element that can occur several times in an entry.
    var isRepeated: Bool { namespace == AtomNames.atom && (elements == ["link"] || elements == ["category"]) }

    /// Returns the mappings of a type, including those of its base types.
    static func mappings(of shape: TypeShape, in model: EntityDataModel) -> FeedMappings {
        var result: [FeedMapping] = []
        var current: TypeShape? = shape
        while let type = current {
            result += read(type.annotations, property: nil)
            current = type.baseType.flatMap { model.shape($0) }
        }
        for property in shape.properties where !property.annotations.isEmpty {
            result += read(property.annotations, property: property.name)
        }
        return FeedMappings(all: result)
    }

    /// The targets with special names.
    private static let syndication: [String: [String]] = [
        "SyndicationAuthorName": ["author", "name"], "SyndicationAuthorEmail": ["author", "email"],
        "SyndicationAuthorUri": ["author", "uri"], "SyndicationContributorName": ["contributor", "name"],
        "SyndicationContributorEmail": ["contributor", "email"], "SyndicationContributorUri": ["contributor", "uri"],
        "SyndicationPublished": ["published"], "SyndicationRights": ["rights"], "SyndicationSummary": ["summary"],
        "SyndicationTitle": ["title"], "SyndicationUpdated": ["updated"], "SyndicationLinkHref": ["link", "@href"],
        "SyndicationLinkHrefLang": ["link", "@hreflang"], "SyndicationLinkLength": ["link", "@length"],
        "SyndicationLinkRel": ["link", "@rel"], "SyndicationLinkTitle": ["link", "@title"],
        "SyndicationLinkType": ["link", "@type"], "SyndicationCategoryTerm": ["category", "@term"],
        "SyndicationCategoryScheme": ["category", "@scheme"], "SyndicationCategoryLabel": ["category", "@label"],
    ]

    /// Returns the mappings in attributes; a number at the end of the names distinguishes several mappings on one
    /// element.
    private static func read(_ annotations: [Annotation], property: String?) -> [FeedMapping] {
        var groups: [String: [String: String]] = [:]
        for annotation in annotations where annotation.term.hasPrefix("m:FC_") {
            let parts = annotation.term.dropFirst(5).split(separator: "_", maxSplits: 1)
            guard let name = parts.first, let value = annotation.value?.string else { continue }
            groups[parts.count > 1 ? String(parts[1]) : "", default: [:]][String(name)] = value
        }
        return groups.sorted { $0.key < $1.key }.compactMap { FeedMapping($0.value, property: property) }
    }

    private init?(_ attributes: [String: String], property: String?) {
        guard let target = attributes["TargetPath"] else { return nil }
        sourcePath =
            (property.map { [$0] } ?? []) + (attributes["SourcePath"] ?? "").parts(between: "/").map(String.init)
        guard !sourcePath.isEmpty else { return nil }
        var path = Self.syndication[target] ?? target.parts(between: "/").map(String.init)
        namespace = Self.syndication[target] == nil ? attributes["NsUri"] ?? "" : AtomNames.atom
        prefix = attributes["NsPrefix"]
        if let name = path.last?.rest(behind: "@") {
            attribute = String(name)
            path.removeLast()
        }
        guard !path.isEmpty, path.allSatisfy(Self.isName), attribute.map(Self.isName) ?? true else { return nil }
        elements = path
        contentKind = attributes["ContentKind"] ?? "text"
        isKeptInContent = attributes["KeepInContent"] != "false"
        if isRepeated, let value = attributes["CriteriaValue"] {
            condition = Condition(attribute: path == ["link"] ? "rel" : "scheme", value: value)
        }
    }

    /// Returns whether a text is a valid element name; an invalid name would make the document malformed.
    static func isName(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first == "_" || first.properties.isAlphabetic else { return false }
        return text.unicodeScalars.allSatisfy {
            $0 == "_" || $0 == "-" || $0 == "." || $0.properties.isAlphabetic || $0.properties.numericType != nil
        }
    }
}

/// The mappings of one type.
struct FeedMappings: Sendable {
    var all: [FeedMapping]

    /// Returns whether a property is written only in its mapped place.
    func isMoved(_ path: [String]) -> Bool { all.contains { !$0.isKeptInContent && $0.sourcePath == path } }

    /// Reads the mapped properties that are absent from the content.
    func read(
        _ entry: XMLFragment, into instance: inout InstanceInProgress, base: String?, using reader: AtomEntryReader
    ) throws(XMLPayloadError) {
        var forgotten: [AtomLink] = []
        for mapping in all {
            guard instance.entity.mappedValue(mapping.sourcePath[...]) == nil,
                let type = instance.entity.shape.mappedType(mapping.sourcePath[...], reader.model),
                let place = place(of: mapping, in: entry), let value = try mapping.value(place, type, reader: reader)
            else { continue }
            instance.entity.setMapped(value, mapping.sourcePath[...], model: reader.model)
            if mapping.elements == ["link"], let link = AtomLink(place, base: base), !forgotten.contains(link) {
                // Several mappings may share one link, and another link may equal it.
                forgotten.append(link)
                forget(link, &instance)
            }
        }
    }

    /// Returns the element that a mapping leads to; `nil` if the element is absent.
    private func place(of mapping: FeedMapping, in entry: XMLFragment) -> XMLFragment? {
        var place = entry
        for name in mapping.elements {
            let next = place.elements.first {
                $0.name == name && $0.namespace == mapping.namespace && (!mapping.isRepeated || isMeant($0, mapping))
            }
            guard let next else { return nil }
            place = next
        }
        return place
    }

    /// Returns whether a link or category is the target of a mapping. The target matches the condition of the
    /// mapping, or has no OData meaning and matches no condition of another mapping.
    private func isMeant(_ element: XMLFragment, _ mapping: FeedMapping) -> Bool {
        if let condition = mapping.condition { return element.attribute(condition.attribute) == condition.value }
        if mapping.elements == ["category"], AtomNames.isScheme(element.attribute("scheme")) { return false }
        if mapping.elements == ["link"] {
            let (kind, property) = AtomNames.relation(element.attribute("rel") ?? "")
            guard property.isEmpty, !["edit", "self", "edit-media"].contains(kind) else { return false }
        }
        return !all.contains { other in
            other.elements == mapping.elements
                && other.condition.map { element.attribute($0.attribute) == $0.value } ?? false
        }
    }

    /// A link that is the place of a property is no link of the entry besides.
    private func forget(_ link: AtomLink, _ instance: inout InstanceInProgress) {
        var links = instance.entity.atomLinks
        guard let index = links.firstIndex(of: link) else { return }
        links.remove(at: index)
        instance.entity.atomLinks = links
    }
}

extension FeedMapping {
    /// Returns the value at the target; `nil` if there is none.
    fileprivate func value(
        _ place: XMLFragment, _ type: TypeReference, reader: AtomEntryReader
    ) throws(XMLPayloadError) -> ODataValue? {
        var source = place
        if let attribute {
            guard let text = place.attribute(attribute, namespace) ?? place.attribute(attribute) else { return nil }
            source.content = [.text(text)]
        } else if contentKind == "xhtml", place.attribute("type") != "text" {
            source.content = [.text(place.innerXML)]
        } else if namespace == AtomNames.atom, place.content.isEmpty, type.primitive != .string {
            // Atom requires the element even if it has no content.
            return nil
        }
        do throws(XMLPayloadError) {
            return try reader.readValue(source, type: type)
        } catch {
            throw error.within(sourcePath.joined(separator: "/"))
        }
    }
}

extension ODataEntity {
    /// Returns the value at a path into complex values; `nil` if not loaded.
    func mappedValue(_ path: ArraySlice<String>) -> ODataValue? {
        guard let name = path.first, let value = self[name] else { return nil }
        if path.count == 1 { return value }
        guard case .complex(let inner) = value else { return value.isNull ? value : nil }
        return inner.mappedValue(path.dropFirst())
    }

    /// Sets a value at a path; missing complex values are created.
    fileprivate mutating func setMapped(_ value: ODataValue, _ path: ArraySlice<String>, model: EntityDataModel) {
        guard let name = path.first, let ordinal = shape.ordinal(of: name) else { return }
        if path.count == 1 {
            values[ordinal] = value
            return
        }
        var inner: ODataEntity
        if case .complex(let present)? = values[ordinal] {
            inner = present
        } else {
            guard case .complex(let type?) = shape.properties[ordinal].type, let shape = model.shape(type) else {
                return
            }
            inner = ODataEntity(shape: shape)
        }
        inner.setMapped(value, path.dropFirst(), model: model)
        values[ordinal] = .complex(inner)
    }
}

extension TypeShape {
    /// Returns the type of the property at a path into complex values.
    fileprivate func mappedType(_ path: ArraySlice<String>, _ model: EntityDataModel) -> TypeReference? {
        guard let name = path.first, let property = property(name) else { return nil }
        if path.count == 1 { return property.type }
        guard case .complex(let type?) = property.type else { return nil }
        return model.shape(type)?.mappedType(path.dropFirst(), model)
    }
}
