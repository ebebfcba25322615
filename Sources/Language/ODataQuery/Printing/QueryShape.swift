import ODataModel

/// What a URL asks without the values that it asks about: the key of a cache of compiled statements.
///
/// Two URLs have one shape when they differ in literals of the same type alone: key values, the operands of
/// comparisons, `$top`, `$skip` and tokens. Null, Boolean and enumeration literals are part of the shape, and so is
/// the number of a list's members, since they change what is compiled. Whoever compiles must look at the values
/// of ``parameters`` again where a statement depends on more than their type, as on whether a prefix is empty. The type that a
/// literal is given also depends on its value (3.0 can be a whole number), so that the resolved queries are compared as well.
public struct QueryShape: Hashable, Sendable {
    /// The URL with `<` and a letter for the type in place of each literal.
    public let text: String
    /// The literals in order of appearance in the text. They are no part of the key.
    public let parameters: [ODataValue]

    /// Equal when the text is.
    public static func == (left: QueryShape, right: QueryShape) -> Bool { left.text == right.text }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension ODataURL {
    /// The shape of the URL and the values lifted out of it.
    public var shape: QueryShape {
        var writer = QueryWriter(.wire)
        writer.lifted = []
        writer.write(self)
        return QueryShape(text: writer.text, parameters: writer.lifted ?? [])
    }
}

extension QueryWriter {
    /// Lifts a value out of the text; `false` when it belongs to the shape, or nothing is lifted.
    mutating func lift(_ value: ODataValue, _ type: PrimitiveType? = nil) -> Bool {
        guard lifted != nil else { return false }
        let kind: Unicode.Scalar
        switch value {
        case .null, .boolean, .complex, .collection, .enumeration: return false
        // Whole numbers of either width are bound alike, wider ones are another type.
        case .integer(let number): kind = Int32(exactly: number) == nil ? "L" : "i"
        case .single: kind = "f"
        case .double(let number):
            if !number.isFinite { return false }
            kind = "d"
        case .decimal: kind = "m"
        case .string: kind = "s"
        case .binary: kind = "x"
        case .guid: kind = "g"
        case .date: kind = "D"
        case .timeOfDay: kind = "T"
        case .dateTimeOffset: kind = "o"
        case .dateTime: kind = "t"
        case .duration: kind = type == .time ? "h" : "p"
        case .geo: kind = type?.rawValue.hasPrefix("Edm.Geometry") == true ? "G" : "w"
        }
        lifted?.append(value)
        // No other text has this character, which URLs encode.
        delimiter("<")
        delimiter(kind)
        return true
    }
}
