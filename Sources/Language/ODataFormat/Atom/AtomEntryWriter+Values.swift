import ODataModel

/// Writing of values as elements of Atom payloads.
extension AtomEntryWriter {
    /// Writes the properties that have values, in `m:properties`.
    func writeProperties(_ entity: ODataEntity, leavingOut mappings: FeedMappings, to xml: inout XMLOutput) {
        xml.begin("m:properties")
        writeMembers(entity, [], mappings: mappings, to: &xml)
        xml.end()
    }

    private func writeMembers(_ entity: ODataEntity, _ path: [String], mappings: FeedMappings, to xml: inout XMLOutput)
    {
        for (property, value) in zip(entity.shape.properties, entity.values) {
            guard let value else { continue }
            // A null value always stays in `m:properties`, because a mapped place cannot express null.
            if mappings.isMoved(path + [property.name]), !value.isNull { continue }
            write(
                value, "d:\(property.name)", type: property.type, path: path + [property.name], mappings: mappings,
                to: &xml)
        }
        for (name, value) in entity.dynamicProperties.sorted(by: { $0.key < $1.key })
        where FeedMapping.isName(name) {
            write(value, "d:\(name)", type: nil, path: path + [name], mappings: mappings, to: &xml)
        }
    }

    /// Writes the value of an annotation, with its term and target as attributes.
    func write(_ value: ODataValue, annotation attributes: [(String, String)], to xml: inout XMLOutput) {
        write(value, "m:annotation", type: nil, path: [], mappings: FeedMappings(all: []), extra: attributes, to: &xml)
    }

    /// Writes a value as the root of a document.
    func write(
        _ value: ODataValue, root name: String, type: TypeReference?, context: String?, to xml: inout XMLOutput
    ) {
        var attributes = [
            ("xmlns:d", AtomNames.data(version)), ("xmlns:m", AtomNames.metadata(version)),
            ("xmlns:gml", AtomNames.gml),
        ]
        if version >= .v4, let context { attributes.append(("m:context", context)) }
        write(value, name, type: type, path: [], mappings: FeedMappings(all: []), extra: attributes, to: &xml)
    }

    private func write(
        _ value: ODataValue, _ name: String, type: TypeReference?, path: [String], mappings: FeedMappings,
        extra: [(String, String)] = [], to xml: inout XMLOutput
    ) {
        var attributes = extra
        if let stated = statedType(value, type) { attributes.append(("m:type", stated)) }
        switch value {
        case .null: xml.element(name, extra + [("m:null", "true")], text: "")
        case .complex(let entity):
            xml.begin(name)
            for (name, value) in attributes { xml.attribute(name, value) }
            writeMembers(entity, path, mappings: mappings, to: &xml)
            for property in entity.shape.navigationProperties where entity.related[property.name] != nil {
                writeRelated(property, entity, to: &xml)
            }
            xml.end()
        case .collection(let values):
            xml.begin(name)
            for (name, value) in attributes { xml.attribute(name, value) }
            let element = version < .v4 ? "d:element" : "m:element"
            for value in values { write(value, element, type: type?.element, path: path, mappings: mappings, to: &xml) }
            xml.end()
        case .geo(let value): xml.element(name, attributes, xml: GeographyMarkup.markup(value))
        default: xml.element(name, attributes, text: text(value, type))
        }
    }

    /// Returns the text form of a primitive value or enumeration member in this version.
    func text(_ value: ODataValue, _ type: TypeReference?) -> String {
        if case .enumeration(let number) = value, case .enumeration(let name) = type,
            let enumeration = model.enumType(name)
        {
            return enumeration.text(of: number)
        }
        if version < .v4, case .binary(let bytes) = value { return PlainBase64.text(bytes) }
        return value.lexicalText ?? ""
    }

    /// Returns the name of a value's type, or `nil` if none must be stated, as for strings.
    private func statedType(_ value: ODataValue, _ type: TypeReference?) -> String? {
        let actual: TypeReference
        switch value {
        case .null: return nil
        case .complex(let entity):
            guard entity.shape != .untyped else { return nil }
            actual = .complex(entity.shape.name)
        case .collection:
            // Without a type, an empty collection would be read as an empty string.
            actual = type.flatMap { $0.isCollection ? $0 : nil } ?? .collection(.untyped("Edm.Untyped"))
        default:
            guard let known = type.flatMap({ if case .untyped = $0 { nil } else { $0 } }) ?? Self.type(of: value) else {
                return nil
            }
            actual = known
        }
        if actual == .primitive(.string) { return nil }
        if version < .v4 { return actual.description }
        switch actual {
        case .primitive(let primitive): return String(primitive.rawValue.dropFirst(4))
        case .collection(.primitive(let primitive)): return "#Collection(\(primitive.rawValue.dropFirst(4)))"
        default: return "#\(actual)"
        }
    }

    /// Returns the type of a value without a declared property.
    private static func type(of value: ODataValue) -> TypeReference? {
        switch value {
        case .boolean: .primitive(.boolean)
        case .integer: .primitive(.int64)
        case .single: .primitive(.single)
        case .double: .primitive(.double)
        case .decimal: .primitive(.decimal)
        case .binary: .primitive(.binary)
        case .guid: .primitive(.guid)
        case .date: .primitive(.date)
        case .timeOfDay: .primitive(.timeOfDay)
        case .dateTimeOffset: .primitive(.dateTimeOffset)
        case .dateTime: .primitive(.dateTime)
        case .duration: .primitive(.duration)
        case .geo: .primitive(.geography)
        case .null, .string, .enumeration, .complex, .collection: nil
        }
    }
}
