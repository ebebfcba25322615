import ODataModel

/// Writes entries, feeds and values of V1, V2 and V3 in verbose JSON (OData JSON Verbose Format 3.0; OData V2, JSON
/// Format).
///
/// ```swift
/// let writer = VerboseEntityWriter(model: model, version: .v2)
/// var json = JSONWriter()
/// writer.writeBody(order, to: &json)    // {"d":{"__metadata":{…},"ID":"1",…}}
/// ```
public struct VerboseEntityWriter: Sendable {
    /// The model of the service.
    public let model: EntityDataModel
    /// The protocol version: V1 has no `results` around feeds, and V3 has no `/Date(…)/`.
    public let version: ODataVersion
    /// Whether links and other `__metadata` besides the type are written, as in responses.
    public let isResponse: Bool
    /// Whether related entities are written with the entity.
    public let includesRelated: Bool

    /// Creates a writer.
    public init(
        model: EntityDataModel, version: ODataVersion = .v2, isResponse: Bool = true, includesRelated: Bool = true
    ) {
        self.model = model
        self.version = version
        self.isResponse = isResponse
        self.includesRelated = includesRelated
    }

    /// Writes an entry as a whole body, within `d` for responses.
    public func writeBody(_ entity: ODataEntity, to json: inout JSONWriter) {
        wrap(&json) { json in writeInstance(entity, to: &json) }
    }

    /// Writes a property or operation result as a whole body: an object with the value as a named member.
    public func writeBody(_ value: ODataValue, named name: String, type: TypeReference?, to json: inout JSONWriter) {
        wrap(&json) { json in
            switch value {
            case .collection:
                // A collection has no name, because `results` identifies it.
                write(value, type: type, to: &json)
            case .complex(let entity) where entity.shape.kind == .entity: writeInstance(entity, to: &json)
            default:
                json.beginObject()
                json.key(name)
                write(value, type: type, to: &json)
                json.endObject()
            }
        }
    }

    /// Writes links to entities as a whole body (OData V2, *Links*).
    public func writeBody(links: [String], isCollection: Bool, to json: inout JSONWriter) {
        wrap(&json) { json in
            func write(_ link: String) {
                json.beginObject()
                json.key("uri")
                json.string(link)
                json.endObject()
            }
            guard isCollection else {
                links.first.map(write)
                return
            }
            beginResults(&json)
            links.forEach(write)
            endResults(&json)
        }
    }

    private func wrap(_ json: inout JSONWriter, _ body: (inout JSONWriter) -> Void) {
        guard isResponse else { return body(&json) }
        json.beginObject()
        json.key("d")
        body(&json)
        json.endObject()
    }

    private func beginResults(_ json: inout JSONWriter) {
        if version > .v1 {
            json.beginObject()
            json.key("results")
        }
        json.beginArray()
    }

    private func endResults(_ json: inout JSONWriter) {
        json.endArray()
        if version > .v1 { json.endObject() }
    }

    // MARK: Instances

    /// Writes an entry or complex value as an object.
    public func writeInstance(_ entity: ODataEntity, to json: inout JSONWriter) {
        json.beginObject()
        writeMetadata(entity, to: &json)
        for (property, value) in zip(entity.shape.properties, entity.values) {
            if isResponse, property.type.primitive == .stream { writeStream(property.name, entity, to: &json) }
            guard let value else { continue }
            json.key(property.name)
            write(value, type: property.type, to: &json)
        }
        for (name, value) in entity.dynamicProperties.sorted(by: { $0.key < $1.key }) {
            json.key(name)
            write(value, type: nil, to: &json)
        }
        for property in entity.shape.navigationProperties { writeRelated(property, entity, to: &json) }
        json.endObject()
    }

    private func writeMetadata(_ entity: ODataEntity, to json: inout JSONWriter) {
        let control = entity.control
        guard isResponse || entity.control.type != nil else { return }
        json.key("__metadata")
        json.beginObject()
        func member(_ name: String, _ value: String?) {
            guard let value else { return }
            json.key(name)
            json.string(value)
        }
        if isResponse {
            if version >= .v2 || control.editLink == nil { member("id", control.id) }
            member("uri", control.editLink ?? control.id)
        }
        if entity.shape != .untyped { member("type", entity.shape.name.description) }
        if isResponse {
            member("etag", control.etag)
            member("content_type", control.mediaContentType)
            member("media_src", control.mediaReadLink)
            member("media_etag", control.mediaEtag)
            if case .string(let link)? = control.annotations["odata.mediaEditLink"] { member("edit_media", link) }
            if version >= .v3 { writeOperations(entity, to: &json) }
        }
        json.endObject()
    }

    private func writeOperations(_ entity: ODataEntity, to json: inout JSONWriter) {
        let links = entity.shape.navigationProperties.compactMap { property -> (String, String)? in
            guard case .string(let link)? = entity.control.annotations["\(property.name)@odata.associationLink"] else {
                return nil
            }
            return (property.name, link)
        }
        if !links.isEmpty {
            json.key("properties")
            json.beginObject()
            for (name, link) in links {
                json.key(name)
                json.beginObject()
                json.key("associationuri")
                json.string(link)
                json.endObject()
            }
            json.endObject()
        }
        let operations = entity.control.annotations.filter { $0.key.begins(with: "#") }.sorted { $0.key < $1.key }
        guard !operations.isEmpty else { return }
        json.key("actions")
        json.beginObject()
        for (name, value) in operations {
            // Each name has an array, because overloads are adjacent.
            let offers: ODataValue = if case .collection = value { value } else { .collection([value]) }
            json.key(name)
            json.value(offers, type: nil, model: model)
        }
        json.endObject()
    }

    private func writeStream(_ name: String, _ entity: ODataEntity, to json: inout JSONWriter) {
        var members: [(String, String)] = []
        for (member, control) in [
            ("media_src", "mediaReadLink"), ("edit_media", "mediaEditLink"), ("content_type", "mediaContentType"),
            ("media_etag", "mediaEtag"),
        ] {
            if case .string(let value)? = entity.control.annotations["\(name)@odata.\(control)"] {
                members.append((member, value))
            }
        }
        guard !members.isEmpty else { return }
        json.key(name)
        json.beginObject()
        json.key("__mediaresource")
        json.beginObject()
        for (member, value) in members {
            json.key(member)
            json.string(value)
        }
        json.endObject()
        json.endObject()
    }

    // MARK: Related entities

    private func writeRelated(_ property: NavigationProperty, _ entity: ODataEntity, to json: inout JSONWriter) {
        guard includesRelated, let related = entity.related[property.name] else {
            return writeDeferred(property, entity, to: &json)
        }
        json.key(property.name)
        switch related {
        case .none: json.null()
        case .one(let other): writeInstance(other, to: &json)
        case .many(let others, let count, let nextLink): writeMany(others, count, nextLink: nextLink, to: &json)
        case .references(let ids):
            func write(_ id: String) {
                json.beginObject()
                json.key("__metadata")
                json.beginObject()
                json.key("uri")
                json.string(id)
                json.endObject()
                json.endObject()
            }
            if property.isCollection {
                beginResults(&json)
                ids.forEach(write)
                endResults(&json)
            } else if let id = ids.first {
                write(id)
            } else {
                json.null()
            }
        }
    }

    private func writeMany(_ entities: [ODataEntity], _ count: Int64?, nextLink: String?, to json: inout JSONWriter) {
        if version > .v1 {
            json.beginObject()
            if let count {
                json.key("__count")
                json.string(String(count))
            }
            json.key("results")
        }
        json.beginArray()
        for entity in entities { writeInstance(entity, to: &json) }
        json.endArray()
        guard version > .v1 else { return }
        if let nextLink {
            json.key("__next")
            json.string(nextLink)
        }
        json.endObject()
    }

    private func writeDeferred(_ property: NavigationProperty, _ entity: ODataEntity, to json: inout JSONWriter) {
        guard isResponse else { return }
        var link = (entity.control.editLink ?? entity.control.id).map { "\($0)/\(property.name)" }
        if case .string(let stated)? = entity.control.annotations["\(property.name)@odata.navigationLink"] {
            link = stated
        }
        guard let link else { return }
        json.key(property.name)
        json.beginObject()
        json.key("__deferred")
        json.beginObject()
        json.key("uri")
        json.string(link)
        json.endObject()
        json.endObject()
    }

    // MARK: Values

    /// Writes a value: 64-bit integers and numbers with a fraction as strings, and date-times as `/Date(…)/` in V1
    /// and V2 (OData V2, JSON Format, 4).
    public func write(_ value: ODataValue, type: TypeReference?, to json: inout JSONWriter) {
        switch value {
        case .integer(let number):
            let isLong = type?.primitive == .int64 || type?.primitive == .decimal
            if isLong { json.string(String(number)) } else { json.integer(number) }
        case .decimal, .double, .single: json.string(value.lexicalText ?? "")
        case .binary(let bytes): json.string(PlainBase64.text(bytes))
        case .dateTime(let instant) where version < .v3: write(instant, offset: nil, value, to: &json)
        case .dateTimeOffset(let instant) where version < .v3:
            let utc = ODataDateTime(seconds: instant.seconds, picoseconds: instant.picoseconds)
            write(utc, offset: instant.offsetMinutes, value, to: &json)
        case .complex(let entity): writeInstance(entity, to: &json)
        case .collection(let values): writeCollection(values, type, to: &json)
        default: json.value(value, type: type, model: model)
        }
    }

    /// Writes a date-time as a number of milliseconds. More precise values have the notation of V3, which V2
    /// services accept.
    private func write(
        _ instant: ODataDateTime, offset: Int?, _ value: ODataValue, to json: inout JSONWriter
    ) {
        guard instant.picoseconds % 1_000_000_000 == 0 else { return json.string(value.lexicalText ?? "") }
        let ticks = instant.seconds * 1000 + instant.picoseconds / 1_000_000_000
        var text = "\"\\/Date(\(ticks)"
        if let offset {
            let digits = String(abs(offset))
            text += offset < 0 ? "-" : "+"
            text += String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
        }
        json.raw((text + ")\\/\"").utf8)
    }

    private func writeCollection(_ values: [ODataValue], _ type: TypeReference?, to json: inout JSONWriter) {
        if version > .v1 {
            json.beginObject()
            if let type, version >= .v3 {
                json.key("__metadata")
                json.beginObject()
                json.key("type")
                json.string(type.description)
                json.endObject()
            }
            json.key("results")
        }
        json.beginArray()
        for value in values { write(value, type: type?.element, to: &json) }
        json.endArray()
        if version > .v1 { json.endObject() }
    }
}

/// Base64 in formats before V4, with the standard alphabet and padding (RFC 4648, 4).
enum PlainBase64 {
    static func text(_ bytes: [UInt8]) -> String {
        var text = (ODataValue.binary(bytes).lexicalText ?? "").utf8.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }
}
