import ODataModel

/// Where the metadata of V2 and V3 puts a property in an Atom entry besides or instead of `m:properties`: the
/// attributes `m:FC_TargetPath` and its kin (OData CSDL V2, *Customizable Feeds*; MS-ODATA, 2.2.3.7.2.1).
struct FeedMapping: Hashable, Sendable {
    /// The path of the property, such as `Name` or `Address/City`.
    var sourcePath: [String]
    /// The elements from the entry to the target, such as `title` or `author`, `name`.
    var elements: [String]
    /// The attribute of the last element; `nil` for its text.
    var attribute: String?
    /// The namespace of the elements, with the prefix to write.
    var namespace: String
    var prefix: String?
    /// `text`, `html` or `xhtml`.
    var contentKind: String
    /// Whether the property stands among the others too.
    var isKeptInContent: Bool

    /// The mappings of a type with those of its base types.
    static func mappings(of shape: Shape, in model: EntityDataModel) -> FeedMappings {
        var result: [FeedMapping] = []
        var current: Shape? = shape
        while let type = current {
            result += read(type.annotations, property: nil)
            current = type.baseType.flatMap { model.shape($0) }
        }
        for property in shape.properties where !property.annotations.isEmpty {
            result += read(property.annotations, property: property.name)
        }
        return FeedMappings(all: result)
    }

    /// The targets that have names of their own.
    private static let syndication: [String: [String]] = [
        "SyndicationAuthorName": ["author", "name"], "SyndicationAuthorEmail": ["author", "email"],
        "SyndicationAuthorUri": ["author", "uri"], "SyndicationContributorName": ["contributor", "name"],
        "SyndicationContributorEmail": ["contributor", "email"], "SyndicationContributorUri": ["contributor", "uri"],
        "SyndicationPublished": ["published"], "SyndicationRights": ["rights"], "SyndicationSummary": ["summary"],
        "SyndicationTitle": ["title"], "SyndicationUpdated": ["updated"],
    ]

    /// The mappings that attributes state; several on one element are told apart by a number at their end.
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
            (property.map { [$0] } ?? []) + (attributes["SourcePath"] ?? "").split(separator: "/").map(String.init)
        guard !sourcePath.isEmpty else { return nil }
        var path = Self.syndication[target] ?? target.split(separator: "/").map(String.init)
        namespace = Self.syndication[target] == nil ? attributes["NsUri"] ?? "" : AtomNames.atom
        prefix = attributes["NsPrefix"]
        if let last = path.last, last.hasPrefix("@") {
            attribute = String(last.dropFirst())
            path.removeLast()
        }
        guard !path.isEmpty, path.allSatisfy(Self.isName), attribute.map(Self.isName) ?? true else { return nil }
        elements = path
        contentKind = attributes["ContentKind"] ?? "text"
        isKeptInContent = attributes["KeepInContent"] != "false"
    }

    /// Whether a text can be the name of an element: what is not would break the document.
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

    /// The properties that are not among the others, whose value stands in its place alone.
    func isMoved(_ path: [String]) -> Bool { all.contains { !$0.isKeptInContent && $0.sourcePath == path } }

    /// Reads the properties that have not been read from the content.
    func read(
        _ entry: XMLFragment, into instance: inout InstanceInProgress, using reader: AtomEntryReader
    ) throws(XMLPayloadError) {
        for mapping in all {
            guard instance.entity.mappedValue(mapping.sourcePath[...]) == nil,
                let type = instance.entity.shape.mappedType(mapping.sourcePath[...], reader.model),
                let value = try mapping.value(entry, type, reader)
            else { continue }
            instance.entity.setMapped(value, mapping.sourcePath[...], reader.model)
        }
    }
}

extension FeedMapping {
    /// The value at the target; `nil` when nothing stands there.
    fileprivate func value(
        _ entry: XMLFragment, _ type: TypeReference, _ reader: AtomEntryReader
    ) throws(XMLPayloadError) -> ODataValue? {
        var place = entry
        for name in elements {
            guard let next = place.elements.first(where: { $0.name == name && $0.namespace == namespace }) else {
                return nil
            }
            place = next
        }
        var source = place
        if let attribute {
            guard let text = place.attribute(attribute, namespace) ?? place.attribute(attribute) else { return nil }
            source.content = [.text(text)]
        } else if contentKind == "xhtml", place.attribute("type") != "text" {
            source.content = [.text(place.innerXML)]
        } else if namespace == AtomNames.atom, place.content.isEmpty, type.primitive != .string {
            // Atom wants the element even where there is nothing to say.
            return nil
        }
        do throws(XMLPayloadError) {
            return try reader.readValue(source, type: type)
        } catch {
            throw error.within(sourcePath.joined(separator: "/"))
        }
    }
}

extension Entity {
    /// The value at a path into complex values; `nil` when it is not loaded.
    func mappedValue(_ path: ArraySlice<String>) -> ODataValue? {
        guard let name = path.first, let value = self[name] else { return nil }
        if path.count == 1 { return value }
        guard case .complex(let inner) = value else { return value.isNull ? value : nil }
        return inner.mappedValue(path.dropFirst())
    }

    /// Sets a value at a path; complex values on the way are made.
    fileprivate mutating func setMapped(_ value: ODataValue, _ path: ArraySlice<String>, _ model: EntityDataModel) {
        guard let name = path.first, let ordinal = shape.ordinal(of: name) else { return }
        if path.count == 1 {
            values[ordinal] = value
            return
        }
        var inner: Entity
        if case .complex(let present)? = values[ordinal] {
            inner = present
        } else {
            guard case .complex(let type?) = shape.properties[ordinal].type, let shape = model.shape(type) else {
                return
            }
            inner = Entity(shape: shape)
        }
        inner.setMapped(value, path.dropFirst(), model)
        values[ordinal] = .complex(inner)
    }
}

extension Shape {
    /// The type of the property at a path into complex values.
    fileprivate func mappedType(_ path: ArraySlice<String>, _ model: EntityDataModel) -> TypeReference? {
        guard let name = path.first, let property = property(name) else { return nil }
        if path.count == 1 { return property.type }
        guard case .complex(let type?) = property.type else { return nil }
        return model.shape(type)?.mappedType(path.dropFirst(), model)
    }
}
