extension JSONScanner {
    /// Reads members of an open object as long as each is a new property of a primitive type, as nearly all members
    /// are. The first other member is not consumed.
    ///
    /// - Parameters:
    ///   - shape: the type of the object.
    ///   - values: the values by ordinal, one for each property of the shape.
    ///   - next: the expected ordinal of the next property.
    ///   - wantsNumbers: whether numbers in strings are rejected.
    ///   - stopsAtUnreadable: whether reading also stops before an unreadable value.
    /// - Returns: whether the object has ended.
    /// - Throws: ``JSONError`` with the property path.
    package mutating func readProperties(
        of shape: TypeShape, into values: inout [ODataValue?], next: inout Int, wantsNumbers: Bool = false,
        stopsAtUnreadable: Bool = false
    ) throws(JSONError) -> Bool {
        let table = shape.propertyNames
        return try values.withUnsafeMutableBufferPointer { (values) throws(JSONError) -> Bool in
            while true {
                let before = (offset, needsComma)
                var ordinal = next
                if !takeExpectedKey(ordinal, in: table) {
                    guard let key = try nextKey() else { return true }
                    ordinal = key.withUTF8 { table.ordinal(of: $0) } ?? values.count
                }
                guard ordinal < values.count, let type = shape.primitiveTypes[ordinal], values[ordinal] == nil else {
                    (offset, needsComma) = before
                    return false
                }
                do throws(JSONError) {
                    values[ordinal] = try readNullable(type, wantsNumbers)
                } catch {
                    if stopsAtUnreadable, !error.needsMoreData {
                        (offset, needsComma) = before
                        return false
                    }
                    throw error.within(shape.properties[ordinal].name)
                }
                next = ordinal + 1
            }
        }
    }

    /// Reads null or a value of a primitive type.
    @inline(__always)
    private mutating func readNullable(
        _ type: PrimitiveType, _ wantsNumbers: Bool
    ) throws(JSONError) -> ODataValue {
        let start = offset
        let value: ODataValue?
        switch try readSlot() {
        case .null: return .null
        case .boolean(let flag, _): value = type == .boolean ? .boolean(flag) : nil
        case .string(let string) where type == .string: return .string(string.string)
        case .string where wantsNumbers && type.isJSONNumber: value = nil
        case .string(let string): value = string.withUTF8 { ODataValue(lexical: $0, type: type) }
        case .number(let number): value = ODataValue(number: number, type: type)
        case .nested, .missing: value = nil
        }
        if let value { return value }
        // The value is read again from its start if it is an object or an error must describe the expected content.
        revisit(at: start)
        return try readPrimitive(type, wantsNumbers: wantsNumbers)
    }
}
