extension ODataValue {
    /// Returns the type that must be stated with a dynamic property because JSON does not imply it (OData JSON
    /// Format 4.01, 4.6.3).
    ///
    /// The result is `nil` if JSON implies the type, or the instance states its own. The result is also `nil` for a
    /// collection with members of several types, which are read as JSON implies.
    ///
    /// - Parameters:
    ///   - hasTextDecimals: whether decimals are written as strings, which JSON does not distinguish from text. No
    ///     type is
    ///     stated for decimals that are numbers, because every number without a declared type may be read as a
    ///     decimal.
    ///   - member: a function that returns another type to state for a value that is not a collection; `nil` for
    ///     the default.
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
