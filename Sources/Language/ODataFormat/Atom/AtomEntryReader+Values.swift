import ODataModel

/// Reading of values from elements of Atom payloads (OData Atom Format 4.0, 7 and 8; OData V2, Atom Format, 3).
extension AtomEntryReader {
    /// Reads the value of an element.
    ///
    /// - Parameters:
    ///   - element: the element, with any name.
    ///   - declared: the declared type. The element may state a derived type, or any type if the declaration is
    ///     open.
    func readValue(_ element: XMLFragment, type declared: TypeReference) throws(XMLPayloadError) -> ODataValue {
        if let null = element.metadata("null"), null == "true" || null == "1" { return .null }
        let type = effectiveType(declared, element)
        switch type {
        case .primitive(let primitive), .typeDefinition(_, let primitive): return try readPrimitive(element, primitive)
        case .enumeration(let name):
            let text = element.trimmedText
            guard let value = model.enumType(name)?.value(of: text) else {
                throw element.error(.invalidValue(String(text.prefix(80))), expected: "a member of \(name)")
            }
            return .enumeration(value)
        case .complex(let name), .entity(let name): return .complex(try readComplex(element, name))
        case .collection(let member): return .collection(try readCollection(element, member))
        case .untyped: return try readUntyped(element)
        }
    }

    /// Returns the type with which to read an element.
    private func effectiveType(_ declared: TypeReference, _ element: XMLFragment) -> TypeReference {
        guard let text = element.metadata("type") else { return declared }
        let stated = model.typeReference(fragment: text)
        switch (declared, stated) {
        case (_, .untyped): return declared
        case (.untyped, _), (.complex, .complex), (.entity, .entity): return stated
        case (.collection(.untyped), .collection), (.collection(.complex), .collection(.complex)): return stated
        // An abstract declared type gives way to the stated type; any other declared type takes precedence.
        case (.primitive(.geography), _), (.primitive(.geometry), _): return stated
        default: return declared
        }
    }

    // MARK: Kinds of value

    private func readPrimitive(_ element: XMLFragment, _ type: PrimitiveType) throws(XMLPayloadError) -> ODataValue {
        if type.isGeo { return try GeographyMarkup.read(element, type) }
        // A string may consist of white space; around other values, white space is formatting.
        let text = type == .string ? element.text : element.trimmedText
        if let child = element.elements.first {
            throw child.error(.unexpected("an element"), expected: type.lexicalDescription)
        }
        if let value = try? ODataValue(lexical: text, type: type) { return value }
        if type == .dateTime, let value = ODataDateTime(withOffset: text) { return .dateTime(value) }
        if type == .dateTimeOffset, let local = ODataDateTime(text) {
            return .dateTimeOffset(ODataDateTimeOffset(seconds: local.seconds, picoseconds: local.picoseconds))
        }
        if strictness == .forgiving, let value = ODataValue(otherForm: text, type: type) { return value }
        throw element.error(.invalidValue(String(text.prefix(80))), expected: type.lexicalDescription)
    }

    private func readComplex(_ element: XMLFragment, _ name: QualifiedName?) throws(XMLPayloadError) -> ODataEntity {
        var instance = InstanceInProgress(shape: name.flatMap { model.shape($0) } ?? .untyped)
        if let text = element.metadata("type"), let shape = model.stated(text), shape != instance.entity.shape {
            instance.entity.control.type = shape.name
            instance.adopt(shape)
        }
        try readProperties(element, into: &instance)
        return instance.finished()
    }

    private func readCollection(
        _ element: XMLFragment, _ member: TypeReference
    ) throws(XMLPayloadError) -> [ODataValue] {
        var values: [ODataValue] = []
        for child in element.elements where child.name == "element" {
            do throws(XMLPayloadError) {
                values.append(try readValue(child, type: member))
            } catch {
                throw error.within(String(values.count))
            }
        }
        return values
    }

    /// Reads a value without a type, which follows from the content of the element.
    private func readUntyped(_ element: XMLFragment) throws(XMLPayloadError) -> ODataValue {
        let children = element.elements
        guard let first = children.first else { return .string(element.text) }
        if first.namespace == AtomNames.gml { return try GeographyMarkup.read(element, .geography) }
        if first.name == "element", children.allSatisfy({ $0.name == "element" }) {
            return .collection(try readCollection(element, .untyped("Edm.Untyped")))
        }
        return .complex(try readComplex(element, nil))
    }

    // MARK: Properties

    /// Reads the properties within an element.
    func readProperties(
        _ element: XMLFragment, into instance: inout InstanceInProgress
    ) throws(XMLPayloadError) {
        var names: Set<String> = []
        for child in element.elements {
            guard AtomNames.isData(child.namespace) else {
                if child.isMetadata("annotation") { try readAnnotation(child, into: &instance) }
                // The links represent navigation properties of complex types.
                if child.isAtom("link") { try readLink(child, nil, instance: &instance) }
                continue
            }
            let name = child.name
            guard names.insert(name).inserted else {
                throw child.error(.duplicate(name), expected: "each property once")
            }
            do throws(XMLPayloadError) {
                try readProperty(child, into: &instance)
            } catch {
                throw error.within(name)
            }
        }
    }

    private func readProperty(
        _ element: XMLFragment, into instance: inout InstanceInProgress
    ) throws(XMLPayloadError) {
        let name = element.name
        let shape = instance.entity.shape
        if let ordinal = shape.ordinal(of: name) {
            let type = shape.properties[ordinal].type
            // V3 lists streams among the properties, as empty elements.
            if type.primitive == .stream, element.text.isEmpty { return }
            instance.entity.values[ordinal] = try readForgivingly(
                element, shape.properties[ordinal], control: &instance.entity.control)
        } else if shape.isOpen {
            instance.entity.dynamicProperties[name] = try readValue(element, type: .untyped("Edm.Untyped"))
        } else if strictness == .strict {
            throw element.error(.unknownProperty(name), expected: "a property of \(shape.name)")
        }
    }

    /// Reads the value of a property. A forgiving reader records an unreadable value in `control`.
    ///
    /// - Returns: `nil` if the value is unreadable and the property is therefore not loaded.
    private func readForgivingly(
        _ element: XMLFragment, _ property: Property, control: inout ControlInformation
    ) throws(XMLPayloadError) -> ODataValue? {
        guard strictness == .forgiving else { return try readValue(element, type: property.type) }
        do throws(XMLPayloadError) {
            let value = try readValue(element, type: property.type)
            if case .complex(let inner) = value {
                for (path, lost) in inner.control.unreadable { control.unreadable["\(property.name)/\(path)"] = lost }
            }
            return value
        } catch {
            let text = element.text
            if property.isNullable, let type = property.type.primitive, ODataValue.isInitial(text, of: type) {
                return .null
            }
            control.unreadable[property.name] = UnreadableValue(text: text, reason: "expected \(error.expected)")
            return nil
        }
    }

    /// Reads `m:annotation`: a value with its term, on the instance or the property that `target` names (OData Atom
    /// Format 4.0, 18 *Instance Annotations*).
    func readAnnotation(_ element: XMLFragment, into instance: inout InstanceInProgress) throws(XMLPayloadError) {
        guard let term = element.attribute("term") else {
            throw element.error(.missingAttribute("term"), expected: "the term of the annotation")
        }
        var value: ODataValue?
        for (name, type) in [
            ("string", PrimitiveType.string), ("bool", .boolean), ("int", .int64), ("float", .double),
            ("decimal", .decimal),
        ] {
            guard let text = element.attribute(name) else { continue }
            guard let constant = try? ODataValue(lexical: text, type: type) else {
                throw element.error(.invalidValue(String(text.prefix(80))), expected: type.lexicalDescription)
            }
            value = constant
        }
        let target = element.attribute("target") ?? ""
        let name = target.isEmpty || target == "." ? term : "\(target)@\(term)"
        if let value {
            instance.entity.control.annotations[name] = value
        } else {
            instance.entity.control.annotations[name] = try readValue(element, type: .untyped("Edm.Untyped"))
        }
    }
}
