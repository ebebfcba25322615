import ODataModel

/// A property value or the result of an operation: `{"value": …}`, or the members of a complex value (OData JSON
/// Format 4.01, 11 *Individual Property or Operation Response*).
public struct ValuePayload: Hashable, Sendable {
    /// The value.
    public var value: ODataValue
    /// The context URL.
    public var context: String?
    /// The link to the next page of a collection.
    public var nextLink: String?
    /// The number of all members of a collection.
    public var count: Int64?

    /// Creates a payload.
    public init(_ value: ODataValue, context: String? = nil, nextLink: String? = nil, count: Int64? = nil) {
        self.value = value
        self.context = context
        self.nextLink = nextLink
        self.count = count
    }

    /// Reads a whole body.
    ///
    /// - Throws: ``PayloadError`` with the position and the property path, or with the service's error object.
    public init(
        json bytes: [UInt8], type: TypeReference, model: EntityDataModel, strictness: Strictness = .lenient
    ) throws(PayloadError) {
        let reader = EntityPayloadReader(model: model, strictness: strictness)
        switch type {
        // Operations can return entities.
        case .complex(let name?), .entity(let name?):
            let payload = try reader.read(bytes, type: name)
            self.init(.complex(payload.entity), context: payload.context)
            return
        default: break
        }
        var result = ValuePayload(.null)
        var serviceError: ODataErrorPayload?
        do throws(JSONError) {
            try JSONScanner.scan(bytes) { (scanner) throws(JSONError) in
                serviceError = try EntityPayloadReader.takeError(&scanner, .untyped)
                if serviceError != nil { return }
                try result.read(&scanner, type, reader: reader)
                try scanner.expectEnd()
            }
        } catch {
            throw .malformed(error)
        }
        if let serviceError { throw .service(serviceError) }
        self = result
    }

    private mutating func read(
        _ scanner: inout JSONScanner, _ type: TypeReference, reader: EntityPayloadReader
    ) throws(JSONError) {
        var hasValue = false
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            let name = key.string
            do throws(JSONError) {
                switch name {
                case "value":
                    value = try reader.readValue(&scanner, type: type)
                    hasValue = true
                case "@odata.context", "@context": context = try scanner.readString()
                case "@odata.nextLink", "@nextLink": nextLink = try scanner.readString()
                case "@odata.count", "@count":
                    if case .integer(let number) = try scanner.readPrimitive(.int64) { count = number }
                case "@odata.null" where try scanner.peekKind() == .boolean:
                    // Early V4 services use this notation for null.
                    hasValue = try scanner.readBoolean() || hasValue
                default: try scanner.skipValue()
                }
            } catch {
                throw error.within(name)
            }
        }
        guard hasValue else { throw scanner.error(.unexpected("no such member"), expected: "the member value") }
    }

    /// Writes a whole body. Complex values are written with their members at the top level.
    public func write(
        type: TypeReference, using writer: EntityPayloadWriter, to json: inout JSONWriter
    ) {
        if case .complex(let entity) = value {
            let declared = if case .complex(let name?) = type { name } else { entity.shape.name }
            writer.write(entity, declared: declared, context: context, to: &json)
            return
        }
        json.beginObject()
        if writer.metadata != .none, let context {
            json.key(writer.control("context"))
            json.string(context)
        }
        if let count {
            json.key(writer.control("count"))
            writer.writeValue(.integer(count), type: .primitive(.int64), to: &json)
        }
        json.key("value")
        writer.writeValue(value, type: type, to: &json)
        if let nextLink {
            json.key(writer.control("nextLink"))
            json.string(nextLink)
        }
        json.endObject()
    }
}
