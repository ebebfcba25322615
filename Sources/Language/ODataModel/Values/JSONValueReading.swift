/// A reader of values of any type from JSON; conforming types define the reading of structured instances (OData
/// JSON Format 4.01, 7).
public protocol JSONValueReading {
    /// The model that declares the types.
    var model: EntityDataModel { get }
    /// Whether numbers must be JSON numbers, as services require; 64-bit integers and decimals may always be
    /// strings.
    var wantsNumbers: Bool { get }

    /// Whether an unreadable value affects only its property, and values in other unambiguous forms are accepted;
    /// `false` by default.
    var isForgiving: Bool { get }

    /// Reads the next object.
    ///
    /// - Parameters:
    ///   - scanner: the scanner, positioned before the opening brace.
    ///   - declared: the declared type; `nil` for the abstract types and for untyped values. The instance may state
    ///     a derived
    ///     type.
    func readInstance(
        _ scanner: inout JSONScanner, declared: QualifiedName?
    ) throws(JSONError) -> ODataEntity
}

/// The result of reading a property's value with a forgiving reader.
package enum PropertyReading {
    /// A readable value.
    case value(ODataValue)
    /// A value that is not valid for the property's type.
    case unreadable(UnreadableValue, JSONError)
}

extension JSONValueReading {
    /// The default for clients, which also accept numbers in strings.
    public var wantsNumbers: Bool { false }

    /// The default, with which unreadable values cause errors.
    public var isForgiving: Bool { false }

    /// Reads the value of a property. A forgiving reader records an unreadable value in `control`.
    ///
    /// - Parameters:
    ///   - scanner: the scanner, positioned before the value.
    ///   - property: the declared property.
    ///   - control: the control information of the instance.
    ///   - read: a function that reads the value.
    /// - Returns: `nil` if the value is unreadable and the property is therefore not loaded.
    /// - Throws: ``JSONError`` with the position.
    package func readProperty(
        _ scanner: inout JSONScanner, _ property: Property, control: inout ControlInformation,
        by read: (inout JSONScanner) throws(JSONError) -> ODataValue
    ) throws(JSONError) -> ODataValue? {
        guard isForgiving else { return try read(&scanner) }
        switch try readForgivingly(&scanner, property, by: read) {
        case .value(let value):
            if case .complex(let inner) = value {
                for (path, lost) in inner.control.unreadable { control.unreadable["\(property.name)/\(path)"] = lost }
            }
            return value
        case .unreadable(let lost, _):
            control.unreadable[property.name] = lost
            return nil
        }
    }

    /// Reads the value of a property, and skips an unreadable value, even if it is not valid JSON.
    ///
    /// - Throws: ``JSONError`` if the value has no end or needs more data.
    package func readForgivingly(
        _ scanner: inout JSONScanner, _ property: Property,
        by read: (inout JSONScanner) throws(JSONError) -> ODataValue
    ) throws(JSONError) -> PropertyReading {
        let start = scanner
        do throws(JSONError) {
            let value = try read(&scanner)
            guard let lost = value.unreadableMember else { return .value(value) }
            let reason = "an element cannot be read: \(lost.reason)"
            let error = scanner.error(.invalidValue(lost.text), expected: lost.reason)
            return .unreadable(UnreadableValue(text: lost.text, reason: reason), error)
        } catch {
            guard !error.needsMoreData else { throw error }
            scanner = start
            let raw = scanner.rawBytes(try Self.skip(&scanner))
            let isQuoted = raw.first == UInt8(ascii: "\"")
            let text = String(decoding: isQuoted ? raw.dropFirst().dropLast() : raw[...], as: UTF8.self)
            if property.isNullable, let type = property.type.primitive, ODataValue.isInitial(text, of: type) {
                return .value(.null)
            }
            return .unreadable(UnreadableValue(text: text, reason: "expected \(error.expected)"), error)
        }
    }

    /// Moves past a value, and returns its range.
    private static func skip(_ scanner: inout JSONScanner) throws(JSONError) -> Range<Int> {
        let start = scanner
        do throws(JSONError) {
            return try scanner.skipValue()
        } catch {
            guard !error.needsMoreData else { throw error }
            scanner = start
            return try scanner.skipUncheckedValue()
        }
    }

    /// Reads the next value.
    ///
    /// Numbers in strings are accepted unless ``wantsNumbers`` is true. 64-bit integers and decimals may always be
    /// numbers or strings, because payloads with `IEEE754Compatible=true` contain strings.
    /// - Throws: ``JSONError`` with the position, the property path and the expected content.
    public func readValue(_ scanner: inout JSONScanner, type: TypeReference) throws(JSONError) -> ODataValue {
        if try scanner.takeNull() { return .null }
        switch type {
        case .primitive(let primitive), .typeDefinition(_, let primitive):
            return isForgiving
                ? try scanner.readAnyForm(of: primitive)
                : try scanner.readPrimitive(primitive, wantsNumbers: wantsNumbers)
        case .enumeration(let name): return try readEnumeration(&scanner, name)
        case .complex(let name), .entity(let name):
            guard try scanner.peekKind() == .object else { throw scanner.unexpected("an object of \(type)") }
            return .complex(try readInstance(&scanner, declared: name))
        case .collection(let element):
            guard try scanner.peekKind() == .array else { throw scanner.unexpected("an array for \(type)") }
            return try readCollection(&scanner, element)
        case .untyped: return try readUntyped(&scanner)
        }
    }

    private func readCollection(
        _ scanner: inout JSONScanner, _ element: TypeReference
    ) throws(JSONError) -> ODataValue {
        try scanner.beginArray()
        var values: [ODataValue] = []
        while try scanner.nextElement() {
            do throws(JSONError) {
                values.append(try readValue(&scanner, type: element))
            } catch {
                throw error.within(String(values.count))
            }
        }
        return .collection(values)
    }

    private func readEnumeration(_ scanner: inout JSONScanner, _ name: QualifiedName) throws(JSONError) -> ODataValue {
        // Some services send the number of a member instead of its name.
        if try scanner.peekKind() == .number { return .enumeration(try scanner.readInt64()) }
        let view = try scanner.readStringView()
        let text = view.string
        guard let value = model.enumType(name)?.value(of: text) else {
            throw scanner.error(
                .invalidValue(String(text.prefix(80))), at: view.offset, expected: "a member of \(name)")
        }
        return .enumeration(value)
    }

    /// Reads a value without a declared type, which follows from the JSON value (OData JSON Format 4.01, 4.6.3).
    private func readUntyped(_ scanner: inout JSONScanner) throws(JSONError) -> ODataValue {
        switch try scanner.peekKind() {
        case .object: return .complex(try readInstance(&scanner, declared: nil))
        case .array: return try readCollection(&scanner, .untyped("Edm.Untyped"))
        case .string: return .string(try scanner.readString())
        case .boolean: return .boolean(try scanner.readBoolean())
        case .null:
            try scanner.readNull()
            return .null
        case .number:
            let start = scanner.offset
            let number = try scanner.readNumber()
            if number.isWhole, let whole = number.int64 { return .integer(whole) }
            if let decimal = number.decimal { return .decimal(decimal) }
            if let double = number.double { return .double(double) }
            throw scanner.error(
                .invalidValue("a number out of range"), at: start, expected: "a number in the range of binary64")
        }
    }
}

extension ODataDateTime {
    /// Parses a date-time with an offset, which some services write for `Edm.DateTime`, as the time in UTC.
    package init?(withOffset text: String) {
        // The letter `Z` alone does not change the time.
        if text.hasSuffix("Z"), let value = ODataDateTime(String(text.dropLast())) {
            self = value
        } else if let instant = ODataDateTimeOffset(text) {
            self.init(seconds: instant.seconds, picoseconds: instant.picoseconds)
        } else {
            return nil
        }
    }
}

extension ODataValue {
    /// The first unreadable value within the elements of a collection.
    fileprivate var unreadableMember: UnreadableValue? {
        guard case .collection(let elements) = self else { return nil }
        for case .complex(let element) in elements {
            if let lost = element.control.unreadable.min(by: { $0.key < $1.key })?.value { return lost }
        }
        return nil
    }
}

extension JSONScanner {
    /// Reads a value of a primitive type other than null. Other unambiguous forms are accepted, such as a number
    /// for a declared string or `"true"` for a declared boolean.
    mutating func readAnyForm(of type: PrimitiveType) throws(JSONError) -> ODataValue {
        let start = self
        do throws(JSONError) {
            return try readPrimitive(type)
        } catch {
            guard !error.needsMoreData else { throw error }
            let refusal = error
            self = start
            let text: String
            switch try readSlot() {
            case .string(let string): text = string.string
            case .number(let number): text = String(decoding: number.text, as: UTF8.self)
            case .boolean(let flag, _): text = flag ? "true" : "false"
            case .null, .nested, .missing: throw refusal
            }
            guard let value = ODataValue(otherForm: text, type: type) ?? (try? ODataValue(lexical: text, type: type))
            else { throw refusal }
            return value
        }
    }

    /// Reads a value of a primitive type other than null (OData JSON Format 4.01, 7.1).
    ///
    /// - Parameters:
    ///   - type: the type.
    ///   - wantsNumbers: whether numbers in strings are rejected. `INF`, `-INF` and `NaN` are always strings, and
    ///     64-bit
    ///     integers and decimals may be.
    /// - Throws: ``JSONError`` with the position and the expected content.
    public mutating func readPrimitive(
        _ type: PrimitiveType, wantsNumbers: Bool = false
    ) throws(JSONError) -> ODataValue {
        let kind = try peekKind()
        let start = offset
        switch (kind, type) {
        case (.string, .string): return .string(try readString())
        case (.string, .boolean): break
        case (.string, _):
            let view = try readStringView()
            if wantsNumbers, type.isJSONNumber, !["INF", "-INF", "NaN"].contains(view.string) {
                throw error(
                    .invalidValue(String(view.string.prefix(80))), at: start,
                    expected: "a JSON number, not a string: \(type.lexicalDescription)")
            }
            if let value = view.withUTF8({ ODataValue(lexical: $0, type: type) }) { return value }
            if type == .dateTimeOffset, let value = view.withUTF8({ ODataDateTimeOffset(withoutOffset: $0) }) {
                return .dateTimeOffset(value)
            }
            if type == .dateTime, let value = ODataDateTime(withOffset: view.string) { return .dateTime(value) }
            throw error(.invalidValue(String(view.string.prefix(80))), at: start, expected: type.lexicalDescription)
        case (.boolean, .boolean): return .boolean(try readBoolean())
        case (.number, _) where type.isNumeric:
            let number = try readNumber()
            if let value = ODataValue(number: number, type: type) { return value }
            throw error(
                .invalidValue(String(decoding: number.text.prefix(60), as: UTF8.self)), at: start,
                expected: type.lexicalDescription)
        case (.object, _):
            guard let family = type.geoFamily else { break }
            let value = try GeoValue(geoJSON: &self, family: family)
            guard value.isOf(type) else {
                throw error(
                    .invalidValue(value.shape.name), at: start, expected: "a GeoJSON object for \(type.rawValue)")
            }
            return .geo(value)
        default: break
        }
        throw unexpected(type.lexicalDescription)
    }
}

extension ODataValue {
    /// Creates the value of a numeric type from a number; `nil` if the number is out of range or the type is not
    /// numeric.
    @inline(__always)
    init?(number: JSONNumber, type: PrimitiveType) {
        switch type {
        case .byte, .sbyte, .int16, .int32, .int64:
            guard let value = number.int64, type.integerRange?.contains(value) == true else { return nil }
            self = .integer(value)
        case .decimal:
            guard let value = number.decimal else { return nil }
            self = .decimal(value)
        case .double:
            guard let value = number.double else { return nil }
            self = .double(value)
        case .single:
            guard let value = number.single else { return nil }
            self = .single(value)
        default: return nil
        }
    }
}
