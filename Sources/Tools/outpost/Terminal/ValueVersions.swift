import ODataModel
import OfflineOData
import ToolLanguage

/// A property that a change sets: as it was, as it is here, and as the service has it.
struct ValueVersions {
    let name: String
    let was: ODataValue?
    /// `nil` in a deletion.
    let mine: ODataValue?
    let theirs: ODataValue?
    private let type: TypeReference?
    private let model: EntityDataModel

    /// The changed properties of a request; `nil` if the server version is unknown.
    static func all(of request: QueuedRequest, _ model: EntityDataModel) -> [ValueVersions]? {
        guard request.failure?.theirs != nil else { return nil }
        return changed(by: request, model).filter { $0.mine != nil }
    }

    /// The properties that a request sets, and for a deletion those that go.
    static func changed(by request: QueuedRequest, _ model: EntityDataModel) -> [ValueVersions] {
        let (base, theirs) = (request.base, request.failure?.theirs)
        let shown = request.kind == .delete ? base ?? request.changes : request.changes
        var versions = shown.shape.properties.enumerated().compactMap { ordinal, property -> ValueVersions? in
            guard shown.values[ordinal] != nil else { return nil }
            return ValueVersions(
                name: property.name, was: base?.values[ordinal], mine: request.changes.values[ordinal],
                theirs: theirs?.values[ordinal], type: property.type, model: model)
        }
        for name in shown.dynamicProperties.keys.sorted() {
            versions.append(
                ValueVersions(
                    name: name, was: base?.dynamicProperties[name], mine: request.changes.dynamicProperties[name],
                    theirs: theirs?.dynamicProperties[name], type: nil, model: model))
        }
        return versions
    }

    /// All of it on one line.
    var text: TerminalText { "\(name): was \(cell(was)), mine \(cell(mine)), theirs \(cell(theirs))" }

    /// A value as a table shows it, with null distinct from a text.
    func cell(_ value: ODataValue?, missing: TerminalText = "not loaded") -> String {
        value.map { $0.isNull ? "null" : $0.cell(type: type, model: model) } ?? missing.description
    }
}

extension ValueVersions: Encodable {
    private enum Key: CodingKey {
        case property, was, mine, theirs
    }

    /// Properties that are not loaded are omitted.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .property)
        try container.encodeIfPresent(was.map(json), forKey: .was)
        try container.encodeIfPresent(mine.map(json), forKey: .mine)
        try container.encodeIfPresent(theirs.map(json), forKey: .theirs)
    }

    private func json(_ value: ODataValue) -> Value { Value(value: value, type: type, model: model) }

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
