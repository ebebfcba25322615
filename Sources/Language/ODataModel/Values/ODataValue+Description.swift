extension ODataValue: CustomStringConvertible {
    /// The value in plain text, for people and logs: `Oslo`, `12.50`, `null`, `[1, 2]`, `{City: Oslo}`.
    ///
    /// It does not show the type, and an enumeration value is its number. ``lexicalText`` is the exact form.
    public var description: String {
        switch self {
        case .null: "null"
        case .collection(let members): "[" + members.map(\.description).joined(separator: ", ") + "]"
        case .complex(let value): "{" + value.propertyTexts.joined(separator: ", ") + "}"
        default: lexicalText ?? ""
        }
    }
}

extension ODataEntity {
    /// The loaded properties as texts `Name: value`: the declared ones in order, then the dynamic ones by name.
    fileprivate var propertyTexts: [String] {
        let declared = zip(shape.properties, values).compactMap { property, value in
            value.map { "\(property.name): \($0)" }
        }
        return declared + dynamicProperties.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    }
}
