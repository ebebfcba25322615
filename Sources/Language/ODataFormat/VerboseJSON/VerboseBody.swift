import ODataModel

/// The envelope of payloads in verbose JSON: `{"d": …}` in responses, and none in requests.
enum VerboseBody {
    /// Reads a body whose content `read` parses.
    ///
    /// - Parameters:
    ///   - bytes: the whole body.
    ///   - shape: the type of the content, whose property names are not envelopes.
    ///   - takesBareNumbers: whether numbers that JSON does not have are taken for strings.
    static func read<Result>(
        _ bytes: [UInt8], _ shape: TypeShape, takesBareNumbers: Bool = false,
        read: (inout JSONScanner) throws(JSONError) -> Result
    ) throws(PayloadError) -> Result {
        var serviceError: ODataErrorPayload?
        do throws(JSONError) {
            let result = try JSONScanner.scan(bytes) { (scanner) throws(JSONError) -> Result? in
                scanner.takesBareNumbers = takesBareNumbers
                serviceError = try EntityPayloadReader.takeError(&scanner, shape)
                if serviceError != nil { return nil }
                let result = try unwrapped(&scanner, shape, read: read)
                try scanner.expectEnd()
                return result
            }
            if let result { return result }
        } catch {
            throw .malformed(error)
        }
        throw .service(serviceError ?? ODataErrorPayload(code: "", message: ""))
    }

    private static func unwrapped<Result>(
        _ scanner: inout JSONScanner, _ shape: TypeShape, read: (inout JSONScanner) throws(JSONError) -> Result
    ) throws(JSONError) -> Result {
        var ahead = scanner
        guard try scanner.peekKind() == .object, shape.ordinal(of: "d") == nil else { return try read(&scanner) }
        try ahead.beginObject()
        guard let key = try ahead.nextKey(), key == "d" else { return try read(&scanner) }
        scanner = ahead
        let result: Result
        do throws(JSONError) {
            result = try read(&scanner)
        } catch {
            throw error.within("d")
        }
        while try scanner.nextKey() != nil { try scanner.skipValue() }
        return result
    }

    /// Reads the value of a property or operation result, which may be a member with its name.
    ///
    /// `{"Price": "2.5"}` contains a named value, but `{"City": "Rome", "Zip": "1"}` is itself a value.
    /// - Parameters:
    ///   - scanner: the scanner, positioned before the value or the object that contains it.
    ///   - shape: the type of a structured value; untyped for other values.
    ///   - isStructured: whether the value or its members are objects.
    static func readNamed<Result>(
        _ scanner: inout JSONScanner, _ shape: TypeShape, isStructured: Bool, isCollection: Bool,
        read: (inout JSONScanner) throws(JSONError) -> Result
    ) throws(JSONError) -> Result {
        guard try scanner.peekKind() == .object else { return try read(&scanner) }
        var ahead = scanner
        try ahead.beginObject()
        guard let key = try ahead.nextKey() else { return try read(&scanner) }
        let name = key.string
        let holdsValue = name != "results" && name != "__metadata"
        guard holdsValue || !(isStructured || isCollection) else { return try read(&scanner) }
        let inside = ahead
        if isStructured, !isCollection {
            let kind = try ahead.peekKind()
            try ahead.skipValue()
            let isOnly = try ahead.nextKey() == nil
            let isProperty = shape.ordinal(of: name) != nil || shape.navigationProperty(name) != nil
            guard isOnly, kind == .object || kind == .null, !isProperty else { return try read(&scanner) }
        }
        scanner = inside
        let result: Result
        do throws(JSONError) {
            result = try read(&scanner)
        } catch {
            throw error.within(name)
        }
        while try scanner.nextKey() != nil { try scanner.skipValue() }
        return result
    }
}

extension ValuePayload {
    /// Reads a property or operation result in verbose JSON.
    ///
    /// The body contains the value itself, or an object with the value as a named member, with or without `d`
    /// around it. Entries are also read as values, because operations return them: ``ODataValue/complex(_:)`` of
    /// their type.
    /// - Throws: ``PayloadError`` with the position and the property path, or with the service's error object.
    public init(
        verboseJSON bytes: [UInt8], type: TypeReference, model: EntityDataModel, strictness: Strictness = .lenient
    ) throws(PayloadError) {
        let reader = VerboseEntityReader(model: model, strictness: strictness)
        var shape = TypeShape.untyped
        var isStructured = false
        switch type.element {
        case .complex(let name), .entity(let name):
            shape = name.flatMap { model.shape($0) } ?? .untyped
            isStructured = true
        default: break
        }
        let structured = isStructured
        let value = try VerboseBody.read(bytes, shape) { (scanner) throws(JSONError) -> ODataValue in
            try VerboseBody.readNamed(&scanner, shape, isStructured: structured, isCollection: type.isCollection) {
                (scanner) throws(JSONError) in
                try reader.readVerboseValue(&scanner, type: type)
            }
        }
        self.init(value)
    }
}

extension ServiceDocument {
    /// Reads a document in verbose JSON: `{"d": {"EntitySets": […]}}`.
    ///
    /// - Throws: ``PayloadError/noServiceDocument(_:)`` if the member `EntitySets` is missing. Other
    ///   ``PayloadError`` cases contain the position, or the service's error object.
    public init(verboseJSON bytes: [UInt8]) throws(PayloadError) {
        var missing: NoServiceDocument?
        let names = try VerboseBody.read(bytes, .untyped) { (scanner) throws(JSONError) -> [String] in
            var names: [String]?
            if try scanner.peekKind() != .object {
                missing = NoServiceDocument(
                    found: "no object", expected: "an object with the member EntitySets", scanner)
                try scanner.skipValue()
                return []
            }
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                guard key == "EntitySets" else {
                    try scanner.skipValue()
                    continue
                }
                var sets: [String] = []
                try scanner.beginArray()
                while try scanner.nextElement() { sets.append(try scanner.readString()) }
                names = sets
            }
            if names == nil { missing = NoServiceDocument(expected: "the member EntitySets", scanner) }
            return names ?? []
        }
        if let missing { throw .noServiceDocument(missing) }
        self.init(entries: names.map { Entry(name: $0.removingPercentEncoding(), url: $0) })
    }

    /// Writes the document in verbose JSON, which has entity sets only.
    public func writeVerbose(to json: inout JSONWriter) {
        json.beginObject()
        json.key("d")
        json.beginObject()
        json.key("EntitySets")
        json.beginArray()
        for entry in entries where entry.kind == .entitySet { json.string(entry.url) }
        json.endArray()
        json.endObject()
        json.endObject()
    }
}

extension String {
    /// Returns the text with percent-encoded characters decoded; unchanged if the result is not UTF-8.
    func removingPercentEncoding() -> String {
        guard utf8.contains(UInt8(ascii: "%")) else { return self }
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            let after = rest.dropFirst()
            if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(hexDigit),
                let low = after.first.flatMap(hexDigit)
            {
                bytes.append(high << 4 | low)
                rest = after.dropFirst()
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self) ?? self
    }
}
