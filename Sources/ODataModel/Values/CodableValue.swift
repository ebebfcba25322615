/// A value as `Codable` writes and reads it: what JSON has a form for goes so, the rest as text.
struct CodableValue: Encodable {
    private let value: ODataValue

    init(_ value: ODataValue) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .complex(let entity): try entity.encode(to: encoder)
        case .collection(let members):
            var container = encoder.unkeyedContainer()
            for member in members { try container.encode(CodableValue(member)) }
        default:
            var container = encoder.singleValueContainer()
            switch value {
            case .null: try container.encodeNil()
            case .boolean(let value): try container.encode(value)
            case .integer(let value), .enumeration(let value): try container.encode(value)
            case .double(let value) where value.isFinite: try container.encode(value)
            case .single(let value) where value.isFinite: try container.encode(value)
            case .string(let text): try container.encode(text)
            case .geo(let value): try container.encode(value.geoJSON)
            default: try container.encode(value.lexicalText ?? "")
            }
        }
    }

    /// Reads the value of a type.
    static func decode(
        _ container: KeyedDecodingContainer<MemberKey>, _ key: MemberKey, _ type: TypeReference
    ) throws -> ODataValue {
        if try container.decodeNil(forKey: key) { return .null }
        switch type {
        case .collection(let element):
            var members: [ODataValue] = []
            var nested = try container.nestedUnkeyedContainer(forKey: key)
            while !nested.isAtEnd { members.append(try Member.decode(&nested, element)) }
            return .collection(members)
        case .complex, .entity: return .complex(try container.decode(Entity.self, forKey: key))
        case .enumeration: return .enumeration(try container.decode(Int64.self, forKey: key))
        case .primitive(let primitive), .typeDefinition(_, let primitive):
            return try value(
                of: primitive, boolean: { try container.decode(Bool.self, forKey: key) },
                integer: { try container.decode(Int64.self, forKey: key) },
                single: { try container.decode(Float.self, forKey: key) },
                double: { try container.decode(Double.self, forKey: key) },
                text: { try container.decode(String.self, forKey: key) },
                failure: { DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: $0) })
        case .untyped: return try container.decode(Guess.self, forKey: key).value
        }
    }

    /// Reads a member of a collection.
    private enum Member {
        static func decode(
            _ container: inout any UnkeyedDecodingContainer, _ type: TypeReference
        ) throws -> ODataValue {
            if try container.decodeNil() { return .null }
            switch type {
            case .collection(let element):
                var nested = try container.nestedUnkeyedContainer()
                var members: [ODataValue] = []
                while !nested.isAtEnd { members.append(try decode(&nested, element)) }
                return .collection(members)
            case .complex, .entity: return .complex(try container.decode(Entity.self))
            case .enumeration: return .enumeration(try container.decode(Int64.self))
            case .untyped: return try container.decode(Guess.self).value
            case .primitive(let primitive), .typeDefinition(_, let primitive):
                let guess = try container.decode(Guess.self).value
                let path = container.codingPath
                return try value(
                    of: primitive,
                    boolean: { try guess.expected(path) { if case .boolean(let it) = $0 { it } else { nil } } },
                    integer: { try guess.expected(path) { if case .integer(let it) = $0 { it } else { nil } } },
                    single: { Float(try guess.expected(path) { $0.number }) },
                    double: { try guess.expected(path) { $0.number } },
                    text: { try guess.expected(path) { if case .string(let it) = $0 { it } else { nil } } },
                    failure: { DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: $0)) })
            }
        }
    }

    /// Reads a primitive value by its type, from whichever form it has.
    private static func value(
        of type: PrimitiveType, boolean: () throws -> Bool, integer: () throws -> Int64, single: () throws -> Float,
        double: () throws -> Double, text: () throws -> String, failure: (String) -> DecodingError
    ) throws -> ODataValue {
        switch type {
        case .boolean: return .boolean(try boolean())
        case .byte, .sbyte, .int16, .int32, .int64: return .integer(try integer())
        case .single: if let number = try? single() { return .single(number) }
        case .double: if let number = try? double() { return .double(number) }
        case .string: return .string(try text())
        default: break
        }
        let lexical = try text()
        if type.isGeo {
            guard
                let geo = try? GeoValue(
                    geoJSON: lexical, family: type.rawValue.hasPrefix("Edm.Geography") ? .geography : .geometry)
            else {
                throw failure("\"\(lexical.prefix(80))\" is no \(type.rawValue).")
            }
            return .geo(geo)
        }
        do {
            return try ODataValue(lexical: lexical, type: type)
        } catch {
            throw failure(error.description)
        }
    }

    /// A value of a type that nobody states: what JSON tells apart.
    private struct Guess: Decodable {
        let value: ODataValue

        init(from decoder: any Decoder) throws {
            if var container = try? decoder.unkeyedContainer() {
                var members: [ODataValue] = []
                while !container.isAtEnd { members.append(try container.decode(Guess.self).value) }
                value = .collection(members)
                return
            }
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                value = .null
            } else if let boolean = try? container.decode(Bool.self) {
                value = .boolean(boolean)
            } else if let number = try? container.decode(Int64.self) {
                value = .integer(number)
            } else if let number = try? container.decode(Double.self) {
                value = .double(number)
            } else if let text = try? container.decode(String.self) {
                value = .string(text)
            } else {
                value = .complex(try container.decode(Entity.self))
            }
        }
    }
}

extension ODataValue {
    /// A number of any kind as one of double precision.
    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// What a test finds in this value.
    fileprivate func expected<Found>(_ path: [any CodingKey], _ test: (ODataValue) -> Found?) throws -> Found {
        if let found = test(self) { return found }
        throw DecodingError.typeMismatch(
            Found.self, .init(codingPath: path, debugDescription: "A member is no \(Found.self)."))
    }

    /// The type to state beside a dynamic property; `nil` where JSON's form tells it.
    var statedType: String? {
        switch self {
        case .null, .boolean, .integer, .double, .string, .complex, .collection: nil
        case .single: "Single"
        case .decimal: "Decimal"
        case .binary: "Binary"
        case .guid: "Guid"
        case .date: "Date"
        case .timeOfDay: "TimeOfDay"
        case .dateTimeOffset: "DateTimeOffset"
        case .dateTime: "DateTime"
        case .duration: "Duration"
        case .enumeration: "Int64"
        case .geo(let value): value.family == .geography ? "Geography" : "Geometry"
        }
    }
}
