import ODataModel

/// Detection of texts with characters that XML does not allow: control characters, U+FFFE and U+FFFF (XML 1.0,
/// 2.2).
///
/// A writer of responses omits these characters. A request with such a text should not be sent, because data would
/// be lost.
extension ODataEntity {
    /// The path of the first such text in the entity or its related entities; `nil` if there is none.
    package var textBeyondXML: String? {
        func path(_ name: String, _ inner: String?) -> String? { inner.map { $0.isEmpty ? name : "\(name)/\($0)" } }
        for (property, value) in zip(shape.properties, values) {
            if let found = path(property.name, value?.textBeyondXML) { return found }
        }
        for (name, value) in dynamicProperties.sorted(by: { $0.key < $1.key }) {
            if let found = path(name, value.textBeyondXML) { return found }
        }
        for (name, related) in related.sorted(by: { $0.key < $1.key }) {
            let entities: [ODataEntity] =
                switch related {
                case .one(let entity): [entity]
                case .many(let entities, _, _): entities
                case .none, .references: []
                }
            for entity in entities {
                if let found = path(name, entity.textBeyondXML) { return found }
            }
        }
        return nil
    }
}

extension ODataValue {
    /// The path of the first such text within the value, empty for the value itself; `nil` if there is none.
    package var textBeyondXML: String? {
        switch self {
        case .string(let text): XMLOutput.canSay(text) ? nil : ""
        case .complex(let entity): entity.textBeyondXML
        case .collection(let values): values.lazy.compactMap(\.textBeyondXML).first
        default: nil
        }
    }
}
