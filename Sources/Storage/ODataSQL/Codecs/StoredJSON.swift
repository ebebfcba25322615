import ODataModel

/// The text of a JSON column, which holds collections, complex values or geographic values.
///
/// The text is OData JSON with two differences that keep SQL expressions exact:
///
/// - Decimals are strings, because SQLite reads JSON numbers as binary64.
/// - Infinities and NaN are the strings `INF`, `-INF` and `NaN`.
///
/// The type of a dynamic property precedes its value if JSON does not determine the type.
package enum StoredJSON {
    /// Returns the text of a value; `nil` if the value has no JSON form.
    package static func encode(_ value: ODataValue) -> String? {
        var text = ""
        append(value, to: &text)
        return text
    }

    private static func append(_ value: ODataValue, isDynamic: Bool = false, to text: inout String) {
        switch value {
        case .null: text += "null"
        case .boolean(let flag): text += flag ? "true" : "false"
        case .integer(let number), .enumeration(let number): text += String(number)
        case .single(let number): append(Double(number), shortest: "\(number)", to: &text)
        case .double(let number): append(number, shortest: "\(number)", to: &text)
        case .decimal(let number): text += "\"\(number)\""
        case .string(let string): appendQuoted(string, to: &text)
        case .binary(let bytes): text += "\"\(Base64URL.encode(bytes))\""
        case .guid(let guid): text += "\"\(guid)\""
        case .date(let date): text += "\"\(date)\""
        case .timeOfDay(let time): text += "\"\(time)\""
        case .dateTimeOffset(let instant): text += "\"\(instant)\""
        case .dateTime(let instant): text += "\"\(instant)\""
        case .duration(let duration): text += "\"\(duration)\""
        case .geo(let value): text += value.geoJSON
        case .complex(let entity): append(entity, isDynamic: isDynamic, to: &text)
        case .collection(let members):
            text += "["
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                append(member, isDynamic: isDynamic, to: &text)
            }
            text += "]"
        }
    }

    private static func append(_ entity: ODataEntity, isDynamic: Bool, to text: inout String) {
        text += "{"
        var isFirst = true
        func name(_ name: String) {
            if !isFirst { text += "," }
            isFirst = false
            appendQuoted(name, to: &text)
            text += ":"
        }
        // A value of a derived type can replace a value of the declared type, whether or not its control
        // information states the type.
        let isStated = entity.shape.baseType != nil || isDynamic && entity.shape.name != TypeShape.untyped.name
        if let type = isStated ? entity.shape.name : entity.control.type {
            name("@odata.type")
            appendQuoted("#\(type)", to: &text)
        }
        for (property, value) in zip(entity.shape.properties, entity.values) {
            guard let value else { continue }
            name(property.name)
            append(value, to: &text)
        }
        for (property, value) in entity.dynamicProperties.sorted(by: { $0.key < $1.key }) {
            if !property.isEmpty, let type = value.untoldType(hasTextDecimals: true) {
                name("\(property)@odata.type")
                appendQuoted("#\(type)", to: &text)
            }
            name(property)
            append(value, isDynamic: true, to: &text)
        }
        text += "}"
    }

    private static func append(_ number: Double, shortest: String, to text: inout String) {
        text += number.isFinite ? shortest : number.isNaN ? "\"NaN\"" : number < 0 ? "\"-INF\"" : "\"INF\""
    }

    package static func appendQuoted(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    /// Returns the value of a text.
    ///
    /// - Throws: ``StoredValueError`` if the text is not JSON of the type.
    package static func decode(
        _ text: String, as type: TypeReference, in model: EntityDataModel?
    ) throws(StoredValueError) -> ODataValue {
        let failure = StoredValueError(found: "the text \"\(ColumnCodec.brief(text))\"", expected: "\(type) as JSON")
        if let primitive = type.primitive, let family = primitive.geoFamily {
            guard let value = try? GeoValue(geoJSON: text, family: family), value.isOf(primitive) else { throw failure }
            return .geo(value)
        }
        guard let model else { throw failure }
        do {
            return try ODataValue(json: Array(text.utf8), type: type, model: model)
        } catch {
            throw StoredValueError(found: failure.found, expected: "\(failure.expected) (\(error))")
        }
    }
}
