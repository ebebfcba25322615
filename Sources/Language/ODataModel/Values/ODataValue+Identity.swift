/// Whether values are the same to a database, which compares texts by their bytes.
///
/// `==` takes texts for equal that Unicode holds to be written alike, as `é` in one character and in two. They are
/// different texts to OData, where strings are compared by code points.
extension ODataValue {
    /// Whether two values are equal, and all their texts byte for byte.
    package func isIdentical(to other: ODataValue) -> Bool {
        switch (self, other) {
        case (.string(let own), .string(let text)): own.isIdentical(inUTF8To: text)
        case (.collection(let own), .collection(let members)):
            own.count == members.count && zip(own, members).allSatisfy { $0.isIdentical(to: $1) }
        case (.complex(let own), .complex(let entity)): own.isIdentical(to: entity)
        default: self == other
        }
    }
}

extension ODataValue {
    /// Whether two values are identical and have the same canonical text: `2.0` is not written like `2.00`, nor 0 like −0.
    package func isWritten(like other: ODataValue) -> Bool {
        switch (self, other) {
        case (.double(let own), .double(let number)): own.bitPattern == number.bitPattern
        case (.single(let own), .single(let number)): own.bitPattern == number.bitPattern
        case (.decimal(let own), .decimal(let number)): own == number && own.description == number.description
        default: isIdentical(to: other)
        }
    }
}

extension Optional<ODataValue> {
    /// Whether there is no value on either side, or an identical one.
    package func isIdentical(to other: ODataValue?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.isIdentical(to: other)
    }
}

extension ODataEntity {
    /// Whether two entities are equal, and all texts among their properties byte for byte.
    package func isIdentical(to other: ODataEntity) -> Bool {
        self == other && zip(values, other.values).allSatisfy { $0.isIdentical(to: $1) }
            && dynamicProperties.allSatisfy { $1.isIdentical(to: other.dynamicProperties[$0] ?? .null) }
    }
}

extension String {
    /// Whether two texts have the same bytes.
    package func isIdentical(inUTF8To other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
