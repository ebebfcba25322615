import ODataModel
import OfflineOData

/// A property that was changed here and by somebody else: as it was, as it is here, and as the service has it.
struct ValueVersions {
    let property: Property
    let was: ODataValue?
    let mine: ODataValue
    let theirs: ODataValue?
    private let model: EntityDataModel

    /// The changed properties of a request; `nil` where nobody knows what the service has.
    static func all(of request: QueuedRequest, _ model: EntityDataModel) -> [ValueVersions]? {
        guard let theirs = request.failure?.theirs else { return nil }
        return request.changes.shape.properties.enumerated().compactMap { ordinal, property in
            guard let mine = request.changes.values[ordinal] else { return nil }
            return ValueVersions(
                property: property, was: request.base?.values[ordinal], mine: mine, theirs: theirs.values[ordinal],
                model: model)
        }
    }

    /// All of it on one line.
    var text: String {
        func cell(_ value: ODataValue?) -> String {
            value.map { $0.isNull ? "null" : $0.cell(type: property.type, model: model) } ?? "not loaded"
        }
        return "\(property.name): was \(cell(was)), mine \(cell(mine)), theirs \(cell(theirs))"
    }
}

extension ValueVersions: Encodable {
    private enum Key: CodingKey {
        case property, was, mine, theirs
    }

    /// What is not loaded is left out: it is not null.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(property.name, forKey: .property)
        try container.encodeIfPresent(was.map(json), forKey: .was)
        try container.encode(json(mine), forKey: .mine)
        try container.encodeIfPresent(theirs.map(json), forKey: .theirs)
    }

    private func json(_ value: ODataValue) -> Value { Value(value: value, type: property.type, model: model) }

    /// A value as JSON has it: whole numbers are numbers, decimals and binary fractions are text.
    private struct Value: Encodable {
        let value: ODataValue
        let type: TypeReference?
        let model: EntityDataModel

        func encode(to encoder: any Encoder) throws {
            switch value {
            case .complex(let entity): return try entity.encode(to: encoder)
            case .collection(let members):
                var container = encoder.unkeyedContainer()
                for member in members {
                    try container.encode(Value(value: member, type: type?.element, model: model))
                }
                return
            default: break
            }
            var container = encoder.singleValueContainer()
            switch value {
            case .null: try container.encodeNil()
            case .boolean(let flag): try container.encode(flag)
            case .integer(let number): try container.encode(number)
            case .string(let text): try container.encode(text)
            case .binary: try container.encode(value.lexicalText ?? "")
            default: try container.encode(value.cell(type: type, model: model))
            }
        }
    }
}
