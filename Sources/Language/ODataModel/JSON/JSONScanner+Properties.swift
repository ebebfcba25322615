extension JSONScanner {
    /// Takes members of an open object as long as each is a property of a primitive type that has not come yet: what
    /// nearly all members are. Nothing is taken of the member that ends it.
    ///
    /// - Parameters:
    ///   - shape: the type of the object.
    ///   - values: the values by ordinal, one for each property of the shape.
    ///   - next: the ordinal that is likely to come next.
    ///   - wantsNumbers: whether numbers must not stand in strings.
    ///   - stopsAtUnreadable: whether a value that cannot be read ends it, too, and is not taken.
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

    /// Takes null or a value of a primitive type.
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
        // Once more from its start: values in objects, and errors that say what was expected.
        revisit(at: start)
        return try readPrimitive(type, wantsNumbers: wantsNumbers)
    }
}
