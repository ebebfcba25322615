import ODataModel

/// Reads entries of V1, V2 and V3 in verbose JSON (OData JSON Verbose Format 3.0; OData V2, JSON Format).
///
/// The reader supports `__metadata`, `__deferred`, `__mediaresource`, inlined entries and feeds, and the value
/// notation of these versions. The result is the same as that of ``EntityPayloadReader`` for the entity in V4 JSON.
public struct VerboseEntityReader: JSONValueReading, Sendable {
    /// The model of the service.
    public let model: EntityDataModel
    /// The treatment of undeclared properties. With `strict`, as in a service, a deferred link in a create request
    /// is a reference to an existing entity.
    public let strictness: Strictness

    /// Creates a reader.
    public init(model: EntityDataModel, strictness: Strictness = .lenient) {
        self.model = model
        self.strictness = strictness
    }

    /// Whether an unreadable value affects only its property.
    public var isForgiving: Bool { strictness == .forgiving }

    /// Reads a whole body: `{"d": {…}}`, or only the entry, as in requests.
    ///
    /// - Parameters:
    ///   - bytes: the whole body.
    ///   - type: the declared type; the entry may state a derived type.
    /// - Throws: ``PayloadError`` with the position and the property path, or with the service's error object.
    public func read(_ bytes: [UInt8], type: QualifiedName) throws(PayloadError) -> EntityPayload {
        guard let shape = model.shape(type) else { throw .unknownType(type) }
        return try VerboseBody.read(bytes, shape, takesBareNumbers: isForgiving) { (scanner) throws(JSONError) in
            EntityPayload(entity: try readInstance(&scanner, declared: type), context: nil)
        }
    }

    /// Reads the next value as an entry or complex value.
    ///
    /// - Throws: `JSONError` with the position and the property path.
    public func readInstance(_ scanner: inout JSONScanner, declared: QualifiedName?) throws(JSONError) -> ODataEntity {
        var instance = InstanceInProgress(shape: declared.flatMap { model.shape($0) } ?? .untyped)
        var members = JSONMemberSet()
        var predicted = 0
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            // The meaning of duplicate members is undefined.
            try members.insert(key, in: scanner)
            if let ordinal = instance.entity.shape.ordinal(of: key, predicted: predicted) {
                predicted = ordinal + 1
                let property = instance.entity.shape.properties[ordinal]
                do throws(JSONError) {
                    try readProperty(property, ordinal, scanner: &scanner, instance: &instance)
                } catch {
                    throw error.within(property.name)
                }
            } else if key == "__metadata" {
                do throws(JSONError) {
                    try VerboseMetadata(&scanner, model: model).apply(to: &instance, model: model)
                } catch {
                    throw error.within("__metadata")
                }
            } else {
                let offset = key.offset
                let name = key.string
                do throws(JSONError) {
                    try readUndeclared(name, at: offset, scanner: &scanner, instance: &instance)
                } catch {
                    throw error.within(name)
                }
            }
        }
        return instance.finished()
    }

    private func readProperty(
        _ property: Property, _ ordinal: Int, scanner: inout JSONScanner, instance: inout InstanceInProgress
    ) throws(JSONError) {
        if property.type.primitive == .stream || property.type == .untyped("Edm.Stream"),
            try scanner.peekKind() == .object
        {
            return try readStream(property.name, &scanner, instance: &instance)
        }
        let type = instance.type(of: property)
        instance.entity.values[ordinal] = try readProperty(&scanner, property, control: &instance.entity.control) {
            (scanner) throws(JSONError) in try readVerboseValue(&scanner, type: type)
        }
    }

    // MARK: Values

    /// Reads a value in the notation of these versions, in which collections may be objects with `results`.
    func readVerboseValue(_ scanner: inout JSONScanner, type: TypeReference) throws(JSONError) -> ODataValue {
        if try scanner.takeNull() { return .null }
        switch type {
        case .collection(let element): return .collection(try readResults(&scanner, element))
        case .primitive(let primitive) where primitive.isGeo: return try readGeo(&scanner, primitive)
        case .untyped: return try readUntyped(&scanner)
        default: return try readValue(&scanner, type: type)
        }
    }

    /// Reads an array, or an object whose member `results` is an array.
    private func readResults(_ scanner: inout JSONScanner, _ element: TypeReference) throws(JSONError) -> [ODataValue] {
        guard try scanner.peekKind() == .object else { return try readArray(&scanner, element) }
        var values: [ODataValue]?
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            if key == "results" { values = try readArray(&scanner, element) } else { try scanner.skipValue() }
        }
        guard let values else { throw scanner.error(.unexpected("no such member"), expected: "the member results") }
        return values
    }

    private func readArray(_ scanner: inout JSONScanner, _ element: TypeReference) throws(JSONError) -> [ODataValue] {
        guard try scanner.peekKind() == .array else { throw scanner.unexpected("an array of \(element)") }
        try scanner.beginArray()
        var values: [ODataValue] = []
        while try scanner.nextElement() {
            do throws(JSONError) {
                values.append(try readVerboseValue(&scanner, type: element))
            } catch {
                throw error.within(String(values.count))
            }
        }
        return values
    }

    /// Reads GeoJSON, which may contain `__metadata`.
    private func readGeo(_ scanner: inout JSONScanner, _ type: PrimitiveType) throws(JSONError) -> ODataValue {
        guard try scanner.peekKind() == .object else { return try readValue(&scanner, type: .primitive(type)) }
        let start = scanner.offset
        var json = JSONWriter()
        json.beginObject()
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            let name = key.string
            let range = try scanner.skipValue()
            guard name != "__metadata" else { continue }
            json.key(name)
            json.raw(scanner.rawBytes(range))
        }
        json.endObject()
        do throws(JSONError) {
            return try JSONScanner.scan(json.bytes) { (copy) throws(JSONError) in
                try readValue(&copy, type: .primitive(type))
            }
        } catch {
            throw scanner.error(error.reason, at: start, expected: error.expected)
        }
    }

    private func readUntyped(_ scanner: inout JSONScanner) throws(JSONError) -> ODataValue {
        switch try scanner.peekKind() {
        case .object:
            // A collection is an object with the single member `results` besides the metadata.
            var ahead = scanner
            try ahead.beginObject()
            var isCollection = false
            while let key = try ahead.nextKey() {
                isCollection = key == "results" || (isCollection && key == "__metadata")
                if !isCollection, !(key == "__metadata") { break }
                try ahead.skipValue()
            }
            if isCollection { return .collection(try readResults(&scanner, .untyped("Edm.Untyped"))) }
            return .complex(try readInstance(&scanner, declared: nil))
        case .array: return .collection(try readArray(&scanner, .untyped("Edm.Untyped")))
        default: return try readValue(&scanner, type: .untyped("Edm.Untyped"))
        }
    }

    // MARK: What is no declared property

    private func readUndeclared(
        _ name: String, at offset: Int, scanner: inout JSONScanner, instance: inout InstanceInProgress
    ) throws(JSONError) {
        if let navigation = instance.entity.shape.navigationProperty(name) {
            return try readRelated(navigation, &scanner, instance: &instance)
        }
        if let shape = try instance.typeAhead({ () throws(JSONError) in try typeAhead(scanner) }) {
            instance.adopt(shape)
            if let ordinal = shape.ordinal(of: name) {
                return try readProperty(shape.properties[ordinal], ordinal, scanner: &scanner, instance: &instance)
            }
            if let navigation = shape.navigationProperty(name) {
                return try readRelated(navigation, &scanner, instance: &instance)
            }
        }
        if try scanner.peekKind() == .object, try readLinkOrStream(name, &scanner, instance: &instance) { return }
        guard instance.entity.shape.isOpen else {
            if strictness == .strict {
                throw scanner.error(
                    .unknownProperty(name), at: offset, expected: "a property of \(instance.entity.shape.name)")
            }
            try scanner.skipValue()
            return
        }
        instance.entity.dynamicProperties[name] = try readUntyped(&scanner)
    }

    /// Returns the type that a later `__metadata` states.
    private func typeAhead(_ scanner: JSONScanner) throws(JSONError) -> TypeShape? {
        var ahead = scanner
        try ahead.skipValue()
        while let key = try ahead.nextKey() {
            if key == "__metadata" {
                return try VerboseMetadata(&ahead, model: model).type.flatMap { model.stated($0) }
            }
            try ahead.skipValue()
        }
        return nil
    }

    /// Reads a link or stream with an undeclared name, and keeps it as an annotation.
    private func readLinkOrStream(
        _ name: String, _ scanner: inout JSONScanner, instance: inout InstanceInProgress
    ) throws(JSONError) -> Bool {
        var ahead = scanner
        try ahead.beginObject()
        guard let key = try ahead.nextKey() else { return false }
        if key == "__deferred" {
            if let uri = try deferredURI(&scanner) {
                instance.entity.control.annotations["\(name)@odata.navigationLink"] = .string(uri)
            }
            return true
        }
        guard key == "__mediaresource" else { return false }
        try readStream(name, &scanner, instance: &instance)
        return true
    }

    /// Reads a stream property of V3: `{"__mediaresource": {"media_src": …}}`.
    private func readStream(
        _ name: String, _ scanner: inout JSONScanner, instance: inout InstanceInProgress
    ) throws(JSONError) {
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            guard key == "__mediaresource" else {
                try scanner.skipValue()
                continue
            }
            let stream = try VerboseMetadata(&scanner, model: model)
            for (control, value) in [
                ("mediaReadLink", stream.mediaReadLink), ("mediaEditLink", stream.mediaEditLink),
                ("mediaContentType", stream.contentType), ("mediaEtag", stream.mediaEtag),
            ] {
                if let value { instance.entity.control.annotations["\(name)@odata.\(control)"] = .string(value) }
            }
        }
    }

    // MARK: Related entities

    private func readRelated(
        _ navigation: NavigationProperty, _ scanner: inout JSONScanner, instance: inout InstanceInProgress
    ) throws(JSONError) {
        let name = navigation.name
        switch try scanner.peekKind() {
        case .null:
            try scanner.readNull()
            instance.entity.related[name] = RelatedEntities.none
        case .array:
            instance.entity.related[name] = Self.related(try readMany(&scanner, navigation.target), nil, nextLink: nil)
        case .object:
            var ahead = scanner
            try ahead.beginObject()
            guard let key = try ahead.nextKey() else {
                try scanner.skipValue()
                instance.entity.related[name] = navigation.isCollection ? .many([]) : RelatedEntities.none
                return
            }
            if key == "__deferred" {
                guard let uri = try deferredURI(&scanner) else { return }
                if strictness == .strict, instance.entity.control.id == nil {
                    // In a request that creates an entity, a link refers to an existing entity.
                    instance.bindings[name, default: []].append(uri)
                } else {
                    instance.entity.control.annotations["\(name)@odata.navigationLink"] = .string(uri)
                }
            } else if navigation.isCollection {
                instance.entity.related[name] = try readFeed(&scanner, navigation.target)
            } else {
                let entity = try readInstance(&scanner, declared: navigation.target)
                instance.entity.related[name] = Self.reference(entity).map { .references([$0]) } ?? .one(entity)
            }
        default: throw scanner.unexpected("an entry, a feed, __deferred or null")
        }
    }

    private func readFeed(_ scanner: inout JSONScanner, _ type: QualifiedName) throws(JSONError) -> RelatedEntities {
        var entities: [ODataEntity]?
        var count: Int64?
        var nextLink: String?
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            if key == "results" {
                entities = try readMany(&scanner, type)
            } else if key == "__count" {
                if case .integer(let number) = try scanner.readPrimitive(.int64) { count = number }
            } else if key == "__next" {
                let link = try scanner.takeNull() ? nil : try scanner.readString()
                nextLink = link.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
            } else {
                try scanner.skipValue()
            }
        }
        guard let entities else { throw scanner.error(.unexpected("no such member"), expected: "the member results") }
        return Self.related(entities, count, nextLink: nextLink)
    }

    /// Returns the content of a collection. Entries that have only a URI are references to existing entities (OData
    /// V2, *Creating Entries*).
    private static func related(_ entities: [ODataEntity], _ count: Int64?, nextLink: String?) -> RelatedEntities {
        let references = entities.compactMap(reference)
        if count == nil, nextLink == nil, !entities.isEmpty, references.count == entities.count {
            return .references(references)
        }
        return .many(entities, count: count, nextLink: nextLink)
    }

    private static func reference(_ entity: ODataEntity) -> String? {
        guard entity.values.allSatisfy({ $0 == nil }), entity.dynamicProperties.isEmpty, entity.related.isEmpty,
            entity.control.annotations.isEmpty
        else { return nil }
        return entity.control.id
    }

    private func deferredURI(_ scanner: inout JSONScanner) throws(JSONError) -> String? {
        var uri: String?
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            if key == "__deferred", try scanner.peekKind() == .object {
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    if key == "uri", try scanner.peekKind() == .string {
                        uri = try scanner.readString()
                    } else {
                        try scanner.skipValue()
                    }
                }
            } else {
                try scanner.skipValue()
            }
        }
        return uri
    }
}

extension EntityDataModel {
    /// Returns the shape of the type that a payload states, as a plain name or as a fragment.
    func stated(_ name: String) -> TypeShape? {
        switch typeReference(fragment: name) {
        case .entity(let name?), .complex(let name?): shape(name)
        default: nil
        }
    }
}
