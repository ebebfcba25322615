import ODataModel

/// How much control information a payload carries (OData JSON Format 4.01, 3.1).
public enum MetadataLevel: String, Hashable, Sendable {
    /// Next links and counts only.
    case none
    /// What a client cannot compute.
    case minimal
    /// Everything.
    case full
}

/// Writes entities as OData JSON (OData JSON Format 4.01, 6 to 9): those properties that are loaded, expanded
/// entities, and the control information that the entity has, as far as the metadata level wants it.
///
/// ```swift
/// let writer = EntityPayloadWriter(model: model)
/// var json = JSONWriter()
/// writer.write(order, declared: orderType, context: "$metadata#Orders/$entity", to: &json)
/// ```
public struct EntityPayloadWriter: JSONValueWriting, Sendable {
    /// The model of the service.
    public let model: EntityDataModel
    /// How much control information is written.
    public let metadata: MetadataLevel
    /// 4.0 writes `@odata.id`, 4.01 writes `@id`.
    public let version: ODataVersion
    /// Whether 64-bit integers and decimals are written as strings.
    public let isIEEE754Compatible: Bool

    /// Makes a writer.
    public init(
        model: EntityDataModel, metadata: MetadataLevel = .minimal, version: ODataVersion = .v401,
        isIEEE754Compatible: Bool = false
    ) {
        self.model = model
        self.metadata = metadata
        self.version = version
        self.isIEEE754Compatible = isIEEE754Compatible
    }

    /// The spelling of control information in this version.
    public func control(_ name: String, of property: String = "") -> String {
        version >= .v401 ? "\(property)@\(name)" : "\(property)@odata.\(name)"
    }

    /// Writes an entity as a whole body or as an element of a collection.
    ///
    /// - Parameters:
    ///   - entity: the entity.
    ///   - declared: the type that the context tells; another one is stated.
    ///   - context: the context URL, for whole bodies.
    ///   - json: takes it.
    public func write(
        _ entity: Entity, declared: QualifiedName?, context: String? = nil, to json: inout JSONWriter
    ) {
        json.beginObject()
        if metadata != .none, let context { write("context", context, &json) }
        writeMembers(entity, declared: declared, to: &json)
        json.endObject()
    }

    /// Writes a related entity or complex value.
    public func writeInstance(_ entity: Entity, declared: QualifiedName?, to json: inout JSONWriter) {
        json.beginObject()
        writeMembers(entity, declared: declared, to: &json)
        json.endObject()
    }

    private func writeMembers(_ entity: Entity, declared: QualifiedName?, to json: inout JSONWriter) {
        if metadata != .none { writeControl(entity, declared, &json) }
        for ordinal in entity.shape.properties.indices {
            guard ordinal < entity.values.count, let value = entity.values[ordinal] else { continue }
            let property = entity.shape.properties[ordinal]
            writeAnnotations(of: property.name, entity, &json)
            if metadata == .full { writeType(of: property.name, property.type, value, &json) }
            json.key(property.name)
            writeValue(value, type: property.type, to: &json)
        }
        for (name, value) in entity.dynamicProperties.sorted(by: { $0.key < $1.key }) {
            writeAnnotations(of: name, entity, &json)
            if metadata != .none { writeDynamicType(of: name, value, &json) }
            json.key(name)
            writeValue(value, type: nil, to: &json)
        }
        if !entity.related.isEmpty || metadata == .full { writeRelated(entity, &json) }
    }

    // MARK: Control information

    private func write(_ name: String, _ value: String?, _ json: inout JSONWriter) {
        guard let value else { return }
        json.key(control(name))
        json.string(value)
    }

    private func writeControl(_ entity: Entity, _ declared: QualifiedName?, _ json: inout JSONWriter) {
        let shape = entity.shape
        if let reason = entity.control.removedReason {
            json.key(control("removed"))
            json.beginObject()
            json.key("reason")
            json.string(reason)
            json.endObject()
        }
        if shape != .untyped, shape.name != declared || metadata == .full { write("type", "#\(shape.name)", &json) }
        guard shape.kind == .entity || entity.control.id != nil else {
            return writeAnnotations(of: "", entity, &json)
        }
        write("id", entity.control.id, &json)
        write("etag", entity.control.etag, &json)
        write("editLink", entity.control.editLink ?? (metadata == .full ? entity.control.id : nil), &json)
        write("readLink", entity.control.readLink, &json)
        write("mediaReadLink", entity.control.mediaReadLink, &json)
        write("mediaContentType", entity.control.mediaContentType, &json)
        write("mediaEtag", entity.control.mediaEtag, &json)
        writeAnnotations(of: "", entity, &json)
    }

    /// Writes the annotations on a property, or on the instance for the empty name.
    private func writeAnnotations(of property: String, _ entity: Entity, _ json: inout JSONWriter) {
        guard metadata != .none, !entity.control.annotations.isEmpty else { return }
        for (name, value) in entity.control.annotations.sorted(by: { $0.key < $1.key }) {
            let at = name.firstIndex(of: "@")
            guard (at.map { String(name[..<$0]) } ?? "") == property else { continue }
            let term = at.map { String(name[name.index(after: $0)...]) } ?? name
            if term == "odata.delta" || term == "odata.context" { continue }
            json.key(
                term.hasPrefix("odata.") ? control(String(term.dropFirst(6)), of: property) : "\(property)@\(term)")
            writeValue(value, type: nil, to: &json)
        }
    }

    /// States the type of a declared property unless JSON itself tells it (OData JSON Format 4.01, 4.6.3).
    private func writeType(
        of name: String, _ type: TypeReference, _ value: ODataValue, _ json: inout JSONWriter
    ) {
        switch (type, value) {
        case (.primitive(.string), _), (.primitive(.boolean), _), (.primitive(.double), .double), (_, .null),
            (.complex, _), (.entity, _), (.untyped, _):
            return
        default: break
        }
        json.key(control("type", of: name))
        json.string(Self.fragment(type))
    }

    private static func fragment(_ type: TypeReference) -> String {
        switch type {
        case .primitive(let primitive): "#" + primitive.rawValue.dropFirst(4)
        case .collection(.primitive(let primitive)): "#Collection(\(primitive.rawValue.dropFirst(4)))"
        default: "#\(type)"
        }
    }

    /// States the type of a dynamic property where a reader would take the JSON for something else.
    private func writeDynamicType(of name: String, _ value: ODataValue, _ json: inout JSONWriter) {
        let type: String
        if case .collection(let values) = value {
            // Members of several types cannot be told: each is read as JSON tells it.
            guard let first = values.first, let element = dynamicType(first),
                values.allSatisfy({ dynamicType($0) == element })
            else { return }
            type = "#Collection(\(element))"
        } else {
            guard let element = dynamicType(value) else { return }
            type = "#\(element)"
        }
        json.key(control("type", of: name))
        json.string(type)
    }

    /// The name of a value's type, unless JSON tells it (OData JSON Format 4.01, 4.6.3).
    private func dynamicType(_ value: ODataValue) -> String? {
        switch value {
        case .null, .boolean, .string, .integer, .enumeration, .complex, .collection: nil
        case .binary: "Binary"
        case .guid: "Guid"
        case .date: "Date"
        case .timeOfDay: "TimeOfDay"
        case .dateTimeOffset: "DateTimeOffset"
        case .dateTime: "DateTime"
        case .duration: "Duration"
        case .single: "Single"
        case .double: "Double"
        case .decimal(let value): isIEEE754Compatible || value.scale <= 0 ? "Decimal" : nil
        case .geo(let value): String(value.type.rawValue.dropFirst(4))
        }
    }

    // MARK: Related entities

    private func writeRelated(_ entity: Entity, _ json: inout JSONWriter) {
        for property in entity.shape.navigationProperties {
            writeAnnotations(of: property.name, entity, &json)
            if metadata == .full, let id = entity.control.id,
                entity.control.annotations["\(property.name)@odata.navigationLink"] == nil
            {
                json.key(control("navigationLink", of: property.name))
                json.string("\(id)/\(property.name)")
            }
            if let related = entity.related[property.name] { write(related, property, entity, &json) }
        }
    }

    private func write(
        _ related: RelatedEntities, _ property: NavigationProperty, _ entity: Entity, _ json: inout JSONWriter
    ) {
        switch related {
        case .none:
            json.key(property.name)
            json.null()
        case .one(let other):
            json.key(property.name)
            writeInstance(other, declared: property.target, to: &json)
        case .many(let others, let count, let nextLink):
            if let count {
                json.key(control("count", of: property.name))
                writeValue(.integer(count), type: .primitive(.int64), to: &json)
            }
            let isDelta = entity.control.annotations["\(property.name)@odata.delta"] == .boolean(true)
            json.key(isDelta ? control("delta", of: property.name) : property.name)
            json.beginArray()
            for other in others { writeInstance(other, declared: property.target, to: &json) }
            json.endArray()
            if let nextLink {
                json.key(control("nextLink", of: property.name))
                json.string(nextLink)
            }
        case .references(let ids): writeReferences(ids, property, &json)
        }
    }

    /// `Customer@odata.bind` in 4.0, `"Customer": {"@id": …}` since 4.01 (OData JSON Format 4.01, 8.5).
    private func writeReferences(_ ids: [String], _ property: NavigationProperty, _ json: inout JSONWriter) {
        let isNew = version >= .v401
        json.key(isNew ? property.name : control("bind", of: property.name))
        if property.isCollection { json.beginArray() }
        for id in property.isCollection ? ids[...] : ids.prefix(1) {
            if isNew {
                json.beginObject()
                json.key("@id")
                json.string(id)
                json.endObject()
            } else {
                json.string(id)
            }
        }
        if property.isCollection { json.endArray() } else if ids.isEmpty { json.null() }
    }
}
