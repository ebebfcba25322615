import ODataModel

/// A URL without the literals in it: the key of a cache of compiled statements.
///
/// Two URLs have the same shape if they differ only in literals of the same type: key values, operands of
/// comparisons, `$top`, `$skip` and tokens. Null, Boolean and enumeration literals, and the number of members in a
/// list, are part of the shape, since they change the statement.
///
/// A compiler must check the values of ``parameters`` if a statement depends on more than their types, such as on
/// an empty prefix. The type of a literal also depends on its value (3.0 can be an integer), so the resolved
/// queries are compared too.
public struct QueryShape: Hashable, Sendable {
    /// The URL with `<` and a letter for the type in place of each literal.
    public let text: String
    /// The literals in order of appearance, which are not part of the key.
    public let parameters: [ODataValue]

    /// Returns whether the texts are equal.
    public static func == (left: QueryShape, right: QueryShape) -> Bool { left.text == right.text }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension ODataURL {
    /// The shape of the URL, and the values of its literals.
    public var shape: QueryShape {
        var writer = QueryWriter(.wire)
        writer.lifted = []
        writer.write(self)
        return QueryShape(text: writer.text, parameters: writer.lifted ?? [])
    }
}

extension QueryWriter {
    /// Adds a value to the parameters; returns `false` if the value is part of the shape or must be written.
    mutating func lift(_ value: ODataValue, _ type: PrimitiveType? = nil) -> Bool {
        guard lifted != nil else { return false }
        let kind: Unicode.Scalar
        switch value {
        case .null, .boolean, .complex, .collection, .enumeration: return false
        // Integers of up to 32 bits have one type, wider ones another.
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
        // URLs encode the character <, so that it does not occur otherwise.
        delimiter("<")
        delimiter(kind)
        return true
    }
}
