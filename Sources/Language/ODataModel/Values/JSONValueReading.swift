/// Reads values of any type from JSON; whoever conforms says how instances of structured types are read
/// (OData JSON Format 4.01, 7).
public protocol JSONValueReading {
    /// The model that names are looked up in.
    var model: EntityDataModel { get }
    /// Whether numbers must be JSON numbers, as services ask for; 64-bit integers and decimals may be strings either way.
    var wantsNumbers: Bool { get }

    /// Whether a value that cannot be read costs its property alone, and other forms of values are taken that can mean one
    /// value only; `false` unless the reader says otherwise.
    var isForgiving: Bool { get }

    /// Reads the object that comes next.
    ///
    /// - Parameters:
    ///   - scanner: stands before the opening brace.
    ///   - declared: the declared type; `nil` for the abstract types and for untyped values. The instance
    ///     may state a derived one.
    func readInstance(
        _ scanner: inout JSONScanner, declared: QualifiedName?
    ) throws(JSONError) -> ODataEntity
}

/// What a forgiving reader makes of the value of a property.
package enum PropertyReading {
    /// The value.
    case value(ODataValue)
    /// No value of its type.
    case unreadable(UnreadableValue, JSONError)
}

extension JSONValueReading {
    /// Clients take numbers as strings too.
    public var wantsNumbers: Bool { false }

    /// Refuses what cannot be read.
    public var isForgiving: Bool { false }

    /// Reads the value of a property. A value that cannot be read is noted in `control` if the reader forgives that.
    ///
    /// - Parameters:
    ///   - scanner: stands before the value.
    ///   - property: the declared property.
    ///   - control: the control information of the instance.
    ///   - read: reads the value.
    /// - Returns: `nil` for a value that cannot be read: the property is not loaded.
    /// - Throws: ``JSONError`` with the place.
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

    /// Reads the value of a property, and goes behind a value that cannot be read.
    ///
    /// - Throws: ``JSONError`` where the text is no JSON, or needs more data.
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
            let isString = try scanner.peekKind() == .string
            let range = try scanner.skipValue()
            let text = String(
                decoding: scanner.rawBytes(isString ? range.dropFirst().dropLast() : range), as: UTF8.self)
            if property.isNullable, let type = property.type.primitive, ODataValue.isInitial(text, of: type) {
                return .value(.null)
            }
            return .unreadable(UnreadableValue(text: text, reason: "expected \(error.expected)"), error)
        }
    }

    /// Reads the value that comes next.
    ///
    /// Numbers are accepted as strings unless ``wantsNumbers``, and 64-bit integers and decimals as either, so that payloads
    /// with and without `IEEE754Compatible=true` read alike.
    /// - Throws: ``JSONError`` with the place, the property path and what was expected.
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
        // A number is what some services send for a member.
        if try scanner.peekKind() == .number { return .enumeration(try scanner.readInt64()) }
        let view = try scanner.readStringView()
        let text = view.string
        guard let value = model.enumType(name)?.value(of: text) else {
            throw scanner.error(
                .invalidValue(String(text.prefix(80))), at: view.offset, expected: "a member of \(name)")
        }
        return .enumeration(value)
    }

    /// A value without a declared type: what JSON says of it decides (OData JSON Format 4.01, 4.6.3).
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
    /// An instant where none with an offset should be: on the clock of UTC, with the letter that says so or another offset, as
    /// services write `Edm.DateTime` all the same.
    package init?(withOffset text: String) {
        // What the clock shows is not moved by the letter alone.
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
    /// The first value within the elements of a collection that could not be read.
    fileprivate var unreadableMember: UnreadableValue? {
        guard case .collection(let elements) = self else { return nil }
        for case .complex(let element) in elements {
            if let lost = element.control.unreadable.min(by: { $0.key < $1.key })?.value { return lost }
        }
        return nil
    }
}

extension JSONScanner {
    /// Takes a value of a primitive type, null excluded, also in a form that is not its own if it can mean one value alone:
    /// a number where a string is declared, `"true"` where a boolean is.
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

    /// Takes a value of a primitive type, null excluded (OData JSON Format 4.01, 7.1).
    ///
    /// - Parameters:
    ///   - type: the type.
    ///   - wantsNumbers: whether a number must not stand in a string. `INF`, `-INF` and `NaN` always do, and 64-bit integers
    ///     and decimals may.
    /// - Throws: ``JSONError`` with the place and what was expected.
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
    /// The value of a numeric type that a number stands for; `nil` when it is out of range, or the type is none.
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
