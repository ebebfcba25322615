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
    /// 4.0 writes `@odata.id`, 4.01 writes `@id` or `@odata.id`, V3's light format `odata.id`.
    public let version: ODataVersion
    /// Whether 4.01 writes `@odata.id`.
    public let isPrefixed: Bool
    /// Whether 64-bit integers and decimals are written as strings; V3 knows nothing else.
    public let isIEEE754Compatible: Bool
    /// The operations that full metadata offers with each entity.
    private let operations: BoundOperations

    /// Makes a writer.
    ///
    /// - Parameter isPrefixed: whether 4.01 writes control information as 4.0 does, for readers of both.
    public init(
        model: EntityDataModel, metadata: MetadataLevel = .minimal, version: ODataVersion = .v401,
        isIEEE754Compatible: Bool = false, isPrefixed: Bool = false
    ) {
        self.isPrefixed = isPrefixed || version < .v401
        self.model = model
        self.metadata = metadata
        self.version = version
        self.isIEEE754Compatible = isIEEE754Compatible || version < .v4
        operations = metadata == .full ? BoundOperations(of: model) : BoundOperations()
    }

    /// The spelling of control information in this version.
    public func control(_ name: String, of property: String = "") -> String {
        if !isPrefixed { return "\(property)@\(name)" }
        guard version < .v4, property.isEmpty else { return "\(property)@odata.\(name)" }
        return name == "context" ? "odata.metadata" : "odata.\(name)"
    }

    /// Writes an entity as a whole body or as an element of a collection.
    ///
    /// - Parameters:
    ///   - entity: the entity.
    ///   - declared: the type that the context tells; another one is stated.
    ///   - context: the context URL, for whole bodies.
    ///   - json: takes it.
    public func write(
        _ entity: ODataEntity, declared: QualifiedName?, context: String? = nil, to json: inout JSONWriter
    ) {
        json.beginObject()
        if metadata != .none, let context { write("context", context, to: &json) }
        writeMembers(entity, declared: declared, to: &json)
        json.endObject()
    }

    /// Writes a related entity or complex value.
    public func writeInstance(_ entity: ODataEntity, declared: QualifiedName?, to json: inout JSONWriter) {
        json.beginObject()
        writeMembers(entity, declared: declared, to: &json)
        json.endObject()
    }

    private func writeMembers(_ entity: ODataEntity, declared: QualifiedName?, to json: inout JSONWriter) {
        var annotations = AnnotationGroups()
        if metadata != .none {
            annotations = AnnotationGroups(entity.control.annotations)
            writeControl(entity, declared, annotations: &annotations, to: &json)
        }
        // The parts of a property that are needed, since copying all of one costs more than writing its value.
        let shape = entity.shape
        let isGrouped = model.structuredType(shape.name) == nil && shape.properties.contains { $0.name.contains("/") }
        if isGrouped { writeGrouped(entity, &annotations, to: &json) }
        for ordinal in 0..<(isGrouped ? 0 : min(shape.properties.count, entity.values.count)) {
            guard let value = entity.values[ordinal] else { continue }
            if !annotations.isEmpty || metadata == .full {
                let name = shape.properties[ordinal].name
                let stated = annotations.take(name)
                write(stated, of: name, &json)
                if metadata == .full, !stated.contains(where: { $0.term == "odata.type" }) {
                    writeType(of: name, shape.properties[ordinal].type, value: value, to: &json)
                }
            }
            json.key(shape.propertyKeys[ordinal])
            writeValue(value, type: shape.properties[ordinal].type, to: &json)
        }
        let dynamic = entity.dynamicProperties
        var paths: [(name: String, value: ODataValue)] = []
        for (name, value) in dynamic.isEmpty ? [] : dynamic.sorted(by: { $0.key < $1.key }) {
            if name.contains("/") {
                paths.append((name, value))
                continue
            }
            let stated = annotations.take(name)
            write(stated, of: name, &json)
            if metadata != .none, !stated.contains(where: { $0.term == "odata.type" }) {
                writeDynamicType(of: name, value, &json)
            }
            json.key(name)
            writeValue(value, type: nil, to: &json)
        }
        if !paths.isEmpty { writeGrouped(paths, &annotations, to: &json) }
        if metadata == .full, entity.shape.hasStreamProperties { writeStreams(entity, &annotations, to: &json) }
        if !entity.related.isEmpty || metadata == .full { writeRelated(entity, &annotations, to: &json) }
        // Those on properties that have no value here, such as the links of streams.
        for (name, terms) in annotations.rest { write(terms, of: name, &json) }
    }

    // MARK: Control information

    /// Types are fragments of the metadata URL since V4, and plain names before.
    private var typePrefix: String { version < .v4 ? "" : "#" }

    private func write(_ name: String, of property: String, value: String, to json: inout JSONWriter) {
        json.key(control(name, of: property))
        json.string(value)
    }

    private func write(_ name: String, _ value: String?, to json: inout JSONWriter) {
        guard let value else { return }
        json.key(control(name))
        json.string(value)
    }

    private func writeControl(
        _ entity: ODataEntity, _ declared: QualifiedName?, annotations: inout AnnotationGroups,
        to json: inout JSONWriter
    ) {
        let shape = entity.shape
        let control = entity.control
        if let reason = control.removedReason {
            json.key(self.control("removed"))
            json.beginObject()
            json.key("reason")
            json.string(reason)
            json.endObject()
        }
        // A type that transformations made is none that the metadata know.
        if shape != .untyped, shape.name != declared || metadata == .full, model.structuredType(shape.name) != nil {
            write("type", typePrefix + "\(shape.name)", to: &json)
        }
        guard shape.kind == .entity || control.id != nil else {
            return write(annotations.take(""), of: "", &json)
        }
        let id = control.id
        let isFull = metadata == .full && control.removedReason == nil
        write("id", id, to: &json)
        write("etag", control.etag, to: &json)
        write("editLink", control.editLink ?? (isFull ? id : nil), to: &json)
        write("readLink", control.readLink, to: &json)
        let stream = isFull && shape.hasStream ? id.map { "\($0)/$value" } : nil
        write("mediaReadLink", control.mediaReadLink ?? stream, to: &json)
        if let stream, control.annotations["odata.mediaEditLink"] == nil {
            write("mediaEditLink", stream, to: &json)
        }
        write("mediaContentType", control.mediaContentType, to: &json)
        write("mediaEtag", control.mediaEtag, to: &json)
        write(annotations.take(""), of: "", &json)
        if isFull, let id { writeOperations(id, entity, to: &json) }
    }

    /// Offers the operations bound to the entity's type (OData JSON Format 4.01, 16 and 17).
    private func writeOperations(_ id: String, _ entity: ODataEntity, to json: inout JSONWriter) {
        write(
            operations.offered(with: entity.shape.name, in: model).filter {
                entity.control.annotations["#\($0.name)"] == nil
            }, at: id, &json)
    }

    /// Offers the operations bound to collections of entities of a type, where full metadata are asked for, as members of
    /// the object that is being written (OData JSON Format 4.01, 16 and 17).
    ///
    /// - Parameters:
    ///   - type: the declared type of the members.
    ///   - url: the URL of the collection, without query options.
    ///   - json: takes them.
    public func writeOperations(onCollectionOf type: QualifiedName, at url: String, to json: inout JSONWriter) {
        write(operations.offered(withCollectionOf: type, in: model), at: url, &json)
    }

    private func write(_ operations: [ODataOperation], at url: String, _ json: inout JSONWriter) {
        for operation in operations {
            json.key("#\(operation.name)")
            json.beginObject()
            json.key("title")
            json.string(operation.name.name)
            json.key("target")
            json.string("\(url)/\(operation.name)\(BoundOperations.parameterTemplate(operation))")
            json.endObject()
        }
    }

    /// Says where the streams are that are properties (OData JSON Format 4.01, 10 *Stream Property*).
    private func writeStreams(_ entity: ODataEntity, _ annotations: inout AnnotationGroups, to json: inout JSONWriter) {
        guard let id = entity.control.id else { return }
        for property in entity.shape.properties where property.type.primitive == .stream {
            let stated = annotations.take(property.name)
            write(stated, of: property.name, &json)
            for name in ["mediaReadLink", "mediaEditLink"]
            where entity.control.annotations["\(property.name)@odata.\(name)"] == nil {
                json.key(control(name, of: property.name))
                json.string("\(id)/\(property.name)")
            }
        }
    }

    /// Writes the annotations on a property, or on the instance for the empty name.
    func write(
        _ annotations: [AnnotationGroups.Item], of property: String, _ json: inout JSONWriter
    ) {
        for (term, value) in annotations {
            if term.hasPrefix("#") {
                json.key(term)
            } else if term.hasPrefix("odata."), !term.dropFirst(6).contains(".") {
                json.key(control(String(term.dropFirst(6)), of: property))
            } else {
                json.key("\(property)@\(term)")
            }
            writeValue(value, type: nil, to: &json)
        }
    }

    /// States the type of a declared property unless JSON itself tells it (OData JSON Format 4.01, 4.6.3).
    func writeType(
        of name: String, _ type: TypeReference, value: ODataValue, to json: inout JSONWriter
    ) {
        switch (type, value) {
        case (.primitive(.string), _), (.primitive(.boolean), _), (.primitive(.double), .double), (_, .null),
            (.complex, _), (.entity, _), (.untyped, _):
            return
        default: break
        }
        json.key(control("type", of: name))
        json.string(fragment(type))
    }

    /// What `type` says of a property that no metadata declare, such as a computed or aggregated one; `nil` where JSON
    /// tells it: of strings, truth values and finite doubles (OData JSON Format 4.01, 4.6.3).
    public func statedType(_ type: TypeReference, ofFiniteValue isFinite: Bool = true) -> String? {
        switch type {
        case .primitive(.string), .primitive(.boolean), .complex, .entity, .untyped: nil
        case .primitive(.double) where isFinite: nil
        default: fragment(type)
        }
    }

    func fragment(_ type: TypeReference) -> String {
        if version < .v4 { return type.description }
        return switch type {
        case .primitive(let primitive): "#" + primitive.rawValue.dropFirst(4)
        case .collection(.primitive(let primitive)): "#Collection(\(primitive.rawValue.dropFirst(4)))"
        default: "#\(type)"
        }
    }

    /// States the type of a dynamic property where a reader would take the JSON for something else.
    func writeDynamicType(of name: String, _ value: ODataValue, _ json: inout JSONWriter) {
        let type = value.untoldType(hasTextDecimals: isIEEE754Compatible) { member in
            switch member {
            case .duration where version < .v4: return .time
            // A whole number would be taken for an integer.
            case .decimal(let number) where number.scale <= 0: return .decimal
            default: return nil
            }
        }
        // Without a name it would be the type of the instance.
        guard let type, !name.isEmpty else { return }
        json.key(control("type", of: name))
        json.string(fragment(type))
    }

    /// Writes a dynamic property, with its type where that is to be stated.
    package func writeDynamic(_ name: String, _ value: ODataValue, to json: inout JSONWriter) {
        if metadata != .none { writeDynamicType(of: name, value, &json) }
        json.key(name)
        writeValue(value, type: nil, to: &json)
    }

    // MARK: Related entities

    private func writeRelated(_ entity: ODataEntity, _ annotations: inout AnnotationGroups, to json: inout JSONWriter) {
        for property in entity.shape.navigationProperties {
            write(annotations.take(property.name), of: property.name, &json)
            if metadata == .full, let id = entity.control.id, entity.control.removedReason == nil {
                for (name, path) in [("navigationLink", ""), ("associationLink", "/$ref")]
                where entity.control.annotations["\(property.name)@odata.\(name)"] == nil {
                    // V3 says `navigationLinkUrl`, and `$links` before the name.
                    if version < .v4 {
                        json.key(control("\(name)Url", of: property.name))
                        json.string(path.isEmpty ? "\(id)/\(property.name)" : "\(id)/$links/\(property.name)")
                    } else {
                        json.key(control(name, of: property.name))
                        json.string("\(id)/\(property.name)\(path)")
                    }
                }
            }
            if let related = entity.related[property.name] { write(related, property, entity: entity, to: &json) }
        }
    }

    private func write(
        _ related: RelatedEntities, _ property: NavigationProperty, entity: ODataEntity, to json: inout JSONWriter
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
        case .references(let ids):
            // What a transformation or a cross join leads to is no property of the row: a link to it stands there.
            let isMade = model.structuredType(entity.shape.name) == nil
            if isMade, version >= .v4, !property.isCollection, let id = ids.first {
                if metadata != .none { write("navigationLink", of: property.name, value: id, to: &json) }
                return
            }
            writeReferences(ids, property, to: &json)
        }
    }

    /// `Customer@odata.bind` in 4.0, `"Customer": {"@id": …}` since 4.01 (OData JSON Format 4.01, 8.5).
    private func writeReferences(_ ids: [String], _ property: NavigationProperty, to json: inout JSONWriter) {
        let isNew = version >= .v401
        json.key(isNew ? property.name : control("bind", of: property.name))
        if property.isCollection { json.beginArray() }
        for id in property.isCollection ? ids[...] : ids.prefix(1) {
            if isNew {
                json.beginObject()
                json.key(control("id"))
                json.string(id)
                json.endObject()
            } else {
                json.string(id)
            }
        }
        if property.isCollection { json.endArray() } else if ids.isEmpty { json.null() }
    }
}
