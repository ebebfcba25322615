extension ODataValue {
    /// The type that has to be stated of a dynamic property, where a reader would take the JSON of its value for something
    /// else (OData JSON Format 4.01, 4.6.3); `nil` where JSON tells it, where the instance says it itself, and of a
    /// collection with members of several types, each of which is read as JSON tells it.
    ///
    /// - Parameters:
    ///   - hasTextDecimals: whether decimals are written as strings, which does not tell them from text. Of those that are
    ///     numbers nothing is said: what was read without a type has them too, whatever its type is.
    ///   - member: another type to be stated of a value that is no collection; `nil` for what this decides.
    package func untoldType(
        hasTextDecimals: Bool, _ member: (ODataValue) -> PrimitiveType? = { _ in nil }
    ) -> TypeReference? {
        func primitive(_ value: ODataValue) -> PrimitiveType? {
            if let stated = member(value) { return stated }
            return switch value {
            case .null, .boolean, .string, .integer, .enumeration, .complex, .collection: nil
            case .decimal: hasTextDecimals ? .decimal : nil
            default: value.primitiveType
            }
        }
        guard case .collection(let values) = self else { return primitive(self).map { .primitive($0) } }
        let members = values.filter { !$0.isNull }
        guard let type = members.first.flatMap(primitive), members.allSatisfy({ primitive($0) == type }) else {
            return nil
        }
        return .collection(.primitive(type))
    }
}
