/// A value in a form for Swift's encoders and decoders.
struct CodableValue: Encodable {
    private let value: ODataValue
    /// Whether the type of the value is not declared.
    private let isUntyped: Bool

    init(_ value: ODataValue) { (self.value, isUntyped) = (value, false) }

    /// Creates the form of a value whose type is not declared.
    init(untyped value: ODataValue) { (self.value, isUntyped) = (value, true) }

    func encode(to encoder: any Encoder) throws {
        if case .collection(let members) = value {
            // If the members have different types, each states its own.
            let isMixed = isUntyped && value.statedType == nil
            var container = encoder.unkeyedContainer()
            for member in members {
                switch member {
                case .null, .complex: try container.encode(CodableValue(member))
                case _ where isMixed:
                    var object = container.nestedContainer(keyedBy: EntityCodingKey.self)
                    try object.encodeIfPresent(member.statedType.map { "#\($0)" }, forKey: .type)
                    try object.encode(CodableValue(untyped: member), forKey: .value)
                default: try container.encode(isUntyped ? CodableValue(untyped: member) : CodableValue(member))
                }
            }
            return
        }
        if case .complex(let entity) = value { return try entity.encode(to: encoder) }
        var container = encoder.singleValueContainer()
        switch value {
        case .boolean(let flag): try container.encode(flag)
        case .integer(let number), .enumeration(let number): try container.encode(number)
        case .single(let number) where number.isFinite: try container.encode(number)
        case .double(let number) where number.isFinite: try container.encode(number)
        // Decimals are encoded as text because a coder's numbers may be binary.
        default:
            if let text = value.lexicalText { try container.encode(text) } else { try container.encodeNil() }
        }
    }

    /// Decodes a value of a type.
    static func decode(
        from decoder: any Decoder, _ type: TypeReference, _ model: EntityDataModel
    ) throws -> ODataValue {
        if try decoder.singleValueContainer().decodeNil() { return .null }
        switch type {
        case .collection(let element):
            var members: [ODataValue] = []
            var list = try decoder.unkeyedContainer()
            while !list.isAtEnd { members.append(try decode(from: list.superDecoder(), element, model)) }
            return .collection(members)
        case .complex(let name), .entity(let name):
            return .complex(try ODataEntity(from: decoder, as: name.flatMap { model.shape($0) }, in: model))
        case .enumeration:
            return .enumeration(try decoder.singleValueContainer().decode(Int64.self))
        case .primitive(let type), .typeDefinition(_, let type): return try decode(from: decoder, type)
        case .untyped:
            if var list = try? decoder.unkeyedContainer() {
                var members: [ODataValue] = []
                while !list.isAtEnd { members.append(try decode(from: list.superDecoder(), type, model)) }
                return .collection(members)
            }
            if let object = try? decoder.container(keyedBy: EntityCodingKey.self) {
                return try decode(object, from: decoder, model)
            }
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) { return .boolean(flag) }
            if let number = try? container.decode(Int64.self) { return .integer(number) }
            if let number = try? container.decode(Double.self) { return .double(number) }
            return .string(try container.decode(String.self))
        }
    }

    /// Decodes a complex value, or a collection member that states its own type.
    private static func decode(
        _ object: KeyedDecodingContainer<EntityCodingKey>, from decoder: any Decoder, _ model: EntityDataModel
    ) throws -> ODataValue {
        let stated = try object.decodeIfPresent(String.self, forKey: .type)
        let type = stated.map { model.typeReference(fragment: $0) } ?? .untyped("Edm.Untyped")
        switch type {
        case .complex, .entity: return try decode(from: decoder, type, model)
        case .untyped where stated != nil:
            return .complex(try ODataEntity(from: decoder, as: nil, in: model))
        default: return try decode(from: object.superDecoder(forKey: .value), type, model)
        }
    }

    private static func decode(from decoder: any Decoder, _ type: PrimitiveType) throws -> ODataValue {
        let container = try decoder.singleValueContainer()
        switch type {
        case .boolean: return .boolean(try container.decode(Bool.self))
        case .double where (try? container.decode(Double.self)) != nil:
            return .double(try container.decode(Double.self))
        case .single where (try? container.decode(Float.self)) != nil:
            return .single(try container.decode(Float.self))
        default: break
        }
        if type.isInteger {
            let number = try container.decode(Int64.self)
            guard type.integerRange?.contains(number) == true else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "\(number) is no \(type.rawValue).")
            }
            return .integer(number)
        }
        let text = try container.decode(String.self)
        do throws(LexicalError) {
            return try ODataValue(lexical: text, type: type)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
        }
    }
}

extension ODataValue {
    /// The primitive type that the value itself implies; `nil` for integers and enumeration values, which fit
    /// several types.
    package var primitiveType: PrimitiveType? {
        switch self {
        case .null, .integer, .complex, .collection, .enumeration: nil
        case .boolean: .boolean
        case .single: .single
        case .double: .double
        case .decimal: .decimal
        case .string: .string
        case .binary: .binary
        case .guid: .guid
        case .date: .date
        case .timeOfDay: .timeOfDay
        case .dateTimeOffset: .dateTimeOffset
        case .dateTime: .dateTime
        case .duration: .duration
        case .geo(let value): value.type
        }
    }

    /// The type that must be stated with a dynamic property so that its value is read back unchanged.
    ///
    /// `nil` if no type can be stated, as for a collection with members of several types.
    var statedType: String? {
        switch self {
        case .complex(let entity): return entity.shape.name.description
        case .integer, .enumeration: return PrimitiveType.int64.rawValue
        case .collection(let members):
            let types = Set(members.filter { !$0.isNull }.map(\.statedType))
            guard types.count == 1, let type = types.first else { return nil }
            return type.map { "Collection(\($0))" }
        default: return primitiveType?.rawValue
        }
    }
}
