import ODataModel

/// The amount of control information in a payload (OData JSON Format 4.01, 3.1).
public enum MetadataLevel: String, Hashable, Sendable {
    /// Only next links and counts.
    case none
    /// Only control information that a client cannot compute.
    case minimal
    /// All control information.
    case full
}

/// Writes entities as OData JSON (OData JSON Format 4.01, 6 to 9): the loaded properties, expanded entities, and
/// control information according to the metadata level.
///
/// ```swift
/// let writer = EntityPayloadWriter(model: model)
/// var json = JSONWriter()
/// writer.write(order, declared: orderType, context: "$metadata#Orders/$entity", to: &json)
/// ```
public struct EntityPayloadWriter: JSONValueWriting, Sendable {
    /// The model of the service.
    public let model: EntityDataModel
    /// The amount of control information.
    public let metadata: MetadataLevel
    /// The version, which determines the names of control information: `@odata.id` in 4.0, `@id` or `@odata.id` in
    /// 4.01, and `odata.id` in the light format of V3.
    public let version: ODataVersion
    /// Whether 4.01 uses names such as `@odata.id`.
    public let isPrefixed: Bool
    /// Whether 64-bit integers and decimals are written as strings, as always before V4.
    public let isIEEE754Compatible: Bool
    /// The operations that full metadata advertise with each entity.
    private let operations: BoundOperations

    /// Creates a writer.
    ///
    /// - Parameter isPrefixed: whether 4.01 uses the names of 4.0 for control information, for readers of both
    ///   versions.
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

    /// Returns the name of control information in this version.
    public func control(_ name: String, of property: String = "") -> String {
        if !isPrefixed { return "\(property)@\(name)" }
        guard version < .v4, property.isEmpty else { return "\(property)@odata.\(name)" }
        return name == "context" ? "odata.metadata" : "odata.\(name)"
    }

    /// Writes an entity as a whole body or as an element of a collection.
    ///
    /// - Parameters:
    ///   - entity: the entity.
    ///   - declared: the type that the context implies; another type is stated explicitly.
    ///   - context: the context URL, for whole bodies.
    ///   - json: the writer to append to.
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
        // Only the needed parts of a property are accessed, because copying a whole property costs more than
        // writing its value.
        let shape = entity.shape
        let isGrouped = model.structuredType(shape.name) == nil && shape.properties.contains { $0.name.has("/") }
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
            if name.has("/") {
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
        // Annotations on properties without values, such as the links of streams, are written last.
        for (name, terms) in annotations.rest { write(terms, of: name, &json) }
    }

    // MARK: Control information

    /// The prefix of types, which are fragments of the metadata URL since V4 and plain names before.
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
        // The metadata do not declare a type that results from transformations.
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

    /// Writes the operations bound to the entity's type (OData JSON Format 4.01, 16 and 17).
    private func writeOperations(_ id: String, _ entity: ODataEntity, to json: inout JSONWriter) {
        write(
            operations.offered(with: entity.shape.name, in: model).filter {
                entity.control.annotations["#\($0.name)"] == nil
            }, at: id, &json)
    }

    /// Writes the operations bound to collections of entities of a type as members of the open object, for full
    /// metadata (OData JSON Format 4.01, 16 and 17).
    ///
    /// - Parameters:
    ///   - type: the declared type of the members.
    ///   - url: the URL of the collection, without query options.
    ///   - json: the writer to append to.
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

    /// Writes the links of stream properties (OData JSON Format 4.01, 10 *Stream Property*).
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

    /// Writes the annotations on a property, or on the instance if the name is empty.
    func write(
        _ annotations: [AnnotationGroups.Item], of property: String, _ json: inout JSONWriter
    ) {
        for (term, value) in annotations {
            if term.begins(with: "#") {
                json.key(term)
            } else if let name = term.rest(behind: "odata."), !name.has(".") {
                json.key(control(String(name), of: property))
            } else {
                json.key("\(property)@\(term)")
            }
            writeValue(value, type: nil, to: &json)
        }
    }

    /// Writes the type of a declared property unless JSON implies the type (OData JSON Format 4.01, 4.6.3).
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

    /// Returns the type to state for an undeclared property, such as a computed or aggregated one.
    ///
    /// - Returns: `nil` if JSON implies the type, as for strings, booleans and finite doubles (OData JSON Format
    ///   4.01, 4.6.3).
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

    /// Writes the type of a dynamic property if a reader would infer another type from JSON.
    func writeDynamicType(of name: String, _ value: ODataValue, _ json: inout JSONWriter) {
        let type = value.untoldType(hasTextDecimals: isIEEE754Compatible) { member in
            switch member {
            case .duration where version < .v4: return .time
            // A decimal without a fraction would be read as an integer.
            case .decimal(let number) where number.scale <= 0: return .decimal
            default: return nil
            }
        }
        // With an empty name, the type would apply to the instance.
        guard let type, !name.isEmpty else { return }
        json.key(control("type", of: name))
        json.string(fragment(type))
    }

    /// Writes a dynamic property, with its type if necessary.
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
                    // V3 uses the name `navigationLinkUrl`, and `$links` before the property name.
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
            // A row of a transformation or cross join contains a navigation link instead of the related entity.
            let isMade = model.structuredType(entity.shape.name) == nil
            if isMade, version >= .v4, !property.isCollection, let id = ids.first {
                if metadata != .none { write("navigationLink", of: property.name, value: id, to: &json) }
                return
            }
            writeReferences(ids, property, to: &json)
        }
    }

    /// Writes `Customer@odata.bind` in 4.0, or `"Customer": {"@id": …}` since 4.01 (OData JSON Format 4.01, 8.5).
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
