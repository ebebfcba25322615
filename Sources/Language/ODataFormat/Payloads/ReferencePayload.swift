import ODataModel

/// References to entities: one reference or a collection (OData JSON Format 4.01, 14 *Entity Reference*).
public struct ReferencePayload: Hashable, Sendable {
    /// The ids of the entities, absolute or relative to the service root.
    public var ids: [String]
    /// Whether the references are a collection, which may have any number of members.
    public var isCollection: Bool
    /// The context URL.
    public var context: String?
    /// The number of all members of a collection.
    public var count: Int64?
    /// The link to the next page of a collection.
    public var nextLink: String?

    /// Creates a payload.
    public init(
        ids: [String], isCollection: Bool, context: String? = nil, count: Int64? = nil, nextLink: String? = nil
    ) {
        self.ids = ids
        self.isCollection = isCollection
        self.context = context
        self.count = count
        self.nextLink = nextLink
    }

    /// Reads a body in the light JSON of V4 and V3, or a body with links of V2, `{"d": {"uri": …}}`.
    ///
    /// - Throws: ``PayloadError`` with the position, or with the service's error object.
    public init(json bytes: [UInt8]) throws(PayloadError) {
        self = try VerboseBody.read(bytes, .untyped) { (scanner) throws(JSONError) -> ReferencePayload in
            var result = ReferencePayload(ids: [], isCollection: false)
            if try scanner.peekKind() == .array {
                try result.readMembers(&scanner)
            } else {
                try scanner.beginObject()
                while let key = try scanner.nextKey() { try result.readMember(key.string, &scanner) }
            }
            guard result.isCollection || !result.ids.isEmpty else {
                throw scanner.error(.unexpected("no such member"), expected: "the id of an entity")
            }
            return result
        }
    }

    private mutating func readMember(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
        switch name {
        // V1 to V3 use these names for the reference.
        case "@id", "@odata.id", "uri", "url", "odata.id": ids.append(try scanner.readString())
        case "@context", "@odata.context", "odata.metadata": context = try scanner.readString()
        case "@nextLink", "@odata.nextLink", "odata.nextLink", "__next": nextLink = try scanner.readString()
        case "@count", "@odata.count", "odata.count", "__count":
            if case .integer(let number) = try scanner.readPrimitive(.int64) { count = number }
        case "value", "results": try readMembers(&scanner)
        default: try scanner.skipValue()
        }
    }

    private mutating func readMembers(_ scanner: inout JSONScanner) throws(JSONError) {
        isCollection = true
        try scanner.beginArray()
        while try scanner.nextElement() {
            let before = ids.count
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                switch key.string {
                case "@id", "@odata.id", "odata.id", "uri", "url": ids.append(try scanner.readString())
                default: try scanner.skipValue()
                }
            }
            guard ids.count == before + 1 else {
                throw scanner.error(.unexpected("no such member"), expected: "the id of an entity")
            }
        }
    }

    /// Writes a body in the light formats.
    public func write(using writer: EntityPayloadWriter, to json: inout JSONWriter) {
        // V3 uses `url`, and requires control information in collections.
        let idName = writer.version < .v4 ? "url" : writer.control("id")
        json.beginObject()
        if writer.metadata != .none, let context {
            json.key(writer.control("context"))
            json.string(context)
        }
        guard isCollection else {
            if let id = ids.first {
                json.key(idName)
                json.string(id)
            }
            return json.endObject()
        }
        if let count {
            json.key(writer.control("count"))
            writer.writeValue(.integer(count), type: .primitive(.int64), to: &json)
        }
        json.key("value")
        json.beginArray()
        for id in ids {
            json.beginObject()
            json.key(idName)
            json.string(id)
            json.endObject()
        }
        json.endArray()
        if let nextLink {
            json.key(writer.control("nextLink"))
            json.string(nextLink)
        }
        json.endObject()
    }
}
