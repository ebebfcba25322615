/// Equality as in a database, which compares texts by their bytes.
///
/// `==` treats canonically equivalent texts as equal, such as the composed and decomposed forms of `é`. They are
/// different in OData, which compares strings by code points.
extension ODataValue {
    /// Returns whether two values are equal, with texts compared by bytes.
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
    /// Returns whether two values are identical and have the same canonical text. For example, `2.0` differs from
    /// `2.00`, and 0 from −0.
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
    /// Returns whether both values are `nil`, or both are identical.
    package func isIdentical(to other: ODataValue?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.isIdentical(to: other)
    }
}

extension ODataEntity {
    /// Returns whether two entities are equal, with texts in properties compared by bytes.
    package func isIdentical(to other: ODataEntity) -> Bool {
        self == other && zip(values, other.values).allSatisfy { $0.isIdentical(to: $1) }
            && dynamicProperties.allSatisfy { $1.isIdentical(to: other.dynamicProperties[$0] ?? .null) }
    }
}

extension String {
    /// Returns whether two texts have the same bytes.
    package func isIdentical(inUTF8To other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
